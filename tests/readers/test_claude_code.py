"""Claude Code sessions as requests."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfgc.dialects.anthropic_rules import check, shape
from selfgc.errors import ReadError
from selfgc.model.profile import Profile
from selfgc.model.wire import split_body
from selfgc.readers.claude_code import read_claude_code, read_stages
from selfgc.readers.recording import Usage

SHARED = Path(__file__).parents[3] / "shared"


def row(kind, uuid, parent, content, **more):
    message = {"role": kind, "content": content, **more.pop("message", {})}
    fields = {"parentUuid": parent, "isSidechain": False, "type": kind, "sessionId": "s", "uuid": uuid}
    return json.dumps({**fields, "timestamp": more.pop("at", None), "message": message, **more}).encode()


def user(uuid, parent, content="hi", **more):
    return row("user", uuid, parent, content, **more)


def answer(uuid, parent, block, message_id, **more):
    block = {"type": "text", "text": block} if isinstance(block, str) else block
    message = {"id": message_id, "type": "message", "model": "claude-x", "stop_reason": None, **more.pop("message", {})}
    return row("assistant", uuid, parent, [block], message=message, **more)


def call(name):
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"path": name}}


def result(name, content="done"):
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def system(subtype, uuid, parent, **more):
    return json.dumps({"type": "system", "subtype": subtype, "uuid": uuid, "parentUuid": parent, **more}).encode()


def read(*rows, **options):
    return read_claude_code(b"\n".join(rows) + b"\n", **options)


def messages(recording):
    """Return the messages in short: texts as they are, calls and results by their ids."""
    short = []
    for message in json.loads(recording.body)["messages"]:
        content = message["content"]
        blocks = [content] if isinstance(content, str) else [_short(block) for block in content]
        short.append((message["role"][0], *blocks))
    return short


def _short(block):
    return block.get("text") or block.get("id") or block.get("tool_use_id") or block["type"]


def broken_rules(recording):
    body = split_body(recording.body)
    return [(one.rule, one.path) for one in check([shape(raw) for raw in body.messages], body.fields, Profile())]


def test_plain_session():
    """Questions and answers are the messages; the model is the last answer's; the name is the session's id."""
    recording = read(user("1", None, "hello"), answer("2", "1", "hi", "m1", message={"model": "claude-y"}))
    assert recording.body == (
        b'{"model":"claude-y","messages":[{"role":"user","content":"hello"},'
        b'{"role":"assistant","content":[{"type": "text", "text": "hi"}]}]}'
    )
    assert (recording.dialect, recording.source, recording.name) == ("anthropic", "claude code session", "s")
    assert broken_rules(recording) == []


def test_model_of_the_harness():
    """Answers that the harness made up do not name the model; without any other there is none."""
    made_up = answer("2", "1", "No response requested.", "m1", message={"model": "<synthetic>"})
    assert b"model" not in read(user("1", None), made_up).body


def test_streamed_fragments():
    """The lines of one answer are one message, in order, also with results between them."""
    recording = read(
        user("1", None),
        answer("2", "1", {"type": "thinking", "thinking": "", "signature": "x"}, "m1"),
        answer("3", "2", "first", "m1"),
        answer("4", "3", call("a"), "m1"),
        user("5", "4", [result("a")]),
        answer("6", "5", call("b"), "m1"),
        user("7", "6", [result("b")]),
        answer("8", "7", "end", "m2"),
    )
    assert messages(recording) == [("u", "hi"), ("a", "thinking", "first", "a", "b"), ("u", "a", "b"), ("a", "end")]
    assert broken_rules(recording) == []


def test_parallel_calls():
    """Results beside the branch are found, and stand in the order of the calls."""
    recording = read(
        user("1", None),
        answer("2", "1", call("a"), "m1"),
        answer("3", "2", call("b"), "m1"),
        answer("4", "3", call("c"), "m1"),
        user("5", "4", [result("c")]),
        user("6", "2", [result("a")]),
        user("7", "3", [result("b")]),
        answer("8", "7", "end", "m2"),
    )
    assert messages(recording) == [("u", "hi"), ("a", "a", "b", "c"), ("u", "a", "b", "c"), ("a", "end")]
    assert (recording.notes.abandoned_branches, recording.notes.abandoned_lines) == (0, 0)
    assert broken_rules(recording) == []


def test_parallel_calls_at_the_end():
    """When the last line belongs to an early call, the calls after it are still there."""
    recording = read(
        user("1", None),
        answer("2", "1", call("a"), "m1"),
        answer("3", "2", call("b"), "m1"),
        user("4", "3", [result("b")]),
        user("5", "2", [result("a")]),
    )
    assert messages(recording) == [("u", "hi"), ("a", "a", "b"), ("u", "a", "b")]
    assert broken_rules(recording) == []


def test_dead_branch():
    """What a rewind left behind is no part of the body, and is counted."""
    recording = read(
        user("1", None, "start"),
        answer("2", "1", "ready", "m1"),
        user("3", "2", "first try"),
        answer("4", "3", "first answer", "m2"),
        user("5", "2", "second try"),
        answer("6", "5", "second answer", "m3"),
    )
    assert messages(recording) == [("u", "start"), ("a", "ready"), ("u", "second try"), ("a", "second answer")]
    assert (recording.notes.abandoned_branches, recording.notes.abandoned_lines) == (1, 2)


COMPACTED = [
    user("1", None, "start"),
    answer("2", "1", "ready", "m1"),
    user("3", "2", "go"),
    answer("4", "3", call("a"), "m2"),
    user("5", "4", [result("a")]),
    answer("6", "5", "kept", "m3"),
]


def compaction(**metadata):
    return [
        system("compact_boundary", "B", None, logicalParentUuid="6", compactMetadata={"trigger": "auto", **metadata}),
        user("7", "B", "summary", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        user("8", "7", "on"),
        answer("9", "8", "end", "m4"),
    ]


def test_compaction():
    """After a compaction the view is the summary and what came later."""
    recording = read(*COMPACTED, *compaction())
    assert messages(recording) == [("u", "summary", "on"), ("a", "end")]
    assert (recording.notes.compactions, recording.notes.compacted_lines) == (1, 6)
    assert recording.notes.abandoned_lines == 0


@pytest.mark.parametrize(
    "metadata",
    [
        {"preservedSegment": {"headUuid": "4", "anchorUuid": "7", "tailUuid": "6"}},
        {"preservedMessages": {"anchorUuid": "7", "uuids": ["4", "5", "6"]}},
    ],
)
def test_preserved(metadata):
    """What the compaction preserved stands behind the summary."""
    recording = read(*COMPACTED, *compaction(**metadata))
    assert messages(recording) == [("u", "summary"), ("a", "a"), ("u", "a"), ("a", "kept"), ("u", "on"), ("a", "end")]
    assert recording.notes.compacted_lines == 3
    assert broken_rules(recording) == []


def test_stages():
    """The views before each compaction can be had as well."""
    before, after = read_stages(b"\n".join([*COMPACTED, *compaction()]))
    assert messages(before)[-1] == ("a", "kept")
    assert messages(after) == [("u", "summary", "on"), ("a", "end")]
    assert len(read_stages(b"\n".join(COMPACTED))) == 1


def test_stage_without_messages():
    """A file that begins with a boundary has no view before it."""
    assert len(read_stages(b"\n".join(compaction()))) == 1


def test_microcompaction():
    """Where the harness cleared results, the file holds them in full, and so does the body."""
    boundary = system("microcompact_boundary", "M", "5", microcompactMetadata={"compactedToolIds": ["a"]})
    recording = read(*COMPACTED[:5], boundary, answer("6", "M", "kept", "m3"))
    assert messages(recording)[-1] == ("a", "kept")
    assert recording.notes.microcompactions == 1


def test_sidechains():
    """Conversations of subagents are left out, and counted by agent or by root."""
    recording = read(
        user("1", None),
        user("x1", None, "task", isSidechain=True),
        answer("x2", "x1", "found", "m9", isSidechain=True),
        user("y1", None, "task", isSidechain=True, agentId="b"),
        user("y2", "y1", "task", isSidechain=True, agentId="b"),
        answer("2", "1", "hi", "m1"),
    )
    assert messages(recording) == [("u", "hi"), ("a", "hi")]
    assert (recording.notes.sidechains, recording.notes.sidechain_lines) == (2, 4)


def test_subagent_file():
    """A file of nothing but a sidechain is that agent's own session."""
    recording = read(user("1", None, "task", isSidechain=True), answer("2", "1", "found", "m1", isSidechain=True))
    assert messages(recording) == [("u", "task"), ("a", "found")]
    assert recording.notes.sidechains == 0


