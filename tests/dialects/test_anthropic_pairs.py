"""Turns, and the pairing of calls with results across them (A5 to A9, A11, A14, A15)."""

import pytest

from selfgc.dialects.anthropic_blocks import Reference, ServerEvent
from selfgc.dialects.anthropic_pairs import (
    pair_violations,
    rare_of,
    repeated_calls,
    server_violations,
    toolset_violations,
    turns_of,
)
from selfgc.dialects.anthropic_shape import Rare, Shape


def ask(*calls, **members):
    return Shape(1, "assistant", calls=calls, has_other=True, **members)


def answer(*results, **members):
    return Shape(1, "user", results=results, places=tuple(range(len(results))), **members)


def words(role="user"):
    return Shape(1, role, has_other=True)


EFFORT = Shape(1, "system", is_empty=True)
UNREADABLE = Shape(1)


def pairs(*shapes):
    return [
        (violation.rule, violation.path, violation.call_id) for violation in pair_violations(shapes, turns_of(shapes))
    ]


def test_neighbours_of_one_role_are_one_turn():
    """A2: system messages stand between without parting a turn."""
    shapes = [words(), words(), ask("a"), EFFORT, ask("b"), answer("a", "b"), UNREADABLE, UNREADABLE]
    assert turns_of(shapes) == [[0, 1], [2, 4], [5], [6, 7]]


def test_a_conversation_of_nothing_has_no_turns():
    """A1: neither messages nor anything but system messages make a turn."""
    assert turns_of([]) == []
    assert turns_of([EFFORT]) == []


@pytest.mark.parametrize(
    "shapes",
    [
        [words(), ask("a"), answer("a")],
        [words(), ask("a", "b"), answer("b", "a")],
        [words(), ask("a"), ask("b"), answer("b"), answer("a", has_other=True)],
        [words(), ask(), words()],
        [UNREADABLE, words()],
    ],
)
def test_complete_pairs_pass(shapes):
    """A5 to A7: each call has one result in the next turn, in any order."""
    assert pairs(*shapes) == []


@pytest.mark.parametrize(
    ("shapes", "told"),
    [
        ([words(), ask("a", "b"), answer("b")], [("A5", "messages.1", "a")]),
        ([words(), ask("a", "b")], [("A5", "messages.1", "a"), ("A5", "messages.1", "b")]),
        ([ask("a"), UNREADABLE], [("A5", "messages.0", "a")]),
        ([words(), ask(), answer("a")], [("A6", "messages.2.content.0", "a")]),
        ([answer("a")], [("A6", "messages.0.content.0", "a")]),
        ([UNREADABLE, answer("a")], [("A6", "messages.1.content.0", "a")]),
        ([ask("a"), answer("a"), answer("a")], [("A7", "messages.2.content.0", "a")]),
        ([ask("a", "a"), answer("a", "a")], [("A7", "messages.1.content.1", "a")]),
        ([ask("a"), words(), answer("a")], [("A9", "messages.2.content.0", "")]),
        ([ask(rare=Rare(has_fallback=True)), answer("a")], [("A14", "messages.1.content.0", "a")]),
        ([ask(rare=Rare()), answer("a")], [("A6", "messages.1.content.0", "a")]),
    ],
)
def test_broken_pairs_are_told(shapes, told):
    """A5, A6, A7, A9, A14: where, and which call."""
    assert pairs(*shapes) == told


def test_an_id_on_two_calls_is_told_at_the_second():
    """A8: unique over the whole request."""
    (violation,) = repeated_calls([ask("a"), ask("b"), ask("a")])
    assert (violation.rule, violation.message, violation.call_id) == ("A8", 2, "a")
    assert repeated_calls([ask("a"), ask("b")]) == []


def test_a_result_keeps_the_toolset_of_its_call():
    """A11: another name is told at the result."""
    asked, same, other = (Rare(toolsets=(Reference("content.0", "a", name),)) for name in ("t", "t", "u"))
    assert toolset_violations([(0, asked), (1, same)]) == []
    (violation,) = toolset_violations([(0, asked), (1, other)])
    assert (violation.rule, violation.path) == ("A11", "messages.1.content.0")


CALLED = Rare("server_tool_use", "server_tool_use", server=(ServerEvent(0, "s", ""),))
RETURNED = Rare("web_search_tool_result", "text", server=(ServerEvent(0, "s", "web_search_tool_result"),))


def server(*shapes):
    found, still_open = server_violations(shapes, turns_of(shapes))
    return [(violation.rule, violation.message, violation.call_id) for violation in found], still_open


def test_a_server_call_is_answered_in_its_family():
    """A15: at once, or after results of client tools alone."""
    assert server(words(), ask(rare=CALLED), ask(rare=RETURNED), words()) == ([], set())
    assert server(ask("a", rare=CALLED), answer("a"), ask(rare=RETURNED)) == ([], set())


def test_a_paused_turn_leaves_its_call_open():
    """A15: nothing but results of client tools has come since."""
    assert server(ask("a", rare=CALLED), answer("a")) == ([], {"s"})


def test_a_server_call_is_not_left_behind():
    """A15: user input ends the family, and a result may not come afterwards."""
    assert server(ask(rare=CALLED), words(), ask(rare=RETURNED)) == ([("A15", 0, "s"), ("A15", 2, "s")], set())


def test_messages_with_something_rare_are_picked_out():
    """Most messages have nothing rare and are never looked at twice."""
    assert rare_of([words(), ask(rare=CALLED)]) == [(1, CALLED)]
