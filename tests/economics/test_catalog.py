"""The catalogue of models: which row a name gets, what it says, and what is wrong with a broken file."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfgc.economics
from selfgc.economics.catalog import LifetimeIs, read_catalog
from selfgc.errors import UsageError
from selfgc.model.profile import Profile, Thinking

DATA = Path(selfgc.economics.__file__).with_name("data").joinpath("models.toml").read_bytes()
CATALOG = read_catalog(DATA)

ROW = """[[model]]
pattern = "*"
input = 3.0
write = 3.75
write_long = 6.0
read = 0.3
output = 15.0
lifetime = 300
lifetime_is = "maximum"
minimum = 1024
thinking = "manual"
source = "a test"
"""
FILE = f'dated = "2026-12-01"\n{ROW}'

PRICES = {
    "claude-opus-5": (5, 6.25, 10, 0.5, 25),
    "claude-opus-4-8": (5, 6.25, 10, 0.5, 25),
    "claude-opus-5-5": (4, 5, 8, 0.2, 20),
    "claude-sonnet-5": (2, 2.5, 4, 0.2, 10),
    "claude-sonnet-5-5": (2, 2.5, 4, 0.1, 10),
    "claude-fable-5-1": (10, 12.5, 20, 0.25, 50),
    "claude-haiku-4-5": (1, 1.25, 2, 0.1, 5),
    "gpt-5.5": (5, 5, 5, 0.5, 30),
    "gpt-5.4": (2.5, 2.5, 2.5, 0.25, 15),
    "gpt-5.6-sol": (4, 5, 10, 0.4, 20),
    "gpt-5.6-terra": (2, 2.5, 5, 0.2, 12),
    "gpt-6-sol": (2, 2.5, 5, 0.2, 10),
    "gpt-6-luna": (0.1, 0.125, 0.25, 0.01, 0.5),
    "gpt-6-astra": (10, 12.5, 25, 1, 50),
    "gemini-3.1-pro": (2, 2, 2, 0.2, 12),
    "gemini-3.8-flash": (0.75, 0.75, 0.75, 0.075, 3.75),
    "deepseek-v4-pro": (1.32, 1.32, 1.32, 0.044, 3.96),
    "deepseek-v4-flash": (0.3, 0.3, 0.3, 0.006, 1.2),
    "kimi-k3": (3, 3, 6, 0.3, 15),
    "kimi-k3.1-pro": (2, 2, 4, 0.2, 10),
    "glm-5.3": (1.4, 1.4, 1.4, 0.26, 4.4),
    "qwen3.7-max": (2.5, 2.5, 2.5, 0.5, 7.5),
    "grok-4.7": (2, 2, 2, 0.5, 6),
    "minimax-m3": (0.3, 0.3, 0.3, 0.06, 1.2),
    "gpt-4o": (2.5, 2.5, 2.5, 1.25, 10),
    "o3": (2, 2, 2, 0.5, 8),
}
"""Input, write, write at the long lifetime, read, output."""

SAME_ROW = {
    "claude-opus-5.5": "claude-opus-5-5",
    "claude-opus-5-5-20261101": "claude-opus-5-5",
    "claude-opus-5-20260801": "claude-opus-5",
    "claude-opus-5[1m]": "claude-opus-5",
    "anthropic/claude-opus-5": "claude-opus-5",
    "openrouter/anthropic/claude-opus-5:beta": "claude-opus-5",
    "Claude-Opus-5": "claude-opus-5",
    "anthropic.claude-opus-4-8-v1:0": "claude-opus-4-8",
    "claude-opus-4-1-20250805": "claude-opus-4-20250514",
    "us.anthropic.claude-sonnet-4-20250514-v1:0": "claude-sonnet-4-20250514",
    "bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0": "claude-haiku-4-5",
    "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5-5-v1:0": "claude-opus-5-5",
    "claude-sonnet-4@20250514": "claude-sonnet-4-20250514",
    "openai/gpt-5.6": "gpt-5.6-sol",
    "ft:gpt-4o-2024-08-06:somebody::x": "gpt-4o",
    "gpt-5-2025-08-07": "gpt-5",
    "o3-2025-04-16": "o3",
    "deepseek/deepseek-v4-flash": "deepseek-v4-flash",
    "us.deepseek.v3-v1:0": "deepseek-v4-pro",
    "dashscope/qwen3.7-max": "qwen3.7-max",
    "models/gemini-3.1-pro-preview": "gemini-3.1-pro",
    "minimax/MiniMax-M3": "minimax-m3",
    "z-ai/glm-5.3": "glm-5.3",
    "moonshotai/kimi-k3": "kimi-k3",
    "x-ai/grok-4.7": "grok-4.7",
    "ollama_chat/qwen3": "ollama/llama3",
    "": "somebodys-model",
    "openrouter/": "somebodys-model",
}
OTHER_ROW = [
    ("claude-opus-5", "claude-opus-5-5"),
    ("claude-opus-5", "claude-opus-4-1-20250805"),
    ("claude-opus-4-20250514", "claude-opus-4-5"),
    ("claude-sonnet-4-20250514", "claude-sonnet-4-6"),
    ("claude-fable-5", "claude-fable-5-1"),
    ("gpt-5.5", "gpt-5.6"),
    ("gpt-5", "gpt-5.2"),
    ("gpt-4o", "gpt-4o-mini"),
    ("ollama/qwen3", "qwen3"),
]


@pytest.mark.parametrize("model", PRICES)
def test_prices_of_known_models(model):
    """Each model has its own figures."""
    row = CATALOG.row(model)
    assert (row.input, row.write, row.write_long, row.read, row.output) == PRICES[model]


@pytest.mark.parametrize("model", SAME_ROW)
def test_spellings_of_one_model(model):
    """Dates, routes, regions, vendors and upper case lead to the same row."""
    assert CATALOG.row(model) is CATALOG.row(SAME_ROW[model])


@pytest.mark.parametrize(("model", "other"), OTHER_ROW)
def test_names_that_look_alike(model, other):
    """A name that begins like another's is another model."""
    assert CATALOG.row(model) is not CATALOG.row(other)