def test_meta_lines():
    """What the harness wrote in the user's name is sent to the model, so it stays, behind what came before it."""
    recording = read(
        user("1", None, "caveat", isMeta=True),
        user("2", "1", "/review"),
        answer("3", "2", call("a"), "m1"),
        user("4", "3", [result("a")]),
        user("5", "4", [{"type": "text", "text": "skill body"}], isMeta=True),
        answer("6", "5", "end", "m2"),
    )
    assert messages(recording) == [("u", "caveat", "/review"), ("a", "a"), ("u", "a", "skill body"), ("a", "end")]
    assert broken_rules(recording) == []


def test_results_come_first():
    """Texts that arrive before the last result stand behind all results."""
    recording = read(
        user("1", None),
        answer("2", "1", call("a"), "m1"),
        user("3", "2", [{"type": "text", "text": "wait"}, result("a")]),
        user("4", "3", "and go on"),
    )
    assert messages(recording)[-1] == ("u", "a", "wait", "and go on")


def test_api_error():
    """A line that tells of a failed request is no message; the next answer is not part of it."""
    recording = read(
        user("1", None),
        answer("2", "1", "API Error: 529", "m1", isApiErrorMessage=True),
        user("3", "2", "again"),
        answer("4", "3", "hi", "m2"),
        answer("5", "4", "API Error", "m3", isApiErrorMessage=True),
    )
    assert messages(recording) == [("u", "hi", "again"), ("a", "hi")]
    assert (recording.notes.api_errors, recording.notes.abandoned_lines) == (2, 0)


