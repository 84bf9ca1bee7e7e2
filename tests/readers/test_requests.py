"""Request bodies from files."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfgc.errors import ReadError
from selfgc.readers.requests import read_request

SHARED = Path(__file__).parents[3] / "shared"
HELLO = {"role": "user", "content": "hello"}
BODY = {"model": "claude-x", "messages": [HELLO, {"role": "assistant", "content": "hi"}], "system": "s"}


def text(value, **options):
    return json.dumps(value, **options).encode()


def messages_of(recording):
    return json.loads(recording.body)["messages"]


@pytest.mark.parametrize("indent", [None, 2])
def test_body_is_the_file(indent):
    """A request body goes on byte for byte, white space and all."""
    raw = b"  " + text(BODY, indent=indent) + b"\n"
    recording = read_request(raw)
    assert recording.body == raw
    assert (recording.dialect, recording.source) == ("anthropic", "anthropic request")
    assert (recording.timestamps, recording.usage, recording.skipped) == ((), (), ())


def test_chat_body():
    """A Chat Completions body is recognised as one."""
    recording = read_request(text({"messages": [{"role": "system", "content": "s"}, HELLO]}))
    assert (recording.dialect, recording.source) == ("chat", "chat request")


def test_list_of_messages():
    """A bare list of messages becomes a body around the same bytes."""
    assert (
        read_request(b'[ {"role": "user", "content":"a"} ]').body == b'{"messages":[ {"role": "user", "content":"a"} ]}'
    )


def test_meta():
    """Beside `meta` the body is the raw value of `request`; the name and the times come from `meta`."""
    body = text(BODY, indent=1)
    raw = b'{"meta": {"id": "s01", "timestamps": ["2026-01-01T00:00:00Z", null]},\n "request": ' + body + b"}"
    recording = read_request(raw)
    assert recording.body == body
    assert (recording.name, recording.source) == ("s01", "session with meta")
    assert recording.timestamps == ("2026-01-01T00:00:00Z", None)


@pytest.mark.parametrize("meta", [{}, {"timestamps": None, "id": 3}, {"timestamps": ["2026"]}, []])
def test_odd_meta(meta):
    """Without one time a message there are no times; a name that is no text is no name."""
    recording = read_request(text({"meta": meta, "request": BODY}))
    assert (recording.name, recording.timestamps) == ("", ())


def test_request_without_meta():
    """`request` alone is enough."""
    assert messages_of(read_request(text({"request": BODY}))) == BODY["messages"]


def test_lone_surrogates_stay():
    """Escapes that no parser likes stay the bytes they were, also within `request`."""
    body = rb'{"messages":[{"role":"user","content":"a\ud83d"}]}'
    assert read_request(body).body == body
    assert read_request(b'{"meta":{"id":"x"},"request": ' + body + b"}").body == body


def test_one_dialogue_in_a_list():
    """A list with one record is that record's dialogue."""
    assert messages_of(read_request(text([{"traj": [HELLO]}]))) == [HELLO]
    assert messages_of(read_request(text([{"messages": [HELLO], "model": "m"}]))) == [HELLO]
    assert messages_of(read_request(text({"traj": [HELLO], "reward": 1}))) == [HELLO]


@pytest.mark.parametrize("key", ["traj", "messages"])
def test_several_dialogues(key):
    """Of several dialogues none is picked; the error says how to pick one."""
    with pytest.raises(ReadError, match=f"found 2 in one list.*0..{key}"):
        read_request(text([{key: [HELLO]}, {key: [HELLO]}]))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"input": []}, "Responses"),
        ({"contents": []}, "Gemini"),
        ({"trajectory": [], "history": []}, "SWE-agent"),
        ({"messages": [{"type": "user"}], "projectHash": "x"}, "Gemini CLI"),
        ({"a": 1}, "keys .'a'."),
        ({"request": 3}, "keys"),
        ({"meta": {}, "request": {"model": "m"}}, "keys"),
        ({"messages": []}, "no message in it"),
        ({"messages": 3}, "expected a JSON array"),
        ([], "no message in it"),
        ([1, 2], "no message in it"),
        (3, "keys"),
        ("x", "keys"),
    ],
)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_something_else(value, said, skip_bad):
    """JSON that is no session is refused with what it is, as far as that is known."""
    with pytest.raises(ReadError, match=said):
        read_request(text(value), skip_bad=skip_bad)


