"""The Chat Completions dialect: messages taken apart, rewritten, merged; everything untouched stays as it was."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import chat_assistant, chat_call, chat_result, chat_system, chat_user, raw, text_block
from selfgc.dialects.blocks import MEDIA_TOKENS
from selfgc.dialects.chat import ChatDialect
from selfgc.errors import WireError
from selfgc.model.dialect import Change
from selfgc.model.message import PartKind
from selfgc.model.profile import Profile
from selfgc.model.wire import decode, members

SHORT = {"type": "ephemeral"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CUSTOM = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
NULLS = {"tool_calls": None, "function_call": None, "refusal": None, "audio": None}


def split(message):
    return ChatDialect().split(raw(message))


def parts(message):
    """Kind and path of each part."""
    return [(part.kind, part.path) for part in split(message).parts]


def texts(message):
    return ChatDialect().texts(split(message))


def rewritten(message, changes):
    changed = ChatDialect().rewrite(raw(message), changes)
    return None if changed is None else decode(changed)


def merged(first, second):
    return decode(ChatDialect().merge(raw(first), raw(second)))


# -- split -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("user", PartKind.USER_TEXT),
        ("assistant", PartKind.ASSISTANT_TEXT),
        ("system", PartKind.SYSTEM),
        ("developer", PartKind.SYSTEM),
        ("tool", PartKind.TOOL_RESULT),
        ("function", PartKind.OPAQUE),
        ("narrator", PartKind.OPAQUE),
    ],
)
def test_a_string_is_whose_role_it_is(role, kind):
    """The kind of a text follows from the role; a legacy function's answer is never edited."""
    assert parts({"role": role, "content": "x"}) == [(kind, "content")]


def test_parts_of_a_list():
    """Texts and media are told apart; anything else is opaque."""
    content = [
        text_block("x"),
        IMAGE,
        {"type": "input_audio", "input_audio": {}},
        {"type": "file", "file": {}},
        {"type": "refusal", "refusal": "no"},
        {"type": ["text"]},
        {"text": "x"},
        "bare",
        None,
    ]
    kinds = [PartKind.USER_TEXT, *[PartKind.MEDIA] * 3, *[PartKind.OPAQUE] * 5]
    assert parts(chat_user(content)) == [(kind, f"content.{number}") for number, kind in enumerate(kinds)]
    assert [part.media_tokens for part in split(chat_user(content)).parts] == [0, *[MEDIA_TOKENS] * 3, *[0] * 5]


@pytest.mark.parametrize("content", [None, "", [], 3, {}])
def test_nothing_said_has_no_parts(content):
    """Null, empty and unreadable content has nothing to address."""
    assert parts(chat_user(content)) == []


def test_members_that_are_null_say_nothing():
    """Client libraries write every member out; a null is as good as none."""
    assert parts(chat_assistant("x") | NULLS) == [(PartKind.ASSISTANT_TEXT, "content")]


@pytest.mark.parametrize("content", ["x", "", [text_block("x")], [text_block("x"), text_block("y")], [], None])
def test_a_tool_message_is_one_result(content):
    """Whatever its content, one part, so that its call never counts as open."""
    (part,) = split(chat_result("a", content)).parts
    assert (part.kind, part.path, part.call_id) == (PartKind.TOOL_RESULT, "content", "a")


def test_media_in_a_tool_message_count():
    """Some servers take images there."""
    (part,) = split(chat_result("a", [text_block("x"), IMAGE])).parts
    assert part.media_tokens == MEDIA_TOKENS


def test_a_result_without_an_id_has_none():
    """Nothing is invented."""
    assert split({"role": "tool", "content": "x"}).parts[0].call_id == ""


def test_calls_stand_behind_text():
    """Reasoning, text, calls: in that order, with ids and tools."""
    message = chat_assistant("x", chat_call("a", "read", {}), chat_call("b", "write", {}), reasoning="hm")
    found = split(message).parts
    assert [part.path for part in found] == ["reasoning_content", "content", "tool_calls.0", "tool_calls.1"]
    assert [(part.call_id, part.tool) for part in found[2:]] == [("a", "read"), ("b", "write")]


