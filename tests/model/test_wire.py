"""Raw JSON: nothing is lost when bytes are taken apart, and only named members change."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfgc.errors import WireError
from selfgc.model.wire import (
    MAX_DEPTH,
    decode,
    elements,
    encode,
    encode_exact,
    join_elements,
    join_members,
    members,
    split_body,
    without_lone_surrogates,
)

LONE = b'"\\ud83d"'
SPACES = st.sampled_from([b"", b" ", b"\n", b"\t", b"\r\n  "])
CHARACTERS = st.one_of(st.characters(codec="utf-8"), st.sampled_from(list('"\\[]{},:\x00\u2028')))
STRINGS = st.tuples(st.text(CHARACTERS, max_size=8), st.booleans()).map(
    lambda drawn: json.dumps(drawn[0], ensure_ascii=drawn[1]).encode()
)
SCALARS = st.one_of(
    STRINGS, st.sampled_from([b"null", b"true", b"1.10", b"1e5", b"-0", b"0.10E+2", b"9" * 40, b'"\\u0041\\/"'])
)


@st.composite
def arrays(draw, inner):
    space = draw(SPACES)
    return b"[" + space + (space + b"," + space).join(draw(st.lists(inner, max_size=3))) + space + b"]"


@st.composite
def objects(draw, inner, keys=STRINGS):
    space = draw(SPACES)
    pairs = draw(st.dictionaries(keys, inner, max_size=3))
    return b"{" + space + (space + b",").join(k + space + b":" + space + v for k, v in pairs.items()) + space + b"}"


VALUES = st.recursive(SCALARS, lambda inner: arrays(inner) | objects(inner), max_leaves=5)
KEYS = STRINGS.filter(lambda key: json.loads(key) != "messages")


@st.composite
def bodies(draw, values=VALUES):
    """A request body in any formatting, its separator between messages, and its messages."""
    before, after = (draw(st.dictionaries(KEYS, values, max_size=3)) for _ in range(2))
    messages = draw(st.lists(objects(values), max_size=4))
    space, separator = draw(SPACES), b"," + draw(SPACES)
    array = b"[" + space + separator.join(messages) + space + b"]"
    key = draw(st.sampled_from([b'"messages"', b'"mess\\u0061ges"']))
    pairs = [*before.items(), (key, array), *after.items()]
    text = (b"," + space).join(name + space + b":" + space + value for name, value in pairs)
    return space + b"{" + space + text + space + b"}" + space, tuple(messages)


# -- decode and encode -----------------------------------------------------------------------------------


@given(VALUES)
def test_decoding_agrees_with_the_standard_library(raw):
    """The fast decoder and the one of Python see the same value."""
    assert decode(raw) == json.loads(raw)


@pytest.mark.parametrize("raw", [b'"\\ud83d"', b'"\xed\xa0\xbd"'])
def test_a_lone_surrogate_is_read(raw):
    """Clients that cut strings in the middle of a pair do send it, escaped or raw."""
    assert decode(raw) == "\ud83d"


@pytest.mark.parametrize("raw", [b"NaN", b"[Infinity]", b'{"a":-Infinity}', b'["\\ud83d", NaN]'])
def test_numbers_that_json_does_not_have_are_refused(raw):
    """Python writes NaN unasked; no provider reads it."""
    with pytest.raises(WireError, match="is not JSON"):
        decode(raw)


@pytest.mark.parametrize("raw", [b"", b" ", b"nul", b"{} {}", b"{'a':1}", b'{"a":1,}', b"[01]", b'"\x01"', b'"\xff"'])
@pytest.mark.parametrize("read", [decode, members, elements])
def test_what_is_no_json_is_told_with_its_path(raw, read):
    """The message says what was expected, what came, and what to do."""
    with pytest.raises(WireError, match="expected JSON") as caught:
        read(raw, "$.body")
    assert caught.value.path == "$.body"


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_is_read_to_the_limit_and_refused_beyond_it(opening, closing):
    """MAX_DEPTH levels are accepted, one more is not."""
    decode(opening * MAX_DEPTH + b"1" + closing * MAX_DEPTH)
    with pytest.raises(WireError, match=f"at most {MAX_DEPTH} levels"):
        decode(opening * (MAX_DEPTH + 1) + b"1" + closing * (MAX_DEPTH + 1))


def test_nesting_counts_at_its_deepest_place():
    """A shallow beginning hides nothing, and lists and objects count alike."""
    deep = b'[{"a":' * 128 + b"[]" + b"}]" * 128
    with pytest.raises(WireError, match="levels of nesting"):
        decode(b'[1,"x",[],' + deep + b"]")


@pytest.mark.parametrize("raw", [b"[" * 10**6, b"[" * 10**5 + b"]" * 10**5, b'{"a":' * 10**5 + b"1" + b"}" * 10**5])
@pytest.mark.parametrize("read", [decode, members, elements])
def test_nesting_without_end_is_refused_without_a_crash(raw, read):
    """The usual shape of an attack costs an error, not the process."""
    with pytest.raises(WireError):
        read(raw)


@pytest.mark.parametrize("raw", [b'"' + b"[{" * 500 + b'"', b"[" + b"[]," * 500 + b"{}]"])
def test_many_brackets_that_do_not_nest_are_read(raw):
    """Code in a string and wide arrays are no deep nesting."""
    assert decode(raw) == json.loads(raw)


@pytest.mark.parametrize("value", [{"a": [1, "é", None]}, "é", 10**30, {"a": "x" * 100_000}])
def test_what_is_written_is_compact_and_reads_back(value):
    """One spelling for one value, without blanks, characters as themselves."""
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert encode(value) == encode_exact(value) == expected


def test_a_lone_surrogate_that_is_sent_becomes_the_replacement_character():
    """V7: a provider refuses the lone one; the rest of the value stays compact."""
    assert encode({"a\ud83d": ["x\udc00y", 1]}) == '{"a\ufffd":["x\ufffdy",1]}'.encode()


def test_a_lone_surrogate_that_a_caller_hands_in_stays_an_escape():
    """What came in as a value compares equal to the bytes of a client."""
    assert encode_exact({"a": ["\ud83d", "é"]}) == b'{"a":["\\ud83d","\\u00e9"]}'


@given(st.text(st.characters()))
def test_text_without_lone_surrogates_can_be_written(text):
    """Only surrogates change, one character for one."""
    clean = without_lone_surrogates(text)
    clean.encode()
    assert [ord(new) for new in clean] == [0xFFFD if 0xD800 <= ord(old) <= 0xDFFF else ord(old) for old in text]


# -- members and elements --------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.dictionaries(STRINGS, VALUES, max_size=4), SPACES, st.booleans())
def test_members_are_the_bytes_that_stand_there(pairs, space, lone):
    """Whatever the formatting, each value is a cut of the text; a lone surrogate beside it changes nothing."""
    pairs |= {b'"\\u00ff lone"': LONE} if lone else {}
    expected = {json.loads(key): value for key, value in pairs.items()}
    text = (space + b"," + space).join(key + space + b":" + space + value for key, value in pairs.items())
    taken = members(space + b"{" + space + text + space + b"}" + space)
    assert list(taken.items()) == list(expected.items())


@settings(max_examples=50)
@given(st.lists(VALUES, max_size=4), SPACES, st.booleans())
def test_elements_are_the_bytes_that_stand_there(values, space, lone):
    """Numbers keep their digits, strings their escapes, also beside a lone surrogate."""
    values += [LONE] if lone else []
    assert elements(space + b"[" + space + (space + b"," + space).join(values) + space + b"]" + space) == values


def test_of_doubled_members_the_last_counts():
    """As every JSON reader has it, with a lone surrogate beside them or without."""
    assert members(b'{"a":1,"b":2,"a":3}') == {"a": b"3", "b": b"2"}
    assert members(b'{"a":1,"b":"\\udc00","a":3}') == {"a": b"3", "b": b'"\\udc00"'}


def test_doubled_members_inside_a_value_stay():
    """What nobody edits is not looked into."""
    inner = b'{"x": 1.0, "x":2 }'
    assert members(b'{"a":' + inner + b"}") == {"a": inner}
    assert members(b'{"a":' + inner + b',"b":' + LONE + b"}") == {"a": inner, "b": LONE}


def test_a_member_may_have_a_lone_surrogate_in_its_key():
    """It is found under the key as Python reads it, and written back as an escape."""
    assert members(b'{"\\ud83d" : 1}') == {"\ud83d": b"1"}
    assert join_members({"\ud83d": b"1"}) == b'{"\\ud83d":1}'


@pytest.mark.parametrize(("raw", "name"), [(b"[]", "list"), (b'"x"', "str"), (b"1", "int"), (b"null", "NoneType")])
def test_members_of_something_else_are_refused_with_its_kind(raw, name):
    """The path and the kind that came are told."""
    with pytest.raises(WireError, match=rf"\$.tools: expected a JSON object, got {name}"):
        members(raw, "$.tools")


@pytest.mark.parametrize(("raw", "name"), [(b"{}", "dict"), (b'"\\ud83d"', "str"), (b"true", "bool")])
def test_elements_of_something_else_are_refused_with_its_kind(raw, name):
    """As for members."""
    with pytest.raises(WireError, match=rf"\$.messages: expected a JSON array, got {name}"):
        elements(raw, "$.messages")


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_joined_members_are_taken_apart_again(fields):
    """Joining writes keys anew and values as they are."""
    assert members(join_members(fields)) == fields


@settings(max_examples=50)
@given(st.lists(VALUES, max_size=4))
def test_joined_elements_are_taken_apart_again(values):
    """Joining puts nothing but commas between."""
    assert elements(join_elements(values)) == values


@pytest.mark.parametrize("last", [b"0", LONE])
def test_a_large_array_is_taken_apart(last):
    """A megabyte of small elements, by the fast way and the slow one."""
    raw = b"[" + b"1.00000000000000," * 60_000 + last + b"]"
    values = elements(raw)
    assert (len(values), values[0], values[-1]) == (60_001, b"1.00000000000000", last)


# -- bodies ----------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(bodies())
def test_a_body_put_together_again_is_the_bytes_that_came_in(drawn):
    """Any formatting with one separator between messages; its fields are the other members, raw."""
    raw, messages = drawn
    body = split_body(raw)
    assert body.messages == messages
    assert body.joined(body.messages) == raw
    assert body.fields == {key: value for key, value in members(raw).items() if key != "messages"}


@settings(max_examples=40)
@given(bodies(VALUES | st.just(LONE)))
def test_a_body_with_a_lone_surrogate_comes_back_too(drawn):
    """The slow way loses no byte either: no blank, no digit, no escape."""
    raw, messages = drawn
    body = split_body(raw)
    assert body.messages == messages
    assert body.joined(body.messages) == raw


@settings(max_examples=40)
@given(bodies(), objects(VALUES))
def test_other_messages_leave_the_rest_of_the_body_as_it_was(drawn, message):
    """A governed body has new messages and every other member byte-equal."""
    raw, messages = drawn
    body = split_body(raw)
    governed = body.joined([message, *messages[1:]])
    after = split_body(governed)
    assert after.messages == (message, *messages[1:])
    assert after.fields == body.fields


def test_a_body_is_split_at_another_key_when_asked():
    """Formats differ in the name of the list."""
    body = split_body(b'{"input": [1, 2], "model":"m"}', "input")
    assert (body.head, body.messages, body.separator, body.tail) == (
        b'{"input": [',
        (b"1", b"2"),
        b", ",
        b'], "model":"m"}',
    )


def test_a_list_of_the_same_name_elsewhere_is_not_taken():
    """An equal list inside another member or a string comes first and stays."""
    raw = b'{"tool":{"messages":[1]},"text":"\\"messages\\":[1]","messages":[1]}'
    assert split_body(raw).joined([b"2"]) == b'{"tool":{"messages":[1]},"text":"\\"messages\\":[1]","messages":[2]}'


def test_a_list_of_the_same_name_behind_is_not_taken():
    """The same with the real list in front, and with its key in another spelling."""
    assert split_body(b'{"messages":[1],"a":{"messages":[1]}}').joined([b"2"]) == (
        b'{"messages":[2],"a":{"messages":[1]}}'
    )
    for inside in (b'{"messages":[1]}', b'{"x":0,"messages":[1]}'):
        raw = b'{"a":' + inside + b',"mess\\u0061ges":[1]}'
        assert split_body(raw).joined([b"2"]) == b'{"a":' + inside + b',"mess\\u0061ges":[2]}'


@pytest.mark.parametrize("first", [b"[1]", b"[0]"])
def test_of_two_lists_under_one_key_the_last_is_split(first):
    """The provider reads the last one; an equal one before it is no trap."""
    raw = b'{"messages":' + first + b',"messages":[1]}'
    assert split_body(raw).joined([b"2"]) == b'{"messages":' + first + b',"messages":[2]}'


def test_an_empty_list_takes_messages():
    """A comma then stands between them."""
    assert split_body(b'{"messages": [ ]}').joined([b"1", b"2"]) == b'{"messages": [1,2 ]}'


def test_a_single_message_may_become_several():
    """A comma then stands between them, too."""
    body = split_body(b'{"messages":[\n {"a":1}\n]}')
    assert body.joined([b"{}", b"{}"]) == b'{"messages":[\n {},{}\n]}'


def test_a_body_without_the_list_is_refused_with_the_keys_it_has():
    """The usual mistake is a body of another format."""
    with pytest.raises(WireError, match=r"a 'messages' array, found the keys \['input', 'model'\]"):
        split_body(b'{"model":"m","input":[]}')


@pytest.mark.parametrize("value", [b"{}", b'"x"', b"null"])
def test_a_body_whose_messages_are_no_list_is_refused(value):
    """The path names the member."""
    with pytest.raises(WireError, match=r"\$.messages: expected a JSON array"):
        split_body(b'{"messages":' + value + b"}")


def test_many_equal_lists_do_not_slow_the_search():
    """Twenty thousand nested lists that look like the one: each is looked at once."""
    raw = b'{"a":[' + b'{"messages":[]},' * 20_000 + b'0],"messages":[]}'
    assert split_body(raw).joined([b"1"]) == raw.removesuffix(b"[]}") + b"[1]}"
