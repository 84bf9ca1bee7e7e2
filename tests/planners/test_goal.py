"""How much is to be saved."""

import pytest

from builders import session, snapshot_of
from selfgc.model.policy import Policy
from selfgc.planners.goal import goal_tokens

MESSAGES = session([("x", [("Read", {"file_path": "/a"}, "w" * 4000)], "done")])
TOTAL = int(snapshot_of(MESSAGES).transcript_tokens)


def goal(**settings):
    return goal_tokens(snapshot_of(MESSAGES, policy=Policy(**settings)))


def test_without_share_and_budget_there_is_no_goal():
    """None says: what can be saved well."""
    assert goal() is None


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_is_of_the_whole_transcript(share):
    """Rounded to tokens."""
    assert goal(target_prune=share) == round(share * TOTAL)


def test_a_budget_asks_for_what_is_over_it():
    """And for nothing when the transcript is below it."""
    assert goal(budget=TOTAL - 300) == 300
    assert goal(budget=TOTAL + 300) == 0


def test_of_share_and_budget_the_larger_saving_counts():
    """Both are to be met."""
    assert goal(target_prune=0.5, budget=TOTAL - 10) == round(0.5 * TOTAL)
    assert goal(target_prune=0.01, budget=1) == TOTAL - 1


def test_the_system_prompt_counts():
    """It is sent at every call as well."""
    snapshot = snapshot_of(MESSAGES, policy=Policy(target_prune=1.0), system_tokens=777)
    assert goal_tokens(snapshot) == TOTAL + 777
