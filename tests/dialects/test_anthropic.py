"""The Anthropic dialect: messages taken apart, rewritten, merged; everything untouched stays the bytes it was."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import call, call_block, calls, raw, result, result_block, results, text_block, thinking_block, user
from selfgc.dialects.anthropic import AnthropicDialect
from selfgc.errors import WireError
from selfgc.model.dialect import Change
from selfgc.model.message import COMPACTION, PartKind
from selfgc.model.profile import Profile
from selfgc.model.wire import decode, elements, members

SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "word" * 100}}
SEARCH = {"type": "search_result", "source": "s", "title": "t", "content": [text_block("found")]}
SERVER_CALL = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}}


def split(message):
    return AnthropicDialect().split(raw(message))


def assistant(*content):
    return {"role": "assistant", "content": list(content)}


def marked(block, marker=None):
    return block | {"cache_control": marker or SHORT}


def rewritten(message, **changes):
    """The message after changes at `content` (`whole`) or `content.n` (`n0`, `n1`); decoded, or None."""
    paths = {"content" if name == "whole" else f"content.{name[1:]}": change for name, change in changes.items()}
    changed = AnthropicDialect().rewrite(raw(message), paths)
    return None if changed is None else decode(changed)


def only_part(block, role="user"):
    (part,) = split({"role": role, "content": [block]}).parts
    return part


# -- split -----------------------------------------------------------------------------------------------

KINDS = {
    "text": (text_block("x"), PartKind.USER_TEXT),
    "image": (IMAGE, PartKind.MEDIA),
    "document": (DOCUMENT, PartKind.MEDIA),
    "container_upload": ({"type": "container_upload", "file_id": "f"}, PartKind.MEDIA),
    "thinking": (thinking_block("x"), PartKind.THINKING),
    "redacted_thinking": ({"type": "redacted_thinking", "data": "x"}, PartKind.THINKING),
    "tool_use": (call_block("a", "read", {}), PartKind.TOOL_CALL),
    "tool_result": (result_block("a", "x"), PartKind.TOOL_RESULT),
    "server_tool_use": (SERVER_CALL, PartKind.SERVER_TOOL),
    "mcp_tool_use": ({"type": "mcp_tool_use", "id": "m", "name": "n", "input": {}}, PartKind.SERVER_TOOL),
    "web_search_tool_result": ({"type": "web_search_tool_result", "content": []}, PartKind.SERVER_TOOL),
    "mcp_tool_result": ({"type": "mcp_tool_result", "content": [], "is_error": True}, PartKind.SERVER_TOOL),
    "compaction": ({"type": "compaction", "content": "summary"}, PartKind.OPAQUE),
    "search_result": (SEARCH, PartKind.OPAQUE),
    "fallback": ({"type": "fallback"}, PartKind.OPAQUE),
    "unknown": ({"type": "new_thing", "text": "x"}, PartKind.OPAQUE),
    "no type": ({"text": "x"}, PartKind.OPAQUE),
    "a type that is no string": ({"type": ["text"]}, PartKind.OPAQUE),
    "no object": ("bare", PartKind.OPAQUE),
    "null": (None, PartKind.OPAQUE),
}


@pytest.mark.parametrize(("block", "kind"), KINDS.values(), ids=KINDS.keys())
def test_each_block_has_its_kind(block, kind):
    """Known blocks are told apart; what is not known is opaque."""
    assert only_part(block).kind is kind


@pytest.mark.parametrize(("block", "kind"), KINDS.values(), ids=KINDS.keys())
def test_each_block_has_one_text(block, kind):
    """Whatever a block is, there is a text for it."""
    message = split({"role": "user", "content": [block, text_block("end")]})
    texts = AnthropicDialect().texts(message)
    assert len(texts) == 2
    assert texts[1] == "end"


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("user", PartKind.USER_TEXT),
        ("assistant", PartKind.ASSISTANT_TEXT),
        ("system", PartKind.SYSTEM),
        ("narrator", PartKind.OPAQUE),
    ],
)
def test_text_is_whose_role_it_is(role, kind):
    """A string, and a text block, are of the kind of their role."""
    assert only_part(text_block("x"), role).kind is kind
    (part,) = split({"role": role, "content": "x"}).parts
    assert (part.kind, part.path) == (kind, "content")


def test_parts_are_told_by_place():
    """Each part has the path of its block."""
    assert [part.path for part in split(user("a", IMAGE, "b")).parts] == ["content.0", "content.1", "content.2"]


def test_calls_and_results_carry_their_ids():
    """A call has id and tool; a result has the id, and whether it is an error."""
    called, failed = only_part(call_block("a", "read", {})), only_part(result_block("a", "x", is_error=True))
    assert (called.call_id, called.tool, called.is_error) == ("a", "read", False)
    assert (failed.call_id, failed.tool, failed.is_error) == ("a", "", True)


@pytest.mark.parametrize("block", [{"type": "tool_use"}, {"type": "tool_result", "is_error": "yes"}])
def test_missing_members_are_empty(block):
    """An id or name that is not there is empty, not invented; only true is an error."""
    part = only_part(block)
    assert (part.call_id, part.tool, part.is_error) == ("", "", False)


def test_what_is_signed():
    """Thinking and compaction are kept byte-equal or dropped whole; other blocks are not."""
    signed = [name for name, (block, _) in KINDS.items() if only_part(block).is_signed]
    assert signed == ["thinking", "redacted_thinking", "compaction"]
    assert only_part(KINDS["compaction"][0]).tool == COMPACTION


def test_media_inside_a_result_count():
    """A result's images and documents are estimated; its text is not part of that."""
    part = only_part(result_block("a", [text_block("x"), IMAGE, DOCUMENT, "stray"]))
    assert part.media_tokens == 1600 + 100
    assert only_part(IMAGE).media_tokens == 1600
    assert only_part(result_block("a", "x")).media_tokens == 0


