"""What can be saved from broken JSON: where it breaks, whole records on a spliced line, whole messages before a cut.

Only called for input that does not parse. The work grows with the length of the input, not with its square.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:"]', re.DOTALL)
_RECORD_START = re.compile(
    r'\{"(?:parentUuid|logicalParentUuid|isSidechain|type|uuid|sessionId|timestamp|cwd|userType|message)":'
)
_MOST_ATTEMPTS = 500
"""So often the start of a record is tried on one line: each try may cost as much as the line is long."""
_BETWEEN = " \t\r\n\x00"
_LITERALS = ("true", "false", "null")
_CLOSER = {b"{": b"}", b"[": b"]"}
_MESSAGE_LISTS = frozenset({(b'"messages"',), (b'"request"', b'"messages"'), (b'"traj"',), ()})


IsRecord = Callable[[dict[str, object]], bool]
"""Tells a whole record from other objects, which may stand within one."""


class Fault(NamedTuple):
    """Where bytes stop being JSON, and why."""

    position: int
    reason: str
    is_cut: bool
    """The text ends in the middle of a value; nothing before the end is wrong."""


class Salvage(NamedTuple):
    """The whole records of a broken line, in order, and what was wrong with the line."""

    records: list[bytes]
    reasons: list[str]


def fault_of(raw: bytes) -> Fault | None:
    """Return where `raw` stops being one JSON value, or None when it is one."""
    text = raw.decode("latin-1")  # one character a byte: positions in it are positions in the bytes
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return _fault(text, error)
    except RecursionError:
        return Fault(0, "it is nested too deeply", is_cut=False)
    except ValueError as error:
        return Fault(0, str(error), is_cut=False)
    return None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _fault(text: str, error: json.JSONDecodeError) -> Fault:
    rest = text[error.pos :].rstrip()
    is_cut = (
        not rest
        or error.msg.startswith("Unterminated string")
        or (len(rest) < 6 and rest.startswith("\\"))
        or (error.msg.startswith("Invalid \\u") and len(rest) < 6)
        or any(literal.startswith(rest) for literal in (*_LITERALS, "-"))
    )
    if is_cut:
        return Fault(len(text), f"it is cut off after byte {len(text)}", is_cut=True)
    if rest.startswith("\x00"):
        return Fault(error.pos, "there are NUL bytes in it", is_cut=False)
    return Fault(error.pos, f"{error.msg[:1].lower()}{error.msg[1:]} at byte {error.pos}", is_cut=False)


def salvage(line: bytes, is_record: IsRecord) -> Salvage:
    """Return every whole record on a line that is not one record: spliced, glued, or with NUL bytes in it."""
    text = line.decode("latin-1")
    records: list[bytes] = []
    reasons = [f"{nuls} NUL bytes"] if (nuls := text.count("\x00")) else []
    attempts = iter(range(_MOST_ATTEMPTS))
    position = _skip(text, 0)
    while position < len(text):
        end = _end_of_object(text, position)
        if end is None:
            reasons.append("a record that is cut off or broken")
            found = _next_record(text, position + 1, is_record, attempts)
            if found is None:
                break
            position, end = found
        records.append(line[position:end])
        position = _skip(text, end)
    if len(records) > 1:
        reasons.append(f"{len(records)} records on one line; each was read")
    return Salvage(records, reasons)


def _skip(text: str, position: int) -> int:
    rest = text[position : position + 1]
    while rest and rest in _BETWEEN:
        position += 1
        rest = text[position : position + 1]
    return position


def _end_of_object(text: str, position: int) -> int | None:
    if text[position] != "{":
        return None
    try:
        return json.JSONDecoder().raw_decode(text, position)[1]
    except (ValueError, RecursionError):
        return None


def _next_record(text: str, start: int, is_record: IsRecord, attempts: Iterator[int]) -> tuple[int, int] | None:
    """Return where the next whole record starts and ends; what only looks like one inside another is passed over."""
    for match, _ in zip(_RECORD_START.finditer(text, start), attempts, strict=False):
        try:
            value, end = json.JSONDecoder().raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if is_record(value):
            return match.start(), end
    return None


class _Scan:
    """One pass over a cut body that remembers the last place where whole messages end."""

    def __init__(self) -> None:
        self.open: list[bytes] = []
        self.keys: list[bytes] = []
        self.last_string = b""
        self.level: int | None = None
        """How deep the list of messages stands, once it is found."""
        self.end = 0
        self.closers = b""

    def see(self, match: re.Match[bytes]) -> None:
        """Take one token."""
        token = match[0]
        if token in _CLOSER:
            self._open(token)
        elif token in (b"}", b"]"):
            if self.open:
                self.open.pop()
                self.keys.pop()
            self._mark(match.end())
        elif token == b",":
            self._mark(match.start())
        elif token == b":" and self.keys:
            self.keys[-1] = self.last_string
        else:
            self.last_string = token

    def _open(self, bracket: bytes) -> None:
        is_list_of_messages = (
            self.level is None and bracket == b"[" and b"[" not in self.open and tuple(self.keys) in _MESSAGE_LISTS
        )
        self.open.append(bracket)
        self.keys.append(b"")
        if is_list_of_messages:
            self.level = len(self.open)

    def _mark(self, position: int) -> None:
        if self.level is not None and len(self.open) <= self.level:
            self.end = position
            self.closers = b"".join(_CLOSER[bracket] for bracket in reversed(self.open))


def whole_messages(cut: bytes) -> bytes | None:
    """Return a cut body up to its last whole message, closed again; None when no whole message stands before it."""
    scan = _Scan()
    for match in _TOKEN.finditer(cut):
        if match[0] == b'"':
            break  # a string without its end: what follows is its text
        scan.see(match)
    return cut[: scan.end] + scan.closers if scan.end else None
