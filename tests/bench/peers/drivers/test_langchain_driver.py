"""The LangChain driver: conversion there and back, and its dial, over a stand-in for the package."""

import pytest
from hypothesis import given

from peer_stand_ins import agent, conversations, installed, langchain, prefix, step, user
from selfgc.bench.peers.drivers.exchange import Request
from selfgc.bench.peers.drivers.langchain_driver import carry_back, govern, pieces_of
from selfgc.bench.peers.drivers.prefix import share_removed


def same(messages, governed):
    return all(old is new for old, new in zip(messages, governed, strict=True))


def results(governed):
    blocks = [block for message in governed if isinstance(message["content"], list) for block in message["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


@given(conversations())
def test_conversion_there_and_back_is_exact(messages):
    """What the middleware leaves alone is the very object that came, whatever blocks it has."""
    assert same(messages, carry_back(messages, pieces_of(messages), pieces_of(messages)))
    with installed(langchain()):
        assert same(messages, govern(Request({}, messages)).messages)


@given(conversations())
def test_only_results_change_when_results_are_cleared(messages):
    """Their call ids, flags and places stay, and so does every other block."""
    with installed(langchain(trigger=-1)):
        governed = govern(Request({}, messages)).messages
    for old, new in zip(messages, governed, strict=True):
        if isinstance(old["content"], str):
            assert new is old
            continue
        for before, after in zip(old["content"], new["content"], strict=True):
            assert after in (before, {**before, "content": "[cleared]"})


def test_results_stand_before_what_else_the_user_says():
    """That is how LangChain splits a message; a message with nothing in it is one as well."""
    message = {"role": "user", "content": [{"type": "text", "text": "and"}, step("a")[1]["content"][0]]}
    pieces = pieces_of([message, {"role": "user", "content": []}])
    assert [(piece.id, piece.role) for piece in pieces] == [("0.1", "tool"), ("0.-1", "user"), ("1.-1", "user")]


def test_the_defaults_keep_the_newest_three():
    """So the package has it, once its trigger is passed."""
    with installed(langchain(trigger=0)):
        governed = govern(Request({}, prefix(6)))
    assert results(governed.messages) == ["[cleared]"] * 4 + ["ok " * 40] * 3
    assert governed.payloads == {}


def test_the_dial_clears_as_few_results_as_reach_the_rate():
    """The oldest first; one less would not do."""
    request = Request({}, prefix(6), rate=0.4)
    with installed(langchain()):
        governed = govern(request)
    cleared = results(governed.messages).count("[cleared]")
    assert share_removed(request, governed.messages) >= 0.4
    assert (cleared, governed.notes) == (4, ("trigger=0, keep=3, clear_tool_inputs=False",))


def test_arguments_are_cleared_where_results_do_not_do():
    """As its `clear_tool_inputs` does; the block keeps its id and name."""
    calls = [message for n in range(4) for message in step(f"c{n}", "ok", "x" * 100)]
    request = Request({}, [user("one"), *calls, user("two"), agent("a")], rate=0.4)
    with installed(langchain()):
        governed = govern(request).messages
    assert governed[1]["content"][1] == {"type": "tool_use", "id": "c0", "name": "run", "input": {}}
    assert governed[7] is request.messages[7]
    assert share_removed(request, governed) >= 0.4


def test_messages_that_come_back_in_another_order_are_an_error():
    """An edit that cannot be told from another is not carried back."""
    with installed(langchain(rename=True)), pytest.raises(RuntimeError, match="got another"):
        govern(Request({}, prefix(1)))
