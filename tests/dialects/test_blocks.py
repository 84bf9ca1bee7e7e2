"""What both dialects share: leaves of arguments, kinds of blocks, markers, digests."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfgc.dialects.blocks import (
    LONGEST_PATH,
    MAX_LEAVES,
    MEDIA_TOKENS,
    argument_text,
    canonical_digest,
    decoded_object,
    is_marked,
    items_of,
    kind_of_block,
    last_marker,
    marker_of,
    media_estimate,
    string_leaves,
    string_member,
    with_leaves,
)
from selfgc.model.wire import decode

SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
KEYS = st.text(alphabet="a.~01é", max_size=4)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.recursive(
    SCALARS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=5)


def wire(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def marked(block, marker=None):
    return block | {"cache_control": marker or SHORT}


# -- leaves ----------------------------------------------------------------------------------------------


def test_leaves_are_told_by_dotted_path_in_order():
    """Strings inside objects and lists have keys and places joined by dots."""
    value = {"path": "a", "n": 3, "edits": [{"old": "b", "new": "c"}, "d"], "deep": {"x": {"y": "e"}}}
    assert list(string_leaves(value).items()) == [
        ("path", "a"),
        ("edits.0.old", "b"),
        ("edits.0.new", "c"),
        ("edits.1", "d"),
        ("deep.x.y", "e"),
    ]


@pytest.mark.parametrize("value", ["text", 3, None, True, {}, [], [1, 2]])
def test_no_leaves_without_strings_inside(value):
    """A value that is no container, or holds no string, has no string leaves."""
    assert string_leaves(value) == {}


def test_a_dot_in_a_key_is_no_step():
    """`a.b` as one key and `b` inside `a` are two leaves, and each is replaced alone."""
    value = {"a.b": "flat", "a": {"b": "nested"}, "a~1b": "tilde"}
    leaves = string_leaves(value)
    assert leaves == {"a~1b": "flat", "a.b": "nested", "a~01b": "tilde"}
    assert decode(with_leaves(wire(value), {"a.b": "new"})) == value | {"a": {"b": "new"}}
    assert decode(with_leaves(wire(value), {"a~1b": "new"})) == value | {"a.b": "new"}


def test_empty_keys_have_paths_of_their_own():
    """Empty keys at any depth do not collide with each other or with the root."""
    value = {"": "a", "x": {"": "b"}, " ": {"": {"": "c"}}}
    assert string_leaves(value) == {"": "a", "x.": "b", " ..": "c"}
    assert decode(with_leaves(wire(value), {"": "n"})) == value | {"": "n"}


def test_replacing_keeps_every_other_byte():
    """Numbers, escapes, order and inner spaces of values that no change names stay as they came."""
    raw = b'{"n":1e5,"m":1.10,"s":"caf\\u00e9 \\ud83d\\ude00","o":{ "k" : [1, 2.0 ] },"edits":[{"new":"x","k":-0},7]}'
    changed = with_leaves(raw, {"edits.0.new": "y"})
    assert changed == raw.replace(b'"new":"x"', b'"new":"y"')


def test_unknown_paths_change_nothing():
    """A path that leads nowhere, through a string or a number, or stops at a container is not followed."""
    raw = b'{"a":"x","n":1,"l":["y"],"o":{"k":"z"}}'
    changes = dict.fromkeys(["b", "a.b", "n", "n.0", "l", "l.1", "l.00", "o", "o.q", ""], "new")
    assert with_leaves(raw, changes) == raw


def test_arguments_that_are_one_string_stay():
    """The root itself is no leaf."""
    assert with_leaves(b' "text" ', {"": "new", "a": "new"}) == b'"text"'


def test_lone_surrogates_are_replaced_only_where_written():
    """A new text is written as valid UTF-8; an untouched value keeps the escape it came with."""
    raw = b'{"a":"\\ud800","b":"x"}'
    assert with_leaves(raw, {"b": "cut \udc00"}) == '{"a":"\\ud800","b":"cut \ufffd"}'.encode()


def test_more_values_than_the_limit_are_one_leaf():
    """A container past the limit is shown whole, and its strings cannot be addressed."""
    value = {"a": "x", "many": ["y"] * (MAX_LEAVES + 1), "b": "z"}
    assert string_leaves(value) == {"a": "x", "b": "z"}
    assert argument_text(value).count('"y"') == MAX_LEAVES + 1


def test_long_keys_are_not_told_again():
    """What stands below a very long key is one leaf, so that text grows with the arguments and no faster."""
    key = "k" * (LONGEST_PATH + 1)
    value = {key: ["v"] * 1000, "a": "x"}
    assert string_leaves(value) == {"a": "x"}
    assert len(argument_text(value)) < 2 * len(wire(value))


def test_text_shows_every_leaf():
    """Strings stand as they are, numbers and containers without strings as JSON, keys as they are spelled."""
    value = {"path": "a\nb", "limit": 20, "all": False, "ids": [1, 2], "none": {}, "src/a.py": {"x": ["é"]}}
    assert argument_text(value).split("\n") == [
        "path: a",
        "b",
        "limit: 20",
        "all: false",
        "ids: [1,2]",
        "none: {}",
        "src/a.py.x.0: é",
    ]


@pytest.mark.parametrize(("value", "text"), [({}, "{}"), ("bare", "bare"), (None, "null"), ([1], "[1]")])
def test_text_of_a_bare_root(value, text):
    """Arguments without members are shown without a path."""
    assert argument_text(value) == text


@settings(deadline=None)
@given(ARGUMENTS)
def test_leaves_put_back_are_the_arguments(value):
    """with_leaves of string_leaves is the identity."""
    assert decode(with_leaves(wire(value), string_leaves(value))) == decode(wire(value))


@settings(deadline=None)
@given(ARGUMENTS, st.data())
def test_one_changed_leaf_changes_no_other(value, data):
    """Of all leaves exactly the named one is another afterwards."""
    leaves = string_leaves(value)
    if not leaves:
        return
    path = data.draw(st.sampled_from(sorted(leaves)))
    changed = decode(with_leaves(wire(value), {path: "changed"}))
    assert string_leaves(changed) == leaves | {path: "changed"}


# -- blocks and markers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [None, "text", 3, [], {}, {"type": None}, {"type": ["text"]}, {"type": {}}])
def test_what_has_no_type_has_an_empty_kind(block):
    """Anything but an object with a string `type` has no kind."""
    assert kind_of_block(block) == ""


def test_kind_and_members_of_a_block():
    """The type, and a string member; a member that is no string counts as empty."""
    block = {"type": "text", "text": "x", "n": 1}
    assert (kind_of_block(block), string_member(block, "text"), string_member(block, "n")) == ("text", "x", "")


def test_marker_of_a_block():
    """A block's own marker, else the last one in its content, else none; null is none."""
    inner = [marked({"type": "text", "text": "a"}, LONG), {"type": "text", "text": "b"}]
    assert decode(marker_of(wire(marked({"type": "text"}, LONG)))) == LONG
    assert decode(marker_of(wire({"type": "tool_result", "content": inner}))) == LONG
    assert decode(marker_of(wire(marked({"content": inner}, SHORT)))) == SHORT
    assert marker_of(wire({"type": "text", "cache_control": None})) is None
    assert marker_of(wire({"type": "text", "text": '"cache_control"'})) is None
    assert marker_of(b'["cache_control"]') is None


