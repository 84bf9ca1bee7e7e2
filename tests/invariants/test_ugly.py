"""Ugly inputs: none, one and very many messages, giants, odd characters, images, deep and doubled JSON."""

import json
import time

import pytest

from builders import assistant, body_of, call, chat_result, raw, result, text_block, user
from cli_sessions import prose, turns_of
from governed import pointers_in
from selfgc.engine.context import ContextEngine
from selfgc.errors import WireError
from selfgc.model.plan import Fold, Mask, Plan
from selfgc.model.policy import Boundary, Policy
from selfgc.model.wire import without_lone_escapes
from transcripts import LONE

DIALECTS = pytest.mark.parametrize("dialect", ["anthropic", "chat"])
ANY = Policy(keep_spans=0)
MODEL = "claude-sonnet-4-5"


def folded(content, action=Fold, **others):
    """An engine that has folded one result with this content, and the messages it saw."""
    read = call("call_1", "Read", file_path="/repo/a")
    messages = [
        user("Read it."),
        read,
        result("call_1", content),
        assistant("Done."),
        user("b"),
        assistant("c"),
        user("d"),
    ]
    engine = ContextEngine(policy=ANY)
    engine.observe(messages, model=MODEL, **others)
    assert engine.maintain(Plan((action("function:Read:1"),)), is_cold=True).committed
    return engine, messages


# -- how many --------------------------------------------------------------------------------------------


@DIALECTS
def test_no_message(dialect):
    """A request without messages passes, before and after others."""
    body = b'{"model":"m","messages":[]}'
    engine = ContextEngine(dialect=dialect)
    engine.observe_body(body)
    assert (engine.view_body(), engine.view(), engine.view_tokens()) == (body, [], engine.snapshot().system_tokens)
    assert not engine.maintain(is_cold=True).committed
    engine.observe([user("x")])
    engine.observe_body(body)
    assert engine.view_body() == body


@DIALECTS
def test_one_message(dialect):
    """One message passes as it is; there is nothing to plan."""
    engine = ContextEngine(dialect=dialect)
    engine.observe([user("hello")])
    assert not engine.maintain(is_cold=True).committed
    assert engine.view() == [user("hello")]


