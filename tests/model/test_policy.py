"""The operator's policy: closed, and safe by default."""

import msgspec
import pytest

from selfgc.model.policy import Boundary, Policy, Recovery


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
