"""The durable store: restarts, damage, locks and limits. What every store does is in test_memory.py."""

import hashlib
import os
import random
import shutil
import sqlite3
import stat
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from selfgc.errors import PayloadCorrupt, PayloadMissing, StoreError
from selfgc.model.records import EntryKind, JournalEntry, NewEntry, Payload
from selfgc.sidecar.sqlite import SqliteStore
from selfgc.sidecar.verify import verify_store

TEXTS = [b"payload %d: " % number + os.urandom(number * 900) for number in range(8)]


def payload(data):
    return Payload(hashlib.sha256(data).hexdigest(), data)


def fill(store, session="s", texts=TEXTS):
    for number, text in enumerate(texts):
        message = JournalEntry(b"%d" % number, b"%d" % (number - 1) if number else b"", text)
        store.append(
            session, journal=[message], payloads=[payload(text)], entries=[NewEntry(EntryKind.PLAN, 1.0, text)]
        )


def content(store, session="s"):
    return (
        store.journal(session),
        [store.payload(session, payload(text).sha256) for text in TEXTS],
        store.ledger(session),
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def filled(path):
    with SqliteStore(path) as store:
        fill(store)
    return path


def run_raw(path, statement, *cells):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, cells).fetchall()


def refuses(path, message, **options):
    with pytest.raises(StoreError, match=message), SqliteStore(path, **options) as store:
        fill(store, "other")


def test_all_comes_back_after_a_restart_at_another_place(path, tmp_path):
    """A store that was closed, moved and opened again holds every byte."""
    with SqliteStore(path) as store:
        fill(store)
        before = content(store)
    moved = tmp_path / "folder with ?odd#name %41" / "ünï.db"
    moved.parent.mkdir()
    path.rename(moved)
    with SqliteStore(str(moved)) as store:
        assert content(store) == before
        assert verify_store(store) == []


def test_a_store_that_is_only_read_writes_nothing(path, tmp_path):
    """Reading where no store is makes none; reading one leaves its bytes."""
    with SqliteStore(path) as store:
        assert store.sessions() == []
        assert store.journal("s") == []
        assert store.damage() == []
        with pytest.raises(PayloadMissing):
            store.payload("s", "0" * 64)
        assert list(tmp_path.iterdir()) == []
        fill(store)
    before = path.read_bytes()
    with SqliteStore(path) as store:
        content(store)
    with SqliteStore(path, read_only=True) as store:
        content(store)
    assert path.read_bytes() == before


def test_a_reader_sees_what_another_writes_later(path):
    """A store that was opened before there was a file finds it as soon as another has made it."""
    with SqliteStore(path) as reader, SqliteStore(path) as writer:
        assert reader.sessions() == []
        fill(writer)
        assert content(reader) == content(writer)


def test_where_no_store_is_none_is_made_on_request(path):
    """With `create=False` or `read_only` a missing file is an error at once."""
    refuses(path, "there is no store", create=False)
    refuses(path, "there is no store", read_only=True)
    assert not path.exists()


def test_a_read_only_store_takes_no_write(filled):
    """Opened read-only it gives everything and takes nothing."""
    before = filled.read_bytes()
    refuses(filled, "opened read-only", read_only=True)
    assert filled.read_bytes() == before


def test_files_are_for_the_owner_alone(path):
    """Under umask 000, with messages in it, every file of the store has mode 0600."""
    before = os.umask(0)
    try:
        with SqliteStore(path) as store:
            fill(store)
            modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {0o600}


def test_a_link_is_refused(filled, tmp_path):
    """A symbolic link to a good store is not followed."""
    link = tmp_path / "link.db"
    link.symlink_to(filled)
    refuses(link, "a symbolic link")


def test_a_file_that_is_no_store_is_refused_and_left(path):
    """Text, an empty file and a foreign database stay what they are."""
    for data in (b"just some text\n" * 100, b""):
        path.write_bytes(data)
        refuses(path, "no selfgc store")
        assert path.read_bytes() == data


