"""What is written to a store: journal entries, payloads, commit records and ledger entries, as values."""

from enum import StrEnum

import msgspec

from selfgc.model.ids import ObjectId


class JournalEntry(msgspec.Struct, frozen=True):
    """One observed message. The journal is a tree: an entry names its parent by chain digest."""

    chain: bytes
    """SHA-256 over the parent's chain and this message's digest: position, lineage and content in one."""
    parent: bytes
    """The chain of the message before it; empty for the first."""
    raw: bytes
    """The message's wire bytes as first seen."""
    ids: tuple[ObjectId, ...] = ()
    """Ids of the objects that begin in this message, in order."""


class Payload(msgspec.Struct, frozen=True):
    """Exact bytes that a fold or mask took out of the view. `sha256` is the hex digest of `data`."""

    sha256: str
    held: bytes | tuple[bytes, ...]
    """The bytes, or runs of them that are held elsewhere already: a long turn is not copied to be stored."""

    @property
    def data(self) -> bytes:
        """The bytes in one piece."""
        return self.held if isinstance(self.held, bytes) else b"".join(self.held)


class Replacement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One frozen rendering: what stands at one part of one message from the commit on."""

    chain: str
    """Hex chain digest of the message."""
    path: str
    """The part's path in the message."""
    text: str | None = None
    """The text that stands there now. None: the part is left out."""
    arguments: dict[str, str] | None = None
    """For a call: the string arguments that were replaced, by dotted path; all others stay as they are."""
    tokens: int = 0
    """Tokens of the part as it stands in the view now."""


class Edit(msgspec.Struct, frozen=True, omit_defaults=True):
    """One committed action on one object."""

    id: ObjectId
    action: str
    """`fold`, `mask` or `prune`."""
    replacements: tuple[Replacement, ...]
    tokens_before: int
    tokens_after: int
    payload: str = ""
    """Hex SHA-256 of the payload; empty for prune."""
    media: str = "text/plain"
    """`text/plain`: the payload is one text in UTF-8. `application/json`: several pieces, each raw."""
    reason: str = ""
    within: str = ""
    """The turn whose edit holds the rendering; such an edit only keeps a span's payload restorable."""
    swallowed: tuple[ObjectId, ...] = ()
    """Objects whose spans this edit took over (a turn fold); each stays restorable by its own id."""


class EntryKind(StrEnum):
    """What a ledger entry tells."""

    PLAN = "plan"
    REFUSAL = "refusal"
    COMMIT = "commit"
    DEFER = "defer"
    RESTORE = "restore"
    REPAIR = "repair"
    ROLLBACK = "rollback"
    FAULT = "fault"


class NewEntry(msgspec.Struct, frozen=True):
    """A ledger entry before it is written. `body` is compact JSON without payload text."""

    kind: EntryKind
    time: float
    """Seconds since the epoch, from the engine's clock."""
    body: bytes


class LedgerEntry(msgspec.Struct, frozen=True):
    """A written ledger entry. `hash` covers the entry and `previous`, so that tampering shows."""

    sequence: int
    """Counts from 1 within the session, without gaps."""
    kind: EntryKind
    time: float
    body: bytes
    previous: str
    """Hex `hash` of the entry before; 64 zeros for the first."""
    hash: str


class SessionInfo(msgspec.Struct, frozen=True):
    """One session of a store, for listings."""

    key: str
    messages: int
    commits: int
    """Number of commit entries; rollbacks are not counted."""
    payload_bytes: int
    """Uncompressed size of the distinct payloads."""
