"""Reads a session whatever its form: recognised by what stands in it, never by the name of the file."""

import sys
from pathlib import Path

from selfgc.errors import ReadError
from selfgc.readers.claude_code import read_claude_code
from selfgc.readers.claude_lines import Sign, is_session_record, sign_of
from selfgc.readers.json_text import json_text
from selfgc.readers.recording import Recording
from selfgc.readers.recovery import salvage
from selfgc.readers.requests import read_request


def read_recording(data: bytes, *, skip_bad: bool = False) -> Recording:
    """Return the session in the bytes of a file. ReadError, with the line where there is one, when it has none.

    With `skip_bad` what is broken is left out and listed in `skipped`, and what is whole is read.
    """
    text = json_text(data)
    if _is_session(text):
        return read_claude_code(text, skip_bad=skip_bad)
    return read_request(text, skip_bad=skip_bad)


def read_file(path: Path | None, *, skip_bad: bool = False) -> Recording:
    """Return the session in a file; None or `-` is standard input. ReadError when it cannot be opened."""
    try:
        data = sys.stdin.buffer.read() if path is None or str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise ReadError(f"expected a readable file, but {path}: {error.strerror or error}; check the path") from error
    return read_recording(data, skip_bad=skip_bad)


def _is_session(text: bytes) -> bool:
    """Whether the lines are those of a Claude Code session; the first one with a message decides."""
    lines = [line for line in text.split(b"\n") if line.strip()]
    if sign_of(lines[0]) is Sign.NONE and b'"sessionId"' in lines[0]:
        lines[:1] = [*salvage(lines[0], is_session_record).records, lines[0]]
    found = Sign.NONE
    for line in lines:
        sign = sign_of(line)
        if sign in (Sign.SURE, Sign.FOREIGN):
            return sign is Sign.SURE
        found = sign if sign is Sign.LIKELY else found
    return found is Sign.LIKELY
