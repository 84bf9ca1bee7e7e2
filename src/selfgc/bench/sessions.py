"""Recorded sessions as the bench reads them: decoded for the judge, whole for whoever governs them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from selfgc.bench.texts import Decoded
from selfgc.readers.detect import read_file


class Session(msgspec.Struct, frozen=True):
    """One session file, decoded for the judge and raw for the engine."""

    name: str
    dialect: str
    fields: Mapping[str, object]
    """The request's members but for its messages."""
    messages: tuple[Decoded, ...]
    timestamps: tuple[str | None, ...] = ()
    """ISO moments, one a message; empty when the file tells none."""
    kind: str = ""
    """What it is about, or which agent ran it, where the file says so."""

    @property
    def system(self) -> str:
        """The system prompt and tool definitions as text: every view holds them."""
        return "\n".join(_strings([self.fields.get("system"), self.fields.get("tools")]))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


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
