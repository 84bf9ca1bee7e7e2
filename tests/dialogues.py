"""What tests tell an engine, and how they read what it noted: the parts of their dialogues."""

import json

from builders import session
from cli_sessions import turns_of
from selfgc.engine.context import ContextEngine
from selfgc.model.plan import Fold, Plan

MODEL = "claude-sonnet-4-5"


def history(turns=3, *, dialect="anthropic", asked="And now?"):
    """Whole turns in which five files are read, and one more question."""
    return session([*turns_of(turns), (asked, [], "")], dialect)


def folds(*names):
    return Plan(tuple(Fold(name) for name in names), "by hand")


def governed(store=None, messages=None, **others):
    """An engine that has seen a history and has committed the folds of its first two calls."""
    engine = ContextEngine(store=store, **others)
    engine.observe(messages or history(), model=MODEL)
    assert engine.maintain(folds("function:Read:1", "function:Read:2"), is_cold=True).committed
    return engine


def kinds(engine):
    return [entry.kind for entry in engine.store.ledger(engine.session)]


def bodies(engine, kind):
    """Bodies of the session's ledger entries of one kind."""
    return [json.loads(entry.body) for entry in engine.store.ledger(engine.session) if entry.kind is kind]


class Clock:
    """A clock that stands until a test moves it."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now
