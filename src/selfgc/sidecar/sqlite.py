"""The durable store: one SQLite file that several threads and processes may use at once.

One append is one transaction: messages, payloads and ledger entries become durable together or not at all. Here
stands who may use the file and when; `database.py` has the file itself, `rows.py` what lies in it.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from selfgc.errors import StoreError
from selfgc.model.ids import SessionKey
from selfgc.model.records import JournalEntry, LedgerEntry, NewEntry, Payload, SessionInfo
from selfgc.sidecar import rows
from selfgc.sidecar.database import (
    Database,
    create_database,
    find_damage,
    identify,
    is_flush_failure,
    open_database,
    store_error,
    transaction,
)
from selfgc.sidecar.ledger import Head, check_key
from selfgc.sidecar.packing import missing

_Found = TypeVar("_Found")


class SqliteStore:
    """A store in one file of mode 0600. Safe for several threads, and for several processes that each open it.

    A missing file is made at the first write (unless `create` is off), so that a store which is only read writes
    nothing. `timeout` is how many seconds a write waits for another process's write. A failure is a StoreError that
    says what to do; what was stored before is then as it was.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False, create: bool = True, timeout: float = 5.0) -> None:
        self.path = Path(path).absolute()
        self._read_only = read_only
        self._timeout = timeout
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._database: Database | None = None
        self._is_closed = False
        self._is_distrusted = False
        with self._reading() as connection:
            if connection is None and (read_only or not create):
                raise StoreError(f"{self.path}: there is no store; check the path, or open it for writing to make one")

    def append(
        self,
        session: SessionKey,
        *,
        journal: Sequence[JournalEntry] = (),
        payloads: Sequence[Payload] = (),
        entries: Sequence[NewEntry] = (),
        expected_commits: int | None = None,
    ) -> None:
        """Write all of it durably in one transaction; see `Store.append`.

        A payload that is there already but damaged is written again from the bytes given.
        """
        check_key(session)
        with self._writing() as connection, transaction(connection):
            rows.write(connection, session, rows.Append(journal, payloads, entries), expected_commits)

    def journal(self, session: SessionKey) -> list[JournalEntry]:
        """Return every message ever observed in the session, in order of first sight; PayloadCorrupt if one is bad."""
        stored: list[rows.MessageRow] = self._read(session, rows.read_messages, [])
        return [rows.unpack_message(session, position, row) for position, row in enumerate(stored)]

    def ledger(self, session: SessionKey) -> list[LedgerEntry]:
        """Return the session's ledger in order, as it stands; `verify_store` checks its chain."""
        return self._read(session, rows.read_ledger, [])

    def ledger_head(self, session: SessionKey) -> Head:
        """Return the number and hash of the last ledger entry, as they were recorded beside the chain."""
        return self._read(session, lambda _, held: Head(held.entries, held.head), Head())

    def payload(self, session: SessionKey, sha256: str) -> bytes:
        """Return the payload's exact bytes. PayloadMissing or PayloadCorrupt when that cannot be."""
        found = self._read(session, lambda connection, held: rows.read_payload(connection, held, sha256), None)
        if found is None:
            raise missing(session, sha256)
        return found

    def payload_ids(self, session: SessionKey) -> list[str]:
        """Return the SHA-256 of each payload of the session, in order of first sight."""
        return self._read(session, rows.read_payload_ids, [])

    def sessions(self) -> list[SessionInfo]:
        """Return what the store holds, ordered by key."""
        with self._reading() as connection:
            return rows.read_sessions(connection) if connection else []

    def damage(self) -> list[str]:
        """Return what SQLite finds wrong with the file itself, a sentence each; empty when all is well."""
        with self._reading() as connection:
            return find_damage(connection) if connection else []

    def close(self) -> None:
        """Release the file; the store is of no use afterwards. Closing twice is fine."""
        self._is_closed = True
        if self._process == os.getpid():
            with self._lock, self._mapped("closing"):
                database, self._database = self._database, None
                if database is not None:
                    database.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(
        self, session: SessionKey, found: Callable[[sqlite3.Connection, rows.SessionRow], _Found], none: _Found
    ) -> _Found:
        check_key(session)
        with self._reading() as connection:
            held = rows.find_session(connection, session) if connection else None
            return found(connection, held) if connection and held else none

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """Give the connection to one thread at a time; None while there is no file."""
        with self._alone("reading"):
            if self._database is None:
                self._database = open_database(self.path, read_only=self._read_only, timeout=self._timeout)
            yield self._database.connection if self._database else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread at a time, the file made if need be."""
        with self._alone("writing"):
            if self._read_only:
                raise StoreError(f"{self.path}: the store was opened read-only; open it for writing to append")
            if self._is_distrusted:
                raise StoreError(f"{self.path}: an earlier write could not be flushed to the disk; run `selfgc verify`")
            yield self._writable().connection

    def _writable(self) -> Database:
        if self._database is None:
            create_database(self.path, timeout=self._timeout)
            self._database = open_database(self.path, read_only=False, timeout=self._timeout)
        if self._database is None or identify(self.path) != self._database.identity:
            raise StoreError(f"{self.path}: the file was removed or exchanged while in use; open the store again")
        return self._database

    @contextmanager
    def _alone(self, doing: str) -> Iterator[None]:
        """Keep other threads out, and refuse when the store is closed or belongs to the process we were forked from."""
        if self._process != os.getpid():
            raise StoreError(f"{self.path}: the store was opened before this process was forked; open it anew here")
        with self._lock, self._mapped(doing):
            if self._is_closed:
                raise StoreError(f"{self.path}: the store was closed; open it again")
            yield

    @contextmanager
    def _mapped(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, msgspec.MsgspecError) as error:
            self._is_distrusted |= is_flush_failure(error)
            raise store_error(self.path, doing, error) from error
