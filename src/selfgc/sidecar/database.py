"""The file of a SQLite store: how it is made, opened and checked, and what its failures mean.

The file is made whole beside its final name and only then given that name, so that nobody ever sees half a store.
It is never opened here by other means than SQLite: closing a second descriptor would drop SQLite's locks.
"""

import contextlib
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from selfgc.errors import StoreError

APPLICATION_ID = 0x53474353
"""Stands in the header of each store ("SGCS"), so that a foreign database is never taken for one."""

VERSION = 1
"""The schema's version, in the header; a higher one was written by a later selfgc and is left alone."""

SCHEMA = (
    """CREATE TABLE session (
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  messages INTEGER NOT NULL,
  commits INTEGER NOT NULL,
  rollbacks INTEGER NOT NULL,
  payload_bytes INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  head TEXT NOT NULL
)""",
    """CREATE TABLE journal (
  number INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  chain BLOB NOT NULL,
  parent BLOB NOT NULL,
  ids TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (session, chain)
)""",
    "CREATE INDEX journal_in_order ON journal (session)",
    """CREATE TABLE taken (
  session INTEGER NOT NULL,
  id TEXT NOT NULL,
  chain BLOB NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID""",
    """CREATE TABLE payload (
  number INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (session, sha256)
)""",
    """CREATE TABLE ledger (
  number INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL,
  time REAL NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (session, sequence)
)""",
)
"""`number` is the order of first sight. Bodies come last: a look at the other columns reads no overflow page."""

_PRAGMAS = (
    "PRAGMA synchronous = FULL",  # a commit returns after its bytes are on the disk
    "PRAGMA fullfsync = ON",  # on macOS a plain fsync leaves them in the drive's cache
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA journal_size_limit = 16777216",
    "PRAGMA cache_size = -512",  # half a megabyte: the store is read by key, one row at a time
)

_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk (or a quota) is full; free space and repeat",
    sqlite3.SQLITE_BUSY: "another process holds the write lock; end it or wait, then repeat",
    sqlite3.SQLITE_LOCKED: "another process holds the write lock; end it or wait, then repeat",
    sqlite3.SQLITE_READONLY: "the file or its directory is read-only; allow writing or choose another path",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; look at the permissions of it and of its directory",
    sqlite3.SQLITE_PERM: "the file cannot be opened; look at the permissions of it and of its directory",
    sqlite3.SQLITE_NOTADB: "it is no selfgc store, or its header is damaged; restore a backup or choose another path",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; run `selfgc verify`, then restore it from a backup or move it away",
    sqlite3.SQLITE_IOERR: "the disk reported an error; look at the disk and at limits on file size, then repeat",
}
_ORPHANS = "SELECT count(*) FROM {} NOT INDEXED WHERE session NOT IN (SELECT number FROM session)"
_UNKNOWN = "the database refused; run `selfgc verify`"
_FLUSH_FAILURES = {sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC}


class Identity(NamedTuple):
    """Which file stands under a path: device and inode."""

    device: int
    inode: int


class Database(NamedTuple):
    """An open and checked store file."""

    connection: sqlite3.Connection
    identity: Identity


def store_error(path: Path, doing: str, error: Exception) -> StoreError:
    """Return what an error of SQLite or of the system means for a store; the one place where they are mapped."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, OSError):
        advice = "look at the path, its permissions and the room on the disk, then repeat"
    elif isinstance(error, msgspec.MsgspecError):
        advice = "a row is not as it was written; run `selfgc verify`"
    else:
        advice = _UNKNOWN if code is None else _ADVICE.get(code & 0xFF, _UNKNOWN)
    return StoreError(f"{path}: {doing} failed ({error}): {advice}. What was stored before is as it was")


def is_flush_failure(error: Exception) -> bool:
    """Whether the disk failed to make written bytes durable: later writes through the same file prove nothing."""
    return getattr(error, "sqlite_errorcode", None) in _FLUSH_FAILURES


def identify(path: Path) -> Identity | None:
    """Return which file stands at `path`, None when there is none; StoreError when it is no regular file."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        what = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "no regular file"
        raise StoreError(f"{path}: expected a selfgc store, found {what}; give the path of the file itself")
    return Identity(found.st_dev, found.st_ino)


