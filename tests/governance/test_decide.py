"""The decision to commit a rehearsed plan or to defer it, reason by reason, with the numbers worked by hand."""

import msgspec
import pytest

from builders import (
    WordCounter,
    call_block,
    calls,
    chat_assistant,
    chat_call,
    chat_result,
    chat_user,
    result,
    result_block,
    results,
    session,
    snapshot_of,
    user,
)
from selfgc.economics.catalog import LifetimeIs, Row
from selfgc.governance.decide import Circumstances, decide, is_boundary
from selfgc.governance.rehearse import rehearse
from selfgc.model.plan import Fold, Plan
from selfgc.model.policy import Boundary, Policy, Recovery
from selfgc.model.profile import Profile, Thinking
from selfgc.model.records import Edit, Replacement

LONG = "plain words of a long output that nobody has to read again\n" * 40
READ = ("Read", {"file_path": "/a"}, LONG)
SHORT = ("Read", {"file_path": "/b"}, "text")
NO_KEPT = Policy(keep_spans=0)
STEP = Policy(keep_spans=0, boundary=Boundary.STEP)
PRICES = Row(
    pattern="*",
    input=10.0,
    write=12.0,
    write_long=20.0,
    read=2.0,
    output=40.0,
    lifetime=300,
    lifetime_is=LifetimeIs.MINIMUM,
    minimum=1024,
    thinking=Thinking.NONE,
    source="made up",
)
MILLION = 1_000_000


def moment(*, is_cold=False, calls_to_come=10.0, **fields):
    return Circumstances(is_cold, calls_to_come, {key: value.encode() for key, value in fields.items()})


def decided(snapshot, now, *ids):
    """The decision on folds of these objects, and their rehearsal."""
    rehearsal = rehearse(snapshot, Plan(tuple(Fold(one) for one in ids)), WordCounter(), fields=now.fields)
    return decide(snapshot, rehearsal, PRICES, now), rehearsal


def a_session(policy=NO_KEPT, **others):
    return snapshot_of(session([("one", [READ, SHORT], "done"), ("two", [SHORT], "ok")]), policy=policy, **others)


# -- reasons to defer ------------------------------------------------------------------------------------


def test_1_nothing_to_commit():
    """No action passed rehearsal; there are no numbers then."""
    decision, _ = decided(a_session(), moment(is_cold=True), "function:Read:9")
    assert decision.commit is False
    assert decision.reason == "nothing to commit: no action passed rehearsal"
    assert (decision.removed, decision.suffix, decision.benefit) == (0, 0, None)


def test_2_unsafe_boundary():
    """In the middle of a turn, under the turn policy."""
    messages = session([("one", [READ], "done"), ("two", [], "ok"), ("three", [SHORT], "")])
    decision, rehearsal = decided(snapshot_of(messages, policy=NO_KEPT), moment(is_cold=True), "function:Read:1")
    assert rehearsal.edits
    assert decision == msgspec.structs.replace(decision, commit=False, reason="unsafe boundary: no turn boundary here")


@pytest.mark.parametrize("name", Profile().server_state)
def test_3_a_history_that_the_server_holds_is_not_edited(name):
    """The request names it; what we would edit is not what the model sees."""
    decision, _ = decided(a_session(), moment(is_cold=True, **{name: '"resp_1"'}), "function:Read:1")
    assert decision.commit is False
    assert decision.reason == f"server state: the history is held by the server ({name})"


def test_4_no_route_back():
    """V20: pointers that name the tool need the tool in the request."""
    policy = Policy(keep_spans=0, recovery=Recovery.TOOL)
    decision, _ = decided(a_session(policy), moment(is_cold=True), "function:Read:1")
    assert decision.commit is False
    assert decision.reason == "no route back: the request does not offer the restore tool"
    offered = moment(is_cold=True, tools='[{"name":"restore_context"}]')
    assert decided(a_session(policy), offered, "function:Read:1")[0].commit is True


def test_5_does_not_pay():
    """A warm cache, one call to come, and a long suffix to write again."""
    late = session([("one", [READ], "done"), ("two", [READ] * 8, "ok"), ("three", [], "ok")])
    decision, _ = decided(snapshot_of(late, policy=NO_KEPT), moment(calls_to_come=1.0), "function:Read:1")
    assert decision.commit is False
    assert decision.reason == "does not pay: the cache break costs more than the calls to come save"
    assert decision.benefit.total < 0
    assert decision.benefit.break_even > 1


# -- the numbers -----------------------------------------------------------------------------------------


