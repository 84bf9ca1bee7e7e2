"""Verification: a whole store has no problem; each way to damage one is found and named."""

import hashlib
import sqlite3
from contextlib import closing

import msgspec
import pytest

from selfgc.model.records import Edit, EntryKind, JournalEntry, NewEntry, Payload, Replacement
from selfgc.sidecar.ledger import Head, extend
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.packing import pack
from selfgc.sidecar.sqlite import SqliteStore
from selfgc.sidecar.verify import Area, Problem, verify_store

CHAINS = [hashlib.sha256(b"%d" % number).digest() for number in range(4)]


def payload(data):
    return Payload(hashlib.sha256(data).hexdigest(), data)


def commit(*edits):
    return NewEntry(EntryKind.COMMIT, 1.0, msgspec.json.encode({"plan": "x", "edits": edits}))


def fold(number, data=b"folded", chain=CHAINS[1]):
    text = Replacement(chain.hex(), "content.0", text="[folded]")
    return Edit(f"function:a:{number}", "fold", (text,), 10, 2, payload=payload(data).sha256)


def fill(store, session="s"):
    store.append(
        session,
        journal=[JournalEntry(chain, CHAINS[n - 1] if n else b"", b"{}") for n, chain in enumerate(CHAINS)],
        payloads=[payload(b"folded"), payload(b""), payload(b"masked" * 50)],
        entries=[NewEntry(EntryKind.PLAN, 0.5, b"not json"), commit(fold(1)), commit(fold(2), fold(3, b""))],
    )
    store.append(
        session, entries=[commit(Edit("function:a:4", "prune", (), 5, 0)), NewEntry(EntryKind.DEFER, 2.0, b"{}")]
    )


@pytest.fixture
def path(tmp_path):
    with SqliteStore(tmp_path / "store.db") as store:
        fill(store, "before")
        fill(store)
    return tmp_path / "store.db"


def damage(path, *statements, payload=""):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            whole = statement.replace("$S", "(SELECT number FROM session WHERE key = 's')").replace("$P", payload)
            connection.execute(whole)


def found(path):
    with SqliteStore(path, read_only=True) as store:
        return verify_store(store)


def places(problems):
    return [(problem.session, problem.what, problem.where) for problem in problems]


@pytest.mark.parametrize("make", [lambda path: MemoryStore(), lambda path: SqliteStore(path / "s.db")])
def test_a_whole_store_has_no_problem(make, tmp_path):
    """Nothing is found in an empty store, nor in one with commits of every kind."""
    with make(tmp_path) as store:
        assert verify_store(store) == []
        fill(store)
        assert verify_store(store) == []


def test_progress_is_told_to_the_end(path):
    """Each payload and each session is one step of a total known from the start."""
    told = []
    with SqliteStore(path) as store:
        verify_store(store, lambda done, total: told.append((done, total)))
    assert told == [(done, 8) for done in range(1, 9)]


@pytest.mark.parametrize(
    ("statement", "sequence", "what"),
    [
        ("UPDATE ledger SET body = x'7b7d' WHERE session = $S AND sequence = 2", "2", "changed"),
        ("UPDATE ledger SET time = 9.5 WHERE session = $S AND sequence = 3", "3", "changed"),
        ("UPDATE ledger SET kind = 'plan' WHERE session = $S AND sequence = 4", "4", "changed"),
        ("DELETE FROM ledger WHERE session = $S AND sequence = 1", "1", "deleted"),
        ("DELETE FROM ledger WHERE session = $S AND sequence = 3", "3", "deleted"),
        ("DELETE FROM ledger WHERE session = $S AND sequence = 5", "5", "missing"),
        ("DELETE FROM ledger WHERE session = $S", "1", "missing"),
        ("UPDATE ledger SET sequence = sequence + 5 WHERE session = $S AND sequence > 2", "3", "deleted"),
        ("UPDATE session SET head = 'x' WHERE key = 's'", "5", "written anew"),
        ("UPDATE session SET entries = 4 WHERE key = 's'", "4", "written anew"),
    ],
)
def test_tampering_with_the_ledger_is_found(path, statement, sequence, what):
    """The first bad entry of the session is named, and no other session's."""
    damage(path, statement)
    problems = [problem for problem in found(path) if problem.what is Area.LEDGER]
    assert places(problems) == [("s", Area.LEDGER, sequence)]
    assert what in problems[0].sentence