def test_a_damaged_header_is_refused(filled):
    """A file whose first bytes are gone is refused, and not made anew."""
    data = b"\0" * 100 + filled.read_bytes()[100:]
    filled.write_bytes(data)
    refuses(filled, "header is damaged")
    assert filled.read_bytes() == data


def read_cut(path, whole):
    with SqliteStore(path) as store:
        assert verify_store(store) != []
        assert content(store) != whole


@pytest.mark.parametrize("share", [0.003, 0.02, 0.3, 0.6, 0.95])
def test_a_cut_file_gives_no_wrong_byte(filled, share):
    """A file that lost its end is refused or found damaged; what it still gives is right."""
    with SqliteStore(filled) as store:
        whole = content(store)
    os.truncate(filled, int(filled.stat().st_size * share))
    with pytest.raises(StoreError):
        read_cut(filled, whole)


def found_or_right(path, whole):
    """Return whether damage was found in a store; when not, everything in it must be right."""
    try:
        with SqliteStore(path) as store:
            if verify_store(store):
                return True
            assert content(store) == whole
    except StoreError:
        return True
    return False


def test_a_changed_bit_anywhere_gives_no_wrong_byte(filled, tmp_path):
    """With any one bit of the file changed, the damage is found, or everything is right all the same."""
    with SqliteStore(filled) as store:
        whole = content(store)
    data, chance, copy = filled.read_bytes(), random.Random(5), tmp_path / "copy.db"  # noqa: S311  (places, no secrets)
    found = 0
    for _ in range(250):
        changed = bytearray(data)
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        copy.write_bytes(changed)
        found += found_or_right(copy, whole)
        for file in tmp_path.glob("copy.db*"):
            file.unlink()
    assert found > 100  # the rest hit room that holds nothing: about half of so small a file


def test_a_damaged_payload_is_found_and_can_be_written_again(filled):
    """Bytes flipped behind the store's back are PayloadCorrupt; the next append of the good bytes heals them."""
    sha256 = payload(TEXTS[3]).sha256
    run_raw(
        filled, "UPDATE payload SET body = substr(body, 1, 20) || x'00ff' || substr(body, 23) WHERE sha256 = ?", sha256
    )
    with SqliteStore(filled) as store:
        with pytest.raises(PayloadCorrupt, match="selfgc verify"):
            store.payload("s", sha256)
        assert store.payload("s", payload(TEXTS[4]).sha256) == TEXTS[4]
        store.append("s", payloads=[payload(TEXTS[3])])
        assert store.payload("s", sha256) == TEXTS[3]
        assert verify_store(store) == []


def test_a_payload_row_of_another_type_is_corrupt(filled):
    """A size that is no number makes the payload PayloadCorrupt, as any other damage does."""
    run_raw(filled, "UPDATE payload SET size = 'large'")
    with SqliteStore(filled) as store, pytest.raises(PayloadCorrupt, match="row is not as it was written"):
        store.payload("s", payload(TEXTS[3]).sha256)


def test_no_failure_quotes_what_is_stored(filled):
    """Stored text may be secret: the error about a damaged row does not hold it."""
    run_raw(filled, "UPDATE payload SET body = CAST('secret' || x'ff' AS TEXT), size = 'secret'")
    run_raw(filled, "UPDATE journal SET body = CAST('secret' || x'ff' AS TEXT), ids = CAST('secret' || x'ff' AS TEXT)")
    with SqliteStore(filled) as store:
        problems = verify_store(store)
    assert len(problems) > len(TEXTS)
    assert "secret" not in str(problems)


def test_the_payload_of_another_object_does_not_pass(filled):
    """A valid frame under a wrong hash is PayloadCorrupt: the hash of the content decides."""
    one, two = payload(TEXTS[3]).sha256, payload(TEXTS[4]).sha256
    run_raw(filled, "DELETE FROM payload WHERE sha256 = ?", one)
    run_raw(filled, "UPDATE payload SET sha256 = ? WHERE sha256 = ?", one, two)
    with SqliteStore(filled) as store, pytest.raises(PayloadCorrupt):
        store.payload("s", one)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger SET kind = 'nonsense'",
        "UPDATE ledger SET time = 'noon'",
        "UPDATE ledger SET hash = x'ff'",
    ],
)
def test_a_row_of_another_type_is_a_store_error(filled, statement):
    """Cells that no append could have written are told, not passed on."""
    run_raw(filled, statement)
    with SqliteStore(filled) as store, pytest.raises(StoreError, match="reading failed"):
        store.ledger("s")


