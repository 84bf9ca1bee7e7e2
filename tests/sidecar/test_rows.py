"""Rows of a store: appends cost the same in long sessions, and damaged rows are never given out."""

import hashlib
from contextlib import closing

import pytest

from selfgc.errors import PayloadCorrupt
from selfgc.model.records import EntryKind, JournalEntry, NewEntry, Payload
from selfgc.sidecar import rows
from selfgc.sidecar.database import create_database, open_database


def payload(data):
    return Payload(hashlib.sha256(data).hexdigest(), data)


def write(connection, session="s", **append):
    whole = {"journal": (), "payloads": (), "entries": ()} | append
    rows.write(connection, session, rows.Append(**whole), None)


@pytest.fixture
def connection(tmp_path):
    create_database(tmp_path / "s.db", timeout=1)
    database = open_database(tmp_path / "s.db", read_only=False, timeout=1)
    with closing(database.connection) as opened:
        yield opened


def steps_of(connection, action):
    """Return how many units of 10 machine steps SQLite takes for an action: a measure that no other load disturbs."""
    count = 0

    def tick():
        nonlocal count
        count += 1

    connection.set_progress_handler(tick, 10)
    action()
    connection.set_progress_handler(None, 0)
    return count


def append_one(connection, number):
    data = b"%d" % number
    write(
        connection,
        journal=[JournalEntry(hashlib.sha256(data).digest(), b"", data)],
        payloads=[payload(data)],
        entries=[NewEntry(EntryKind.COMMIT, 1.0, data)],
    )


def test_an_append_to_a_long_session_costs_what_it_costs_in_a_short_one(connection):
    """SQLite takes the same number of steps for the 3,000th append as for the third."""
    for number in range(2):
        append_one(connection, number)
    early = steps_of(connection, lambda: append_one(connection, 2))
    connection.execute("BEGIN")
    for number in range(3, 3000):
        append_one(connection, number)
    connection.execute("COMMIT")
    assert steps_of(connection, lambda: append_one(connection, 3000)) <= early + 2
    assert rows.find_session(connection, "s").commits == 3001


def test_a_known_append_writes_nothing(connection):
    """When all of it is there already, no row is touched."""
    message = JournalEntry(b"c", b"", b"{}")
    write(connection, journal=[message], payloads=[payload(b"x")])
    before = connection.total_changes
    write(connection, journal=[message], payloads=[payload(b"x")])
    assert connection.total_changes == before


def test_a_damaged_payload_is_written_again(connection):
    """Good bytes at hand take the place of damaged ones; the session's size stays what it was."""
    write(connection, payloads=[payload(b"whole")])
    connection.execute("UPDATE payload SET body = x'00'")
    held = rows.find_session(connection, "s")
    with pytest.raises(PayloadCorrupt):
        rows.read_payload(connection, held, payload(b"whole").sha256)
    write(connection, payloads=[payload(b"whole")])
    assert rows.read_payload(connection, held, payload(b"whole").sha256) == b"whole"
    assert rows.find_session(connection, "s") == held


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE journal SET chain = x'00'",
        "UPDATE journal SET parent = x'00'",
        "UPDATE journal SET ids = '[\"function:a:2\"]'",
        "UPDATE journal SET ids = CAST(x'5bff5d' AS TEXT)",
        "UPDATE journal SET sha256 = 'x'",
        "UPDATE journal SET body = x'00'",
        "UPDATE journal SET size = 3",
    ],
)
def test_a_damaged_message_is_not_given(connection, change):
    """A change of any part of a message row is found when it is read."""
    write(connection, journal=[JournalEntry(b"c", b"", b"{}", ("function:a:1",))])
    connection.execute(change)
    (row,) = rows.read_messages(connection, rows.find_session(connection, "s"))
    with pytest.raises(PayloadCorrupt, match="message 4 of session 's'"):
        rows.unpack_message("s", 4, row)


def test_a_message_does_not_pass_for_another(connection):
    """Two messages whose bodies were exchanged are both refused."""
    write(connection, journal=[JournalEntry(b"c", b"", b"[1]"), JournalEntry(b"d", b"c", b"[2]")])
    (one,), (two,) = connection.execute("SELECT body FROM journal ORDER BY number")
    connection.execute("UPDATE journal SET body = CASE number WHEN 1 THEN ? ELSE ? END", (two, one))
    for row in rows.read_messages(connection, rows.find_session(connection, "s")):
        with pytest.raises(PayloadCorrupt):
            rows.unpack_message("s", 0, row)


def test_bodies_are_compressed(connection):
    """Messages and payloads of repetitive text take a fraction of their size."""
    text = b"the same line again and again\n" * 1000
    write(connection, journal=[JournalEntry(b"c", b"", text)], payloads=[payload(text)])
    sizes = connection.execute("SELECT length(j.body), length(p.body) FROM journal AS j, payload AS p").fetchone()
    assert max(sizes) < 200