def test_duplicate_lines():
    """Lines that were written twice count once."""
    recording = read(*COMPACTED[:3], *COMPACTED[1:])
    assert messages(recording) == messages(read(*COMPACTED))
    assert recording.notes.duplicate_lines == 2


def test_other_lines():
    """Lines that are no messages are counted by their kind."""
    recording = read(
        b'{"type":"file-history-snapshot","messageId":"x","snapshot":{}}',
        user("1", None),
        system("turn_duration", "2", "1"),
        json.dumps({"type": "attachment", "uuid": "3", "parentUuid": "2", "attachment": {"type": "file"}}).encode(),
        answer("4", "3", "hi", "m1"),
    )
    assert recording.notes.other_lines == {"attachment:file": 1, "file-history-snapshot": 1, "system:turn_duration": 1}


def test_usage():
    """What was billed counts once an answer: the line with the whole output, and the later one of equals."""

    def billed(output, read_tokens=0):
        return {"usage": {"input_tokens": 2, "output_tokens": output, "cache_read_input_tokens": read_tokens}}

    recording = read(
        user("1", None),
        answer("2", "1", "a", "m1", message=billed(1)),
        answer("3", "2", "b", "m1", message=billed(90)),
        answer("4", "3", "c", "m1", message=billed(90, 5)),
        user("5", "4"),
        answer("6", "5", "d", "m2"),
    )
    assert recording.usage == (None, Usage(input=2, output=90, cache_read=5), None, None)


def test_timestamps():
    """A user message carries the time of its last line, an answer that of its first."""
    recording = read(
        user("1", None, at="2026-01-01T00:00:01Z"),
        answer("2", "1", call("a"), "m1", at="2026-01-01T00:00:02Z"),
        answer("3", "2", call("b"), "m1", at="2026-01-01T00:00:03Z"),
        user("4", "3", [result("b")], at="2026-01-01T00:00:09Z"),
        user("5", "2", [result("a")], at="2026-01-01T00:00:05Z"),
        answer("6", "5", "end", "m2"),
    )
    assert recording.timestamps == ("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z", "2026-01-01T00:00:09Z", None)