@pytest.mark.parametrize(
    ("call", "tool", "text"),
    [
        (chat_call("a", "read", {"path": "p", "n": 1}), "read", "path: p\nn: 1"),
        ({"id": "a", "function": {"name": "read", "arguments": "{}"}}, "read", "{}"),
        (chat_call("a", "read", ""), "read", ""),
        (chat_call("a", "read", "half {"), "read", "half {"),
        (chat_call("a", "read", "[1]"), "read", "[1]"),
        (chat_call("a", "read", "[" * 300 + "]" * 300), "read", "[" * 300 + "]" * 300),
        ({"id": "a", "type": "function", "function": {"name": "read"}}, "read", ""),
        (CUSTOM | {"id": "a"}, "sql", "select 1"),
        ({"id": "a", "type": "new", "x": 1}, "new", '{"id":"a","type":"new","x":1}'),
    ],
)
def test_every_call_with_an_id_is_a_call(call, tool, text):
    """Its result needs it, so that a call of an unknown kind counts too; its text is what it asks for."""
    message = chat_assistant(None, call)
    (part,) = split(message).parts
    assert (part.kind, part.call_id, part.tool, part.is_signed) == (PartKind.TOOL_CALL, "a", tool, False)
    assert texts(message) == (f"{tool}\n{text}",)


@pytest.mark.parametrize("call", ["bare", None, {"function": {"name": "x", "arguments": "{}"}}, {"id": 1}])
def test_a_call_without_an_id_is_opaque(call):
    """Nothing can be paired with it."""
    assert parts(chat_assistant(None, call)) == [(PartKind.OPAQUE, "tool_calls.0")]


def test_what_an_assistant_says_in_place_of_content():
    """Legacy calls, refusals and audio are seen, and never edited."""
    message = chat_assistant(None) | {"function_call": {"name": "f"}, "refusal": "no", "audio": {"id": "x"}}
    assert parts(message) == [
        (PartKind.OPAQUE, "function_call"),
        (PartKind.OPAQUE, "refusal"),
        (PartKind.OPAQUE, "audio"),
    ]
    assert texts(message) == ('{"name":"f"}', "no", "")
    assert split(message).parts[2].media_tokens == MEDIA_TOKENS


def test_reasoning_of_compatible_servers():
    """Each member is one part; what carries signatures is signed."""
    message = chat_assistant("x") | {
        "reasoning": "a",
        "reasoning_content": "b",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "c"}],
        "thinking_blocks": [{"type": "thinking", "thinking": "d", "signature": "s"}],
    }
    found = split(message).parts
    assert [(part.path, part.is_signed) for part in found] == [
        ("reasoning_content", False),
        ("reasoning_details", True),
        ("reasoning", False),
        ("thinking_blocks", True),
        ("content", False),
    ]
    assert {part.kind for part in found[:4]} == {PartKind.THINKING}
    assert texts(message)[0] == "b"
    assert '"data":"c"' in texts(message)[1]


def test_a_call_with_a_thought_signature_is_signed():
    """Gemini behind this dialect signs calls."""
    call = chat_call("a", "read", {}) | {"extra_content": {"google": {"thought_signature": "s"}}}
    assert split(chat_assistant(None, call)).is_signed
    assert not split(chat_assistant(None, chat_call("a", "read", {}) | {"extra_content": None})).is_signed


@pytest.mark.parametrize("text", ["[]", '"x"', "{}", '{"role":null}', "{"])
def test_what_is_no_message_is_refused(text):
    """A WireError says what was expected."""
    with pytest.raises(WireError, match="expected"):
        ChatDialect().split(text.encode())


# -- texts, arguments, content ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x", "x"),
        ("", ""),
        (None, ""),
        ([], ""),
        ([text_block("a"), IMAGE, text_block("b"), {"type": "new"}], 'a\n\nb\n{"type":"new"}'),
    ],
)
def test_text_of_a_result(content, text):
    """A string, or its parts by line; media say nothing."""
    assert texts(chat_result("a", content)) == (text,)