@pytest.mark.parametrize("message", [{"role": "user"}, {"role": "user", "content": None}, user()])
def test_a_message_without_content_has_no_parts(message):
    """Nothing to address, nothing to read, nothing to change."""
    dialect, found = AnthropicDialect(), split(message)
    assert found.parts == dialect.texts(found) == ()
    assert dialect.rewrite(found.raw, {}) == found.raw
    assert decode(dialect.rewrite(raw({"role": "user", "content": None}), {"content.0": Change(text="x")}))


@pytest.mark.parametrize("text", ["[]", '"text"', "{}", '{"role":1,"content":""}', '{"role":"user","content":3}', "{"])
def test_what_is_no_message_is_refused(text):
    """A WireError says what was expected."""
    with pytest.raises(WireError, match=r"expected"):
        AnthropicDialect().split(text.encode())


def test_message_keeps_its_bytes_and_role():
    """Spaces, escapes and unknown members stay in `raw`."""
    text = b'{ "role" : "user",\t"content": "caf\\u00e9", "x": 1e5 }'
    message = AnthropicDialect().split(text)
    assert (message.raw, message.role) == (text, "user")


# -- texts, arguments, content ---------------------------------------------------------------------------


def test_texts_of_every_kind():
    """Text and thinking as written, calls by argument, results joined, media empty, the rest as JSON."""
    message = split(
        assistant(
            thinking_block("hm"),
            text_block("say"),
            call_block("a", "read", {"path": "p", "limit": 3}),
            IMAGE,
            {"type": "redacted_thinking", "data": "x"},
            "bare",
        )
    )
    assert AnthropicDialect().texts(message) == (
        "hm",
        "say",
        "read\npath: p\nlimit: 3",
        "",
        '{"type":"redacted_thinking","data":"x"}',
        "",
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([], ""),
        ([text_block("a"), IMAGE, text_block("b")], "a\nb"),
        ([{"type": "tool_reference", "tool_name": "t"}, 3], '{"type":"tool_reference","tool_name":"t"}'),
        (None, ""),
    ],
)
def test_text_of_a_result(content, text):
    """A string, or the texts of its blocks by line; media and strays say nothing."""
    assert AnthropicDialect().texts(split(user(result_block("a", content)))) == (text,)


def test_text_of_a_result_without_content():
    """A result may have no content at all."""
    assert AnthropicDialect().texts(split(user({"type": "tool_result", "tool_use_id": "a"}))) == ("",)