def test_reordered_entries_are_found(path):
    """Two entries that changed places are found at the first of them."""
    damage(
        path,
        "UPDATE ledger SET sequence = -2 WHERE session = $S AND sequence = 2",
        "UPDATE ledger SET sequence = 2 WHERE session = $S AND sequence = 3",
        "UPDATE ledger SET sequence = 3 WHERE session = $S AND sequence = -2",
    )
    assert ("s", Area.LEDGER, "2") in places(found(path))


def test_an_entry_in_the_middle_is_found(path):
    """A forged entry with a right hash, the later ones moved up, breaks the link after it."""
    with SqliteStore(path) as store:
        ledger = store.ledger("s")
    (forged,) = extend("s", Head(2, ledger[1].hash), [NewEntry(EntryKind.RESTORE, 1.0, b"{}")])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE ledger SET sequence = -sequence - 1 WHERE session = 2 AND sequence > 2")
        connection.execute("UPDATE ledger SET sequence = -sequence WHERE session = 2 AND sequence < 0")
        cells = forged.kind, forged.time, forged.body, forged.previous, forged.hash
        connection.execute("INSERT INTO ledger VALUES (NULL, 2, 3, ?, ?, ?4, ?5, ?3)", cells)
    assert ("s", Area.LEDGER, "4") in places(found(path))


def test_an_entry_at_the_end_is_found(path):
    """A forged last entry whose chain holds is more than the store has on record."""
    with SqliteStore(path) as store:
        (forged,) = extend("s", store.ledger_head("s"), [NewEntry(EntryKind.RESTORE, 1.0, b"{}")])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        cells = forged.kind, forged.time, forged.body, forged.previous, forged.hash
        connection.execute("INSERT INTO ledger VALUES (NULL, 2, 6, ?, ?, ?4, ?5, ?3)", cells)
    assert places(found(path)) == [("s", Area.LEDGER, "6")]


def test_a_ledger_that_cannot_be_read_is_one_problem(path):
    """Cells of another type are a problem of the ledger; the rest of the session is still checked."""
    damage(
        path, "UPDATE ledger SET kind = 'x' WHERE session = $S", "UPDATE payload SET body = x'00' WHERE session = $S"
    )
    assert {problem.what for problem in found(path)} == {Area.LEDGER, Area.PAYLOAD}


@pytest.mark.parametrize(
    ("statement", "where", "sentence"),
    [
        ("DELETE FROM journal WHERE session = $S AND number = 6", "1", "parent that does not stand before it"),
        ("DELETE FROM journal WHERE session = $S AND number = 8", "", "expected 4 messages, found 3"),
        ("UPDATE journal SET body = x'00' WHERE session = $S", "", "message 0 of session 's'"),
        ("UPDATE session SET messages = 2 WHERE key = 's'", "", "expected 2 messages, found 4"),
    ],
)
def test_damage_to_the_journal_is_found(path, statement, where, sentence):
    """Missing, damaged and added messages are named."""
    damage(path, statement)
    problems = [problem for problem in found(path) if problem.what is Area.JOURNAL]
    assert places(problems)[0] == ("s", Area.JOURNAL, where)
    assert sentence in problems[0].sentence


def test_a_message_that_stands_twice_is_found():
    """A journal in which a chain comes twice is told so."""

    class Twice(MemoryStore):
        def journal(self, session):
            return super().journal(session) * 2

    store = Twice()
    store.append("s", journal=[JournalEntry(CHAINS[0], b"", b"{}")])
    assert "twice" in verify_store(store)[0].sentence


def test_a_damaged_payload_is_found_with_the_objects_that_point_to_it(path):
    """The payload is named by its hash, and each edit that needs it by its object."""
    sha256 = payload(b"folded").sha256
    damage(path, "UPDATE payload SET body = x'00' WHERE session = $S AND sha256 = '$P'", payload=sha256)
    problems = found(path)
    assert places(problems) == [
        ("s", Area.PAYLOAD, sha256),
        ("s", Area.POINTER, "function:a:1"),
        ("s", Area.POINTER, "function:a:2"),
    ]
    assert "is damaged" in problems[1].sentence


