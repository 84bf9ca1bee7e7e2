"""The operator's policy: closed, and safe by default."""

import msgspec
import pytest

from selfgc.errors import UsageError
from selfgc.model.policy import Boundary, Carrier, Policy, Recovery


def test_a_key_that_no_policy_has_is_refused():
    """A misspelt setting is told, never ignored."""
    with pytest.raises(msgspec.ValidationError, match="keep_span"):
        msgspec.convert({"keep_span": 3}, Policy)


def test_a_policy_reads_the_words_of_a_settings_file():
    """Boundaries and recoveries are spelt as strings there."""
    policy = msgspec.convert({"boundary": "step", "recovery": "tool", "pinned_tools": ["mcp__*"]}, Policy)
    assert (policy.boundary, policy.recovery, policy.pinned_tools) == (Boundary.STEP, Recovery.TOOL, ("mcp__*",))


def test_the_default_policy_protects():
    """Turn boundaries, some newest spans, all pins; the user's words stay; no giant result is cut unasked."""
    policy = Policy()
    assert policy.boundary is Boundary.TURN
    assert policy.keep_spans > 0
    assert policy.pins_instructions
    assert policy.pins_memory
    assert policy.pins_skills
    assert not policy.may_remove_user_text
    assert policy.born_small_tokens is None


def test_names_stand_for_what_they_name():
    """Plain strings and lists are taken, short ids are completed."""
    policy = Policy(boundary="step", recovery="tool", carrier="tags", pinned_ids=["Read:3"], pinned_tools=["db_*"])
    assert (policy.boundary, policy.recovery, policy.carrier) == (Boundary.STEP, Recovery.TOOL, Carrier.TAGS)
    assert (policy.pinned_ids, policy.pinned_tools) == (("function:Read:3",), ("db_*",))


@pytest.mark.parametrize(
    "wrong",
    [
        {"boundary": "bogus"},
        {"recovery": None},
        {"keep_spans": -1},
        {"min_saving": "x"},
        {"max_share": 0},
        {"target_prune": 3},
        {"target_prune": -1},
        {"budget": 0},
        {"budget": "x"},
        {"born_small_tokens": 0},
        {"pinned_tools": "Read"},
        {"pinned_ids": ("nonsense",)},
    ],
)
def test_what_cannot_be_is_refused(wrong):
    """The message names the field and what was given."""
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Policy(**wrong)