def test_arguments_of_a_call():
    """String leaves by path; nothing for other blocks, strings, or an input that is no object."""
    dialect = AnthropicDialect()
    message = split(assistant(call_block("a", "edit", {"edits": [{"new.text": "x"}], "n": 1}), text_block("y")))
    assert dialect.arguments(message, 0) == {"edits.0.new~1text": "x"}
    assert dialect.arguments(message, 1) == {}
    assert dialect.arguments(split(user("x")), 0) == {}
    assert dialect.arguments(split(assistant("bare")), 0) == {}
    assert dialect.arguments(split(assistant({"type": "tool_use", "input": "text"})), 0) == {}


def test_content_is_the_raw_value():
    """The bytes of a result's content, of a text, of a whole string; an absent one is an empty string."""
    dialect = AnthropicDialect()
    text = (
        b'{"role":"user","content":[{"type":"tool_result","content":[ {"n":1e5} ]},{"type":"text","text":"\\u00e9"}]}'
    )
    message = dialect.split(text)
    assert dialect.content(message, 0) == b'[ {"n":1e5} ]'
    assert dialect.content(message, 1) == b'"\\u00e9"'
    assert dialect.content(split({"role": "user", "content": "é"}), 0) == b'"\\u00e9"'
    assert dialect.content(split(user({"type": "tool_result", "tool_use_id": "a"})), 0) == b'""'


# -- rewrite ---------------------------------------------------------------------------------------------


def test_rewriting_nothing_gives_the_same_bytes():
    """Without changes the very bytes come back."""
    text = b'{ "role": "user", "content": [ {"type":"text", "text":"\\u00e9"} ], "n": 1.10 }'
    assert AnthropicDialect().rewrite(text, {}) == text


def test_other_blocks_and_members_keep_their_bytes():
    """Beside a changed block everything is what came in: numbers, escapes, order, unknown members."""
    before = (
        b'{"x":1e5,"role":"user","content":[{"text":"\\u00e9","type":"text","n":1.10},'
        b'{"type":"tool_result","tool_use_id":"a","content":"long","is_error":true,"extra":{ "k":-0 }},'
        b'{"type":"image","source":{}}],"y":null}'
    )
    after = AnthropicDialect().rewrite(before, {"content.1": Change(text="short")})
    assert after == before.replace(b'"content":"long"', b'"content":"short"')


def test_folding_a_result_keeps_what_stands_beside_its_content():
    """Id, error flag and marker survive, be the content a string or a list."""
    block = marked(result_block("a", "long", is_error=True), LONG)
    wanted = block | {"content": "short"}
    assert rewritten(user(block), n0=Change(text="short")) == user(wanted)
    listed = block | {"content": [text_block("long"), IMAGE]}
    assert rewritten(user(listed), n0=Change(text="short")) == user(wanted)


def test_a_marker_inside_a_folded_result_moves_onto_it():
    """The content that held it is gone; the result holds it now, with its lifetime."""
    block = result_block("a", [marked(text_block("long"), LONG), text_block("tail")])
    assert rewritten(user(block), n0=Change(text="short")) == user(marked(result_block("a", "short"), LONG))


def test_a_result_without_content_can_be_given_one():
    """The text is put in."""
    block = {"type": "tool_result", "tool_use_id": "a"}
    assert rewritten(user(block), n0=Change(text="short")) == user(block | {"content": "short"})


def test_text_parts_are_rewritten():
    """A text block's text and a string's whole are replaced; other members stay."""
    block = marked(text_block("long"))
    assert rewritten(user(block, IMAGE), n0=Change(text="short")) == user(block | {"text": "short"}, IMAGE)
    assert rewritten(user("long"), whole=Change(text="short")) == user("short")


def test_string_and_single_block_are_one_part():
    """A change made on one form holds when the client sends the other one, as moved markers bring about."""
    assert rewritten(user("long"), n0=Change(text="short")) == user("short")
    block = marked(text_block("long"))
    assert rewritten(user(block), whole=Change(text="short")) == user(block | {"text": "short"})
    assert rewritten(user(block, "b"), whole=Change(text="short")) == user(block, text_block("b"))


def test_arguments_are_rewritten_in_place():
    """A nested leaf and a dotted key are replaced; key order, numbers and other leaves stay byte-equal."""
    before = (
        b'{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"edit","input":'
        b'{"n":1e5,"edits":[{"old":"\\u00e9","new":"long"}],"a.b":"long","m":1.10}}]}'
    )
    change = Change(arguments={"edits.0.new": "short", "a~1b": "s"})
    after = AnthropicDialect().rewrite(before, {"content.0": change})
    assert after == before.replace(b'"new":"long"', b'"new":"short"').replace(b'"a.b":"long"', b'"a.b":"s"')