def test_a_missing_payload_is_found_with_the_object_that_points_to_it(path):
    """A deleted payload is found through its edit, and by the bytes on record when no edit needs it."""
    deletion = "DELETE FROM payload WHERE session = $S AND sha256 = '$P'"
    damage(path, deletion, payload=payload(b"").sha256)
    (problem,) = found(path)
    assert places([problem]) == [("s", Area.POINTER, "function:a:3")]
    assert "is missing" in problem.sentence
    damage(path, deletion, payload=payload(b"masked" * 50).sha256)
    assert "expected 306 payload bytes, found 6" in found(path)[-1].sentence


def test_an_exchanged_payload_is_found(path):
    """A whole frame under another hash is a damaged payload."""
    damage(path, "UPDATE payload SET body = x'$P' WHERE session = $S AND size = 6", payload=pack(b"FOLDED").hex())
    assert places(found(path))[0] == ("s", Area.PAYLOAD, payload(b"folded").sha256)


@pytest.mark.parametrize(
    ("entry", "where", "sentence"),
    [
        (commit(fold(7, b"never stored")), "function:a:7", "is missing"),
        (commit(fold(7, chain=b"elsewhere")), "function:a:7", "does not stand in the journal"),
        (NewEntry(EntryKind.COMMIT, 1.0, b"{"), "6", "cannot be read"),
        (NewEntry(EntryKind.COMMIT, 1.0, b'{"edits": [{"id": 5}]}'), "6", "cannot be read"),
    ],
)
def test_a_commit_that_points_nowhere_is_found(entry, where, sentence):
    """Commits whose payload or message is not in their session, or that cannot be read, are named."""
    store = MemoryStore()
    fill(store, "other")
    fill(store)
    store.append("s", entries=[entry])
    (problem,) = verify_store(store)
    assert (problem.session, problem.where) == ("s", where)
    assert sentence in problem.sentence


def test_commits_are_not_held_against_a_journal_that_cannot_be_read(path):
    """When the journal as a whole is unreadable there is one problem, not one for each edit."""
    damage(path, "UPDATE journal SET body = x'00' WHERE session = $S")
    assert places(found(path)) == [("s", Area.JOURNAL, "")]


def test_a_session_removed_from_the_list_is_found(path):
    """Rows whose session is gone are told as damage of the file."""
    damage(path, "DELETE FROM session WHERE key = 's'")
    problems = found(path)
    assert {problem.what for problem in problems} == {Area.FILE}
    assert "4 rows of table journal belong to no session" in problems[0].sentence


def test_a_store_that_cannot_be_listed_is_one_problem(path):
    """When even the list of sessions is unreadable, verification still answers."""
    damage(path, "UPDATE session SET messages = 'many'")
    assert places(found(path)) == [("", Area.FILE, "")]


def test_what_is_appended_during_verification_is_no_problem():
    """Others may write while a store is verified, at whatever moment."""

    class Busy(MemoryStore):
        def payload(self, session, sha256):
            self.grow(session)
            return super().payload(session, sha256)

        def ledger(self, session):
            self.grow(session)
            return super().ledger(session)

        def grow(self, session):
            count = len(self.journal(session))
            data = b"%d" % count
            parent = self.journal(session)[-1].chain
            self.append(session, journal=[JournalEntry(data, parent, data)], payloads=[payload(data)])
            self.append(session, entries=[commit(fold(count, data, data))])

    told = []
    store = Busy()
    fill(store)
    assert verify_store(store, lambda done, total: told.append((done, total))) == []
    assert told[-1][0] == told[-1][1]


def test_a_problem_is_a_plain_value():
    """Problems can be compared, and written as JSON."""
    problem = Problem("s", Area.PAYLOAD, "ab", "It is gone.")
    assert msgspec.json.encode(problem) == b'{"session":"s","what":"payload","where":"ab","sentence":"It is gone."}'