def test_texts_of_a_list():
    """Each part by itself: text, media empty, others as JSON, strays as they are."""
    content = [text_block("x"), IMAGE, {"type": "new", "text": "y"}, "bare", None, {"type": "text", "text": 3}]
    assert texts(chat_user(content)) == ("x", "", '{"type":"new","text":"y"}', "bare", "null", "")


def test_arguments_of_a_call():
    """String leaves by path; nothing when they are no JSON object, or when the part is no call."""
    dialect = ChatDialect()
    message = split(
        chat_assistant("x", chat_call("a", "edit", {"edits": [{"new.text": "y"}]}), CUSTOM, chat_call("b", "z", "half"))
    )
    assert dialect.arguments(message, 0) == {}
    assert dialect.arguments(message, 1) == {"edits.0.new~1text": "y"}
    assert dialect.arguments(message, 2) == {}
    assert dialect.arguments(message, 3) == {}


def test_content_is_the_raw_value():
    """The bytes of a string, of a result's list, of a text in a list; an absent one is null."""
    dialect = ChatDialect()
    tool = dialect.split(b'{"role":"tool","tool_call_id":"a","content":[ {"type":"text","text":"\\u00e9"} ]}')
    user = dialect.split(b'{"role":"user","content":[{"type":"text","text":"\\u00e9"},{"type":"text"}]}')
    assert dialect.content(tool, 0) == b'[ {"type":"text","text":"\\u00e9"} ]'
    assert [dialect.content(user, part) for part in (0, 1)] == [b'"\\u00e9"', b'""']
    assert dialect.content(split(chat_user("x")), 0) == b'"x"'
    assert dialect.content(split({"role": "tool", "tool_call_id": "a"}), 0) == b"null"


# -- rewrite ---------------------------------------------------------------------------------------------


def test_rewriting_nothing_gives_the_same_bytes():
    """Without changes the very bytes come back."""
    text = b'{ "role":"assistant", "content":"", "reasoning_content":"\\u00e9", "n":1e5 }'
    assert ChatDialect().rewrite(text, {}) == text


@pytest.mark.parametrize("content", ["long", [text_block("long")], [text_block("a"), text_block("b")], "", None])
def test_a_result_is_folded(content):
    """Its content becomes the text; id and other members stay."""
    message = chat_result("a", content) | {"name": "read", "x": 1.5}
    assert rewritten(message, {"content": Change(text="short")}) == message | {"content": "short"}


def test_a_gateways_marker_stays_on_a_folded_result():
    """The content that held it is gone; the new text holds it."""
    message = chat_result("a", [text_block("long"), text_block("tail") | {"cache_control": SHORT}])
    wanted = chat_result("a", [text_block("short") | {"cache_control": SHORT}])
    assert rewritten(message, {"content": Change(text="short")}) == wanted


def test_a_removed_result_takes_its_message_along():
    """A tool message is nothing beside its result."""
    assert rewritten(chat_result("a", "x"), {"content": Change()}) is None


@pytest.mark.parametrize("content", ["x", "", None, [text_block("x")]])
def test_a_result_takes_another_id(content):
    """Also one without output; its call would be open otherwise."""
    message = chat_result("a", content)
    assert rewritten(message, {"content": Change(call_id="b")}) == chat_result("b", content)
    assert rewritten(message, {"content": Change(call_id="b", text="y")}) == chat_result("b", "y")
    assert rewritten(message, {"content.9": Change()}) == message


def test_texts_are_rewritten():
    """A string, and one text of a list; what stands beside it stays."""
    block = text_block("long") | {"cache_control": SHORT}
    assert rewritten(chat_user("long"), {"content": Change(text="short")}) == chat_user("short")
    message = chat_user([block, IMAGE])
    assert rewritten(message, {"content.0": Change(text="short")}) == chat_user([block | {"text": "short"}, IMAGE])


def test_string_and_single_block_are_one_part():
    """A change made on one form holds when the client sends the other one."""
    assert rewritten(chat_user("long"), {"content.0": Change(text="short")}) == chat_user("short")
    block = text_block("long") | {"cache_control": SHORT}
    assert rewritten(chat_user([block]), {"content": Change(text="s")}) == chat_user([block | {"text": "s"}])
    assert rewritten(chat_user([block, block]), {"content": Change(text="s")}) == chat_user([block, block])