def test_a_call_without_input_gets_an_object():
    """Whatever the change, the input is an object afterwards."""
    block = {"type": "tool_use", "id": "a", "name": "read"}
    assert rewritten(assistant(block), n0=Change(arguments={"a": "b"})) == assistant(block | {"input": {}})


def test_new_text_is_valid_utf8():
    """A lone surrogate in a new text is replaced."""
    after = AnthropicDialect().rewrite(raw(result("a", "x")), {"content.0": Change(text="cut \ud83d")})
    assert "cut \ufffd" in after.decode("utf-8")


def test_calls_and_results_take_another_id():
    """A doubled id is renamed on both sides, together with a fold when there is one."""
    assert rewritten(call("a", "read"), n0=Change(call_id="b")) == call("b", "read")
    assert rewritten(result("a", "x"), n0=Change(call_id="b")) == result("b", "x")
    assert rewritten(result("a", "x"), n0=Change(text="y", call_id="b")) == result("b", "y")
    change = Change(arguments={"path": "q"}, call_id="b")
    assert rewritten(call("a", "read", path="p"), n0=change) == call("b", "read", path="q")


def test_removed_parts_leave_the_others():
    """What is not removed stays in order; thinking goes whole."""
    message = calls(text_block("x"), call_block("a", "read", {}), thinking="hm")
    assert rewritten(message, n0=Change()) == assistant(text_block("x"), call_block("a", "read", {}))
    assert rewritten(message, n0=Change(), n2=Change()) == assistant(text_block("x"))


def test_a_message_that_empties_is_gone():
    """No content is left: None."""
    assert rewritten(results(result_block("a", "x"), result_block("b", "y")), n0=Change(), n1=Change()) is None
    assert rewritten(user("x"), whole=Change()) is None


def test_a_string_that_no_change_names_stays():
    """A change elsewhere leaves a string as it is."""
    assert rewritten(user("x"), n7=Change()) == user("x")


# -- markers ---------------------------------------------------------------------------------------------


def test_a_removed_blocks_marker_moves_back():
    """The block before takes the marker, with its lifetime."""
    message = results(result_block("a", "x"), marked(result_block("b", "y"), LONG))
    assert rewritten(message, n1=Change()) == results(marked(result_block("a", "x"), LONG))


def test_a_removed_results_inner_marker_moves_back():
    """A marker inside of the content counts as the block's."""
    message = results(result_block("a", "x"), result_block("b", [marked(text_block("y"), LONG)]))
    assert rewritten(message, n1=Change()) == results(marked(result_block("a", "x"), LONG))


@pytest.mark.parametrize("block", [text_block(" \n"), text_block(""), {"type": "new"}, thinking_block("hm"), "bare"])
def test_a_marker_passes_over_what_cannot_hold_it(block):
    """Thinking, blank text and unknown blocks take no marker; the nearest block before them does."""
    message = assistant(text_block("x"), block, marked(call_block("a", "read", {})))
    assert rewritten(message, n2=Change()) == assistant(marked(text_block("x")), block)


def test_a_marker_without_a_place_is_gone():
    """There is no block before that can hold one."""
    thinking = thinking_block("hm")
    assert rewritten(assistant(thinking, marked(text_block("x"))), n1=Change()) == assistant(thinking)


def test_markers_never_double():
    """Where a marked block stands before, it stays as it is, and the other marker goes."""
    message = results(marked(result_block("a", "x"), LONG), result_block("b", "y"), marked(result_block("c", "z")))
    assert rewritten(message, n1=Change(), n2=Change()) == results(marked(result_block("a", "x"), LONG))


def test_a_null_marker_is_none():
    """`cache_control: null` can be filled, and is not moved."""
    first, second = result_block("a", "x") | {"cache_control": None}, marked(result_block("b", "y"))
    assert rewritten(results(first, second), n1=Change()) == results(first | {"cache_control": SHORT})
    assert rewritten(results(result_block("a", "x"), first), n1=Change()) == results(result_block("a", "x"))


def moved(source, target):
    found = AnthropicDialect().move_marker(raw(source), raw(target))
    return None if found is None else decode(found)