def test_blank_texts():
    """Texts without a visible character are left out; with nothing else the message is, too."""
    recording = read(
        user("1", None),
        answer("2", "1", "\n\n", "m1"),
        answer("3", "2", "a", "m1"),
        user("4", "3", ""),
        answer("5", "4", " ", "m2"),
        user("6", "5", "b"),
    )
    assert messages(recording) == [("u", "hi"), ("a", "a"), ("u", "b")]
    assert recording.notes.blank_texts == 3
    assert broken_rules(recording) == []


def test_result_kept_aside():
    """A result without content stays empty: nothing is invented from what the harness kept."""
    recording = read(
        user("1", None),
        answer("2", "1", call("a"), "m1"),
        user("3", "2", [result("a", "")], toolUseResult={"stdout": "secret"}),
    )
    assert b"secret" not in recording.body
    assert recording.notes.empty_results == 1
    assert messages(recording)[-1] == ("u", "a")


def test_open_call():
    """A call without a result stays, and is counted."""
    recording = read(user("1", None), answer("2", "1", call("a"), "m1"))
    assert messages(recording) == [("u", "hi"), ("a", "a")]
    assert recording.notes.open_calls == 1


def test_results_without_a_call():
    """Results whose call is not in view, or that have no id, are left out."""
    lost = {"type": "tool_result", "content": "x"}
    recording = read(
        user("1", None, [{"type": "text", "text": "hi"}, result("lost"), lost]), answer("2", "1", "a", "m1")
    )
    assert messages(recording) == [("u", "hi"), ("a", "a")]
    assert recording.notes.orphan_results == 2


def test_repeated_results():
    """Of two results of one call the first counts."""
    recording = read(
        user("1", None),
        answer("2", "1", call("a"), "m1"),
        user("3", "2", [result("a", "one")]),
        user("4", "3", [result("a", "two")]),
        answer("5", "4", "end", "m2"),
    )
    assert b"two" not in recording.body
    assert recording.notes.repeated_results == 1
    assert broken_rules(recording) == []


def test_repeated_calls():
    """A call that was written twice is asked once; calls without an id are left as they are."""
    bare = {"type": "tool_use", "name": "n", "input": {}}
    recording = read(
        user("1", None),
        answer("2", "1", call("a"), "m1"),
        answer("3", "2", call("a"), "m1"),
        user("4", "3", [result("a")]),
        answer("5", "4", call("a"), "m2"),
        answer("6", "5", bare, "m2"),
        answer("7", "6", bare, "m2"),
    )
    assert messages(recording) == [("u", "hi"), ("a", "a"), ("u", "a"), ("a", "tool_use", "tool_use")]
    assert recording.notes.open_calls == 2


def test_late_result():
    """A result that was written after the next answer stands with its call."""
    recording = read(
        user("1", None),
        answer("2", "1", call("a"), "m1"),
        answer("3", "2", "meanwhile", "m2"),
        user("4", "3", [result("a")]),
    )
    assert messages(recording) == [("u", "hi"), ("a", "a"), ("u", "a"), ("a", "meanwhile")]
    assert broken_rules(recording) == []


def test_answers_without_id():
    """Answers of old files that carry no id are one message each."""
    recording = read(user("1", None), answer("2", "1", "a", None), answer("3", "2", "b", None))
    assert messages(recording) == [("u", "hi"), ("a", "a"), ("a", "b")]


