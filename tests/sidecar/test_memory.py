"""The contract of `Store`, kept by the store in memory and by the durable one alike."""

import hashlib
import threading

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from selfgc.errors import PayloadCorrupt, PayloadMissing, StalePlan, StoreError, UsageError
from selfgc.model.ids import ObjectId
from selfgc.model.protocols import Store
from selfgc.model.records import EntryKind, JournalEntry, NewEntry, Payload, SessionInfo
from selfgc.sidecar.ledger import Head, first_break
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore
from selfgc.sidecar.verify import verify_store


def payload(data):
    return Payload(hashlib.sha256(data).hexdigest(), data)


def message(number, lineage="", raw=None):
    chain, parent = (hashlib.sha256(f"{lineage}{n}".encode()).digest() for n in (number, number - 1))
    return JournalEntry(
        chain, parent if number else b"", raw or b'{"n":%d}' % number, (ObjectId(f"function:a:{number + 1}"),)
    )


def entry(kind=EntryKind.PLAN, body=b"{}"):
    return NewEntry(kind, 1.5, body)


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    made = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.db")
    with made as opened:
        yield opened
        assert verify_store(opened) == []


def content(store, session):
    return store.journal(session), store.payload_ids(session), store.ledger(session), store.ledger_head(session)


def test_an_unknown_session_is_empty(store: Store):
    """What nobody wrote to holds nothing, and is not listed."""
    assert content(store, "s") == ([], [], [], Head())
    assert store.sessions() == []


def test_all_of_an_append_is_there(store):
    """Messages, payloads and entries of one append come back as they were given."""
    journal, payloads = [message(0), message(1)], [payload(b"one"), payload(b"two")]
    store.append("s", journal=journal, payloads=payloads, entries=[entry(), entry(EntryKind.COMMIT, b'{"edits":[]}')])
    assert store.journal("s") == journal
    assert [store.payload("s", sha256) for sha256 in store.payload_ids("s")] == [b"one", b"two"]
    assert [(found.sequence, found.kind, found.time, found.body) for found in store.ledger("s")] == [
        (1, EntryKind.PLAN, 1.5, b"{}"),
        (2, EntryKind.COMMIT, 1.5, b'{"edits":[]}'),
    ]
    assert store.ledger_head("s") == Head(2, store.ledger("s")[1].hash)
    assert store.sessions() == [SessionInfo("s", messages=2, commits=1, payload_bytes=6)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.binary(max_size=300), max_size=4), st.binary(max_size=40))
@example([b""], b"")
@example([bytes(range(256)) * 4096], b"\x00")
def test_any_bytes_come_back(store, datas, raw):
    """Payloads and messages of any bytes, empty and 1 MB among them, come back byte for byte."""
    journal = [JournalEntry(hashlib.sha256(raw).digest(), b"", raw)]
    store.append("s", journal=journal, payloads=[payload(data) for data in datas])
    assert all(store.payload("s", payload(data).sha256) == data for data in datas)
    assert journal[0] in store.journal("s")


def test_what_is_there_already_is_left_as_it_is(store):
    """Appending the same messages and payloads again changes nothing; a known chain keeps its first bytes."""
    store.append("s", journal=[message(0)], payloads=[payload(b"x"), payload(b"x")])
    before = content(store, "s")
    store.append("s", journal=[message(0, raw=b"other spelling")], payloads=[payload(b"x")])
    assert content(store, "s") == before
    assert store.sessions() == [SessionInfo("s", messages=1, commits=0, payload_bytes=1)]


def test_an_append_of_nothing_makes_no_session(store):
    """An empty append leaves no trace."""
    store.append("s")
    store.append("s", expected_commits=0)
    assert store.sessions() == []


def test_branches_share_their_trunk(store):
    """The journal is a tree: two continuations of one message stand side by side."""
    trunk, left, right = message(0), message(1), other_branch()
    store.append("s", journal=[trunk, left])
    store.append("s", journal=[trunk, right])
    assert store.journal("s") == [trunk, left, right]


def other_branch():
    return JournalEntry(b"branch", message(0).chain, b"{}")


def test_a_payload_under_another_hash_is_refused_with_all_beside_it(store):
    """Bytes that do not have the hash they come under are not written, nor anything of that append."""
    store.append("s", payloads=[payload(b"kept")])
    before = content(store, "s")
    bad = Payload(payload(b"this").sha256, b"that")
    with pytest.raises(PayloadCorrupt):
        store.append("s", journal=[message(0)], payloads=[payload(b"fine"), bad], entries=[entry()])
    assert content(store, "s") == before