def test_brackets_in_a_text_stay():
    """An empty list written inside of a text is text."""
    message = chat_user([text_block("a = []"), text_block("long")])
    wanted = chat_user([text_block("a = []"), text_block("[]")])
    assert rewritten(message, {"content.1": Change(text="[]")}) == wanted


def test_removed_texts_leave_the_calls():
    """Content becomes null, and the calls stay."""
    call = chat_call("a", "read", {})
    wanted = chat_assistant(None, call)
    assert rewritten(chat_assistant("x", call), {"content": Change()}) == wanted
    listed = chat_assistant(None, call) | {"content": [text_block("x"), IMAGE]}
    assert rewritten(listed, {"content.0": Change(), "content.1": Change()}) == wanted


def test_removed_calls_leave_the_text():
    """The list of calls goes with the last of them: an empty one is refused."""
    message = chat_assistant("x", chat_call("a", "read", {}), CUSTOM)
    assert rewritten(message, {"tool_calls.0": Change()}) == chat_assistant("x", CUSTOM)
    assert rewritten(message, {"tool_calls.0": Change(), "tool_calls.1": Change()}) == chat_assistant("x")


@pytest.mark.parametrize("content", [None, "", []])
@pytest.mark.parametrize("others", [{}, NULLS, {"reasoning_content": "hm"}])
def test_a_message_that_empties_is_gone(content, others):
    """Neither text nor call is left, and reasoning alone is no message; nulls are nothing."""
    message = chat_assistant(None) | others | {"content": content, "tool_calls": [chat_call("a", "read", {})]}
    assert rewritten(message, {"tool_calls.0": Change(), "reasoning_content": Change()}) is None


def test_a_user_message_that_empties_is_gone():
    """Both forms of content."""
    assert rewritten(chat_user("x"), {"content": Change()}) is None
    assert rewritten(chat_user([text_block("x"), IMAGE]), {"content.0": Change(), "content.1": Change()}) is None


@pytest.mark.parametrize("key", ["refusal", "audio", "function_call"])
def test_what_stands_for_content_keeps_a_message(key):
    """A refusal, audio or a legacy call is a message by itself."""
    message = chat_assistant(None) | {key: {"id": "x"}, "reasoning": "hm"}
    wanted = chat_assistant(None) | {key: {"id": "x"}}
    assert rewritten(message, {"reasoning": Change()}) == wanted


def test_reasoning_goes_whole():
    """The members that are named go, and nothing else is touched: an empty text stays empty."""
    message = chat_assistant("", chat_call("a", "read", {}), reasoning="hm") | {"reasoning_details": [1]}
    changes = {"reasoning_content": Change(), "reasoning_details": Change(), "thinking_blocks": Change()}
    assert rewritten(message, changes) == chat_assistant("", chat_call("a", "read", {}))


def test_a_message_without_content_gets_none():
    """An absent member stays absent."""
    message = {"role": "assistant", "tool_calls": [chat_call("a", "read", {}), chat_call("b", "read", {})]}
    wanted = {"role": "assistant", "tool_calls": [chat_call("a", "read", {})]}
    assert rewritten(message, {"tool_calls.1": Change()}) == wanted


def test_arguments_are_rewritten_in_place():
    """Only the named leaf changes; spaces of untouched values, numbers and escapes inside the text stay."""
    arguments = ' {"n": 1e5, "edits": [{"new": "long"}, { "k" : 1.10 }], "a.b": "\\u00e9", "s": "\\ud800"} '
    message = chat_assistant("x", chat_call("a", "edit", arguments) | {"x": 1})
    changed = rewritten(message, {"tool_calls.0": Change(arguments={"edits.0.new": "short", "a~1b": "s"})})
    call = changed["tool_calls"][0]
    wanted = '{"n":1e5,"edits":[{"new":"short"},{ "k" : 1.10 }],"a.b":"s","s":"\\ud800"}'
    assert call == chat_call("a", "edit", wanted) | {"x": 1}