def test_media():
    """Blocks of any kind are kept as they are."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    recording = read(user("1", None, [image, {"type": "text", "text": "what is it?"}]))
    assert json.loads(recording.body)["messages"][0]["content"] == [image, {"type": "text", "text": "what is it?"}]


def test_deep_chain():
    """A chain of thousands of lines is read quickly."""
    rows = [user("0", None)]
    for number in range(1, 6000, 2):
        rows.append(answer(str(number), str(number - 1), call(f"c{number}"), f"m{number}"))
        rows.append(user(str(number + 1), str(number), [result(f"c{number}")]))
    start = time.perf_counter()
    recording = read(*rows)
    assert time.perf_counter() - start < 5
    assert len(recording.timestamps) == 6001
    assert broken_rules(recording) == []


@pytest.mark.parametrize(
    "rows",
    [
        [system("turn_duration", "1", None)],
        [user("1", None, "")],
        [answer("1", None, "API Error", "m1", isApiErrorMessage=True)],
        [b'{"type":"summary","summary":"x"}'],
    ],
)
def test_no_messages(rows):
    """A session without messages is an error."""
    with pytest.raises(ReadError, match="expected a session with messages"):
        read(*rows)


def test_line_missing_in_the_middle():
    """With skip_bad the head and the tail around a bad line are both there, and the gap is counted."""
    rows = [user("1", None, "head"), answer("2", "1", "a", "m1"), user("3", "2", "lost"), answer("4", "3", "b", "m2")]
    rows[2] = rows[2][:30]
    with pytest.raises(ReadError, match="line 3: "):
        read(*rows)
    recording = read(*rows, skip_bad=True)
    assert messages(recording) == [("u", "head"), ("a", "a"), ("a", "b")]
    assert recording.notes.broken_links == 1
    assert [one.line for one in recording.skipped] == [3]


@given(st.data())
@settings(deadline=None)
def test_any_cut(data):
    """A cut at any byte is a ReadError at most, and with skip_bad the lines before it are all there."""
    rows = [*COMPACTED, user("7", "6", "é\n")]
    text = b"\n".join(rows)
    end = data.draw(st.integers(0, len(text)))
    whole = text[:end].count(b"\n") + (end == len(text) or text[end : end + 1] == b"\n")
    try:
        recording = read_claude_code(text[:end], skip_bad=True)
    except ReadError:
        assert whole == 0
        return
    assert recording.body == read(*rows[:whole]).body
    assert len(recording.skipped) <= 1
    if recording.skipped:
        with pytest.raises(ReadError, match=f"line {whole + 1}: "):
            read_claude_code(text[:end])


@given(st.lists(st.tuples(st.sampled_from("uabrs"), st.integers(-1, 12), st.integers(0, 3)), max_size=12))
@settings(deadline=None)
def test_any_tree(rows):
    """Whatever tree the lines make, reading ends, and every call has its result behind it or none at all."""
    made = []
    for number, (kind, parent, name) in enumerate(rows):
        above = None if parent < 0 else str(parent)
        made.append(
            {
                "u": lambda n, p, m: user(n, p),
                "a": lambda n, p, m: answer(n, p, "text", f"m{m}"),
                "b": lambda n, p, m: answer(n, p, call(f"c{m}"), f"m{m}"),
                "r": lambda n, p, m: user(n, p, [result(f"c{m}")]),
                "s": lambda n, p, m: user(n, p, "side", isSidechain=True),
            }[kind](str(number), above, name)
        )
    try:
        recording = read(*made)
    except ReadError:
        return
    assert {rule for rule, _ in broken_rules(recording)} <= {"A1", "A5"}
    assert len([rule for rule, _ in broken_rules(recording) if rule == "A5"]) <= recording.notes.open_calls


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared sessions are not there")
def test_shared_sessions():
    """Real session files are valid requests at every stage, and nothing in them is lost by accident."""
    for path in sorted((SHARED / "transcripts" / "claude-code").glob("*.jsonl")):
        stages = read_stages(path.read_bytes())
        assert len(stages) == stages[-1].notes.compactions + 1
        for recording in stages:
            assert broken_rules(recording) == []
            count = len(json.loads(recording.body)["messages"])
            assert len(recording.timestamps) == len(recording.usage) == count > 50
            notes = recording.notes
            assert (notes.abandoned_lines, notes.broken_links, notes.orphan_results, notes.open_calls) == (0, 0, 0, 0)
            assert sum(usage is not None for usage in recording.usage) >= count // 2 - 1


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared sessions are not there")
def test_shared_fixtures():
    """Files of odd versions are read without an error."""
    paths = sorted((SHARED / "transcripts" / "format-fixtures" / "claude").rglob("*.jsonl"))
    assert len(paths) >= 5
    for path in paths:
        recording = read_claude_code(path.read_bytes())
        assert len(recording.timestamps) == len(json.loads(recording.body)["messages"]) > 0
