"""The file of a store: who may read it, what is taken for one, and what its failures tell."""

import os
import sqlite3
import stat
import tempfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest

from selfgc.errors import StoreError
from selfgc.sidecar.database import (
    APPLICATION_ID,
    SCHEMA,
    create_database,
    find_damage,
    identify,
    is_flush_failure,
    open_database,
    store_error,
    transaction,
)

posix = pytest.mark.skipif(os.name != "posix", reason="needs modes and links")


def create(path):
    create_database(path, timeout=1)
    return path


def opened(path, *, read_only=False):
    database = open_database(path, read_only=read_only, timeout=0.1)
    assert database is not None
    return closing(database.connection)


def run_raw(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def names(folder):
    return [file.name for file in folder.iterdir()]


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.fixture
def unprivileged():
    """A folder of a user for whom modes bind, and that user as the one who runs the test."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)
            folder.chmod(0o700)


def sqlite_failure(code):
    error = sqlite3.OperationalError("it failed")
    error.sqlite_errorcode = code
    return error


def test_a_new_store_has_its_mark_its_version_and_a_write_ahead_log(tmp_path):
    """The header names selfgc and the schema; WAL lets others read while one writes."""
    with opened(create(tmp_path / "s.db")) as connection:
        found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        assert found == [APPLICATION_ID, 1]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert names(tmp_path) == ["s.db"]


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_only_the_owner_may_read_whatever_the_umask(tmp_path, mask):
    """File, log and shared memory have mode 0600, new folders 0700."""
    path = tmp_path / "new" / "deep" / "s.db"
    if mask == 0o777:  # folders would be closed to their own maker
        path.parent.mkdir(parents=True, mode=0o700)
        path.parent.parent.chmod(0o700)
    with umask(mask):
        create(path)
        with opened(path) as connection, transaction(connection):
            connection.execute("DELETE FROM session")
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {"s.db": 0o600, "s.db-wal": 0o600, "s.db-shm": 0o600}
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]


def test_a_store_that_is_there_is_not_made_again(tmp_path):
    """Making a store where one is leaves that one, and no draft beside it."""
    path = create(tmp_path / "s.db")
    before = path.read_bytes(), path.stat().st_ino
    create(path)
    assert (path.read_bytes(), path.stat().st_ino) == before
    assert names(tmp_path) == ["s.db"]


def test_many_may_make_one_store_at_once(tmp_path):
    """Several makers of one path end with one file that all of them can open."""
    path = tmp_path / "s.db"
    threads = [threading.Thread(target=create, args=(path,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with opened(path) as connection:
        assert find_damage(connection) == []
    assert names(tmp_path) == ["s.db"]


@pytest.mark.parametrize("is_there", [False, True])
def test_a_file_system_without_links_will_do(tmp_path, monkeypatch, is_there):
    """Where no hard link can be made, the draft is renamed unless the name is taken."""

    def refuse(*_):
        raise PermissionError("no links here")

    path = tmp_path / "s.db"
    if is_there:
        path.write_bytes(b"taken")
    monkeypatch.setattr(os, "link", refuse)
    create(path)
    assert (path.read_bytes() == b"taken") is is_there
    assert names(tmp_path) == ["s.db"]


def test_no_file_is_no_database(tmp_path):
    """Opening what is not there gives None and makes nothing."""
    assert open_database(tmp_path / "s.db", read_only=False, timeout=0) is None
    assert names(tmp_path) == []


@posix
def test_only_a_regular_file_is_opened(tmp_path):
    """Links (good, dangling), folders and pipes are refused by name before anything is opened."""
    create(tmp_path / "s.db")
    (tmp_path / "link").symlink_to("s.db")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name, what in [
        ("link", "a symbolic link"),
        ("dangling", "a symbolic link"),
        ("pipe", "no regular file"),
        (".", "no"),
    ]:
        with pytest.raises(StoreError, match=what):
            open_database(tmp_path / name, read_only=False, timeout=0)
    assert not (tmp_path / "nowhere").exists()


def test_a_file_exchanged_while_it_is_opened_is_refused(tmp_path, monkeypatch):
    """When the path names another file after opening than before, nothing is done with it."""
    path = create(tmp_path / "s.db")
    seen = iter([identify(path), identify(create(tmp_path / "t.db"))])
    monkeypatch.setattr("selfgc.sidecar.database.identify", lambda _: next(seen))
    with pytest.raises(StoreError, match="exchanged"):
        open_database(path, read_only=False, timeout=0)


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["PRAGMA user_version = 2"], "found 2; use the newer selfgc"),
        (["PRAGMA user_version = 0"], "found 0; its header is damaged"),
        (["PRAGMA application_id = 5"], "no selfgc store"),
        (["DROP TABLE payload"], "not those of schema version 1"),
        (["CREATE TRIGGER t AFTER INSERT ON ledger BEGIN DELETE FROM ledger; END"], "not those of schema version 1"),
    ],
)
def test_another_layout_is_refused_and_left_as_it_is(tmp_path, statements, message):
    """A later schema, a foreign mark, missing or added tables are refused; the file does not change."""
    path = create(tmp_path / "s.db")
    run_raw(path, *statements)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=message):
        open_database(path, read_only=False, timeout=0)
    assert path.read_bytes() == before


def test_tables_that_sqlite_keeps_for_itself_are_no_other_layout(tmp_path):
    """Statistics in the file are no reason to refuse it."""
    path = create(tmp_path / "s.db")
    run_raw(path, "INSERT INTO payload VALUES (1, 1, 'a', 0, x'')", "ANALYZE")
    with opened(path):
        pass


def test_a_foreign_database_is_refused(tmp_path):
    """Another program's database, and an empty file, are no stores."""
    run_raw(tmp_path / "foreign.db", "CREATE TABLE t (x)")
    (tmp_path / "empty.db").touch()
    for name in ("foreign.db", "empty.db"):
        with pytest.raises(StoreError, match="no selfgc store"):
            open_database(tmp_path / name, read_only=False, timeout=0)
    assert (tmp_path / "empty.db").stat().st_size == 0


@posix
def test_a_store_in_a_closed_folder_can_be_read(unprivileged):
    """Where nobody can write beside it, a complete store is read as it lies; writing is refused."""
    path = create(unprivileged / "s.db")
    path.chmod(0o400)
    unprivileged.chmod(0o500)
    for read_only in (True, False):
        with opened(path, read_only=read_only) as connection:
            assert connection.execute("SELECT count(*) FROM session").fetchone() == (0,)
            with pytest.raises(sqlite3.OperationalError, match="readonly"), transaction(connection):
                connection.execute("DELETE FROM session")


@posix
def test_a_store_in_a_closed_folder_with_a_pending_log_is_not_read(unprivileged):
    """A log that cannot be taken in may hold acknowledged writes: reading past it would hide them."""
    path = create(unprivileged / "s.db")
    path.with_name("s.db-wal").write_bytes(b"pending")
    path.with_name("s.db-wal").chmod(0o000)
    unprivileged.chmod(0o500)
    with pytest.raises(sqlite3.OperationalError):
        open_database(path, read_only=True, timeout=0)


def insert_and_stop(connection):
    connection.execute("INSERT INTO payload VALUES (1, 1, 'a', 0, x'')")
    raise KeyboardInterrupt


def test_a_transaction_is_all_or_nothing(tmp_path):
    """An exception on the way, of whatever kind, takes everything back."""
    with opened(create(tmp_path / "s.db")) as connection:
        with pytest.raises(KeyboardInterrupt), transaction(connection):
            insert_and_stop(connection)
        assert connection.execute("SELECT count(*) FROM payload").fetchone() == (0,)


def test_damage_is_found(tmp_path):
    """Rows of no session, and an index that lacks a row, are told."""
    path = create(tmp_path / "s.db")
    run_raw(
        path,
        "INSERT INTO payload VALUES (1, 7, 'a', 0, x'')",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'journal_in_order')"
        " WHERE name = 'sqlite_autoindex_payload_1'",
    )
    with opened(path) as connection:
        found = "\n".join(find_damage(connection))
    assert "missing from index" in found
    assert "1 rows of table payload belong to no session" in found


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (sqlite3.SQLITE_FULL, "free space"),
        (sqlite3.SQLITE_BUSY, "write lock"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "read-only"),
        (sqlite3.SQLITE_CANTOPEN, "permissions"),
        (sqlite3.SQLITE_NOTADB, "header is damaged"),
        (sqlite3.SQLITE_CORRUPT_INDEX, "file is damaged"),
        (sqlite3.SQLITE_IOERR_WRITE, "disk reported an error"),
        (sqlite3.SQLITE_MISUSE, "database refused"),
    ],
)
def test_each_failure_says_where_what_and_what_to_do(code, advice):
    """A code of SQLite becomes a StoreError with the path, the cause and an advice."""
    message = str(store_error(Path("/p/s.db"), "writing", sqlite_failure(code)))
    assert message.startswith("/p/s.db: writing failed (it failed): ")
    assert advice in message


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (sqlite3.ProgrammingError("no code"), "database refused"),
        (OSError("no room"), "room on the disk"),
        (msgspec.ValidationError("no bytes"), "a row is not as it was written"),
    ],
)
def test_failures_without_a_code_are_told_too(error, advice):
    """Errors of the system and of row values are StoreErrors as well."""
    assert advice in str(store_error(Path("s.db"), "reading", error))


def test_a_failed_flush_is_told_from_other_failures():
    """Only when the disk did not make bytes durable must later writes be distrusted."""
    assert is_flush_failure(sqlite_failure(sqlite3.SQLITE_IOERR_FSYNC))
    assert not is_flush_failure(sqlite_failure(sqlite3.SQLITE_IOERR_WRITE))
    assert not is_flush_failure(OSError())


def test_the_schema_is_frozen_with_its_version():
    """Whoever changes a table must raise the version: stores of version 1 have exactly these."""
    assert [sql.split("(")[0].strip() for sql in SCHEMA] == [
        "CREATE TABLE session",
        "CREATE TABLE journal",
        "CREATE INDEX journal_in_order ON journal",
        "CREATE TABLE taken",
        "CREATE TABLE payload",
        "CREATE TABLE ledger",
    ]
