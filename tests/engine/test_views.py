"""Views between commits grow by what is new, and are made anew when something else changed."""

from builders import call, result, snapshot_of, user
from selfgc.engine.views import ViewKeeper
from selfgc.governance.project import project
from selfgc.model.policy import Carrier, Policy
from selfgc.model.records import Edit, Replacement


def history(steps):
    messages = [user("work")]
    for number in range(steps):
        messages += [call(f"t{number}", "Bash", command=f"step {number}"), result(f"t{number}", f"done {number}")]
    return messages


def raws_of(snapshot):
    return [entry.message.raw for entry in snapshot.entries]


def fold(snapshot):
    """An edit that replaces the first result."""
    return {
        "function:Bash:1": Edit(
            "function:Bash:1", "fold", (Replacement(snapshot.chains[2], "content.0", "[folded]", tokens=3),), 10, 3
        )
    }


def edited(steps, **others):
    plain = snapshot_of(history(steps))
    return snapshot_of(history(steps), edits=fold(plain), **others)


def test_new_messages_come_behind_what_was_projected():
    """The grown view equals one that is made anew, and starts with the very bytes of the view before."""
    keeper = ViewKeeper()
    before = keeper.view(edited(3), raws_of(edited(3)), 0)
    grown = edited(5)
    view = keeper.view(grown, raws_of(grown), 0)
    assert view == project(grown, grown.edits)
    assert view.messages[: len(before.messages)] == before.messages


def test_another_version_is_projected_anew():
    """A commit changes what stands in the view."""
    keeper = ViewKeeper()
    plain = snapshot_of(history(3))
    assert keeper.view(plain, raws_of(plain), 0).messages == tuple(raws_of(plain))
    assert keeper.view(edited(3, version=1), raws_of(plain), 0).edited == frozenset({2})


def test_a_rewind_is_projected_anew():
    """What the client took back does not come back from the view before."""
    keeper = ViewKeeper()
    longer, shorter = edited(5), edited(3)
    keeper.view(longer, raws_of(longer), 0)
    assert keeper.view(shorter, raws_of(shorter), 1) == project(shorter, shorter.edits)


def test_moved_markers_are_sent_as_they_came():
    """A message that came in other bytes this time is sent in these."""
    keeper = ViewKeeper()
    snapshot = edited(3)
    keeper.view(snapshot, raws_of(snapshot), 0)
    other = [*raws_of(snapshot)]
    other[0] = other[0].replace(b'"role"', b' "role"')
    assert keeper.view(snapshot, other, 0).messages[0] == other[0]


def test_tags_are_never_kept():
    """A view with tags is projected each time, and another carrier does not inherit it."""
    keeper = ViewKeeper()
    tagged = edited(3, policy=Policy(carrier=Carrier.TAGS))
    assert b"<turn id=" in b"".join(keeper.view(tagged, raws_of(tagged), 0).messages)
    plain = edited(3)
    assert b"<turn id=" not in b"".join(keeper.view(plain, raws_of(plain), 0).messages)
