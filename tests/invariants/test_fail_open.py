"""Invariant 10 as dialogues: a store that fails at each of its calls, planners that fail, two writers, damage.

Whatever fails, what goes out is the client's own request or a valid view whose pointers all lead somewhere; and once
the cause is gone, everything works.
"""

import json
import sqlite3

import pytest

from builders import dialect_named, session
from cli_sessions import prose, turns_of
from failing_store import FailingStore
from governed import pointers_in
from selfgc.engine.context import ContextEngine
from selfgc.errors import StoreError
from selfgc.model.plan import Plan
from selfgc.model.records import EntryKind
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore
from selfgc.sidecar.verify import verify_store

DIALECTS = pytest.mark.parametrize("dialect", ["anthropic", "chat"])
MODELS = {"anthropic": "claude-sonnet-4-5", "chat": "gpt-4o"}


def requests(dialect, turns=4):
    """The histories that a client sends at the beginning of each turn; one file is read twice."""
    whole = turns_of(turns)
    whole[1][1][2] = whole[1][1][1]
    return [session([*whole[:n], ("And now?", [], "")], dialect) for n in range(1, turns + 1)]


def serve(engine, dialect, messages):
    """One step of a client: observe, maintain, view; the view is valid and all of its pointers lead somewhere."""
    engine.observe(messages, model=MODELS[dialect])
    report = engine.maintain(is_cold=True)
    view = engine.view_body()
    sent = engine.view()
    encoded = [json.dumps(message).encode() for message in sent]
    assert dialect_named(dialect).check(encoded, {}, engine.snapshot().profile) == []
    assert report.committed or report.warnings or sent == messages or report.reason.startswith("nothing to commit")
    return view


def count_calls(dialect):
    """How many appends a whole session makes."""
    store = FailingStore(MemoryStore())
    engine = ContextEngine(store=store, dialect=dialect)
    for messages in requests(dialect):
        serve(engine, dialect, messages)
    assert engine.restorable_ids()
    return store.calls["append"]


@DIALECTS
@pytest.mark.parametrize("width", [1, 2, 100])
def test_each_append_fails_once(dialect, width):
    """Whichever append fails, alone, with the next one, or with all: views stay valid; later sessions are governed."""
    for number in range(count_calls(dialect) + 2):
        store = FailingStore(MemoryStore(), append=range(number, number + width))
        engine = ContextEngine(store=store, dialect=dialect)
        for messages in requests(dialect):
            view = serve(engine, dialect, messages)
            assert all(engine.restore(name) for name in pointers_in(view))
        store.failing["append"] = ()
        view = serve(engine, dialect, messages)
        assert pointers_in(view)
        again = ContextEngine(store=store.inner, dialect=dialect)
        again.observe(messages, model=MODELS[dialect])
        assert again.view_body() == view
        assert verify_store(store.inner) == []


@DIALECTS
def test_all_appends_fail(dialect):
    """With a store that takes nothing, every request goes out as the client made it."""
    engine = ContextEngine(store=FailingStore(MemoryStore(), append=range(10_000)), dialect=dialect)
    for messages in requests(dialect):
        engine.observe(messages, model=MODELS[dialect])
        assert not engine.maintain(is_cold=True).committed
        assert engine.view() == messages


def test_payloads_cannot_be_read():
    """When payloads cannot be read, restore says so and the view stays as it is; later the payload comes."""
    store = FailingStore(MemoryStore(), payload=range(2))
    engine = ContextEngine(store=store)
    serve(engine, "anthropic", requests("anthropic")[-1])
    view = engine.view_body()
    for _ in range(2):
        with pytest.raises(StoreError, match="fails"):
            engine.restore("function:Read:1")
    assert engine.view_body() == view
    assert engine.restore("function:Read:1").decode() == prose(1, 1)


def test_a_fault_is_told_once():
    """The same fault at every call stands once in the ledger; another one is told again."""
    engine = ContextEngine()
    engine.planner = _Failing("one")
    engine.observe(requests("anthropic")[-1], model=MODELS["anthropic"])
    for words in ("one", "one", "one", "two"):
        engine.planner = _Failing(words)
        engine.maintain(is_cold=True)
    faults = [entry.body for entry in engine.store.ledger(engine.session) if entry.kind is EntryKind.FAULT]
    assert [json.loads(body)["error"] for body in faults] == ["planner: ValueError: one", "planner: ValueError: two"]