def test_lines_of_something_else():
    """Lines of another agent's session are named."""
    with pytest.raises(ReadError, match="got a Codex rollout"):
        read_request(b'{"type":"session_meta","payload":{}}\n{"type":"response_item","payload":{}}\n')
    with pytest.raises(ReadError, match="lines of JSON with the keys"):
        read_request(b'{"a":1}\n{"b":1}\n')


def test_no_json():
    """A text is told from JSON."""
    with pytest.raises(ReadError, match=r"line 1: .*no JSON"):
        read_request(b"# A heading\n")


def test_not_utf8():
    """The line with the first other byte is named."""
    with pytest.raises(ReadError, match="line 3: expected UTF-8") as caught:
        read_request(b'{"messages":[\n{"role":"user",\n"content":"\xff"}]}')
    assert caught.value.line == 3


def test_too_deep():
    """Nesting that no provider takes is refused, at any depth."""
    for depth in (300, 100_000):
        with pytest.raises(ReadError, match="nest"):
            read_request(b'{"messages":' + b"[" * depth + b"]" * depth + b"}")


def test_constants_are_no_json():
    """What only looks like JSON is refused."""
    with pytest.raises(ReadError, match="NaN"):
        read_request(b'{"messages":[{"role":"user","content":NaN}]}')


BROKEN = [HELLO, None, {"role": "assistant", "content": "x"}, {"content": "no role"}, "text"]


def test_bad_message():
    """A message that is none is named with its place and its line."""
    with pytest.raises(ReadError, match=r"line 7: expected message 1 .* got null; .*--skip-bad") as caught:
        read_request(text({"messages": BROKEN}, indent=1))
    assert caught.value.line == 7


def test_bad_messages_left_out():
    """With skip_bad they are left out with their times, and all else is as it was."""
    meta = {"timestamps": ["a", "b", "c", "d", "e"]}
    recording = read_request(text({"meta": meta, "request": {"model": "m", "messages": BROKEN}}), skip_bad=True)
    assert json.loads(recording.body) == {"model": "m", "messages": [BROKEN[0], BROKEN[2]]}
    assert recording.timestamps == ("a", "c")
    assert [skipped.reason for skipped in recording.skipped] == [
        "message 1 is no message: null",
        "message 3 is no message: an object without one",
        "message 4 is no message: str",
    ]


def test_line_of_a_bad_message():
    """The line is right behind lone surrogates, in a bare list, and in a wrapper."""
    first = b'{"role":"user","content":"\xc3\xa9 \\ud83d"}'
    messages = b"[\n" + first + b",\n" + first + b",\n 3]"
    for raw in (b'{"messages":' + messages + b"}", messages, b'{"traj":\n' + messages + b"}", b"[" + messages + b"]"):
        with pytest.raises(ReadError) as caught:
            read_request(raw)
        assert caught.value.line == (None if raw.startswith(b"[[") else 4 + raw.startswith(b'{"traj"'))


def test_bad_messages_among_odd_ones():
    """What stays keeps its bytes, lone surrogates and white space around the list included."""
    first = b'{"role":"user", "content":"\xc3\xa9 \\ud83d"}'
    raw = b'{ "messages" : [ ' + first + b" , 3, " + first + b' ] , "model":"\\ud83d"}'
    body = read_request(raw, skip_bad=True).body
    assert body == b'{ "messages" : [ ' + first + b"," + first + b' ] , "model":"\\ud83d"}'