def open_database(path: Path, *, read_only: bool, timeout: float) -> Database | None:
    """Open the store at `path` and check that it is one; None when there is no file."""
    identity = identify(path)
    if identity is None:
        return None
    try:
        connection = _connect(path, "mode=ro" if read_only else "mode=rw", timeout)
    except sqlite3.OperationalError as error:
        if not _may_read_frozen(path, error):
            raise
        connection = _connect(path, "mode=ro&immutable=1", timeout)
    if identify(path) != identity:
        connection.close()
        raise StoreError(f"{path}: the file was exchanged while it was opened; nothing was written, try again")
    return Database(connection, identity)


def create_database(path: Path, *, timeout: float) -> None:
    """Make an empty store at `path`, readable by its owner alone; one that is there already is left as it is."""
    for directory in reversed([parent for parent in path.parents if not parent.exists()]):
        directory.mkdir(mode=0o700, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        draft.chmod(0o600)  # whatever the umask took away
        with contextlib.closing(_raw_connection(draft, "mode=rw", timeout)) as connection:
            _lay_out(connection)
        _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    _flush_directory(path.parent)


def find_damage(connection: sqlite3.Connection) -> list[str]:
    """Return what is wrong with pages and indexes (at most 20 sentences of SQLite), and rows without a session."""
    found = [sentence for (sentence,) in connection.execute("PRAGMA integrity_check(20)") if sentence != "ok"]
    for table in ("journal", "payload", "ledger"):
        (count,) = connection.execute(_ORPHANS.format(table)).fetchone()
        if count:
            found.append(f"{count} rows of table {table} belong to no session")
    return found


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all of the block or nothing: committed and flushed at its end, rolled back on any way out before."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _connect(path: Path, query: str, timeout: float) -> sqlite3.Connection:
    connection = _raw_connection(path, query, timeout)
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        _check_layout(path, connection)
    except BaseException:  # whatever stops the opening, an interrupt included, must not leave the file open
        connection.close()
        raise
    return connection


def _raw_connection(path: Path, query: str, timeout: float) -> sqlite3.Connection:
    uri = f"{path.as_uri()}?{query}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    connection.text_factory = _text
    return connection


def _text(cell: bytes) -> str:
    """Return a damaged cell as text that will not match: SQLite's own error would quote what is stored."""
    return cell.decode(errors="replace")


def _lay_out(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    with transaction(connection):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in SCHEMA:
            connection.execute(statement)
    connection.execute("PRAGMA journal_mode = WAL")


def _check_layout(path: Path, connection: sqlite3.Connection) -> None:
    application, version = _number(connection, "application_id"), _number(connection, "user_version")
    if application != APPLICATION_ID:
        raise StoreError(
            f"{path}: the file is a database, but no selfgc store (or an emptied one); choose another path"
        )
    if version != VERSION:
        advice = (
            "use the newer selfgc that wrote it" if version > VERSION else "its header is damaged; restore a backup"
        )
        raise StoreError(f"{path}: expected schema version {VERSION}, found {version}; {advice}")
    found = {
        sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'")
    }
    if found != set(SCHEMA):
        raise StoreError(
            f"{path}: the tables are not those of schema version {VERSION}; restore the file from a backup"
        )


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    return int(value)


def _may_read_frozen(path: Path, error: sqlite3.OperationalError) -> bool:
    """Whether a store that cannot be opened lies complete in a place where nobody can write beside it."""
    wal = path.with_name(path.name + "-wal")
    unwritable = error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
    return unwritable and not (wal.exists() and wal.stat().st_size)


def _publish(draft: Path, path: Path) -> None:
    """Give a finished file its name, unless the name is taken: then another process was quicker."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            draft.rename(path)


def _flush_directory(directory: Path) -> None:
    if os.name == "nt":  # directories cannot be opened there
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
