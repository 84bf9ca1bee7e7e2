"""Running a round over a recorded session."""

import logging

import pytest

from builders import assistant, body_of, session, user
from cli_sessions import FOLDED, turns_of
from selfgc.cli.rounds import Order
from selfgc.cli.running import collected_warnings, run_round
from selfgc.errors import StoreError
from selfgc.model.ids import ObjectId, SessionKey
from selfgc.model.plan import Fold, Plan
from selfgc.readers.recording import Recording
from selfgc.sidecar.memory import MemoryStore

KEY = SessionKey("s")
PLAN = Plan(tuple(Fold(ObjectId(action["id"])) for action in FOLDED["actions"]))


class FullStore(MemoryStore):
    """A store whose disk is full."""

    def append(self, session, **_):
        raise StoreError("the disk is full")


class Broken:
    """A planner with a fault."""

    name = "broken"

    def plan(self, snapshot):
        raise ZeroDivisionError("by zero")


def recording(messages, model="claude-sonnet-4-5"):
    return Recording("anthropic", body_of(messages, model=model), "anthropic request")


@pytest.fixture
def four_turns():
    return recording(session(turns_of(4)))


def test_a_round_commits_and_gives_the_view(four_turns):
    """Tokens are those of the view; nothing went wrong."""
    done = run_round(four_turns, MemoryStore(), KEY, Order(plan=PLAN))
    assert done.report.committed
    assert done.tokens == done.report.tokens_after < done.report.tokens_transcript
    assert 0 < done.prune_rate < 1
    assert (done.verdict, done.faults, done.violations, done.advice) == ("it pays", (), (), "")


def test_repeats_are_folded_beside_the_plan():
    """What the plan does not name, and was made small before it was sent, is told apart."""
    (asked, calls, answer), *others = turns_of(3)
    again = recording(session([(asked, calls, answer), *others, ("Again.", calls[:1], "")]))
    done = run_round(again, MemoryStore(), KEY, Order(plan=Plan()))
    assert [row.id for row in done.unsent] == ["function:Read:16"]
    assert done.report.actions == ()
    assert done.tokens < done.report.tokens_transcript


def test_a_store_that_fails_is_told_once(four_turns):
    """The view is the request as it came in, and the verdict is not the plan's."""
    done = run_round(four_turns, FullStore(), KEY, Order(plan=PLAN))
    assert done.view == four_turns.body
    assert done.tokens == done.report.tokens_transcript
    assert done.verdict == "it could not be written into the store"
    assert done.faults == ("the disk is full",)


def test_a_planner_that_fails_is_told(four_turns):
    """Nothing is committed then."""
    done = run_round(four_turns, MemoryStore(), KEY, Order(planner=Broken()))
    assert not done.report.committed
    assert any("broken failed: by zero" in sentence for sentence in done.faults)


def test_rules_that_the_view_breaks_are_told():
    """A session at rest ends with an answer, which some models do not take."""
    at_rest = recording([user("hi"), assistant("so")], "claude-opus-4-6")
    assert [item.rule for item in run_round(at_rest, MemoryStore(), KEY, Order()).violations] == ["A4"]


def test_what_the_engine_logs_is_collected_and_goes_nowhere_else(caplog, capfd):
    """Afterwards the log is as it was."""
    log = logging.getLogger("selfgc")
    before = (list(log.handlers), log.propagate)
    with collected_warnings() as warnings:
        log.warning("a %s", "fault")
        log.info("not this")
    assert warnings == ["a fault"]
    assert (list(log.handlers), log.propagate) == before
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