def test_a_locked_store_is_told_and_works_again(filled):
    """While another holds the write lock an append fails after the timeout; reading goes on, and later writing too."""
    with closing(sqlite3.connect(filled, isolation_level=None)) as other, SqliteStore(filled, timeout=0.05) as store:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process holds the write lock"):
            store.append("s", payloads=[payload(b"new")])
        assert content(store)[1] == TEXTS
        other.execute("ROLLBACK")
        store.append("s", payloads=[payload(b"new")])
        assert store.payload("s", payload(b"new").sha256) == b"new"


def test_a_writer_waits_for_another(filled):
    """An append that finds the lock taken waits, and is written when the other is done."""
    with SqliteStore(filled) as store:
        other = sqlite3.connect(filled, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Thread(target=lambda: (time.sleep(0.05), other.close()))
        release.start()
        store.append("s", payloads=[payload(b"new")])
        release.join()
        assert store.payload("s", payload(b"new").sha256) == b"new"


def test_a_full_database_leaves_the_old_state(filled):
    """An append that finds no room is told and leaves nothing; when there is room again it is written."""
    with SqliteStore(filled) as store:
        before = content(store)
        big = payload(os.urandom(200_000))
        connection = store._database.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        for _ in range(2):
            with pytest.raises(StoreError, match="is full; free space"):
                store.append("s", payloads=[payload(b"small"), big], entries=[NewEntry(EntryKind.COMMIT, 1.0, b"{}")])
        assert content(store) == before
        assert payload(b"small").sha256 not in store.payload_ids("s")
        connection.execute("PRAGMA max_page_count = 100000")
        store.append("s", payloads=[big])
        assert verify_store(store) == []


def test_after_a_failed_flush_only_reading_goes_on(filled):
    """When the disk could not make a write durable, later writes prove nothing: they are refused until reopening."""
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
    with SqliteStore(filled) as store:
        with pytest.raises(StoreError), store._writing():
            raise failure
        with pytest.raises(StoreError, match="could not be flushed"):
            store.append("s", payloads=[payload(b"new")])
        assert content(store)[1] == TEXTS
    with SqliteStore(filled) as store:
        store.append("s", payloads=[payload(b"new")])


@pytest.mark.parametrize("is_exchanged", [False, True])
def test_a_file_removed_while_in_use_takes_no_more_writes(filled, tmp_path, is_exchanged):
    """What would be written to a file that has no name any more would be lost: it is refused."""
    copy = Path(shutil.copy(filled, tmp_path / "copy.db"))
    with SqliteStore(filled) as store:
        filled.unlink()
        if is_exchanged:
            copy.rename(filled)
        with pytest.raises(StoreError, match="removed or exchanged"):
            store.append("s", payloads=[payload(b"new")])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_store_does_not_work_across_a_fork(filled):
    """A child process is told to open the store anew; the parent's store is not disturbed by it."""
    with SqliteStore(filled) as store:
        child = os.fork()
        if child == 0:
            try:
                store.sessions()
            except StoreError as error:
                store.close()
                os._exit(0 if "forked" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert content(store)[1] == TEXTS


def test_a_path_through_a_file_is_told(filled):
    """An error of the system is a StoreError with the path."""
    refuses(filled / "below.db", "below.db: reading failed")


def test_a_store_does_not_grow_by_what_it_holds_already(path):
    """Twice the same payloads and messages take the room of one time."""
    with SqliteStore(path) as store:
        fill(store)
        store.append("s", payloads=[payload(text) for text in TEXTS])
        assert len(store.payload_ids("s")) == len(TEXTS)
        assert store.sessions()[0].payload_bytes == sum(map(len, TEXTS))
