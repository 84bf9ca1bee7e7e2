"""What a round tells of itself."""

import msgspec
import pytest

from builders import body_of, session, user
from cli_sessions import FOLDED, turns_of
from selfgc.cli.rounds import Order, violations_in
from selfgc.cli.running import run_round
from selfgc.model.ids import ObjectId, SessionKey
from selfgc.model.plan import Fold, Plan
from selfgc.model.policy import Boundary, Policy
from selfgc.readers.recording import Recording
from selfgc.sidecar.memory import MemoryStore

KEY = SessionKey("s")
PLAN = Plan(tuple(Fold(ObjectId(action["id"])) for action in FOLDED["actions"]))


def recording(messages, model="claude-sonnet-4-5"):
    return Recording("anthropic", body_of(messages, model=model), "anthropic request")


@pytest.fixture
def four_turns():
    return recording(session(turns_of(4)))


def test_an_empty_request_has_no_rate():
    """Nothing is saved of nothing."""
    done = run_round(recording([]), MemoryStore(), KEY, Order())
    report = msgspec.structs.replace(done.report, tokens_transcript=0)
    assert msgspec.structs.replace(done, report=report).prune_rate == 0


def test_pins_without_an_object_are_told(four_turns):
    """Those that protect something are not."""
    pins = (ObjectId("function:Read:1"), ObjectId("function:Read:99"))
    done = run_round(four_turns, MemoryStore(), KEY, Order(Policy(pinned_ids=pins)))
    assert done.idle_pins == ("function:Read:99",)


def test_the_boundary_is_advised_about(four_turns):
    """When all calls stand in the last turn, or the session stops inside one; not when something is folded."""
    one = recording(session(turns_of(1, calls=12)))
    inside = recording(session(turns_of(3, answer="")))
    assert "12 of 12 tool calls stand in the last turn" in run_round(one, MemoryStore(), KEY, Order()).advice
    assert "stops inside a turn" in run_round(inside, MemoryStore(), KEY, Order(plan=PLAN)).advice
    step = Order(Policy(boundary=Boundary.STEP, keep_spans=50))
    assert run_round(one, MemoryStore(), KEY, step).advice == ""
    store = MemoryStore()
    run_round(four_turns, store, KEY, Order(plan=PLAN))
    assert run_round(four_turns, store, KEY, Order(plan=Plan())).advice == ""
    assert run_round(recording([user("hi")]), MemoryStore(), KEY, Order()).advice == ""


def test_the_verdict_is_the_store_s_when_that_failed(four_turns):
    """A plan that pays and was not committed was lost on the way."""
    done = run_round(four_turns, MemoryStore(), KEY, Order(plan=PLAN))
    assert done.verdict == done.report.reason == "it pays"
    lost = msgspec.structs.replace(done, report=msgspec.structs.replace(done.report, committed=False))
    assert lost.verdict == "it could not be written into the store"


def test_a_request_is_checked_by_the_session_s_dialect_and_model(four_turns):
    """The recorded request is fine; without its first message it is not."""
    snapshot = run_round(four_turns, MemoryStore(), KEY, Order(plan=Plan())).snapshot
    assert violations_in(snapshot, four_turns.body) == ()
    assert violations_in(snapshot, recording(session(turns_of(1))[1:]).body)
