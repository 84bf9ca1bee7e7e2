"""A store in memory, for tests and for sessions that need to outlive nothing; it keeps the durable one's contract."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from selfgc.errors import StoreError
from selfgc.model.ids import ObjectId, SessionKey
from selfgc.model.records import EntryKind, JournalEntry, LedgerEntry, NewEntry, Payload, SessionInfo
from selfgc.sidecar.ledger import Head, check_commits, check_key, extend, taken_meanwhile
from selfgc.sidecar.packing import checked, missing, payload_name


class _Session:
    def __init__(self) -> None:
        self.journal: dict[bytes, JournalEntry] = {}
        self.taken: dict[ObjectId, bytes] = {}
        """Which message each id belongs to."""
        self.payloads: dict[str, bytes] = {}
        self.ledger: list[LedgerEntry] = []
        self.counts: Counter[EntryKind] = Counter()

    @property
    def head(self) -> Head:
        """The end of the session's ledger."""
        return Head(len(self.ledger), self.ledger[-1].hash) if self.ledger else Head()


class MemoryStore:
    """Keeps everything in this process. Safe for several threads; gone when the process ends."""

    def __init__(self) -> None:
        self._sessions: dict[SessionKey, _Session] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def append(
        self,
        session: SessionKey,
        *,
        journal: Sequence[JournalEntry] = (),
        payloads: Sequence[Payload] = (),
        entries: Sequence[NewEntry] = (),
        expected_commits: int | None = None,
    ) -> None:
        """Write all of it in one step, or nothing of it; see `Store.append`."""
        with self._open():
            held = self._held(session)
            check_commits(session, held.counts[EntryKind.COMMIT] + held.counts[EntryKind.ROLLBACK], expected_commits)
            for payload in payloads:
                checked(payload.data, payload.sha256, payload_name(session, payload.sha256))
            sealed = extend(session, held.head, entries)
            if not (journal or payloads or entries):
                return
            self._take(session, held, journal)
            for payload in payloads:
                held.payloads[payload.sha256] = payload.data
            held.ledger += sealed
            held.counts.update(entry.kind for entry in sealed)
            self._sessions[session] = held

    def _take(self, session: SessionKey, held: _Session, journal: Sequence[JournalEntry]) -> None:
        """Add messages; StalePlan before anything is added when another writer gave their ids meanwhile."""
        fresh = [message for message in journal if message.chain not in held.journal]
        for message in journal:
            known = held.journal.get(message.chain)
            is_taken = any(held.taken.get(object_id, message.chain) != message.chain for object_id in message.ids)
            if is_taken or (known is not None and known.ids != message.ids):
                raise taken_meanwhile(session, message.ids)
        held.journal.update((message.chain, message) for message in fresh)
        held.taken.update((object_id, message.chain) for message in fresh for object_id in message.ids)

    def journal(self, session: SessionKey) -> list[JournalEntry]:
        """Return every message ever observed in the session, in order of first sight."""
        with self._open():
            return list(self._held(session).journal.values())

    def ledger(self, session: SessionKey) -> list[LedgerEntry]:
        """Return the session's ledger in order."""
        with self._open():
            return list(self._held(session).ledger)

    def ledger_head(self, session: SessionKey) -> Head:
        """Return the number and hash of the session's last ledger entry."""
        with self._open():
            return self._held(session).head

    def payload(self, session: SessionKey, sha256: str) -> bytes:
        """Return the payload's exact bytes. PayloadMissing or PayloadCorrupt when that cannot be."""
        with self._open():
            data = self._held(session).payloads.get(sha256)
        if data is None:
            raise missing(session, sha256)
        return checked(data, sha256, payload_name(session, sha256))

    def payload_ids(self, session: SessionKey) -> list[str]:
        """Return the SHA-256 of each payload of the session, in order of first sight."""
        with self._open():
            return list(self._held(session).payloads)

    def sessions(self) -> list[SessionInfo]:
        """Return what the store holds, ordered by key."""
        with self._open():
            return [
                SessionInfo(
                    key,
                    messages=len(held.journal),
                    commits=held.counts[EntryKind.COMMIT],
                    payload_bytes=sum(map(len, held.payloads.values())),
                )
                for key, held in sorted(self._sessions.items())
            ]

    def damage(self) -> list[str]:
        """Return what is wrong with the container itself: nothing ever is, in memory."""
        return []

    def close(self) -> None:
        """Forget everything; the store is of no use afterwards."""
        with self._lock:
            self._sessions.clear()
            self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        with self._lock:
            if self._is_closed:
                raise StoreError("the store in memory was closed; make a new one")
            yield

    def _held(self, session: SessionKey) -> _Session:
        check_key(session)
        return self._sessions.get(session, _Session())
