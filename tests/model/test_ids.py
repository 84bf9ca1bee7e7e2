"""Ids and the allocator: structure in, monotonic numbers out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfgc.model.ids import ID_PATTERN, Allocator, ObjectId, ObjectKind, kind_of, number_of, safe_name


@pytest.mark.parametrize(
    ("object_id", "kind", "number"),
    [
        ("conversation:user:1", ObjectKind.CONVERSATION, 1),
        ("function:Read:12", ObjectKind.FUNCTION, 12),
        ("function:mcp__files__read.v2:3", ObjectKind.FUNCTION, 3),
        ("skill:pdf-forms:40", ObjectKind.SKILL, 40),
    ],
)
def test_an_id_tells_its_kind_and_number(object_id, kind, number):
    """Both ends of an id can be read back."""
    assert ID_PATTERN.fullmatch(object_id)
    assert (kind_of(ObjectId(object_id)), number_of(ObjectId(object_id))) == (kind, number)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "function:Read",
        "function:Read:0",
        "function:Read:01",
        "function:Read:-1",
        "function::1",
        "function:a b:1",
        "function:Read:12345678901",
        "assistant:text:1",
        "Function:Read:1",
        "function:" + "a" * 65 + ":1",
        "function:Read:1\n",
        " function:Read:1",
    ],
)
def test_what_is_no_id_does_not_match(text):
    """Numbers start at 1 without leading zeros, names are short and plain, kinds are three."""
    assert ID_PATTERN.fullmatch(text) is None


def test_turns_and_spans_are_numbered_apart():
    """The first turn and the first span are both number 1."""
    turn, allocator = Allocator().turn()
    span, allocator = allocator.span(ObjectKind.FUNCTION, "Read")
    second, allocator = allocator.turn()
    assert (turn, span, second) == ("conversation:user:1", "function:Read:1", "conversation:user:2")
    assert allocator == Allocator(3, 2)


def test_skills_share_the_numbers_of_spans():
    """No two of `function:…` and `skill:…` have one number."""
    first, allocator = Allocator().span(ObjectKind.FUNCTION, "Bash")
    second, _ = allocator.span(ObjectKind.SKILL, "pdf")
    assert (first, second) == ("function:Bash:1", "skill:pdf:2")


def test_an_allocator_is_a_value():
    """Giving an id leaves the allocator that gave it as it was."""
    allocator = Allocator()
    allocator.turn()
    assert allocator == Allocator(1, 1)


@pytest.mark.parametrize(
    ("known", "after"),
    [
        ("conversation:user:5", Allocator(6, 3)),
        ("conversation:user:1", Allocator(2, 3)),
        ("function:Read:9", Allocator(2, 10)),
        ("skill:pdf:9", Allocator(2, 10)),
        ("function:Read:1", Allocator(2, 3)),
    ],
)
def test_past_an_id_its_number_is_never_given_again(known, after):
    """Numbers only grow, also when a store brings old ids."""
    assert Allocator(2, 3).past(ObjectId(known)) == after


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("Read", "Read"),
        ("mcp__server__do.it-now", "mcp__server__do.it-now"),
        ("my tool", "my_tool"),
        ("a:b/c", "a_b_c"),
        ("über", "_ber"),
        ("", "_"),
        ("x" * 100, "x" * 64),
        ("a\nb", "a_b"),
    ],
)
def test_a_name_in_an_id_is_short_and_plain(name, safe):
    """Whatever a tool is called, its id has three fields."""
    assert safe_name(name) == safe


@given(st.text(), st.integers(1, 10**9), st.sampled_from([ObjectKind.FUNCTION, ObjectKind.SKILL]))
def test_every_id_given_is_of_the_published_form(name, number, kind):
    """No tool name can break the form of an id."""
    taken, _ = Allocator(next_span=number).span(kind, name)
    assert ID_PATTERN.fullmatch(taken)
    assert (kind_of(taken), number_of(taken)) == (kind, number)
