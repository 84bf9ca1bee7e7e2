"""The planners by name."""

import pytest

from selfgc.planners.registry import PLANNERS


def test_the_default_stands_first():
    """The command line takes the first name as its default."""
    assert list(PLANNERS) == ["reachability", "oldest-turn", "tool-prune"]


@pytest.mark.parametrize("name", PLANNERS)
def test_a_planner_is_recorded_under_the_name_it_is_asked_for(name):
    """What the ledger says is what can be given to `--planner`."""
    assert PLANNERS[name]().name == name
