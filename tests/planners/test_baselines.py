"""The two baselines: sizes and ages, and nothing else."""

import pytest

from builders import WordCounter, session, snapshot_of
from selfgc.governance.rehearse import rehearse
from selfgc.model.plan import Plan
from selfgc.model.policy import Policy
from selfgc.planners.baselines import OldestTurnPlanner, ToolPrunePlanner

READ = ("Read", {"file_path": "/a"}, "w" * 4000)
RULES = ("Read", {"file_path": "/AGENTS.md"}, "w" * 4000)
TURNS = [("one", [READ, READ], "done"), ("two", [READ], "done"), ("talk", [], "yes"), ("three", [READ], "done")]
PLANNERS = [OldestTurnPlanner, ToolPrunePlanner]


def planned(planner, turns=TURNS, dialect="anthropic", **settings):
    """The ids that a planner would prune."""
    snapshot = snapshot_of(session(turns, dialect), dialect, Policy(**{"keep_spans": 0} | settings))
    plan = planner().plan(snapshot)
    assert {action.verb for action in plan.actions} <= {"prune"}
    return [action.id for action in plan.actions]


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_without_a_goal_everything_that_may_go_goes_oldest_first(dialect):
    """The last turn, and turns without calls, are no candidates."""
    assert planned(OldestTurnPlanner, dialect=dialect) == ["conversation:user:1", "conversation:user:2"]
    assert planned(ToolPrunePlanner, dialect=dialect) == ["function:Read:1", "function:Read:2", "function:Read:3"]


def test_with_a_goal_they_stop_when_it_is_reached():
    """A read has about a thousand tokens."""
    total = int(snapshot_of(session(TURNS)).transcript_tokens)
    assert planned(ToolPrunePlanner, budget=total - 100) == ["function:Read:1"]
    assert planned(ToolPrunePlanner, budget=total - 1500) == ["function:Read:1", "function:Read:2"]
    assert planned(OldestTurnPlanner, budget=total - 1500) == ["conversation:user:1"]
    assert planned(OldestTurnPlanner, budget=total - 2500) == ["conversation:user:1", "conversation:user:2"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_goal_that_is_met_already_asks_for_nothing(planner):
    """The transcript is below the budget."""
    assert planned(planner, budget=1_000_000) == []


def test_what_is_protected_is_no_candidate():
    """Pins and the newest spans; a turn that holds only such ones neither."""
    turns = [("one", [RULES], "done"), ("two", [RULES, READ], "done"), ("three", [READ], "done")]
    assert planned(ToolPrunePlanner, turns) == ["function:Read:1", "function:Read:3"]
    turns = [("one", [RULES], "done"), ("two", [READ], "done"), ("three", [], "done")]
    assert planned(OldestTurnPlanner, turns) == ["conversation:user:2"]
    assert planned(ToolPrunePlanner, keep_spans=3) == ["function:Read:1"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_plan_names_its_snapshot(planner):
    """So that it is applied to no other; an empty session gives an empty plan."""
    snapshot = snapshot_of(session(TURNS), version=4)
    plan = planner().plan(snapshot)
    assert (plan.planner, plan.version, plan.digest) == (planner.name, 4, snapshot.digest)
    assert planner().plan(snapshot_of([])) == Plan((), planner.name, 0, "", "nothing may be touched")


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_rehearsal_takes_the_whole_plan(planner, dialect):
    """Nothing of it is refused, and the view shrinks."""
    snapshot = snapshot_of(session(TURNS, dialect), dialect, Policy(keep_spans=0))
    rehearsal = rehearse(snapshot, planner().plan(snapshot), WordCounter())
    assert rehearsal.refused == ()
    assert rehearsal.tokens_after < rehearsal.tokens_before / 2