@pytest.mark.parametrize("model", ["somebodys-model", "", "xclaude-opus-5", "gpt", "/", "."])
def test_a_name_that_nobody_knows_has_the_default(model):
    """The last row is for all of them."""
    assert CATALOG.row(model) is CATALOG.model[-1]
    assert CATALOG.row(model).profile(model).name == (model or "unknown")


@pytest.mark.parametrize(
    ("model", "thinking", "binds", "prefill"),
    [
        ("claude-fable-5-1", Thinking.ADAPTIVE, True, False),
        ("claude-opus-5-5", Thinking.ADAPTIVE, True, False),
        ("claude-sonnet-5-5", Thinking.ADAPTIVE, True, False),
        ("claude-haiku-5-5", Thinking.ADAPTIVE, True, False),
        ("claude-opus-9", Thinking.ADAPTIVE, True, False),
        ("claude-opus-5", Thinking.ADAPTIVE, False, False),
        ("claude-sonnet-5", Thinking.ADAPTIVE, False, False),
        ("claude-opus-4-8", Thinking.ADAPTIVE, False, False),
        ("claude-opus-4-7", Thinking.ADAPTIVE, False, False),
        ("claude-opus-4-6", Thinking.ADAPTIVE, False, False),
        ("claude-sonnet-4-6", Thinking.ADAPTIVE, False, False),
        ("claude-opus-4-5", Thinking.MANUAL, False, True),
        ("claude-sonnet-4-5", Thinking.MANUAL, False, True),
        ("claude-haiku-4-5", Thinking.MANUAL, False, True),
        ("claude-opus-4-1-20250805", Thinking.MANUAL, False, True),
        ("claude-3-7-sonnet-20250219", Thinking.MANUAL, False, True),
        ("claude-3-5-sonnet-20241022", Thinking.NONE, False, True),
        ("claude-3-haiku-20240307", Thinking.NONE, False, True),
        ("claude-3-opus-20240229", Thinking.NONE, False, True),
        ("claude-2.1", Thinking.NONE, False, True),
        ("gpt-5.5", Thinking.NONE, False, True),
        ("somebodys-model", Thinking.MANUAL, False, True),
    ],
)
def test_profiles(model, thinking, binds, prefill):
    """What a model's provider allows and binds; a Claude model newer than the file has the strictest rules."""
    wanted = Profile(name=model, thinking=thinking, binds_prefix=binds, allows_prefill=prefill)
    assert CATALOG.row(model).profile(model) == wanted


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5", 512),
        ("claude-fable-5-1", 512),
        ("claude-opus-4-8", 1024),
        ("claude-sonnet-5", 1024),
        ("claude-sonnet-4-6", 1024),
        ("claude-sonnet-4-5", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-opus-4-6", 4096),
        ("claude-opus-4-5", 4096),
        ("claude-haiku-4-5", 4096),
        ("gemini-3.1-pro", 4096),
        ("gemini-3.8-flash", 1024),
        ("gpt-5.6", 1024),
    ],
)
def test_smallest_cached_prefix(model, minimum):
    """It does not grow with the model's age or size."""
    assert CATALOG.row(model).minimum == minimum


