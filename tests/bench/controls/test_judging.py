"""One judge a session."""

from control_cases import judges, needing
from selfgc.bench.records import Status


def test_each_session_has_its_judge():
    """Cases of two sessions are judged by what their own prefix holds."""
    asked = judges()
    one, two = needing("one", ("reserve_seat",)), needing("two", ("row_plan",))
    for case in (one, two, one):
        whole = asked.judge(case, case.cut.case.prefix)
        assert whole.session == case.cut.session.name
        assert whole.both.s0
    lost = asked.judge(two, two.cut.case.protected).losses
    assert {loss.status for loss in lost} == {Status.LOST}


def test_what_messages_show_is_read():
    """A need is seen in the message that holds it."""
    case = needing()
    assert judges().seen(case.cut, case.cut.case.prefix).holds(case.strict[0])
