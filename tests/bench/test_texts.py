"""The texts of decoded messages, in both forms that the judge reads."""

import json

import pytest

from selfgc.bench.texts import (
    Leaf,
    Source,
    has_call,
    has_result,
    has_text,
    leaves,
    normal,
    raw_text,
    searchable,
    view_text,
)


def user(*content):
    return {"role": "user", "content": list(content)}


def text(words):
    return {"type": "text", "text": words}


def call(name, arguments):
    return {"type": "tool_use", "id": "c1", "name": name, "input": arguments}


def result(content):
    return {"type": "tool_result", "tool_use_id": "c1", "content": content}


def chat_call(name, arguments):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_anthropic_blocks_give_their_texts_in_order():
    """Thinking, prose and the arguments of a call come out in the order of the blocks."""
    message = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            text("I look."),
            call("Read", {"file_path": "a.py", "range": [1, 2.5], "whole": True, "more": {"deep": "x"}, "none": None}),
        ],
    }
    assert list(leaves(message)) == [
        Leaf(Source.THINKING, "hm"),
        Leaf(Source.PROSE, "I look."),
        Leaf(Source.ARGUMENT, "a.py", "Read", "file_path"),
        Leaf(Source.ARGUMENT, "1", "Read", "range"),
        Leaf(Source.ARGUMENT, "2.5", "Read", "range"),
        Leaf(Source.ARGUMENT, "x", "Read", "deep"),
    ]


@pytest.mark.parametrize("content", ["out", [text("out"), {"type": "image", "source": {"data": "AAAA"}}]])
def test_results_are_results_in_both_shapes(content):
    """A result's text is found as a string and in blocks; an image in it is passed over."""
    assert list(leaves(user(result(content)))) == [Leaf(Source.RESULT, "out")]


def test_chat_form_gives_the_same_leaves():
    """Chat messages: reasoning, prose, arguments out of their JSON text, and a tool message as a result."""
    message = {
        "role": "assistant",
        "reasoning_content": "hm",
        "content": "I look.",
        "tool_calls": [chat_call("read", json.dumps({"path": "a\nb"}))],
    }
    answer = {"role": "tool", "tool_call_id": "c1", "content": "out"}
    assert list(leaves(message)) == [
        Leaf(Source.THINKING, "hm"),
        Leaf(Source.PROSE, "I look."),
        Leaf(Source.ARGUMENT, "a\nb", "read", "path"),
    ]
    assert list(leaves(answer)) == [Leaf(Source.RESULT, "out")]


def test_arguments_that_are_no_json_stand_for_themselves():
    """A broken arguments text is one leaf without a key; a call without a function gives nothing."""
    calls = [chat_call("run", "{broken"), chat_call("run", {"cmd": "ls"}), {"type": "custom"}]
    found = list(leaves({"role": "assistant", "content": None, "tool_calls": calls}))
    assert [(leaf.key, leaf.text) for leaf in found] == [("", "{broken"), ("cmd", "ls")]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_system_messages_have_their_own_source(role):
    """What a system or developer message says is neither the user's nor the agent's."""
    assert [leaf.source for leaf in leaves({"role": role, "content": "rules"})] == [Source.SYSTEM]


def test_empty_thinking_gives_nothing():
    """A redacted or empty thinking block holds no text."""
    content = [{"type": "thinking", "thinking": ""}, {"type": "redacted_thinking", "data": "zz"}]
    assert list(leaves({"role": "assistant", "content": content})) == []


def test_a_view_is_matched_in_one_spelling():
    """The view's text is NFKC with collapsed white space, one leaf a line; the raw text is as it came."""
    message = user(text("１２３\u00a0 abc\n\tdef"), text("ﬁn"))
    assert view_text([message]) == "123 abc def\nfin"
    assert raw_text(message) == "１２３\u00a0 abc\n\tdef\nﬁn"
    assert normal("plain") == "plain"


def test_claims_about_messages():
    """A message has text, a result or a call when its own blocks say so."""
    assert has_text(user(text("x")))
    assert not has_text(user(text("  "), result("x")))
    assert has_result(user(result("x")))
    assert has_result({"role": "tool", "content": "x"})
    assert not has_result(user(text("x")))
    assert has_call({"role": "assistant", "content": [call("a", {})]})
    assert has_call({"role": "assistant", "content": None, "tool_calls": [chat_call("a", "{}")]})
    assert not has_call({"role": "assistant", "content": "x"})


def test_long_lines_stay_when_they_are_json_or_prose():
    """Others are nothing that anybody reads; short texts stay as they are."""
    packed, prose, data = "x" * 3_000, "some words " * 300, "[" + "1," * 2_000 + "1]"
    assert searchable(f"a\n{packed}\n{prose}\n{data}") == f"a\n{prose}\n{data}"
    assert searchable("a\nb") == "a\nb"