@pytest.mark.parametrize(
    ("model", "lifetime", "kind"),
    [
        ("claude-opus-5", 300, LifetimeIs.MAXIMUM),
        ("gpt-5.5", 3600, LifetimeIs.MAXIMUM),
        ("gpt-5.6", 1800, LifetimeIs.MINIMUM),
        ("gpt-6-sol", 1800, LifetimeIs.MINIMUM),
        ("deepseek-v4-pro", 3600, LifetimeIs.MAXIMUM),
    ],
)
def test_lifetimes(model, lifetime, kind):
    """How long an entry lives unused, and in which sense."""
    row = CATALOG.row(model)
    assert (row.lifetime, row.lifetime_is) == (lifetime, kind)


def test_every_row_is_sound():
    """Reading costs no more than input, input no more than writing, and every row has its source."""
    for row in CATALOG.model:
        assert row.read <= row.input <= row.write <= row.write_long, row.pattern
        assert row.source, row.pattern


def test_no_pattern_stands_twice():
    """The second one would never be reached."""
    patterns = [row.pattern for row in CATALOG.model]
    assert len(patterns) == len(set(patterns))


@settings(deadline=None)
@given(st.text(max_size=40))
def test_every_name_has_a_row(model):
    """Whatever a client writes as its model."""
    assert CATALOG.row(model) in CATALOG.model


def test_the_smallest_file():
    """One row for every name, with the conservative profile."""
    catalog = read_catalog(FILE.encode())
    assert catalog.dated == "2026-12-01"
    assert catalog.row("any").profile("any") == Profile(name="any")


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (FILE.replace("read = 0.3\n", ""), r"missing required field `read`.*\$\.model\[0\]"),
        (FILE.replace("read = 0.3", "read = 0"), r"> 0.*\$\.model\[0\]\.read"),
        (FILE.replace("read = 0.3", "read = nan"), r"> 0.*\$\.model\[0\]\.read"),
        (FILE.replace("write = 3.75", 'write = "3"'), r"Expected `float`, got `str`.*write"),
        (FILE.replace("lifetime = 300", "lifetime = 1.5"), r"Expected `int`, got `float`.*lifetime"),
        (FILE.replace("maximum", "ever"), r"Invalid enum value 'ever'.*lifetime_is"),
        (FILE.replace("manual", "some"), r"Invalid enum value 'some'.*thinking"),
        (FILE + "colour = 1\n", "unknown field `colour`"),
        (FILE.replace('dated = "2026-12-01"\n', ""), "missing required field `dated`"),
        ('dated = "2026-12-01"\n', "missing required field `model`"),
        (FILE + ROW.replace('"*"', '"x*"'), 'must have the pattern "\\*"'),
        ('dated = "2026-12-01"\nmodel = []\n', 'must have the pattern "\\*"'),
        ("dated = ", "Invalid value"),
    ],
)
def test_a_broken_file_is_told(file, told):
    """A UsageError names the row and the figure, and what was expected."""
    with pytest.raises(UsageError, match=told):
        read_catalog(file.encode())


def test_bytes_that_are_no_text_are_told():
    """The file is UTF-8."""
    with pytest.raises(UsageError, match="utf-8"):
        read_catalog(b"\xff")