@pytest.mark.parametrize("name", ["", "AB" * 32, "../../x", "é", "\ud800", "0" * 64, "%"])
def test_an_unknown_payload_is_missing(store, name):
    """Whatever is asked for that is no payload of the session gets the same answer."""
    store.append("s", payloads=[payload(b"x")])
    with pytest.raises(PayloadMissing):
        store.payload("s", name)


def test_sessions_do_not_see_each_other(store):
    """A hash of one session gives nothing in another, whether that one exists or not."""
    store.append("one", payloads=[payload(b"secret")], journal=[message(0)], entries=[entry(EntryKind.COMMIT)])
    store.append("two", payloads=[payload(b"other")], expected_commits=0)
    for session in ("two", "three", "one ", "ONE"):
        with pytest.raises(PayloadMissing):
            store.payload(session, payload(b"secret").sha256)
        assert store.journal(session) == []
        assert store.ledger(session) == []


def test_sessions_are_listed_by_key(store):
    """Keys of any script are kept apart and listed in order."""
    keys = ["b", "a", "ü", "a\0b", "", "日本", "🔑", "a b/../c"]
    for key in keys:
        store.append(key, payloads=[payload(key.encode())])
    assert [info.key for info in store.sessions()] == sorted(keys)
    assert all(store.payload(key, payload(key.encode()).sha256) == key.encode() for key in keys)


def test_a_key_that_cannot_be_written_is_refused(store):
    """A key with a lone surrogate is a UsageError on every way in."""
    for use in (store.append, store.journal):
        with pytest.raises(UsageError):
            use("\ud800")


def test_a_write_after_another_commit_is_stale(store):
    """With `expected_commits` an append happens only while commits and rollbacks are that many."""
    store.append("s", entries=[entry(EntryKind.COMMIT), entry(EntryKind.PLAN)], expected_commits=0)
    store.append("s", entries=[entry(EntryKind.ROLLBACK)], expected_commits=1)
    before = content(store, "s")
    with pytest.raises(StalePlan, match="expected 1 commits and rollbacks, found 2"):
        store.append("s", entries=[entry(EntryKind.COMMIT)], payloads=[payload(b"x")], expected_commits=1)
    assert content(store, "s") == before
    assert store.sessions()[0].commits == 1


def test_threads_write_to_one_store(store):
    """Eight threads append at once; no entry is lost, and the chain holds."""

    def work(name):
        for number in range(20):
            store.append("s", entries=[entry()], payloads=[payload(b"%d" % number), payload(b"%d %d" % (name, number))])

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.ledger("s")) == 160
    assert len(store.payload_ids("s")) == 180
    assert first_break("s", store.ledger("s")) is None


def test_only_one_of_many_threads_commits(store):
    """Of several commits made from one state, one is written; the others are stale."""
    stale = []

    def commit():
        try:
            store.append("s", entries=[entry(EntryKind.COMMIT)], expected_commits=0)
        except StalePlan as error:
            stale.append(error)

    threads = [threading.Thread(target=commit) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(store.ledger("s")), len(stale)) == (1, 5)


@pytest.mark.parametrize("make", [lambda path: MemoryStore(), lambda path: SqliteStore(path / "store.db")])
def test_a_closed_store_is_of_no_use(make, tmp_path):
    """After close every call says so; closing again is fine."""
    store = make(tmp_path)
    store.append("s", payloads=[payload(b"x")])
    store.close()
    store.close()
    for use in (lambda: store.append("s", payloads=[payload(b"y")]), store.sessions, lambda: store.journal("s")):
        with pytest.raises(StoreError, match="closed"):
            use()


def test_a_payload_changed_in_memory_is_not_given():
    """The hash is checked at every read, in memory too."""
    store = MemoryStore()
    store.append("s", payloads=[payload(b"x")])
    store._sessions["s"].payloads[payload(b"x").sha256] = b"y"
    with pytest.raises(PayloadCorrupt):
        store.payload("s", payload(b"x").sha256)


def test_an_id_belongs_to_one_message(store):
    """What another writer gave to another message, or another name for a known one, is refused as a whole."""
    store.append("s", journal=[message(0)])
    before = content(store, "s")
    other = message(0, "other")
    renamed = JournalEntry(message(0).chain, b"", message(0).raw, (ObjectId("function:a:9"),))
    for taken in (other, renamed):
        with pytest.raises(StalePlan, match="another writer gave the ids"):
            store.append("s", journal=[message(1), taken], entries=[entry()])
        assert content(store, "s") == before
    store.append("s", journal=[message(0), message(1)])
    store.append("t", journal=[other])
    assert store.journal("s") == [message(0), message(1)]