def many(count):
    """A session of so many messages: reads of 300 characters each, a turn of twenty."""
    built = []
    for n in range(count // 2):
        if n % 10 == 0:
            built += [user(f"Question {n}"), assistant(f"Answer {n}")]
        else:
            text = f"{n}: " + "the quick brown fox " * 14
            built += [call(f"call_{n}", "Read", file_path=f"/repo/{n % 50}.py"), result(f"call_{n}", text)]
    return body_of([*built[: count - 1], user("And now?")], model=MODEL)


def seconds(count, policy=None):
    """Processor time that it takes to observe, plan, commit and view so many messages, and one more step."""
    body = many(count)
    start = time.process_time()
    engine = ContextEngine(policy=policy)
    engine.observe_body(body)
    assert engine.maintain(is_cold=True).committed
    view = engine.view_body()
    engine.observe_body(body[:-2] + b"," + raw(assistant("ok")) + b"," + raw(user("more")) + b"]}")
    assert len(engine.view_body()) > len(view)
    return time.process_time() - start


@pytest.mark.slow
def test_time_grows_with_length():
    """Four times the messages take about four times as long: nothing is quadratic."""
    seconds(500)
    small, large = (min(seconds(count) for _ in range(2)) for count in (800, 3_200))
    assert large < 4 * small * 2.2, f"{small:.2f} s for 800 messages, {large:.2f} s for 3,200"


@pytest.mark.slow
def test_a_hundred_thousand_messages():
    """100,000 messages are governed, in about 200 times the time of 500."""
    seconds(500)
    assert seconds(100_000) < 400 * seconds(500)


# -- how large -------------------------------------------------------------------------------------------


def test_a_giant_result():
    """A result of 20 MB is masked, its pointer is short, and it comes back byte for byte."""
    text = (prose(1, 1) + "\n") * 8_000
    engine, _ = folded(text, Mask)
    assert len(text) > 20_000_000
    assert len(engine.view_body()) < 40_000
    assert engine.restore("function:Read:1").decode() == text


def test_many_images():
    """40 images of 1 MB each are counted as images, not as text; folded with their text they come back whole."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000}}
    shown = [*([image] * 40), text_block(prose(1, 1))]
    engine, messages = folded(shown)
    assert engine.snapshot().transcript_tokens < 40 * 5_000
    assert len(engine.view_body()) < 10_000
    assert json.loads(engine.restore("function:Read:1"))["content"] == messages[2]["content"][0]["content"]


def test_one_word_of_a_megabyte():
    """A text without a single break is counted and masked in no time."""
    engine, _ = folded("a" * 1_000_000, Mask)
    assert len(engine.view_body()) < 5_000
    assert engine.restore("function:Read:1") == b"a" * 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "Thought: Action: " * 1_500,
        "a" * 25_000 + "!",
        " " * 25_000 + "x",
        "[" * 12_000 + "]" * 12_000,
        "/a" * 12_500,
        "https://" * 3_000,
        "\\" * 25_000,
        "0x" * 12_500,
        "\n" * 25_000 + "x",
        '<skill name="' * 2_000,
        "-" * 25_000 + ">",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_texts_that_make_patterns_slow(text):
    """Four times a nasty text takes about four times as long to observe."""
    times = []
    for factor in (1, 4):
        engine = ContextEngine()
        messages = [user("Go"), call("call_1", "Bash", command="x"), result("call_1", text * factor)]
        start = time.process_time()
        engine.observe(messages)
        times.append(time.process_time() - start)
    assert times[1] < max(0.5, 4 * times[0] * 3)


# -- which characters ------------------------------------------------------------------------------------

TEXTS = {
    "lone surrogates": LONE * 200,
    "NUL": "\x00text\x00" * 200,
    "CRLF": "one line\r\nand another\r\n" * 100,
    "carriage returns": "10%\r20%\r30%\r" * 200,
    "right to left": "\u202eשלום עולם\u202c \u200f" * 150,
    "Chinese": "上下文治理不会丢失任何内容。" * 60,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 100,
    "combining": "e\u0301\u0302\u0303" * 300,
    "escapes": "\x1b[31mred\x1b[0m\x07" * 200,
    "private use": "\ue000\uf8ff\U000f0000\ufffe\uffff" * 150,
    "line separators": "a\u2028b\u2029c\x85d\x0b\x0c" * 150,
    "byte order marks": "\ufeff\ufffd" * 300,
    "quotes and slashes": '\\"\\\\"\\/' * 300,
}


@pytest.mark.parametrize("action", [Fold, Mask])
@pytest.mark.parametrize("name", TEXTS)
def test_odd_characters(name, action):
    """Whatever characters a result has, it comes back as they were, and the view is valid UTF-8 and JSON."""
    engine, _ = folded(f"{TEXTS[name]}{prose(1, 1)}", action)
    view = engine.view_body()
    assert json.loads(view.decode("utf-8"))["messages"]
    assert engine.restore("function:Read:1").decode("utf-8", "surrogatepass") == f"{TEXTS[name]}{prose(1, 1)}"


@pytest.mark.parametrize("name", TEXTS)
@DIALECTS
def test_odd_characters_that_nobody_edits(name, dialect):
    """What is not edited goes out as the bytes that came; only half a pair (I1 of the field faults) becomes U+FFFD."""
    for ascii_only in (True, False):
        made = json.dumps({"messages": [{"role": "user", "content": TEXTS[name]}]}, ensure_ascii=ascii_only)
        body = made.encode("utf-8", "surrogatepass")
        engine = ContextEngine(dialect=dialect)
        engine.observe_body(body)
        assert engine.view_body() == without_lone_escapes(body)


def test_odd_characters_in_the_neighbour():
    """A fold beside a text with half a surrogate pair leaves that text alone, but for U+FFFD in its place."""
    engine, messages = folded(prose(1, 1), system=LONE)
    messages[0] = user(LONE)
    engine.observe(messages, system=LONE, model=MODEL)
    assert without_lone_escapes(raw(messages[0])) in engine.view_body()
    name = engine.snapshot().spans[0].id
    assert engine.maintain(Plan((Fold(name),)), is_cold=True).committed
    assert without_lone_escapes(raw(messages[0])) in engine.view_body()
    assert pointers_in(engine.view_body()) == [name]


@pytest.mark.parametrize("content", ["", " ", "\n", [], [text_block("")], [text_block(" ")], None, {}, 7])
@DIALECTS
def test_empty_and_odd_results(content, dialect):
    """Results that are empty, blank or no text at all neither stop governance nor change."""
    made = [result("call_1", content)] if dialect == "anthropic" else [chat_result("call_1", content)]
    read = call("call_1", "Read", file_path="/a")
    if dialect == "chat":
        function = {"name": "Read", "arguments": "{}"}
        read = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    messages = [user("x"), read, *made, assistant("y"), user("z"), assistant("a"), user("b")]
    engine = ContextEngine(dialect=dialect, policy=ANY)
    engine.observe(messages, model=MODEL)
    assert not engine.maintain(is_cold=True).committed
    assert engine.view() == messages


# -- which JSON ------------------------------------------------------------------------------------------


def deep(levels):
    return b"[" * levels + b"]" * levels


@DIALECTS
def test_deep_json(dialect):
    """Nesting that no provider takes is refused with its path, and the session goes on; less deep passes."""
    engine = ContextEngine(dialect=dialect)
    engine.observe([user("x")])
    for levels in (300, 5_000, 100_000):
        with pytest.raises(WireError, match=r"nest|recursion"):
            engine.observe_body(b'{"messages":[{"role":"user","content":"x","y":' + deep(levels) + b"}]}")
    assert engine.view() == [user("x")]
    body = b'{"messages":[{"role":"user","content":"x","y":' + deep(200) + b"}]}"
    engine.observe_body(body)
    assert engine.view_body() == body


@DIALECTS
def test_doubled_keys(dialect):
    """Keys that stand twice go out twice, as they came; the last one counts."""
    body = b'{"model":"a","messages":[],"model":"b","messages":[{"role":"user","content":"x","content":"y"}]}'
    engine = ContextEngine(dialect=dialect)
    engine.observe_body(body)
    assert engine.view_body() == body
    assert [turn.id for turn in engine.snapshot().turns] == ["conversation:user:1"]


def test_doubled_keys_and_an_edit():
    """A request with doubled keys can be edited; the array that counts is the one that changes."""
    turns = [raw(message) for message in folded(prose(1, 1))[1]]
    body = b'{"messages":[],"model":"' + MODEL.encode() + b'","x":1,"x":2,"messages":[' + b",".join(turns) + b"]}"
    engine = ContextEngine(policy=ANY)
    engine.observe_body(body)
    assert engine.maintain(Plan((Fold("function:Read:1"),)), is_cold=True).committed
    view = engine.view_body()
    assert view.startswith(b'{"messages":[],"model"')
    assert b'"x":1,"x":2' in view
    assert pointers_in(view) == ["function:Read:1"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"messages":{}}',
        b'{"messages":[1]}',
        b'{"messages":[{"role":"user","content":NaN}]}',
        b'{"messages":[{"role":"user"',
        b"\xff\xfe",
        b'{"messages":[{"content":"x"}]}',
    ],
)
@DIALECTS
def test_what_is_no_request(body, dialect):
    """Bytes that are no request of a dialect are a WireError, and the session is as it was."""
    engine = ContextEngine(dialect=dialect)
    engine.observe([user("x")])
    with pytest.raises(WireError):
        engine.observe_body(body)
    assert engine.view() == [user("x")]


def test_names_of_tools():
    """Names of tools that are long, empty or of odd characters give ids that can be restored."""
    names = ["", "x" * 300, "a:b:7", "../../etc", "名前", "a\nb", "%s{0}", "restore_context"]
    calls = [m for n, name in enumerate(names) for m in (call(f"c{n}", name, q="1"), result(f"c{n}", prose(n + 1, 1)))]
    messages = [user("Go"), *calls, assistant("Done."), user("b"), assistant("c"), user("d")]
    engine = ContextEngine(policy=ANY)
    engine.observe(messages, model=MODEL)
    spans = [span.id for span in engine.snapshot().spans]
    engine.maintain(Plan(tuple(Fold(name) for name in spans)), is_cold=True)
    assert [engine.restore(name).decode() for name in spans] == [prose(n + 1, 1) for n in range(len(names))]


def test_long_single_turn():
    """One question and many calls: spans are folded one by one, inside the turn where the policy allows it."""
    turn = turns_of(1, calls=60, answer="")
    messages = [user(turn[0][0])]
    for n, (tool, arguments, text) in enumerate(turn[0][1]):
        messages += [call(f"call_{n}", tool, **arguments), result(f"call_{n}", text)]
    engine = ContextEngine(policy=Policy(boundary=Boundary.STEP))
    engine.observe(messages, model=MODEL)
    report = engine.maintain(is_cold=True)
    assert report.committed
    assert report.prune_rate > 0.7


def test_half_characters_in_reasons_and_pointers():
    """Lone surrogates in a plan's words, or in lines that a pointer shows, stop no commit."""
    text = f"{prose(1, 1)}\ncommit 00000007deadbeef {LONE}"
    messages = [user("x"), call("c", "Bash", command=f"git log {LONE}"), result("c", text), assistant("y"), user("z")]
    engine = ContextEngine(policy=ANY)
    engine.observe([*messages, assistant("a"), user("b")], model=MODEL)
    plan = Plan((Fold("function:Bash:1", reason=LONE, keep=(f"commit 00000007deadbeef {LONE}",)),), LONE)
    assert engine.maintain(plan, is_cold=True).committed
    assert "00000007deadbeef" in engine.view_body().decode()
    again = ContextEngine(store=engine.store)
    again.observe([*messages, assistant("a"), user("b")], model=MODEL)
    assert again.view_body() == engine.view_body()
    assert again.restore("function:Bash:1") == text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("field", ["system", "model"])
def test_other_members_that_cannot_be_read(field):
    """A request that is refused for its system prompt or model leaves the session as it was."""
    engine = ContextEngine()
    engine.observe([user("x")])
    before = engine.snapshot().digest
    body = b'{"' + field.encode() + b'":' + deep(300) + b',"messages":[' + raw(user("other")) + b"]}"
    with pytest.raises(WireError):
        engine.observe_body(body)
    assert engine.snapshot().digest == before
    assert engine.view() == [user("x")]


@pytest.mark.parametrize("action", [Fold, Mask])
def test_a_folded_image_is_named(action):
    """What stands for an image says that an image stood there, not that no characters did."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000}}
    engine, _ = folded([image], action)
    shown = engine.view()[2]["content"][0]["content"]
    assert "0 characters" not in shown
    assert "image" in shown
