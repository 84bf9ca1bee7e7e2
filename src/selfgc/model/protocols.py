"""The protocols by which lower rooms name what higher rooms give them: counter, store, planner, dialect."""

from collections.abc import Sequence
from typing import Protocol

from selfgc.model.ids import SessionKey
from selfgc.model.records import JournalEntry, LedgerEntry, NewEntry, Payload, SessionInfo


class TokenCounter(Protocol):
    """Counts tokens offline."""

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`; deterministic, and at least 0."""
        ...


class Store(Protocol):
    """Keeps journals, payloads and ledgers. One write is one durable transaction: all of it, or nothing."""

    def append(
        self,
        session: SessionKey,
        *,
        journal: Sequence[JournalEntry] = (),
        payloads: Sequence[Payload] = (),
        entries: Sequence[NewEntry] = (),
        expected_commits: int | None = None,
    ) -> None:
        """Write all of it durably in one step; payloads are read back and hashed before entries count.

        Journal entries and payloads that are there already are left as they are. When another writer gave
        the ids of a message to another one meanwhile, that is a StalePlan too. With
        `expected_commits` the write happens only when the session holds exactly so many commit and
        rollback entries; else StalePlan. StoreError when it could not be written; the old state is intact.
        """
        ...

    def journal(self, session: SessionKey) -> list[JournalEntry]:
        """Return every message ever observed in the session, in order of first sight."""
        ...

    def ledger(self, session: SessionKey) -> list[LedgerEntry]:
        """Return the session's ledger in order."""
        ...

    def payload(self, session: SessionKey, sha256: str) -> bytes:
        """Return the payload's exact bytes. PayloadMissing or PayloadCorrupt when that cannot be."""
        ...

    def payload_ids(self, session: SessionKey) -> list[str]:
        """Return the hex SHA-256 of every payload of the session, sorted."""
        ...

    def sessions(self) -> list[SessionInfo]:
        """Return what the store holds, ordered by key."""
        ...

    def close(self) -> None:
        """Release files and locks; the store is of no use afterwards."""
        ...