def test_escaped_key():
    """A key that is spelled with an escape is the same key."""
    raw = b'{"m\\u0065ssages":[{"role":"user","content":"a"},null],"x":{"messages":1}}'
    body = read_request(raw, skip_bad=True).body
    assert body == b'{"m\\u0065ssages":[{"role":"user","content":"a"}],"x":{"messages":1}}'


def test_cut_body():
    """A body that is cut off is refused with the line and the byte, and --skip-bad is offered."""
    raw = text(BODY, indent=1)[:-40]
    with pytest.raises(ReadError, match=rf"cut off after byte {len(raw)}; .*--skip-bad") as caught:
        read_request(raw)
    assert caught.value.line == raw.count(b"\n") + 1


def test_cut_body_recovered():
    """With skip_bad the whole messages before the cut are read, with their times."""
    raw = text({"meta": {"id": "s", "timestamps": ["a", "b", "c"]}, "request": {"messages": [HELLO, HELLO, HELLO]}})
    recording = read_request(raw[:-10], skip_bad=True)
    assert messages_of(recording) == [HELLO, HELLO]
    assert recording.timestamps == ("a", "b")
    assert recording.name == "s"
    assert "cut off" in recording.skipped[0].reason


def test_nothing_before_the_cut():
    """Without a whole message before the cut there is nothing to recover."""
    for raw in (b'{"model":"m","messages":[{"role":"us', b'{"model":"m"', b"["):
        with pytest.raises(ReadError, match="no whole message stands before"):
            read_request(raw, skip_bad=True)


def test_fault_in_the_middle():
    """A fault within one message leaves the messages before it."""
    raw = b'{"messages":[{"role":"user","content":"a"},{"role":"user","content":oops},{"role":"user","content":"b"}]}'
    assert messages_of(read_request(raw, skip_bad=True)) == [{"role": "user", "content": "a"}]


def test_fault_before_the_messages():
    """A fault before the messages leaves nothing, whatever follows."""
    with pytest.raises(ReadError, match="expecting value"):
        read_request(b'{"model":oops,"messages":[{"role":"user","content":"a"}]}', skip_bad=True)


@given(st.data())
def test_any_cut(data):
    """A cut at any byte is a ReadError, or with skip_bad a body of the first messages."""
    wrap = data.draw(st.sampled_from([lambda body: body, lambda body: {"meta": {}, "request": body}]))
    raw = text(
        wrap({"model": "m", "messages": [HELLO, {"role": "user", "content": "é]}\n"}, HELLO]}), ensure_ascii=False
    )
    raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
    with pytest.raises(ReadError):
        read_request(raw)
    try:
        recording = read_request(raw, skip_bad=True)
    except ReadError:
        return
    assert messages_of(recording)[0] == HELLO


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared sessions are not there")
def test_shared_sessions():
    """Every real session is read, and its body is the file's own bytes."""
    sources = Counter()
    for path in sorted([*SHARED.glob("sessions/*.json"), *SHARED.glob("suite/*.json")]):
        data = path.read_bytes()
        recording = read_request(data)
        assert recording.body in data
        assert json.loads(recording.body) == json.loads(data)["request"]
        assert recording.name == path.stem
        assert len(recording.timestamps) in (0, len(messages_of(recording)))
        sources[recording.source, recording.dialect] += 1
    assert list(sources) == [("session with meta", "anthropic")]


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared sessions are not there")
def test_shared_dialogues():
    """A file of many dialogues is refused as a whole; each one of them is a Chat body."""
    data = (SHARED / "transcripts" / "tau-bench" / "gpt-4o-airline.json").read_bytes()
    with pytest.raises(ReadError, match="found 200"):
        read_request(data)
    for record in json.loads(data)[:20]:
        recording = read_request(text(record["traj"]))
        assert recording.dialect == "chat"
        assert messages_of(recording) == record["traj"]
