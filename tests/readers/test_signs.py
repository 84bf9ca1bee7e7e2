"""Telling the two dialects apart."""

import json

import pytest

from selfgc.readers.signs import dialect_of


def dialect(*messages, **fields):
    return dialect_of(
        [json.dumps(m).encode() for m in messages], {k: json.dumps(v).encode() for k, v in fields.items()}
    )


HELLO = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "developer", "content": "x"},
        {"role": "function", "name": "f", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": None, "function_call": {}},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "user", "content": [{"type": "input_audio"}]},
    ],
)
def test_messages_of_chat(message):
    """What only Chat can hold decides, even beside a member that is Anthropic's."""
    assert dialect(HELLO, message, system="s", model="claude-x") == "chat"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "c", "name": "n", "input": {}},
        {"type": "tool_result", "tool_use_id": "c"},
        {"type": "thinking", "thinking": "x"},
        {"type": "image", "source": {}},
        {"type": "web_search_tool_result"},
    ],
)
def test_blocks_of_anthropic(block):
    """What only Anthropic knows decides, even beside a member that is Chat's."""
    assert dialect(HELLO, {"role": "user", "content": [block]}, max_completion_tokens=1, model="gpt-5") == "anthropic"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"system": "s"}, "anthropic"),
        ({"stop_sequences": []}, "anthropic"),
        ({"tools": [{"name": "t", "input_schema": {}}]}, "anthropic"),
        ({"max_completion_tokens": 1}, "chat"),
        ({"response_format": {}}, "chat"),
        ({"tools": [{"type": "function", "function": {"name": "t"}}]}, "chat"),
        ({"model": "gpt-4o"}, "chat"),
        ({"model": "openai/o3-mini"}, "chat"),
        ({"model": "claude-sonnet-4-5"}, "anthropic"),
        ({"model": "us.anthropic.claude-opus-4"}, "anthropic"),
        ({"model": "some-model"}, "anthropic"),
        ({"model": 3, "tools": "none"}, "anthropic"),
        ({"tools": [3]}, "anthropic"),
        ({}, "anthropic"),
    ],
)
def test_plain_strings(fields, expected):
    """Messages of plain text leave it to the other members, and without a sign it is Anthropic's."""
    assert dialect(HELLO, **fields) == expected


def test_system_message():
    """A first message with the role system is Chat's; one in the middle says nothing."""
    assert dialect({"role": "system", "content": "s"}, HELLO) == "chat"
    assert dialect(HELLO, {"role": "system", "content": "s"}) == "anthropic"


def test_odd_content():
    """Content that no dialect knows is passed over."""
    assert dialect(HELLO, {"role": "user", "content": ["x", {"type": 3}]}, {"role": "user"}) == "anthropic"
    assert dialect_of([rb'{"role":"user","content":[{"type":"text","text":"\ud83d"}]}'], {}) == "anthropic"
