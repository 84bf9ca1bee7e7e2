"""ContextEngine as dialogues: what is restored, and stores that fail."""

import json
import logging

import pytest

from builders import assistant, call, result, text_block, user
from cli_sessions import prose
from dialogues import MODEL, bodies, folds, governed, history, kinds
from failing_store import FailingStore
from selfgc.engine.context import ContextEngine
from selfgc.errors import PayloadCorrupt, PayloadMissing, StalePlan, StoreError, UsageError
from selfgc.model.plan import Fold, Plan, Prune
from selfgc.model.policy import Policy
from selfgc.model.records import EntryKind
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore

# -- restore ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["function:Read:99", "function:Read:3", "function:Read:4", "skill:pdf:1"])
def test_what_cannot_be_restored(name):
    """Unknown, live, pruned and foreign ids are answered alike, with the nearest ids that can be had."""
    engine = governed()
    engine.maintain(Plan((Prune("function:Read:4"),)), is_cold=True)
    with pytest.raises(PayloadMissing, match=r"no payload for .* in session 'default'; there is: function:Read:\d, "):
        engine.restore(name)
    assert "restore" not in kinds(engine)


def test_nothing_to_restore():
    """In a session without folds the answer says so, though another session has that very id."""
    engine = governed()
    other = ContextEngine(store=engine.store, session="other")
    other.observe(history(), model=MODEL)
    with pytest.raises(PayloadMissing, match="nothing is folded in this session"):
        other.restore("function:Read:1")
    assert other.restorable_ids() == []


def test_nearest_ids():
    """Of many ids the five nearest by number are named."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    engine.maintain(folds(*(f"function:Read:{n}" for n in range(1, 10))), is_cold=True)
    with pytest.raises(PayloadMissing) as found:
        engine.restore("function:Write:4")
    assert sorted(str(found.value).partition("there is: ")[2].split(", ")) == [
        f"function:Read:{n}" for n in range(2, 7)
    ]


@pytest.mark.parametrize(
    "name", ["", "Read", "function:Read:0", "function:Read:01", "../etc:1", "function:Read:1:2", "a\n:1"]
)
def test_no_id(name):
    """What is no id is told apart from an id that is not there."""
    with pytest.raises(UsageError, match="is no object id"):
        governed().restore(name)


def test_pieces():
    """A payload of several pieces gives each by its name: texts as UTF-8, other values as raw JSON."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    shown = [text_block(prose(1, 1)), image]
    made = call("call_1", "Write", file_path="/a", content=prose(1, 3))
    messages = [user("Write"), made, result("call_1", shown), assistant("Done."), user("b"), assistant("c"), user("d")]
    engine = ContextEngine(policy=Policy(keep_spans=0))
    engine.observe(messages, model=MODEL)
    assert engine.maintain(folds("function:Write:1"), is_cold=True).committed
    assert engine.restore("function:Write:1", "input.content").decode() == prose(1, 3)
    assert json.loads(engine.restore("function:Write:1", "content")) == shown
    assert json.loads(engine.restore("function:Write:1")) == {"content": shown, "input.content": prose(1, 3)}
    with pytest.raises(UsageError, match=r"no piece 'x'; there are content, input\.content"):
        engine.restore("function:Write:1", "x")