def test_last_marker_of_several_blocks():
    """The marker that stands last in the list."""
    items = [wire(marked({"n": 1}, LONG)), wire(marked({"n": 2}, SHORT)), wire({"n": 3})]
    assert decode(last_marker(items)) == SHORT
    assert last_marker(items[2:]) is None


def test_quick_look_for_markers():
    """Bytes without the member's name have no marker; the name inside a text does not look like one."""
    assert is_marked(wire(marked({})))
    assert not is_marked(wire({"text": 'the "cache_control" member'}))


def test_items_of_an_array():
    """Elements as they stand; what is no array has none."""
    assert items_of(b'[1e5, "a"]') == [b"1e5", b'"a"']
    assert items_of(b"null") == items_of(b'"[]"') == items_of(b"[]") == []


def test_decoded_object():
    """An object as a dict; anything else as an empty one."""
    assert decoded_object(b'{"a":1}') == {"a": 1}
    assert decoded_object(b"[1]") == {}


def document(kind, data):
    return {"type": "document", "source": {"type": kind, "data": data}}


def test_media_are_estimated_without_their_bytes():
    """An image has one size, a text document its text's, a file grows with its size; base64 is not text."""
    assert media_estimate({"type": "image", "source": {"type": "base64", "data": "A" * 1_000_000}}) == MEDIA_TOKENS
    assert media_estimate(document("text", "word " * 100)) == 125
    assert media_estimate(document("base64", "A" * 400_000)) == 10_000
    assert media_estimate(document("base64", "A")) == MEDIA_TOKENS
    assert media_estimate({"type": "document", "source": {"type": "url", "url": "u"}}) == MEDIA_TOKENS
    assert media_estimate({"type": "document"}) == MEDIA_TOKENS


