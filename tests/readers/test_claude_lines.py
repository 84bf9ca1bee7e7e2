"""The lines of Claude Code session files, one by one."""

import json

import pytest

from selfgc.errors import ReadError
from selfgc.readers.claude_lines import Preserved, Sign, is_session_record, read_lines, sign_of
from selfgc.readers.recording import Usage


def line(kind="user", content="hi", **more):
    message = {"role": kind, "content": content, **more.pop("message", {})}
    fields = {"parentUuid": None, "type": kind, "sessionId": "s", "uuid": "u1", "message": message, **more}
    return json.dumps({key: value for key, value in fields.items() if value != "absent"}).encode()


def only(raw):
    lines, skipped = read_lines(raw)
    assert skipped == []
    assert len(lines) == 1
    return lines[0]


def test_user_line():
    """A user line is its text, its place in the tree and its time."""
    read = only(line(parentUuid="p", timestamp="2026-01-01T00:00:00Z"))
    assert (read.number, read.kind, read.uuid, read.parent, read.session) == (1, "user", "u1", "p", "s")
    assert read.timestamp == "2026-01-01T00:00:00Z"
    assert (read.is_message, read.is_plain, read.is_aside, read.is_sidechain) == (True, True, False, False)
    assert [block.raw for block in read.blocks] == [b'{"type":"text","text":"hi"}']


def test_assistant_line():
    """An assistant line carries its message's id, its model and what was billed."""
    usage = {
        "input_tokens": 3,
        "output_tokens": 7,
        "cache_read_input_tokens": 11,
        "cache_creation_input_tokens": 13,
        "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 8},
        "service_tier": "standard",
    }
    call = {"type": "tool_use", "id": "c1", "name": "n", "input": {"a": 1}, "caller": {"type": "direct"}}
    read = only(line("assistant", [call], message={"id": "m1", "model": "claude-x", "usage": usage}))
    assert (read.message_id, read.model) == ("m1", "claude-x")
    assert read.usage == Usage(3, 7, 11, 13, 5, 8)
    assert json.loads(read.blocks[0].raw) == call
    assert (read.blocks[0].kind, read.blocks[0].call_id) == ("tool_use", "c1")


def test_usage_with_gaps():
    """Members of the usage that are missing or null count as zero."""
    read = only(line("assistant", message={"usage": {"input_tokens": None, "output_tokens": 2}}))
    assert read.usage == Usage(output=2)


def test_blocks_keep_their_bytes():
    """A block is the bytes that stand in the file, unknown members and white space included."""
    block = '{"type": "text",  "text":"a\\u00e9", "citations": null }'
    raw = line().replace(b'"hi"', f"[{block}]".encode())
    assert only(raw).blocks[0].raw == block.encode()


def test_lone_surrogates():
    """A line with a lone surrogate is read; its text stays as it was."""
    read = only(line(toolUseResult="x").replace(b'"hi"', rb'[{"type":"text","text":"a\ud83d"}]'))
    assert json.loads(read.blocks[0].raw) == {"type": "text", "text": "a\ud83d"}
    assert only(line().replace(b'"hi"', rb'"a\ud83d"')).blocks[0].raw == rb'{"type":"text","text":"a\ud83d"}'


@pytest.mark.parametrize(
    ("block", "is_blank", "is_empty"),
    [
        ({"type": "text", "text": "\n\n"}, True, False),
        ({"type": "text"}, True, False),
        ({"type": "text", "text": "a"}, False, False),
        ({"type": "thinking", "thinking": "", "signature": "s"}, False, False),
        ({"type": "tool_result", "tool_use_id": "c", "content": ""}, False, True),
        ({"type": "tool_result", "tool_use_id": "c"}, False, True),
        ({"type": "tool_result", "tool_use_id": "c", "content": []}, False, True),
        ({"type": "tool_result", "tool_use_id": "c", "content": "x"}, False, False),
    ],
)
def test_blank_and_empty(block, is_blank, is_empty):
    """Texts that nobody sees and results without content are marked."""
    read = only(line(content=[block])).blocks[0]
    assert (read.is_blank, read.is_empty) == (is_blank, is_empty)


def test_no_content():
    """Null is content without blocks."""
    assert only(line(content=None)).blocks == ()


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"isMeta": True}, "is_aside"),
        ({"teamName": "reviewers"}, "is_aside"),
        ({"isSidechain": True}, "is_sidechain"),
        ({"isCompactSummary": True}, "is_summary"),
        ({"isApiErrorMessage": True}, "is_api_error"),
        ({"toolUseResult": {"stdout": "x"}}, "has_result_aside"),
    ],
)
def test_marks(more, name):
    """Each mark of the harness is read, and null is none."""
    assert getattr(only(line(**more)), name) is True
    assert getattr(only(line(**dict.fromkeys(more))), name) is False


def test_parents():
    """A parent, none, and no word of one are three things."""
    assert only(line(parentUuid="p")).parent == "p"
    assert only(line()).parent is None
    assert only(line(parentUuid="absent")).parent == ""


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, "summary"),
        ({"type": "system", "subtype": "api_error"}, "system:api_error"),
        ({"type": "system"}, "system"),
        ({"type": "attachment", "attachment": {"type": "queued_command"}}, "attachment:queued_command"),
        ({"type": "attachment", "attachment": {}}, "attachment"),
        ({"type": "progress", "data": {"message": {"type": "user"}}}, "progress"),
        ({}, "untyped"),
    ],
)
def test_other_lines(fields, kind):
    """Lines that are no messages are known by their kind only."""
    read = only(json.dumps(fields).encode())
    assert (read.kind, read.is_message, read.blocks) == (kind, False, ())