def test_a_leaving_message_gives_its_marker():
    """The last marker of the message goes to the last block of the other that can hold one."""
    source = results(marked(result_block("a", "x"), SHORT), marked(result_block("b", "y"), LONG), result_block("c", ""))
    target = assistant(text_block("t"), thinking_block("hm"))
    assert moved(source, target) == assistant(marked(text_block("t"), LONG), thinking_block("hm"))


def test_a_string_that_gets_a_marker_becomes_a_block():
    """Only a block can hold it."""
    assert moved(user(marked(text_block("x"))), user("t")) == {"role": "user", "content": [marked(text_block("t"))]}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (user("x"), user("t")),
        (user(text_block("x")), user("t")),
        (user(marked(text_block("x"))), user("")),
        (user(marked(text_block("x"))), {"role": "user"}),
        (user(marked(text_block("x"))), user(marked(text_block("t"), LONG))),
        (user(marked(text_block("x"))), assistant(thinking_block("hm"))),
        (user(text_block("x") | {"cache_control": None}), user("t")),
    ],
)
def test_no_marker_or_no_place(source, target):
    """None: nothing moves."""
    assert moved(source, target) is None


# -- merge, answer, system, check ------------------------------------------------------------------------


def test_merging_keeps_all_blocks_in_order():
    """Strings become blocks, empty ones nothing; members of both stay."""
    dialect = AnthropicDialect()
    first, second = user("a") | {"x": 1}, user(text_block("b"), IMAGE) | {"x": 2, "y": 3}
    wanted = {"role": "user", "content": [text_block("a"), text_block("b"), IMAGE], "x": 1, "y": 3}
    assert decode(dialect.merge(raw(first), raw(second))) == wanted
    assert decode(dialect.merge(raw(user("")), raw(user("b")))) == user(text_block("b"))


def test_merged_blocks_keep_their_bytes():
    """No block is written anew."""
    first = b'{"role":"user","content":[{ "type":"text","text":"\\u00e9" }]}'
    second = b'{"role":"user","content":[{"type":"new","n":1e5}]}'
    merged = AnthropicDialect().merge(first, second)
    blocks = [b'{ "type":"text","text":"\\u00e9" }', b'{"type":"new","n":1e5}']
    assert elements(members(merged)["content"]) == blocks


def test_open_calls_are_answered_with_an_error():
    """One user message with a result for each call; none for none."""
    dialect = AnthropicDialect()
    (answer,) = dialect.answer(["a", "b"], "lost")
    wanted = results(result_block("a", "lost", is_error=True), result_block("b", "lost", is_error=True))
    assert decode(answer) == wanted
    assert dialect.answer([], "lost") == ()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"system": b'"be brief"'}, "be brief"),
        ({"system": b"null"}, ""),
        ({"system": b'[{"type":"text","text":"a"},{"type":"text","text":"b"}]', "tools": b"[1]"}, "a\nb\n[1]"),
        ({"tools": b'[{"name":"\xff"}]'}, '[{"name":"\ufffd"}]'),
    ],
)
def test_system_text(fields, text):
    """The text of the system prompt in either form, then the tools."""
    assert AnthropicDialect().system_text(fields) == text


def test_check_reports_broken_rules_again_and_again():
    """The same request is judged alike when its shapes are known."""
    dialect, broken = AnthropicDialect(), [raw(user("x")), raw(call("a", "read")), raw(user("y"))]
    first = dialect.check(broken, {}, Profile())
    assert [violation.rule for violation in first] == ["A5"]
    assert dialect.check(broken, {}, Profile()) == first
    assert dialect.check(broken[:1], {}, Profile()) == []


def test_check_forgets_what_is_long_gone():
    """Shapes of messages that no request holds any more do not pile up."""
    dialect = AnthropicDialect()
    dialect.check([raw(user(f"message {number}")) for number in range(1500)], {}, Profile())
    assert len(dialect._shapes) == 1500
    dialect.check([raw(user("last"))], {}, Profile())
    assert list(dialect._shapes) == [raw(user("last"))]


# -- properties ------------------------------------------------------------------------------------------

