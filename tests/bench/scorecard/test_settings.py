"""Settings of the LLM judge."""

import msgspec
import pytest

from bench.scorecard.scorecards import settings
from selfgc.bench.scorecard.settings import JudgeSettings, Wire


def test_settings_are_read_from_plain_data():
    """As they stand in a TOML or JSON file."""
    read = msgspec.convert({"model": "m", "cache_folder": "c", "dialect": "anthropic", "votes": 5}, JudgeSettings)
    assert (read.dialect, read.votes, read.temperature) == (Wire.MESSAGES, 5, 0.0)


@pytest.mark.parametrize("wrong", [{"votes": 0}, {"timeout": 0}, {"max_cost": -1}, {"colour": 1}, {"dialect": "x"}])
def test_settings_that_make_no_sense_are_refused(wrong):
    """Unknown names too."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"model": "m", "cache_folder": "c", **wrong}, JudgeSettings)


def test_settings_hold_the_name_of_the_key_only():
    """So that they can be printed and written."""
    assert settings("c", api_key_env="THE_NAME").api_key_env == "THE_NAME"
    with pytest.raises(TypeError):
        settings("c", api_key="secret")