SEGMENT = {"headUuid": "h", "anchorUuid": "a", "tailUuid": "t"}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"trigger": "auto", "preTokens": 5}, None),
        (None, None),
        ({"preservedSegment": SEGMENT}, Preserved("a", (), "h", "t")),
        ({"preservedMessages": {"anchorUuid": "b", "uuids": ["x", "y"]}}, Preserved("b", ("x", "y"), "", "")),
        (
            {"preservedSegment": SEGMENT, "preservedMessages": {"anchorUuid": "b", "uuids": ["x"]}},
            Preserved("b", ("x",), "h", "t"),
        ),
    ],
)
def test_boundary(metadata, expected):
    """A compaction boundary tells what it preserved; the list goes before the segment."""
    read = only(json.dumps({"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata}).encode())
    assert read.is_boundary
    assert read.preserved == expected


def test_numbers_and_blank_lines():
    """Lines keep their numbers in the file; blank ones and line ends of other systems do not matter."""
    lines, skipped = read_lines(b"\n" + line() + b"\r\n\n" + line(uuid="u2") + b"\n")
    assert [(read.number, read.uuid) for read in lines] == [(2, "u1"), (4, "u2")]
    assert skipped == []


BAD = {
    "cut off": line()[:50],
    "NUL": line()[:20] + b"\x00\x00" + line()[20:],
    "UTF-8": line().replace(b"hi", b"\xff"),
    "content": line().replace(b'"content"', b'"text"'),
    "expected `object`": b"[1]",
    "expecting value": b"hello",
    "expected `str | null`": line(uuid=3),
    "required field `type`": line(content=[{"text": "x"}]),
    "expected `object`, got `null`": b'{"type":"user","uuid":"u","sessionId":"s"}',
    "at most 256": b'{"type":"progress","data":' + b"[" * 300 + b"]" * 300 + b"}",
    "nested": b'{"type":"progress","data":' + b"[" * 100_000,
    "extra data": line() + line(uuid="u2"),
}


@pytest.mark.parametrize("said", BAD)
def test_bad_line(said):
    """A line that cannot be read is an error with its number, with what is wrong, and with what to do."""
    with pytest.raises(ReadError) as caught:
        read_lines(line(uuid="u0") + b"\n" + BAD[said] + b"\n" + line(uuid="u9"))
    assert caught.value.line == 2
    assert str(caught.value).startswith("line 2: expected ")
    assert said in str(caught.value)
    assert str(caught.value).endswith("to leave it out, pass --skip-bad")


@pytest.mark.parametrize("said", BAD)
def test_bad_line_skipped(said):
    """With skip_bad the lines around it are read, and it is listed."""
    lines, skipped = read_lines(line(uuid="u0") + b"\n" + BAD[said] + b"\n" + line(uuid="u9"), skip_bad=True)
    assert [lines[0].uuid, lines[-1].uuid] == ["u0", "u9"]
    assert {one.line for one in skipped} == {2}
    assert all(one.reason for one in skipped)


def test_spliced_line():
    """A whole line behind a cut one is read under the number of both; both are reported."""
    lines, skipped = read_lines(line(uuid="u1")[:40] + line(uuid="u2"), skip_bad=True)
    assert [(read.number, read.uuid) for read in lines] == [(1, "u2")]
    assert [one.reason for one in skipped] == ["a record that is cut off or broken"]


def test_glued_lines():
    """Two lines without a line break are both read, and reported."""
    lines, skipped = read_lines(line(uuid="u1") + line(uuid="u2"), skip_bad=True)
    assert [read.uuid for read in lines] == ["u1", "u2"]
    assert [one.reason for one in skipped] == ["2 records on one line; each was read"]


def test_nul_line():
    """A run of NUL bytes between lines is counted, and what follows it is read."""
    lines, skipped = read_lines(line() + b"\n" + b"\x00" * 512 + line(uuid="u2") + b"\n", skip_bad=True)
    assert [read.uuid for read in lines] == ["u1", "u2"]
    assert [(one.line, one.reason) for one in skipped] == [(2, "512 NUL bytes")]


def test_many_bad_lines():
    """Thousands of bad lines are thousands of reports, and no stack of errors."""
    lines, skipped = read_lines(b'{"type":"user","sess\n' * 5000 + line(), skip_bad=True)
    assert len(lines) == 1
    assert len(skipped) == 5000


@pytest.mark.parametrize(
    ("raw", "sign"),
    [
        (line(), Sign.SURE),
        (line().replace(b'"hi"', rb'"\ud83d"'), Sign.SURE),
        (line(uuid="absent"), Sign.SURE),
        (line("assistant", message={"parts": []}), Sign.FOREIGN),
        (json.dumps({"type": "progress", "uuid": "u", "sessionId": "s"}).encode(), Sign.LIKELY),
        (line(sessionId="absent"), Sign.NONE),
        (line(uuid="absent", parentUuid="absent"), Sign.NONE),
        (line()[:-1], Sign.NONE),
        (b"[1]", Sign.NONE),
        (b'{"a":' + b"[" * 100_000, Sign.NONE),
        (b'{"messages":[]}', Sign.NONE),
    ],
)
def test_signs(raw, sign):
    """A line tells whether the file is a session of Claude Code, by its envelope and its message."""
    assert sign_of(raw) is sign


def test_records():
    """Only a whole line counts as one."""
    assert is_session_record(json.loads(line()))
    assert not is_session_record({"type": "text", "text": "x"})