# -- digests ---------------------------------------------------------------------------------------------

TEXT = {"type": "text", "text": "words"}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": [TEXT]}
CALL = {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "p", "cache_control": 1, "content": [TEXT]}}


def user(*content, **members):
    return {"role": "user", "content": list(content), **members}


ALIKE = {
    "a marker on a block": (user(TEXT, TEXT), user(TEXT, marked(TEXT))),
    "a marker of another lifetime": (user(marked(TEXT)), user(marked(TEXT, LONG))),
    "a marker on a result": (user(RESULT), user(marked(RESULT))),
    "a marker inside a result": (user(RESULT), user(RESULT | {"content": [marked(TEXT)]})),
    "a marker on the message": (user(TEXT), marked(user(TEXT))),
    "a marker that is null": (user(TEXT), user(TEXT | {"cache_control": None})),
    "a string and one text block": ({"role": "user", "content": "words"}, user(TEXT)),
    "a string and one marked block": ({"role": "user", "content": "words"}, user(marked(TEXT))),
    "a string and a block of another order": (
        {"role": "user", "content": "words"},
        user({"text": "words", "type": "text"}),
    ),
    "a tool message's string and its list": (
        {"role": "tool", "tool_call_id": "a", "content": "words"},
        {"role": "tool", "tool_call_id": "a", "content": [TEXT]},
    ),
}
UNLIKE = {
    "another argument": (user(CALL), user(CALL | {"input": CALL["input"] | {"path": "q"}})),
    "an argument named cache_control": (user(CALL), user(CALL | {"input": CALL["input"] | {"cache_control": 2}})),
    "a marker inside an argument": (user(CALL), user(CALL | {"input": CALL["input"] | {"content": [marked(TEXT)]}})),
    "another tool": (user(CALL), user(CALL | {"name": "write"})),
    "another id": (user(RESULT), user(RESULT | {"tool_use_id": "b"})),
    "is_error": (user(RESULT), user(RESULT | {"is_error": True})),
    "is_error false": (user(RESULT), user(RESULT | {"is_error": False})),
    "another role": (user(TEXT), user(TEXT) | {"role": "assistant"}),
    "another text": (user(TEXT), user(TEXT | {"text": "word"})),
    "two texts for one": (user(TEXT), user(TEXT, TEXT)),
    "a text with citations": (user(TEXT), user(TEXT | {"citations": []})),
    "an unknown member": (user(TEXT), user(TEXT, name="x")),
    "no content": ({"role": "user"}, {"role": "user", "content": None}),
    "an empty list": ({"role": "user", "content": ""}, user()),
    "a number's kind": (user(TEXT, n=1), user(TEXT, n=1.0)),
    "a text that is no string": (user({"type": "text", "text": ["words"]}), {"role": "user", "content": ["words"]}),
    "a lone surrogate": (user(TEXT | {"text": "\ud800"}), user(TEXT | {"text": "\ud801"})),
    "what stands for a lone surrogate": (user(TEXT | {"text": "\ud800"}), user(TEXT | {"text": "\ufffd"})),
    "no object": (None, []),
}


@pytest.mark.parametrize(("one", "other"), ALIKE.values(), ids=ALIKE.keys())
def test_digest_ignores_what_clients_change_between_calls(one, other):
    """Moved markers, and a text as string or as one block, make no other message."""
    assert canonical_digest(one) == canonical_digest(other)


@pytest.mark.parametrize(("one", "other"), UNLIKE.values(), ids=UNLIKE.keys())
def test_digest_tells_everything_else(one, other):
    """Any other difference makes another message."""
    assert canonical_digest(one) != canonical_digest(other)


def test_digest_changes_nothing():
    """The message that is looked at stays as it is."""
    message = user(marked(TEXT), RESULT | {"content": [marked(TEXT)]})
    before = json.dumps(message)
    canonical_digest(message)
    assert json.dumps(message) == before