def test_surrogates_in_arguments_are_written_as_utf8():
    """Half of a pair in the outer text cannot be sent; it is replaced where the arguments are written anew."""
    text = raw(chat_assistant(None, chat_call("a", "edit", '{"a": "\ud800", "b": "long"}')))
    after = ChatDialect().rewrite(text, {"tool_calls.0": Change(arguments={"b": "cut \udc00"})})
    (call,) = json.loads(after.decode("utf-8"))["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"a": "\ufffd", "b": "cut \ufffd"}


@pytest.mark.parametrize("call", [chat_call("a", "read", "half {"), chat_call("a", "read", '"x"'), CUSTOM])
def test_arguments_that_are_no_object_stay(call):
    """There is nothing to address in them."""
    message = chat_assistant(None, call)
    assert rewritten(message, {"tool_calls.0": Change(arguments={"": "new", "a": "new"})}) == message


def test_a_call_takes_another_id():
    """Alone, and together with changed arguments."""
    message = chat_assistant(None, chat_call("a", "read", '{"path":"p"}'))
    wanted = chat_assistant(None, chat_call("b", "read", '{"path":"p"}'))
    assert rewritten(message, {"tool_calls.0": Change(call_id="b")}) == wanted
    change = Change(call_id="b", arguments={"path": "q"})
    wanted = chat_assistant(None, chat_call("b", "read", '{"path":"q"}'))
    assert rewritten(message, {"tool_calls.0": change}) == wanted


def test_everything_else_keeps_its_bytes():
    """Numbers, escapes, order and unknown members of a changed message."""
    before = (
        b'{"x":1e5,"content":[{"text":"\\u00e9","n":1.10,"type":"text"},{"type":"text","text":"long"}],'
        b'"role":"user","y":{ "k":-0 },"tool_calls":null}'
    )
    after = ChatDialect().rewrite(before, {"content.1": Change(text="short")})
    assert after == before.replace(b'"text":"long"', b'"text":"short"')


# -- merge, answer, system, check ------------------------------------------------------------------------


def test_merged_texts_are_one_string():
    """Plain texts of either form are joined by an empty line: every server takes a string."""
    assert merged(chat_user("a"), chat_user([text_block("b"), text_block("c")])) == chat_user("a\n\nb\n\nc")
    assert merged(chat_user(""), chat_user("b")) == chat_user("b")


def test_merged_parts_stay_parts():
    """Where one part is more than text, all stay as they are."""
    marked = text_block("b") | {"cache_control": SHORT}
    assert merged(chat_user("a"), chat_user([marked, IMAGE])) == chat_user([text_block("a"), marked, IMAGE])
    odd = {"type": "new", "text": "b"}
    assert merged(chat_user("a"), chat_user([odd])) == chat_user([text_block("a"), odd])


def test_merged_calls_stand_in_order():
    """Calls of both; content stays null when nobody spoke."""
    one, two = chat_call("a", "read", {}), chat_call("b", "read", {})
    assert merged(chat_assistant(None, one), chat_assistant(None, two)) == chat_assistant(None, one, two)
    assert merged(chat_assistant("x") | NULLS, chat_assistant("y", two)) == chat_assistant("x\n\ny") | NULLS | {
        "tool_calls": [two]
    }
    assert merged(chat_assistant("x", one), chat_assistant("y") | NULLS) == chat_assistant("x\n\ny", one) | {
        key: None for key in NULLS if key != "tool_calls"
    }


def test_merged_reasoning_is_joined():
    """Texts by an empty line, lists in order; of two kinds the first stays."""
    first = chat_assistant("x", reasoning="a") | {"reasoning_details": [1], "reasoning": "r"}
    second = chat_assistant("y", reasoning="b") | {"reasoning_details": [2], "reasoning": [3]}
    wanted = {"reasoning_content": "a\n\nb", "reasoning_details": [1, 2], "reasoning": "r"}
    assert merged(first, second) == chat_assistant("x\n\ny") | wanted


def test_other_members_are_the_firsts():
    """A name of both is the first one's; what only the second has is kept."""
    assert merged(chat_user("a") | {"name": "x"}, chat_user("b") | {"name": "y", "z": 1}) == chat_user("a\n\nb") | {
        "name": "x",
        "z": 1,
    }


def test_no_markers_move():
    """This dialect has none of its own."""
    marked = chat_user([text_block("x") | {"cache_control": SHORT}])
    assert ChatDialect().move_marker(raw(marked), raw(chat_user("y"))) is None


def test_open_calls_are_answered():
    """A tool message for each."""
    answers = [decode(answer) for answer in ChatDialect().answer(["a", "b"], "lost")]
    assert answers == [chat_result("a", "lost"), chat_result("b", "lost")]
    assert ChatDialect().answer([], "lost") == ()


def test_system_text_is_the_tools():
    """System prompts are messages here."""
    assert ChatDialect().system_text({"tools": b'[{"type":"function"}]'}) == '[{"type":"function"}]'
    assert ChatDialect().system_text({}) == ""


def test_check_reports_broken_rules_again_and_again():
    """The same request is judged alike when its shapes are known."""
    dialect, broken = ChatDialect(), [raw(chat_user("x")), raw(chat_result("a", "y"))]
    first = dialect.check(broken, {}, Profile())
    assert [violation.rule for violation in first] == ["C2"]
    assert dialect.check(broken, {}, Profile()) == first
    assert dialect.check([raw(chat_system("x")), *broken[:1]], {}, Profile()) == []


def test_check_forgets_what_is_long_gone():
    """Shapes of messages that no request holds any more do not pile up."""
    dialect = ChatDialect()
    dialect.check([raw(chat_user(f"message {number}")) for number in range(1500)], {}, Profile())
    assert len(dialect._shapes) == 1500
    dialect.check([raw(chat_user("last"))], {}, Profile())
    assert list(dialect._shapes) == [raw(chat_user("last"))]


# -- properties ------------------------------------------------------------------------------------------

WORDS = st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.~", max_size=3), inner, max_size=3),
    max_leaves=8,
)
INPUTS = st.dictionaries(st.text("ab.~", max_size=3), VALUES, max_size=4)
TEXTS = st.builds(text_block, WORDS)
ITEMS = TEXTS | st.just(IMAGE) | st.builds(dict, type=WORDS, x=VALUES)
CALLS = st.builds(chat_call, WORDS, WORDS, INPUTS | WORDS) | st.just(CUSTOM)
ASSISTANTS = st.builds(
    lambda content, calls, extra: chat_assistant(content, *calls) | extra,
    st.none() | WORDS | st.lists(ITEMS, max_size=3),
    st.lists(CALLS, max_size=3),
    st.fixed_dictionaries({}, optional={"reasoning_content": WORDS, "refusal": st.none() | WORDS, "x": VALUES}),
)
OTHERS = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "system", "developer"]),
    WORDS | st.lists(ITEMS, max_size=4),
)
MESSAGES = ASSISTANTS | OTHERS | st.builds(chat_result, WORDS, WORDS | st.lists(TEXTS, max_size=3))


