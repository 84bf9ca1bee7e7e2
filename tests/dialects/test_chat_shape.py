"""Shapes of Chat Completions messages: what is kept of a message, and what is wrong with it alone."""

import json

import pytest

from selfgc.dialects.chat_shape import shape

TEXT = {"type": "text", "text": "words"}


def call(call_id="a", name="read", arguments='{"path": "a"}', **members):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **members}


def shaped(**message):
    return shape(json.dumps(message).encode())


def calling(*calls, **members):
    return shaped(role="assistant", content=None, tool_calls=list(calls), **members)


def rules(one):
    return [violation.rule for violation in one.violations]


ACCEPTED = {
    "C3 a call": {"role": "assistant", "content": None, "tool_calls": [call()]},
    "C3 an id of 40 characters": {"role": "assistant", "tool_calls": [call("x" * 40)]},
    "C3 a name of 64 characters": {"role": "assistant", "tool_calls": [call(name="a" * 64)]},
    "C3 cleared arguments": {"role": "assistant", "tool_calls": [call(arguments="{}")]},
    "C3 no type": {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": "{}"}}]},
    "C3 a custom call": {
        "role": "assistant",
        "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "x", "input": "any"}}],
    },
    "C3 a call of a new type": {"role": "assistant", "tool_calls": [{"id": "a", "type": "new"}]},
    "C4 text": {"role": "assistant", "content": "words"},
    "C4 empty text": {"role": "assistant", "content": ""},
    "C4 text beside calls": {"role": "assistant", "content": "words", "tool_calls": [call()]},
    "C4 refusal": {"role": "assistant", "content": None, "refusal": "no"},
    "C4 audio": {"role": "assistant", "audio": {"id": "x"}},
    "C4 legacy call": {"role": "assistant", "content": None, "function_call": {"name": "x", "arguments": "{}"}},
    "C4 members that are null": {"role": "assistant", "content": "x", "tool_calls": None, "function_call": None},
    "C4 parts": {"role": "user", "content": [TEXT, {"type": "image_url", "image_url": {"url": "u"}}, {"type": "new"}]},
    "C5 system": {"role": "system", "content": "words"},
    "C5 developer": {"role": "developer", "content": [TEXT]},
    "C6 text": {"role": "tool", "tool_call_id": "a", "content": ""},
    "C6 text parts": {"role": "tool", "tool_call_id": "a", "content": [TEXT, TEXT]},
    "C7 extras": {"role": "assistant", "content": "x", "reasoning_content": "r", "reasoning_details": [1], "x": {}},
    "C8 legacy answer": {"role": "function", "name": "x", "content": "done"},
    "C8 legacy answer of nothing": {"role": "function", "name": "x", "content": None},
}


@pytest.mark.parametrize("message", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_message_that_keeps_its_rule_passes(message):
    """Messages as the provider defines them have no violation."""
    assert rules(shaped(**message)) == []


REFUSED = {
    "C3 no id": {"role": "assistant", "tool_calls": [call("")]},
    "C3 an id of 41 characters": {"role": "assistant", "tool_calls": [call("x" * 41)]},
    "C3 an id that is no string": {"role": "assistant", "tool_calls": [call(7)]},
    "C3 a call that is no object": {"role": "assistant", "tool_calls": ["a"]},
    "C3 a name of 65 characters": {"role": "assistant", "tool_calls": [call(name="a" * 65)]},
    "C3 an odd name": {"role": "assistant", "tool_calls": [call(name="a.b")]},
    "C3 no name": {"role": "assistant", "tool_calls": [call(name=None)]},
    "C3 arguments as an object": {"role": "assistant", "tool_calls": [call(arguments={})]},
    "C3 arguments cut": {"role": "assistant", "tool_calls": [call(arguments='{"path": "a')]},
    "C3 no function": {"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]},
    "C3 no custom input": {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "x"}}]},
    "C3 legacy arguments": {"role": "assistant", "function_call": {"name": "x", "arguments": {}}},
    "C3 legacy call no object": {"role": "assistant", "content": "x", "function_call": "x"},
    "C3 no tool_call_id": {"role": "tool", "content": "x"},
    "C3 long tool_call_id": {"role": "tool", "tool_call_id": "x" * 41, "content": "x"},
    "C4 nothing": {"role": "assistant", "content": None},
    "C4 empty calls": {"role": "assistant", "content": "x", "tool_calls": []},
    "C4 calls no list": {"role": "assistant", "content": "x", "tool_calls": {}},
    "C4 user null": {"role": "user", "content": None},
    "C4 user without content": {"role": "user"},
    "C4 no parts": {"role": "user", "content": []},
    "C4 a part that is no object": {"role": "user", "content": ["x"]},
    "C4 a part without type": {"role": "system", "content": [{"text": "x"}]},
    "C4 a text part without text": {"role": "user", "content": [{"type": "text"}]},
    "C4 content of another type": {"role": "assistant", "content": 3},
    "C4 legacy answer": {"role": "function", "name": "x", "content": 3},
    "C5 role": {"role": "model", "content": "x"},
    "C5 role no string": {"role": [], "content": "x"},
    "C5 no role": {"content": "x"},
    "C6 null": {"role": "tool", "tool_call_id": "a", "content": None},
    "C6 no parts": {"role": "tool", "tool_call_id": "a", "content": []},
    "C6 image": {"role": "tool", "tool_call_id": "a", "content": [TEXT, {"type": "image_url"}]},
    "C6 a part that is no object": {"role": "tool", "tool_call_id": "a", "content": ["x"]},
    "C8 no name": {"role": "function", "content": "x"},
    "C9 one id twice": {"role": "assistant", "tool_calls": [call(), call()]},
}


@pytest.mark.parametrize(("name", "message"), REFUSED.items(), ids=REFUSED.keys())
def test_a_message_that_breaks_its_rule_is_found(name, message):
    """What the provider refuses in a message is found under the rule's number."""
    assert name.split()[0] in rules(shaped(**message))


@pytest.mark.parametrize(
    ("raw", "rule"),
    [(b"", "V7"), (b'{"role":"user","content":"\xff"}', "V7"), (b"[]", "C5"), (b"null", "C5"), (b"NaN", "V7")],
)
def test_what_is_no_message_has_no_role(raw, rule):
    """C5, V7: it is told once, and the shape is empty."""
    one = shape(raw)
    assert (one.role, rules(one)) == ("", [rule])


def test_a_lone_surrogate_does_not_hide_the_ids():
    """V7: the message is told broken, and pairing still works; arguments that hold one are JSON all the same."""
    one = shape(b'{"role":"tool","tool_call_id":"a","content":"\\ud83d"}')
    assert (rules(one), one.answers) == (["V7"], "a")
    assert rules(calling(call(arguments='{"a": "\ud83d"}'))) == ["V7"]


def test_what_pairing_needs_is_kept():
    """C1, C8: ids of calls in order, the id answered, the legacy name, and the size."""
    assert calling(call("a"), call("b")).calls == ("a", "b")
    assert shaped(role="tool", tool_call_id="b", content="x").answers == "b"
    assert shaped(role="assistant", function_call={"name": "x", "arguments": "{}"}).function == "x"
    assert shaped(role="assistant", content="x", function_call={"name": 3}).function == ""
    assert shaped(role="function", name="x", content="x").function == "x"
    assert shape(b'{"role":"user","content":"x"}').size == 29


def test_violations_of_a_call_tell_its_place():
    """C3: the path leads to the arguments, the call id goes with it."""
    (violation,) = calling(call("a"), call("b", arguments="{")).violations
    assert (violation.path, violation.call_id) == ("tool_calls.1.function.arguments", "b")
