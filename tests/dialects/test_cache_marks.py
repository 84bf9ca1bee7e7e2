"""Rule A30 over the whole request: how many cache markers, and in which order of lifetimes."""

import json

import pytest

from selfgc.dialects.anthropic_rules import check, shape
from selfgc.model.profile import Profile

SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}


def marked(marker=None):
    return {"type": "text", "text": "t"} | ({} if marker is None else {"cache_control": marker})


def tool(marker=None):
    return {"name": "x"} | ({} if marker is None else {"cache_control": marker})


def paths(*messages, **fields):
    """Where A30 is broken in a request of user messages with these blocks."""
    found = check(
        [shape(json.dumps({"role": "user", "content": blocks}).encode()) for blocks in messages],
        {key: json.dumps(value).encode() for key, value in fields.items()},
        Profile(),
    )
    assert {violation.rule for violation in found} <= {"A30"}
    return [(violation.path, violation.message) for violation in found]


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([[marked(SHORT)] * 4], {}),
        ([[marked(SHORT)], [marked(SHORT)]], {"tools": [tool(SHORT)], "system": [marked(SHORT)]}),
        ([[marked(SHORT)] * 3], {"cache_control": SHORT}),
        ([[marked(SHORT)] * 4], {"cache_control": None, "system": "text"}),
        ([[marked(LONG), marked(LONG)], [marked(SHORT)]], {}),
        ([[marked(SHORT)]], {"tools": [tool(LONG), tool()], "system": [marked(LONG), marked()]}),
        ([[marked(LONG)]], {"cache_control": SHORT}),
        ([[marked({"type": "ephemeral", "ttl": "2h"}), marked(LONG)]], {}),
    ],
)
def test_up_to_four_markers_with_lifetimes_that_do_not_grow_pass(messages, fields):
    """A30: four markers anywhere, long ones before short ones."""
    assert paths(*messages, **fields) == []


@pytest.mark.parametrize(
    ("messages", "fields", "path"),
    [
        ([[marked(SHORT)] * 5], {}, ("messages.0.content.4", 0)),
        ([[marked(SHORT)] * 3], {"tools": [tool(SHORT)], "system": [marked(SHORT)]}, ("messages.0.content.2", 0)),
        ([[marked(SHORT)] * 4], {"cache_control": SHORT}, ("cache_control", -1)),
        ([[marked()]], {"tools": [tool(SHORT)] * 5}, ("tools.4", -1)),
        ([[marked(SHORT)], [marked(LONG)]], {}, ("messages.1.content.0", 1)),
        ([[marked(LONG)]], {"system": [marked(SHORT)]}, ("messages.0.content.0", 0)),
        ([[marked()]], {"tools": [tool(SHORT)], "system": [marked(LONG)]}, ("system.0", -1)),
        ([[marked(SHORT)]], {"cache_control": LONG}, ("cache_control", -1)),
    ],
)
def test_a_fifth_marker_or_a_longer_lifetime_is_found(messages, fields, path):
    """A30: the first marker too many, and the first that outlives one before it."""
    assert paths(*messages, **fields) == [path]


def test_markers_inside_results_count():
    """A30: nested markers take slots as well."""
    asked = {"type": "tool_use", "id": "a", "name": "x", "input": {}}
    answer = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [marked(SHORT)] * 3,
        "cache_control": SHORT,
    }
    messages = [
        {"role": "user", "content": [marked(SHORT)]},
        {"role": "assistant", "content": [asked]},
        {"role": "user", "content": [answer]},
    ]
    found = check([shape(json.dumps(message).encode()) for message in messages], {}, Profile())
    assert [(violation.rule, violation.path) for violation in found] == [("A30", "messages.2.content.0")]