def test_on_a_warm_cache_the_break_is_weighed_against_the_calls_to_come():
    """N r D - (w - r)(S - D), in tokens of this very session."""
    snapshot = a_session(system_tokens=500)
    decision, rehearsal = decided(snapshot, moment(calls_to_come=10.0), "function:Read:1")
    before_change = 500 + sum(entry.tokens for entry in snapshot.entries[:2])
    assert rehearsal.first_changed == 2
    assert decision.suffix == snapshot.transcript_tokens - before_change
    assert decision.removed == rehearsal.tokens_before - rehearsal.tokens_after
    removed, kept = decision.removed, decision.suffix - decision.removed
    assert decision.benefit.total == pytest.approx((10 * 2 * removed - (12 - 2) * kept) / MILLION)
    assert decision.benefit.break_even == pytest.approx((12 - 2) * kept / (2 * removed))
    assert (decision.commit, decision.reason, decision.is_cold) == (True, "it pays", False)
    assert decision.calls_to_come == 10.0


def test_on_a_cold_cache_everything_is_written_anyway():
    """w D + (N - 1) r D: no break, so any saving pays."""
    decision, _ = decided(a_session(), moment(is_cold=True, calls_to_come=1.0), "function:Read:1")
    assert decision.benefit.total == pytest.approx(12 * decision.removed / MILLION)
    assert decision.benefit.break_even == 0
    assert (decision.commit, decision.is_cold) == (True, True)


def test_lost_reasoning_is_paid_for():
    """A model that binds reasoning loses it; a share is thought again, at the price of output."""
    step = [calls(call_block("a", "Read", {"file_path": "/a"}), thinking="x" * 4000), result("a", LONG)]
    messages = [user("one"), *step, *session([("two", [SHORT], "done"), ("three", [], "ok")])]
    snapshot = snapshot_of(messages, policy=NO_KEPT, profile=Profile(binds_prefix=True))
    decision, rehearsal = decided(snapshot, moment(is_cold=True), "function:Read:1")
    assert rehearsal.reasoning_tokens == snapshot.entries[1].parts[0].tokens == 1004
    assert decision.benefit.reasoning == pytest.approx(0.25 * 1004 * 40 / MILLION)


def test_what_is_folded_already_counts_as_it_stands():
    """The suffix is that of the present view, not of the transcript."""
    snapshot = snapshot_of(session([("one", [READ, READ], "done"), ("two", [], "ok")]), policy=NO_KEPT)
    folded = Replacement(snapshot.chains[2], "content.0", "[folded]", tokens=6)
    after = Replacement(snapshot.chains[5], "content", "gone", tokens=5)
    committed = msgspec.structs.replace(
        snapshot,
        edits={
            "function:Read:1": Edit("function:Read:1", "fold", (folded,), 0, 0),
            "x": Edit("x", "fold", (after,), 0, 0),
        },
    )
    fresh, _ = decided(snapshot, moment(), "function:Read:2")
    decision, rehearsal = decided(committed, moment(), "function:Read:2")
    assert rehearsal.first_changed == 4
    assert decision.suffix - fresh.suffix == 5 - snapshot.entries[5].parts[0].tokens
    assert decision.removed == fresh.removed


# -- boundaries ------------------------------------------------------------------------------------------


ASKED = session([("one", [READ], "done"), ("two", [], "")])


@pytest.mark.parametrize(
    ("messages", "at_turn", "at_step"),
    [
        (ASKED, True, True),
        (ASKED[:-1], True, True),
        (ASKED[:-2], False, True),
        (ASKED[:-3], False, False),
        ([], False, True),
    ],
    ids=["user input", "answer", "results", "open call", "nothing"],
)
def test_where_a_commit_is_safe(messages, at_turn, at_step):
    """A turn's start and end; between two steps only when the policy says so; never with a call in flight."""
    assert is_boundary(snapshot_of(messages, policy=NO_KEPT)) is at_turn
    assert is_boundary(snapshot_of(messages, policy=STEP)) is at_step


def test_results_that_are_still_to_come_are_waited_for():
    """A10, G14 of the field faults: in Chat one of two results is there, the other tool still runs."""
    asked = chat_assistant(None, chat_call("a", "Read", {}), chat_call("b", "Read", {}))
    messages = [chat_user("x"), asked, chat_result("a", "t")]
    assert is_boundary(snapshot_of(messages, "chat", STEP)) is False
    assert is_boundary(snapshot_of([*messages, chat_result("b", "t")], "chat", STEP)) is True


def test_a_call_that_never_got_its_result_does_not_block_for_ever():
    """What came after it shows that nobody is waiting for it any more."""
    asked = calls(call_block("a", "Read", {}), call_block("b", "Read", {}))
    cut = [user("x"), asked, results(result_block("a", "t")), *session([("go on", [], "ok")])]
    assert is_boundary(snapshot_of(cut[:3], policy=STEP)) is False
    assert is_boundary(snapshot_of(cut, policy=NO_KEPT)) is True
    assert is_boundary(snapshot_of([user("x"), calls(call_block("a", "Read", {})), user("never mind")])) is True
