"""Reading a session whatever its form."""

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfgc.errors import ReadError
from selfgc.readers.detect import read_file, read_recording

SHARED = Path(__file__).parents[3] / "shared"
BODY = b'{"messages":[{"role":"user","content":"hi"}]}'


def row(uuid="1", **more):
    message = {"role": "user", "content": "hi"}
    fields = {"type": "user", "uuid": uuid, "parentUuid": None, "sessionId": "s", "message": message, **more}
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    ("data", "source"),
    [
        (BODY, "anthropic request"),
        (b"\xef\xbb\xbf" + BODY, "anthropic request"),
        (b'{"messages":[{"role":"system","content":"s"}]}', "chat request"),
        (b'{"meta":{},"request":' + BODY + b"}", "session with meta"),
        (row(), "claude code session"),
        (b"\xef\xbb\xbf" + row() + b"\r\n" + row("2"), "claude code session"),
        (b'{"type":"summary","summary":"x"}\n' + row(), "claude code session"),
        (json.dumps({"messages": [json.loads(row())["message"]]}, indent=1).encode(), "anthropic request"),
    ],
)
def test_forms(data, source):
    """Each form is recognised by its content."""
    assert read_recording(data).source == source


def test_byte_order_mark():
    """The mark is no part of the body."""
    assert read_recording(b"\xef\xbb\xbf" + BODY).body == BODY


def test_bad_first_line():
    """A session is recognised though its first line is broken."""
    for data in (row()[:30] + b"\n" + row("2"), row()[:30] + row("2"), row("2") + row("3"), b"\x00\x00" + row("2")):
        with pytest.raises(ReadError, match=r"line 1: .*--skip-bad"):
            read_recording(data)
        recording = read_recording(data, skip_bad=True)
        assert recording.source == "claude code session"
        assert recording.skipped


def test_other_agents():
    """The same envelope around another agent's messages is no Claude Code session."""
    qwen = {"role": "user", "parts": [{"text": "x"}]}
    head = row(type="system", message=None)
    with pytest.raises(ReadError, match="lines of JSON with the keys"):
        read_recording(head + b"\n" + row("2", message=qwen))


def test_only_other_lines():
    """A session file without messages is recognised, and refused for what it lacks."""
    with pytest.raises(ReadError, match="expected a session with messages"):
        read_recording(row(type="system", message=None))


def test_depth():
    """A hundred thousand brackets are refused, in a body and in a line."""
    deep = b"[" * 100_000
    for data in (deep, deep + b"]" * 100_000, row() + b'\n{"a":' + deep):
        with pytest.raises(ReadError):
            read_recording(data)


def test_file(tmp_path):
    """A file is read from its path, whatever its name."""
    path = tmp_path / "session.txt"
    path.write_bytes(row())
    assert read_file(path).source == "claude code session"
    path.write_bytes(row() + b"\nbad")
    assert len(read_file(path, skip_bad=True).skipped) == 1


@pytest.mark.parametrize("path", [None, Path("-")])
def test_standard_input(path, monkeypatch):
    """No path and `-` are standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BODY)))
    assert read_file(path).body == BODY


def test_no_file(tmp_path):
    """A file that cannot be opened is a ReadError with its path."""
    with pytest.raises(ReadError, match=r"missing\.json: No such file"):
        read_file(tmp_path / "missing.json")
    with pytest.raises(ReadError, match="directory"):
        read_file(tmp_path)


@given(
    st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from([b"{", b"}", b"[", b'"', b",", b":", b"\x00", b"\n", BODY, row(), row("2")])).map(
            b"".join
        ),
    ),
    st.booleans(),
)
def test_any_bytes(data, skip_bad):
    """Any bytes give a recording or a ReadError."""
    try:
        recording = read_recording(data, skip_bad=skip_bad)
    except ReadError:
        return
    assert json.loads(recording.body)["messages"]


def source_of(path, *, skip_bad):
    try:
        return read_file(path, skip_bad=skip_bad).source
    except ReadError:
        return ""


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared sessions are not there")
def test_shared_files_of_other_agents():
    """Session files of other agents are read as what they hold, or refused; never anything else."""
    sources = set()
    for path in sorted((SHARED / "transcripts" / "format-fixtures").rglob("*")):
        if path.is_file() and "claude" not in path.parts:
            sources.update(source_of(path, skip_bad=skip_bad) for skip_bad in (False, True))
    assert sources == {"", "chat request", "anthropic request"}
