"""The hash chain of a session's ledger: how an entry is sealed to the one before it, and where a chain breaks.

A hash covers the session's key, the sequence number, kind, time and body of its entry and the hash of the
entry before. So no entry can be changed, inserted, removed, moved or carried to another session unseen, unless
every later hash is made anew; the head that a store keeps beside the chain shows when its end was cut off.
"""

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from selfgc.errors import StalePlan, UsageError
from selfgc.model.ids import ObjectId, SessionKey
from selfgc.model.records import LedgerEntry, NewEntry

GENESIS = "0" * 64
"""What the first entry of a session names as the hash before it."""

_FIXED = struct.Struct(">QdQ")


class Head(NamedTuple):
    """The end of a session's chain: the number of its last entry, and that entry's hash."""

    sequence: int = 0
    hash: str = GENESIS


class Break(NamedTuple):
    """The first place where a chain does not hold, and a sentence about it."""

    sequence: int
    sentence: str


def entry_hash(session: SessionKey, entry: LedgerEntry) -> str:
    """Return the hex SHA-256 that an entry of this content must carry; the `hash` it has is not looked at.

    SHA-256(previous, as 64 hex digits | SHA-256(session key) | sequence, u64 | time, f64 | len(body), u64 | body |
    kind), numbers big-endian. Every part has a fixed or a written length, so that no two entries read alike.
    """
    key = hashlib.sha256(session.encode()).digest()
    fixed = _FIXED.pack(entry.sequence, entry.time, len(entry.body))
    return hashlib.sha256(entry.previous.encode() + key + fixed + entry.body + entry.kind.encode()).hexdigest()


def extend(session: SessionKey, head: Head, entries: Iterable[NewEntry]) -> list[LedgerEntry]:
    """Return the entries sealed one to the other, the first of them to `head`."""
    sealed: list[LedgerEntry] = []
    sequence, previous = head
    for entry in entries:
        sequence += 1
        time = float(entry.time) + 0.0  # -0.0 becomes 0.0: a database does not keep its sign
        bare = LedgerEntry(sequence, entry.kind, time, entry.body, previous, "")
        digest = entry_hash(session, bare)
        sealed.append(LedgerEntry(sequence, entry.kind, time, entry.body, previous, digest))
        previous = digest
    return sealed


def first_break(session: SessionKey, entries: Sequence[LedgerEntry]) -> Break | None:
    """Return the first entry that does not follow from those before it, or None when the chain holds."""
    sequence, previous = Head()
    for entry in entries:
        sequence += 1
        if entry.sequence != sequence:
            what = "deleted" if entry.sequence > sequence else "inserted"
            return Break(sequence, f"expected entry {sequence}, found {entry.sequence}: one was {what} or moved here")
        if entry_hash(session, entry) != entry.hash:
            return Break(sequence, f"entry {sequence} does not have the hash it carries: it was changed or inserted")
        if entry.previous != previous:
            sentence = (
                f"entry {sequence} does not follow the one before it: one was changed, inserted, deleted or moved"
            )
            return Break(sequence, sentence)
        previous = entry.hash
    return None


def check_commits(session: SessionKey, held: int, expected: int | None) -> None:
    """Raise StalePlan when a write is bound to another number of commits and rollbacks than the session holds."""
    if expected is not None and held != expected:
        raise StalePlan(
            f"session {session!r}: expected {expected} commits and rollbacks, found {held}; "
            "another writer came first; nothing was written, plan again from the current state"
        )


def check_key(session: SessionKey) -> None:
    """Raise UsageError when a session key cannot be written as UTF-8 (it holds a lone surrogate)."""
    try:
        session.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"session key {session!r} cannot be written as UTF-8 ({error.reason}); give another"
        ) from error


def taken_meanwhile(session: SessionKey, ids: Sequence[ObjectId]) -> StalePlan:
    """Return the error for ids that another writer gave to another message, or to this one under other names."""
    named = ", ".join(ids)
    return StalePlan(
        f"session {session!r}: another writer gave the ids of a message ({named}) meanwhile; nothing was written, "
        "observe again from the current state"
    )
