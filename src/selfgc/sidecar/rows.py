"""The rows of a SQLite store: how messages, payloads and ledger entries are written to an open file and read from it.

Every function works inside the caller's transaction or read. What a row must be (sizes, hashes, counters) is recorded
beside it, so that an append never looks through a session and a reader never returns other bytes than were stored.
"""

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import msgspec

from selfgc.errors import PayloadCorrupt, PayloadMissing
from selfgc.model.ids import ObjectId, SessionKey
from selfgc.model.records import EntryKind, JournalEntry, LedgerEntry, NewEntry, Payload, SessionInfo
from selfgc.sidecar.ledger import GENESIS, Head, check_commits, extend, taken_meanwhile
from selfgc.sidecar.packing import checked, missing, pack, payload_name, unpack

_Row = TypeVar("_Row")

_SESSIONS = "SELECT number, key, messages, commits, rollbacks, payload_bytes, entries, head FROM session"
_ADD_SESSION = (
    "INSERT INTO session (key, messages, commits, rollbacks, payload_bytes, entries, head) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SET_SESSION = (
    "UPDATE session SET messages = ?, commits = ?, rollbacks = ?, payload_bytes = ?, entries = ?, head = ?"
    " WHERE number = ?"
)
_JOURNAL = "SELECT chain, parent, ids, size, sha256, CAST(body AS BLOB) FROM journal WHERE session = ? ORDER BY number"
_ADD_MESSAGE = (
    "INSERT INTO journal (session, chain, parent, ids, size, sha256, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (session, chain) DO NOTHING"
)
_IDS = "SELECT ids FROM journal WHERE session = ? AND chain = ?"
_TAKE_ID = "INSERT INTO taken (session, id, chain) VALUES (?, ?, ?) ON CONFLICT (session, id) DO NOTHING"
_PAYLOAD = "SELECT size, CAST(body AS BLOB) FROM payload WHERE session = ? AND sha256 = ?"
_PAYLOAD_IDS = "SELECT sha256 FROM payload WHERE session = ? ORDER BY number"
_ADD_PAYLOAD = (
    "INSERT INTO payload (session, sha256, size, body) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (session, sha256) DO UPDATE SET size = excluded.size, body = excluded.body"
)
_LEDGER = (
    "SELECT sequence, kind, time, CAST(body AS BLOB), previous, hash FROM ledger WHERE session = ? ORDER BY sequence"
)
_ADD_ENTRY = "INSERT INTO ledger (session, sequence, kind, time, body, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"


class SessionRow(NamedTuple):
    """A session with its running counts and the head of its ledger. `number` is 0 while it is not stored."""

    number: int
    key: str
    messages: int = 0
    commits: int = 0
    rollbacks: int = 0
    payload_bytes: int = 0
    entries: int = 0
    head: str = GENESIS


class MessageRow(NamedTuple):
    """A message as it is stored; `unpack_message` makes a journal entry of it."""

    chain: bytes
    parent: bytes
    ids: str
    size: int
    sha256: str
    """Over chain, parent, ids and the uncompressed message."""
    body: bytes


class _PayloadRow(NamedTuple):
    size: int
    body: bytes


class _PayloadId(NamedTuple):
    sha256: str


class _EntryRow(NamedTuple):
    sequence: int
    kind: EntryKind
    time: float
    body: bytes
    previous: str
    hash: str


class Append(NamedTuple):
    """What one append brings."""

    journal: Sequence[JournalEntry]
    payloads: Sequence[Payload]
    entries: Sequence[NewEntry]


def write(connection: sqlite3.Connection, session: SessionKey, append: Append, expected_commits: int | None) -> None:
    """Write an append; payloads are on record and read back before the first ledger entry is written."""
    held = find_session(connection, session)
    check_commits(session, held.commits + held.rollbacks, expected_commits)
    if not any(append):
        return
    before = held if held.number else _add_session(connection, held)
    messages = sum(_add_message(connection, before, message) for message in append.journal)
    size = sum(_add_payload(connection, before, payload) for payload in append.payloads)
    sealed = extend(session, Head(before.entries, before.head), append.entries)
    connection.executemany(_ADD_ENTRY, [(before.number, *_cells(entry)) for entry in sealed])
    after = _grown(
        before._replace(messages=before.messages + messages, payload_bytes=before.payload_bytes + size), sealed
    )
    if after != before:
        connection.execute(_SET_SESSION, (*after[2:], after.number))


def find_session(connection: sqlite3.Connection, session: SessionKey) -> SessionRow:
    """Return the session's row; an empty one with number 0 when there is none."""
    found = _rows(connection, SessionRow, f"{_SESSIONS} WHERE key = ?", session)
    return found[0] if found else SessionRow(0, session)


def read_sessions(connection: sqlite3.Connection) -> list[SessionInfo]:
    """Return what the store holds, ordered by key."""
    rows = _rows(connection, SessionRow, f"{_SESSIONS} ORDER BY key")
    return [SessionInfo(row.key, row.messages, row.commits, row.payload_bytes) for row in rows]