@st.composite
def rewrites(draw):
    """A message with changes that fit its parts."""
    message = draw(MESSAGES)
    dialect, changes = ChatDialect(), {}
    found = dialect.split(raw(message))
    for number, part in enumerate(found.parts):
        if part.kind is PartKind.TOOL_CALL and (paths := sorted(dialect.arguments(found, number))):
            fitting = st.builds(lambda path, text: Change(arguments={path: text}), st.sampled_from(paths), WORDS)
        elif part.kind in {PartKind.TOOL_RESULT, PartKind.USER_TEXT, PartKind.ASSISTANT_TEXT}:
            fitting = st.builds(Change, text=st.text(min_size=1, max_size=12))
        else:
            fitting = st.just(Change())
        change = draw(st.none() | st.just(Change()) | fitting)
        if change is not None and part.path not in {"refusal", "audio", "function_call"}:
            changes[part.path] = change
    return message, changes


@settings(deadline=None)
@given(MESSAGES)
def test_every_message_can_be_read(message):
    """A part, a text and a digest for whatever comes; rewriting nothing changes nothing."""
    dialect, text = ChatDialect(), raw(message)
    found = dialect.split(text)
    assert len(dialect.texts(found)) == len(found.parts)
    assert dialect.rewrite(text, {}) == text
    assert dialect.split(text) == found


