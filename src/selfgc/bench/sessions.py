"""Recorded sessions as the bench reads them from files."""

import json
from collections.abc import Iterator
from pathlib import Path

from selfgc.bench.session import Session
from selfgc.readers.detect import read_file


def read_sessions(folder: Path) -> Iterator[Session]:
    """Yield the sessions of a folder in order of name. ReadError names the file that cannot be read."""
    for path in sorted(folder.glob("*.json*")):
        yield read_session(path)


def read_session(path: Path) -> Session:
    """Return the session of one file. ReadError when it cannot be read."""
    recording = read_file(path)
    body = json.loads(recording.body)
    messages = tuple(body.pop("messages"))
    return Session(path.stem, recording.dialect, body, messages, recording.timestamps, _kind(path))


def _kind(path: Path) -> str:
    """Return what a file with a `meta` member says of its kind."""
    with path.open("rb") as opened:
        if not opened.read(1_000).lstrip().startswith(b'{"meta"'):
            return ""
    meta = json.loads(path.read_bytes())["meta"]
    told = (meta.get("kind"), meta.get("agent"), meta.get("source")) if isinstance(meta, dict) else ()
    return next((value for value in told if isinstance(value, str)), "")