WORDS = st.text(max_size=12)
MARKERS = st.sampled_from([None, None, SHORT, LONG])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.~", max_size=3), inner, max_size=3),
    max_leaves=8,
)
INPUTS = st.dictionaries(st.text("ab.~", max_size=3), VALUES, max_size=4)
PLAIN = st.builds(text_block, WORDS) | st.just(IMAGE) | st.just(SEARCH) | st.builds(dict, type=WORDS, x=VALUES)
RESULTS = st.builds(result_block, WORDS, WORDS | st.lists(PLAIN, max_size=3), is_error=st.booleans())
BLOCKS = st.builds(
    lambda block, marker: block | ({"cache_control": marker} if marker else {}),
    PLAIN | RESULTS | st.builds(call_block, WORDS, WORDS, INPUTS) | st.builds(thinking_block, WORDS),
    MARKERS,
)
MESSAGES = st.builds(
    lambda role, content, extra: {"role": role, "content": content, **extra},
    st.sampled_from(["user", "assistant", "system"]),
    WORDS | st.lists(BLOCKS, max_size=6),
    st.dictionaries(st.text("xyz", min_size=1, max_size=2), VALUES, max_size=2),
)


def markers_in(message):
    return [] if message is None else json.dumps(message).count('"cache_control"')


@st.composite
def rewrites(draw):
    """A message with changes that fit its parts."""
    message = draw(MESSAGES)
    dialect, changes = AnthropicDialect(), {}
    found = dialect.split(raw(message))
    for number, part in enumerate(found.parts):
        if part.kind is PartKind.TOOL_CALL and (paths := sorted(dialect.arguments(found, number))):
            fitting = st.builds(lambda path, text: Change(arguments={path: text}), st.sampled_from(paths), WORDS)
        elif part.kind in {PartKind.TOOL_RESULT, PartKind.USER_TEXT, PartKind.ASSISTANT_TEXT}:
            fitting = st.builds(Change, text=WORDS)
        else:
            fitting = st.just(Change())
        change = draw(st.none() | st.just(Change()) | fitting)
        if change is not None:
            changes[part.path] = change
    return message, changes


@settings(deadline=None)
@given(MESSAGES)
def test_every_message_can_be_read(message):
    """A part, a text and a digest for whatever comes; rewriting nothing changes nothing."""
    dialect, text = AnthropicDialect(), raw(message)
    found = dialect.split(text)
    assert len(dialect.texts(found)) == len(found.parts)
    assert dialect.rewrite(text, {}) == text
    assert decode(dialect.rewrite(text, {"elsewhere": Change()}) or text) == message
    assert dialect.split(text) == found


@settings(deadline=None)
@given(rewrites())
def test_a_rewritten_message_shows_exactly_its_changes(case):
    """New texts stand where they were asked for, all other texts are the same, and no marker is added."""
    message, changes = case
    dialect, text = AnthropicDialect(), raw(message)
    before = dialect.split(text)
    after = dialect.rewrite(text, changes)
    assert after == dialect.rewrite(text, changes)
    stay = [(part, old) for part, old in zip(before.parts, dialect.texts(before), strict=True)]
    stay = [(part, old) for part, old in stay if not (part.path in changes and changes[part.path].is_removal)]
    if after is None:
        assert stay == []
        return
    found = dialect.split(after)
    assert [part.kind for part in found.parts] == [part.kind for part, _ in stay]
    for number, ((part, old), new) in enumerate(zip(stay, dialect.texts(found), strict=True)):
        change = changes.get(part.path, Change())
        assert new == (change.text if change.text is not None else new)
        assert change.text is not None or change.arguments is not None or new == old
        assert dict(change.arguments or {}).items() <= dialect.arguments(found, number).items()
    assert json.loads(after.decode("utf-8")).keys() == message.keys()
    assert markers_in(decode(after)) <= markers_in(message)


@settings(deadline=None)
@given(rewrites())
def test_rewriting_texts_again_changes_nothing(case):
    """Changes that keep every part can be applied to their own outcome."""
    message, changes = case
    kept = {path: change for path, change in changes.items() if not change.is_removal}
    dialect = AnthropicDialect()
    once = dialect.rewrite(raw(message), kept)
    assert once is None or dialect.rewrite(once, kept) == once


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "developer", "content": "be brief"},
        {"role": "assistant", "content": None, "tool_calls": []},
    ],
)
def test_a_message_of_the_other_dialect_is_refused(message):
    """Governing it as Anthropic Messages would do nothing, and nobody would see why."""
    with pytest.raises(WireError, match="govern it with the dialect chat"):
        AnthropicDialect().split(json.dumps(message).encode())