@settings(deadline=None)
@given(rewrites())
def test_a_rewritten_message_shows_exactly_its_changes(case):
    """New texts stand where they were asked for, and all other texts are the same."""
    message, changes = case
    dialect, text = ChatDialect(), raw(message)
    before = dialect.split(text)
    after = dialect.rewrite(text, changes)
    assert after == dialect.rewrite(text, changes)
    stay = [(part, old) for part, old in zip(before.parts, dialect.texts(before), strict=True)]
    stay = [(part, old) for part, old in stay if not (part.path in changes and changes[part.path].is_removal)]
    if after is None:
        assert {part.kind for part, _ in stay} <= {PartKind.THINKING}
        return
    found = dialect.split(after)
    assert [part.kind for part in found.parts] == [part.kind for part, _ in stay]
    for number, ((part, old), new) in enumerate(zip(stay, dialect.texts(found), strict=True)):
        change = changes.get(part.path, Change())
        assert new == (change.text if change.text is not None else new)
        assert change.text is not None or change.arguments is not None or new == old
        assert dict(change.arguments or {}).items() <= dialect.arguments(found, number).items()
    assert set(json.loads(after.decode("utf-8"))) <= set(message)


@settings(deadline=None)
@given(rewrites())
def test_rewriting_texts_again_changes_nothing(case):
    """Changes that keep every part can be applied to their own outcome."""
    message, changes = case
    kept = {path: change for path, change in changes.items() if not change.is_removal}
    dialect = ChatDialect()
    once = dialect.rewrite(raw(message), kept)
    assert once is None or dialect.rewrite(once, kept) == once


@settings(deadline=None)
@given(st.lists(ASSISTANTS, min_size=2, max_size=2) | st.lists(OTHERS, min_size=2, max_size=2))
def test_merging_loses_no_call_and_no_text(pair):
    """The merged message has the calls of both in order, and every text of both."""
    dialect = ChatDialect()
    first, second = (dialect.split(raw(message)) for message in pair)
    both = dialect.split(dialect.merge(first.raw, second.raw))
    calls = [part.call_id for one in (first, second) for part in one.parts if part.kind is PartKind.TOOL_CALL]
    assert [part.call_id for part in both.parts if part.kind is PartKind.TOOL_CALL] == calls
    shown = "\n".join(dialect.texts(both))
    for one in (first, second):
        kinds = {part.path for part in one.parts if part.path.startswith("content")}
        wanted = [text for part, text in zip(one.parts, dialect.texts(one), strict=True) if part.path in kinds]
        assert all(text in shown for text in wanted)
    assert next(iter(members(both.raw))) == "role"


@pytest.mark.parametrize("block", [{"type": "tool_use", "id": "a"}, {"type": "tool_result", "tool_use_id": "a"}])
def test_a_message_of_the_other_dialect_is_refused(block):
    """Governing it as Chat Completions would do nothing, and nobody would see why."""
    with pytest.raises(WireError, match="govern it with the dialect anthropic"):
        ChatDialect().split(json.dumps({"role": "user", "content": [block]}).encode())


def test_tags_of_tool_messages():
    """The tag stands behind a text, or as a last part of a list; other messages stay as they are."""
    dialect, tags = ChatDialect(), {"a": "<turn id='x' />"}
    for content, shown in (("done", "done\n<turn id='x' />"), ([{"type": "text", "text": "done"}], None)):
        raw = json.dumps({"role": "tool", "tool_call_id": "a", "content": content}).encode()
        tagged = json.loads(dialect.tag(raw, "", tags))["content"]
        assert tagged == (shown or [{"type": "text", "text": "done"}, {"type": "text", "text": "<turn id='x' />"}])
    other = json.dumps({"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "x"}]}).encode()
    assert json.loads(dialect.tag(other, "", tags)) == json.loads(other)