class _Failing:
    """A planner that fails."""

    name = "failing"

    def __init__(self, words):
        self._words = words

    def plan(self, snapshot):
        raise ValueError(self._words)


def test_damaged_journal(tmp_path):
    """A journal that cannot be read leaves the agent its own requests; nothing is written over it."""
    path = tmp_path / "store.db"
    messages = requests("anthropic")[-1]
    with SqliteStore(path) as store:
        serve(ContextEngine(store=store), "anthropic", messages)
    _damage(path)
    with SqliteStore(path) as store:
        before = verify_store(store)
        assert before
        engine = ContextEngine(store=store)
        engine.observe(messages, model=MODELS["anthropic"])
        report = engine.maintain(is_cold=True)
        assert (report.committed, report.reason) == (
            False,
            "the journal of session 'default' cannot be read: run `selfgc verify`",
        )
        assert engine.view() == messages
        assert engine.restore("function:Read:1").decode() == prose(1, 1)
        assert [problem for problem in verify_store(store) if problem not in before] == []


def _damage(path):
    """Exchange one message of the journal, as a bad disk would."""
    connection = sqlite3.connect(path)
    connection.execute(
        "UPDATE journal SET body = zeroblob(length(body)) WHERE number = (SELECT max(number) FROM journal)"
    )
    connection.commit()
    connection.close()


def test_a_full_disk(tmp_path):
    """When the file may not grow, commits are refused with a warning and old state stays; with room it works again."""
    path = tmp_path / "store.db"
    steps = requests("anthropic", 8)
    with SqliteStore(path) as store:
        engine = ContextEngine(store=store)
        first = serve(engine, "anthropic", steps[2])
        assert pointers_in(first)
        limit = _pages(store) + 1
        _limit(store, limit)
        engine.observe(steps[-1], model=MODELS["anthropic"])
        report = engine.maintain(is_cold=True)
        assert not report.committed
        assert "full" in report.warnings[0]
        kept = json.loads(first)["messages"][:-1]
        assert engine.view()[: len(kept)] == kept
        assert all(engine.restore(name) for name in pointers_in(first))
        _limit(store, 1_000_000)
        view = serve(engine, "anthropic", steps[-1])
        assert len(pointers_in(view)) > len(pointers_in(first))
        assert verify_store(store) == []


def _pages(store):
    return store._database.connection.execute("PRAGMA page_count").fetchone()[0]


def _limit(store, pages):
    store._database.connection.execute(f"PRAGMA max_page_count = {pages}")


def test_two_engines_in_turn(tmp_path):
    """Two engines that observe one growing session in turn never lose a message, an id or a payload."""
    path = tmp_path / "store.db"
    with SqliteStore(path) as one_store, SqliteStore(path) as two_store:
        one, two = ContextEngine(store=one_store), ContextEngine(store=two_store)
        for messages in requests("anthropic"):
            views = [serve(engine, "anthropic", messages) for engine in (one, two)]
            for engine, view in zip((one, two), views, strict=True):
                assert all(engine.restore(name) for name in pointers_in(view))
        assert len(one_store.journal(one.session)) == len(requests("anthropic")[-1]) + 3
        assert one.snapshot().spans == two.snapshot().spans
        assert verify_store(one_store) == []


@pytest.mark.parametrize("answer", [None, "a plan", {"actions": []}, Plan(None), Plan(("fold",))])
def test_planner_that_answers_with_garbage(answer):
    """What is no plan is an empty plan and a warning."""

    class Garbage:
        name = "garbage"

        def plan(self, snapshot):
            return answer

    engine = ContextEngine(planner=Garbage())
    engine.observe(requests("anthropic")[-1], model=MODELS["anthropic"])
    report = engine.maintain(is_cold=True)
    assert not report.committed
    assert "garbage" in report.warnings[0]
    assert engine.view() == requests("anthropic")[-1]
