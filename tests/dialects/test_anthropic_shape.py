"""Shapes of Anthropic messages: what is kept of a message, and what is wrong with it alone."""

import json

import pytest

from selfgc.dialects.anthropic_shape import Rare, shape

TEXT = {"type": "text", "text": "words"}
CALL = {"type": "tool_use", "id": "a", "name": "x", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "done"}


def shaped(role, content, **members):
    return shape(json.dumps({"role": role, "content": content, **members}).encode())


def rules(one):
    return [violation.rule for violation in one.violations]


def test_an_ordinary_message_has_ids_and_nothing_rare():
    """The common case is small: ids, places, flags."""
    one = shaped("assistant", [TEXT, CALL])
    assert (one.role, one.calls, one.results, one.has_other, one.rare) == ("assistant", ("a",), (), True, None)
    one = shaped("user", [RESULT])
    assert (one.results, one.places, one.has_other, one.rare, one.violations) == (("a",), (0,), False, None, ())


def test_the_size_is_the_message_in_bytes():
    """A32: the shape carries what the size rule adds up."""
    raw = '{"role":"user","content":"é"}'.encode()
    assert shape(raw).size == len(raw)


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "A33"),
        (b'{"role":"user","content":"\xff"}', "A33"),
        (b'{"role":"user","content":NaN}', "A33"),
        (b"[]", "A2"),
        (b"null", "A2"),
        (b'"user"', "A2"),
        (b'{"content":"x"}', "A2"),
        (b'{"role":"tool","content":"x"}', "A2"),
        (b'{"role":["user"],"content":"x"}', "A2"),
    ],
)
def test_what_is_no_message_has_no_role(raw, rule):
    """A2, A33: it is told once, and the shape is empty."""
    one = shape(raw)
    assert (one.role, rules(one)) == ("", [rule])


@pytest.mark.parametrize("content", [None, 3, {}, {"type": "text"}, True])
def test_content_is_a_string_or_a_list(content):
    """A29: any other content is refused."""
    assert rules(shaped("user", content)) == ["A29"]


def test_missing_content_is_refused():
    """A29: a user message without the member has nothing to say."""
    assert rules(shape(b'{"role":"user"}')) == ["A29"]


@pytest.mark.parametrize("content", ["", []])
def test_empty_content_is_left_to_the_rules_over_messages(content):
    """A29: a final assistant message may be empty, so that the shape only notes it."""
    one = shaped("assistant", content)
    assert (one.is_empty, one.has_other, one.violations) == (True, False, ())


def test_white_space_is_no_text():
    """A29: a string of white space is refused as content."""
    assert rules(shaped("user", " \n")) == ["A29"]


def test_a_lone_surrogate_does_not_hide_the_ids():
    """A33: the message is told broken, and pairing still works."""
    one = shape(b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"\\ud83d"}]}')
    assert (rules(one), one.results) == (["A33"], ("a",))


@pytest.mark.parametrize(
    ("content", "ends"),
    [("so ", True), ("so", False), ([TEXT], False), ([TEXT | {"text": "a\n"}], True), ([TEXT, CALL], False)],
)
def test_trailing_white_space_is_noted(content, ends):
    """A4: needed when the message turns out to be the last."""
    assert shaped("assistant", content).ends_with_space is ends


@pytest.mark.parametrize(
    ("kind", "members"), [("thinking", {"thinking": "t", "signature": "s"}), ("redacted_thinking", {"data": "d"})]
)
def test_leading_thinking_is_noted(kind, members):
    """A24: only thinking in the first place counts."""
    block = {"type": kind, **members}
    assert shaped("assistant", [block, CALL]).starts_with_thinking
    assert not shaped("assistant", [TEXT, block]).starts_with_thinking


@pytest.mark.parametrize(
    ("content", "members"),
    [
        ([TEXT], {}),
        ("words", {"clear_at": "never"}),
        ([TEXT], {"clear_at": "next_user_message"}),
        ([], {"output_config": {"effort": "low"}}),
        (None, {"output_config": {"effort": "low"}}),
        ([{"type": "tool_addition"}, {"type": "tool_removal"}, {"type": "new"}], {}),
    ],
)
def test_system_messages_that_pass(content, members):
    """A3: text, tool changes, or an effort alone."""
    assert rules(shaped("system", content, **members)) == []


@pytest.mark.parametrize(
    ("content", "members"),
    [
        ([], {}),
        ("", {"output_config": None}),
        (None, {}),
        ([TEXT], {"clear_at": "tomorrow"}),
        ([TEXT], {"clear_at": ["never"]}),
        ([{"type": "image", "source": {"type": "url", "url": "u"}}], {}),
    ],
)
def test_system_messages_that_are_refused(content, members):
    """A3: neither content nor effort, an unknown lifetime, a block that instructs nothing."""
    assert rules(shaped("system", content, **members)) == ["A3"]


def test_clear_at_belongs_to_system_messages():
    """A3: on any other message it is refused."""
    assert rules(shaped("user", "words", clear_at="never")) == ["A3"]


def test_blocks_of_odd_types_never_raise():
    """A29: a block whose type is no string is told, in a system message too."""
    assert rules(shaped("system", [{"type": []}, 3])) == ["A29", "A29"]


def test_rare_things_are_kept_apart():
    """A1, A14: compaction in front and a fallback are noted with the first and last kind."""
    one = shaped("assistant", [{"type": "compaction", "content": "c"}, {"type": "fallback"}])
    assert one.rare == Rare("compaction", "fallback", has_fallback=True)
    assert shaped("user", [TEXT | {"cache_control": {"type": "ephemeral"}}]).rare.marks == (("content.0", "5m"),)
