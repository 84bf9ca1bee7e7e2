"""The scripted planner: plans in turn, errors, and what it was asked about."""

import pytest

from builders import session, snapshot_of, user
from selfgc.engine.context import ContextEngine
from selfgc.errors import PlanError
from selfgc.model.plan import Fold, Plan
from selfgc.testing import ScriptedPlanner


def test_plans_come_in_turn_and_then_none():
    """Each call takes the next entry; when the script is over, nothing is proposed any more."""
    snapshot = snapshot_of([user("hello")])
    first = Plan((Fold("function:Read:1"),), summary="one")
    planner = ScriptedPlanner([first, lambda given: Plan(version=given.version, planner="other")])
    assert planner.plan(snapshot).actions == first.actions
    assert planner.plan(snapshot).planner == "other"
    assert planner.plan(snapshot) == Plan(planner="scripted", summary="the script is over")
    assert planner.snapshots == [snapshot] * 3


def test_a_plan_without_a_name_gets_the_planners():
    """The ledger then says who proposed it."""
    planner = ScriptedPlanner([Plan()], name="mine")
    assert planner.plan(snapshot_of([user("hello")])).planner == planner.name == "mine"


def test_an_error_of_the_script_is_raised():
    """So that a harness can be tested with a planner that fails."""
    with pytest.raises(PlanError, match="no plan today"):
        ScriptedPlanner([PlanError("no plan today")]).plan(snapshot_of([user("hello")]))


@pytest.mark.parametrize("error", [PlanError("broken"), RuntimeError("worse")])
def test_the_engine_goes_on_without_a_planner_that_fails(error):
    """It is a planner like any other: the view stays what it was."""
    engine = ContextEngine(planner=ScriptedPlanner([error]))
    messages = [user("hello"), {"role": "assistant", "content": "hi"}]
    engine.observe(messages)
    assert not engine.maintain(is_cold=True).committed
    assert list(engine.view()) == messages


def test_a_scripted_fold_reaches_the_view():
    """A plan of the script is rehearsed and committed as any other plan."""
    calls = [("Read", {"path": f"/{name}"}, f"text of {name}\n" * 500) for name in "abcdef"]
    messages = session([("read them", calls, "done"), ("and now", [], "well")])
    engine = ContextEngine(planner=ScriptedPlanner([Plan((Fold("function:Read:1"),))]))
    engine.observe(messages)
    assert engine.maintain(is_cold=True).committed
    assert "folded" in str(engine.view()[2])