def read_messages(connection: sqlite3.Connection, held: SessionRow) -> list[MessageRow]:
    """Return the session's messages as stored, in order of first sight."""
    return _rows(connection, MessageRow, _JOURNAL, held.number)


def unpack_message(session: SessionKey, position: int, row: MessageRow) -> JournalEntry:
    """Return a stored message as it was given; PayloadCorrupt when any of it is other than it was."""
    name = f"message {position} of session {session!r}"
    raw = unpack(row.body, row.size, name)
    if _seal(row.chain, row.parent, row.ids, raw) != row.sha256:
        raise PayloadCorrupt(f"{name}: the stored message no longer has its SHA-256; run `selfgc verify`")
    return JournalEntry(row.chain, row.parent, raw, msgspec.json.decode(row.ids, type=tuple[ObjectId, ...]))


def read_payload(connection: sqlite3.Connection, held: SessionRow, sha256: str) -> bytes:
    """Return a payload's exact bytes. PayloadMissing or PayloadCorrupt when that cannot be."""
    name = payload_name(held.key, sha256)
    try:
        rows = _rows(connection, _PayloadRow, _PAYLOAD, held.number, sha256) if sha256.isascii() else []
    except msgspec.ValidationError as error:
        raise PayloadCorrupt(f"{name}: its row is not as it was written ({error}); run `selfgc verify`") from error
    if not rows:
        raise missing(held.key, sha256)
    return checked(unpack(rows[0].body, rows[0].size, name), sha256, name)


def read_payload_ids(connection: sqlite3.Connection, held: SessionRow) -> list[str]:
    """Return the SHA-256 of each payload of the session, in order of first sight."""
    return [row.sha256 for row in _rows(connection, _PayloadId, _PAYLOAD_IDS, held.number)]


def read_ledger(connection: sqlite3.Connection, held: SessionRow) -> list[LedgerEntry]:
    """Return the session's ledger in order, as it stands."""
    return [LedgerEntry(*row) for row in _rows(connection, _EntryRow, _LEDGER, held.number)]


def _rows(connection: sqlite3.Connection, row: type[_Row], sql: str, *cells: str | int) -> list[_Row]:
    return msgspec.convert(connection.execute(sql, cells).fetchall(), list[row])  # type: ignore[valid-type]


def _add_session(connection: sqlite3.Connection, fresh: SessionRow) -> SessionRow:
    return fresh._replace(number=connection.execute(_ADD_SESSION, fresh[1:]).lastrowid or 0)


def _grown(held: SessionRow, sealed: Sequence[LedgerEntry]) -> SessionRow:
    if not sealed:
        return held
    kinds = [entry.kind for entry in sealed]
    return held._replace(
        commits=held.commits + kinds.count(EntryKind.COMMIT),
        rollbacks=held.rollbacks + kinds.count(EntryKind.ROLLBACK),
        entries=sealed[-1].sequence,
        head=sealed[-1].hash,
    )


def _add_message(connection: sqlite3.Connection, held: SessionRow, message: JournalEntry) -> int:
    """Write a message unless it is there; return 1 when it was new."""
    ids = msgspec.json.encode(message.ids).decode()
    seal = _seal(message.chain, message.parent, ids, message.raw)
    known = (held.number, message.chain, message.parent, ids, len(message.raw), seal)
    if not connection.execute(_ADD_MESSAGE, (*known, pack(message.raw))).rowcount:
        stored = connection.execute(_IDS, (held.number, message.chain)).fetchone()[0]
        if stored != ids:
            raise taken_meanwhile(SessionKey(held.key), message.ids)
        return 0
    taking = [(held.number, object_id, message.chain) for object_id in message.ids]
    if any(connection.execute(_TAKE_ID, row).rowcount == 0 for row in taking):
        raise taken_meanwhile(SessionKey(held.key), message.ids)
    return 1


def _add_payload(connection: sqlite3.Connection, held: SessionRow, payload: Payload) -> int:
    """Write a payload unless it is there unharmed, and read it back; return by how many bytes the session grew."""
    sha256, data = payload.sha256, payload.data
    checked(data, sha256, payload_name(held.key, sha256))
    grown = 0
    try:
        read_payload(connection, held, sha256)
    except PayloadMissing:
        grown = len(data)
    except PayloadCorrupt:  # the bytes at hand are good: they take the place of the damaged ones
        pass
    else:
        return 0
    connection.execute(_ADD_PAYLOAD, (held.number, sha256, len(data), pack(data)))
    read_payload(connection, held, sha256)
    return grown


def _cells(entry: LedgerEntry) -> tuple[int, str, float, bytes, str, str]:
    return entry.sequence, entry.kind.value, entry.time, entry.body, entry.previous, entry.hash


def _seal(chain: bytes, parent: bytes, ids: str, raw: bytes) -> str:
    """Return SHA-256 over the SHA-256 of each part of a message row, in hex."""
    parts = (chain, parent, ids.encode(), raw)
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
