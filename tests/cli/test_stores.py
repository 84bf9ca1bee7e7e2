"""Stores as commands use them."""

from pathlib import Path

import pytest

from selfgc.cli.stores import copy_session, pick_session
from selfgc.errors import StoreError, UsageError
from selfgc.model.ids import SessionKey
from selfgc.model.records import EntryKind, JournalEntry, NewEntry, Payload
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore

PATH = Path("s.db")
SHA = "a591a6d40bf420404a011733cfb7b190d62c65bf0bcda32b57b277d9ad9f146e"


def store_of(*keys):
    store = MemoryStore()
    for key in keys:
        store.append(SessionKey(key), entries=[NewEntry(EntryKind.ROLLBACK, 1.0, b"{}")])
    return store


def test_the_only_session_needs_no_name():
    """A name that is right is fine too."""
    assert pick_session(store_of("a"), PATH, None) == "a"
    assert pick_session(store_of("a", "b"), PATH, "b") == "b"


def test_several_sessions_are_listed():
    """The error names them, at most twenty."""
    with pytest.raises(UsageError, match=r"2 sessions; name one with --session: a, b$"):
        pick_session(store_of("a", "b"), PATH, None)
    with pytest.raises(UsageError, match=r"s19 and 5 more$"):
        pick_session(store_of(*(f"s{number:02}" for number in range(25))), PATH, None)


def test_a_session_that_is_not_there_is_refused():
    """The error says what is there."""
    with pytest.raises(StoreError, match="expected a session 'x', but the store holds a"):
        pick_session(store_of("a"), PATH, "x")
    with pytest.raises(StoreError, match="holds none"):
        pick_session(store_of(), PATH, "x")
    with pytest.raises(StoreError, match="no session yet"):
        pick_session(store_of(), PATH, None)


def test_a_copy_has_messages_and_ledger(tmp_path):
    """With the same chain of hashes; payloads stay behind, and the store stays as it is."""
    key, message = SessionKey("a"), JournalEntry(b"c" * 32, b"", b"{}", ())
    with SqliteStore(tmp_path / "s.db") as store:
        store.append(
            key,
            journal=[message],
            payloads=[Payload(SHA, b"Hello World")],
            entries=[NewEntry(EntryKind.COMMIT, 2.0, b"{}"), NewEntry(EntryKind.DEFER, 3.0, b"{}")],
        )
        before = store.journal(key), store.ledger(key)
    content = (tmp_path / "s.db").read_bytes()
    copy = copy_session(tmp_path / "s.db", key)
    assert (copy.journal(key), copy.ledger(key)) == before
    assert copy.payload_ids(key) == []
    assert (tmp_path / "s.db").read_bytes() == content


def test_a_copy_of_nothing_is_empty(tmp_path):
    """Neither a missing store nor an unknown session is made."""
    assert copy_session(None, SessionKey("a")).sessions() == []
    assert copy_session(tmp_path / "none.db", SessionKey("a")).sessions() == []
    assert list(tmp_path.iterdir()) == []