def test_one_piece():
    """A payload of one text, or a turn's, has no pieces."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    engine.maintain(Plan((Fold("conversation:user:1"), Fold("function:Read:6"))), is_cold=True)
    for name in ("conversation:user:1", "function:Read:6"):
        with pytest.raises(UsageError, match=f"{name} has one piece only"):
            engine.restore(name, "content")
    assert json.loads(engine.restore("conversation:user:1")) == history()[1:12]


def test_lone_surrogates_come_back():
    """A text with half of a surrogate pair comes back with that half, as the bytes of its code unit."""
    text = f"{prose(1, 1)}\ud83d"
    messages = history()
    messages[2] = result("call_1", text)
    engine = governed(messages=messages)
    assert engine.restore("function:Read:1") == text.encode("utf-8", "surrogatepass")


def test_damaged_payloads():
    """Bytes that are not those that were stored are not handed out."""

    class Damaged(MemoryStore):
        def payload(self, session, sha256):
            raise PayloadCorrupt(f"payload {sha256} is damaged")

    engine = governed(Damaged())
    with pytest.raises(PayloadCorrupt):
        engine.restore("function:Read:1")
    assert "restore" not in kinds(engine)


def test_a_restore_that_cannot_be_noted(caplog):
    """The payload is handed out although the ledger cannot be written; the log says so."""
    engine = governed(FailingStore(MemoryStore(), append=range(2, 100)))
    with caplog.at_level(logging.WARNING):
        assert engine.restore("function:Read:1").decode() == prose(1, 1)
    assert "the ledger could not be written" in caplog.text


# -- stores that fail ------------------------------------------------------------------------------------


def test_a_failing_journal_stops_nothing():
    """Messages that could not be written are kept and written with the next append; the fault is told once."""
    store = FailingStore(MemoryStore(), append=range(6))
    engine = ContextEngine(store=store)
    for length in (1, 3, 5):
        engine.observe(history()[:length], model=MODEL)
        assert engine.view() == history()[:length]
    assert store.inner.journal(engine.session) == []
    store.failing["append"] = ()
    engine.observe(history(), model=MODEL)
    assert len(store.inner.journal(engine.session)) == len(history())


def test_others_who_always_come_first():
    """When other writers take the ids again and again, the request goes out all the same, and the fault is told."""

    class Crowded(MemoryStore):
        def append(self, session, *, journal=(), **what):
            if journal:
                raise StalePlan("another writer's message has that id")
            super().append(session, journal=journal, **what)

    engine = ContextEngine(store=Crowded())
    engine.observe(history(), model=MODEL)
    assert engine.view() == history()
    assert not engine.maintain(folds("function:Read:1"), is_cold=True).committed
    assert "give each a session" in bodies(engine, EntryKind.FAULT)[0]["error"]


def test_a_failing_commit_changes_nothing():
    """A commit that cannot be written is refused with a warning; view and ids are as before, and later it works."""
    store = FailingStore(MemoryStore(), append=(1,))
    engine = ContextEngine(store=store)
    engine.observe(history(), model=MODEL)
    report = engine.maintain(folds("function:Read:1"), is_cold=True)
    assert (report.committed, report.warnings) == (False, ("call 1 of append fails",))
    assert report.tokens_after == report.tokens_before
    assert engine.view() == history()
    assert engine.restorable_ids() == []
    assert bodies(engine, EntryKind.FAULT)[0]["where"] == "commit"
    assert engine.maintain(folds("function:Read:1"), is_cold=True).committed
    assert engine.restore("function:Read:1").decode() == prose(1, 1)


def test_a_failing_roll_back_changes_nothing():
    """A rollback that cannot be written says so, and the view stays."""
    store = FailingStore(MemoryStore())
    engine = governed(store)
    view = engine.view_body()
    store.failing["append"] = range(1000)
    with pytest.raises(StoreError, match="fails"):
        engine.roll_back()
    assert engine.view_body() == view


def test_a_store_that_is_read_only(tmp_path):
    """On a store opened for reading, old edits stay in the view, payloads come back, and nothing new is committed."""
    path = tmp_path / "store.db"
    with SqliteStore(path) as store:
        view = governed(store).view_body()
    with SqliteStore(path, read_only=True) as store:
        engine = ContextEngine(store=store)
        engine.observe(history(), model=MODEL)
        assert engine.view_body() == view
        report = engine.maintain(is_cold=True)
        assert not report.committed
        assert "read-only" in report.warnings[0]
        assert engine.view_body() == view
        assert engine.restore("function:Read:1").decode() == prose(1, 1)


def test_the_loser_of_two_engines():
    """Of two commits from one state the second is refused and says why; its view stays valid, the first is intact."""
    store = MemoryStore()
    one, two = ContextEngine(store=store), ContextEngine(store=store)
    for engine in (one, two):
        engine.observe(history(), model=MODEL)
    assert one.maintain(folds("function:Read:1"), is_cold=True).committed
    report = two.maintain(folds("function:Read:2"), is_cold=True)
    assert not report.committed
    assert "another writer came first" in report.warnings[0]
    assert kinds(one).count("commit") == 1
    assert len(two.view()) == len(history())
    later = ContextEngine(store=store)
    later.observe(history(), model=MODEL)
    assert later.view_body() == one.view_body()


def test_a_fault_of_ours(caplog):
    """Whatever breaks while a view is made, the agent gets its own request; log and ledger tell the fault once."""
    engine = governed()
    view, policy = engine.view_body(), engine.policy
    engine.policy = None
    with caplog.at_level(logging.WARNING):
        assert engine.view() == engine.view() == history()
    assert "the request goes on ungoverned: view: AttributeError" in caplog.text
    assert [body["where"] for body in bodies(engine, EntryKind.FAULT)] == ["view"]
    engine.policy = policy
    assert engine.view_body() == view
