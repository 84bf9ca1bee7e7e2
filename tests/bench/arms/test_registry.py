"""The arms by name."""

import sys

import pytest

from selfgc.bench.arms.registry import ARMS, arms_named
from selfgc.errors import UsageError


def test_lists_families_and_words_stand_for_arms():
    """Each arm once, in the order given."""
    assert [arm.name for arm in arms_named("none, random,none")] == ["none", "random"]
    assert [arm.name for arm in arms_named("baseline")] == ["oldest-turn", "tool-prune", "tool-mask-prune", "hybrid"]
    assert arms_named("all") == list(ARMS.values())
    assert {arm.family for arm in arms_named("own")} == {arm.family for arm in ARMS.values()} - {"peer"}


def test_a_plan_file_is_an_arm_by_itself():
    """It has no knob."""
    (arm,) = arms_named("plan:my.json")
    assert (arm.name, arm.has_knob) == ("plan:my.json", False)


def test_own_arms_are_served_by_this_interpreter():
    """Peers are not: they have environments of their own."""
    assert ARMS["random"].argv() == [sys.executable, "-m", "selfgc.bench.arms.serve", "random"]
    assert ARMS["tracegc"].family == "peer"


def test_an_unknown_name_is_refused():
    """With the names there are."""
    with pytest.raises(UsageError, match="expected arms out of none, delete-all"):
        arms_named("magic")
