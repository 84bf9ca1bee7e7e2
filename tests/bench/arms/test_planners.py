"""Plain planners, and ours with a part taken out."""

import pytest

from builders import session, snapshot_of
from selfgc.bench.arms.planners import PLANNERS
from selfgc.model.policy import Policy

BODY = "plain words of a body that somebody may want again\n" * 40


def world(rate=None):
    calls = [("Read", {"file_path": f"/{n}"}, BODY) for n in range(6)]
    run = ("Bash", {"command": "docker compose exec app php artisan migrate --force 2>&1"}, BODY)
    turns = [("one", calls, "done"), ("two", [run, *calls], "done"), ("three", [], "ok")]
    return snapshot_of(session(turns), policy=Policy(keep_spans=0, target_prune=rate))


def plan(name, rate=None, seed=0):
    return PLANNERS[name](seed).plan(world(rate))


def verbs(found):
    return {action.verb for action in found.actions}


@pytest.mark.parametrize("name", PLANNERS)
def test_every_planner_names_the_snapshot_and_repeats_itself(name):
    """The same prefix and seed, the same plan."""
    first = plan(name)
    assert first.digest == world().digest
    assert first.actions
    assert plan(name) == first


@pytest.mark.parametrize("name", PLANNERS)
def test_a_lower_rate_asks_for_no_more(name):
    """What has a knob names fewer tokens at 0.2 than at 0.8."""
    few, many = plan(name, 0.2), plan(name, 0.8)
    assert len(few.actions) <= len(many.actions) or any(action.spare for action in few.actions)


def test_dice_fall_by_seed():
    """Another seed, another choice."""
    assert plan("random", 0.3, seed=1) != plan("random", 0.3, seed=2)
    assert verbs(plan("random")) == {"prune"}


def test_the_baselines_do_what_their_names_say():
    """Masks and prunes; turns and spans; folds of spans alone."""
    assert verbs(plan("tool-mask-prune")) == {"mask", "prune"}
    hybrid = plan("hybrid")
    assert {action.id.split(":")[0] for action in hybrid.actions} == {"conversation", "function"}
    assert all(action.id.startswith("function:") for action in plan("fold-all-id").actions)


def test_ablations_change_one_thing():
    """Fold to prune or mask, turns to spans, no commands, nothing spared."""
    assert any(action.id.startswith("conversation:") for action in plan("reachability").actions)
    assert verbs(plan("ours-prune-for-fold")) == {"prune"}
    assert verbs(plan("ours-mask-for-fold")) == {"mask"}
    assert all(action.id.startswith("function:") for action in plan("ours-no-turns").actions)
    assert any(action.keep for action in plan("reachability").actions)
    assert not any(action.keep for action in plan("ours-no-commands").actions)
    assert any(action.spare for action in plan("reachability", 0.3).actions)
    assert not any(action.spare for action in plan("ours-nothing-spared", 0.3).actions)
