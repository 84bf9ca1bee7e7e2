"""Only type-checked, never run: the public names keep the types that callers rely on."""

from collections.abc import Sequence
from typing import assert_type

from selfgc import ContextEngine, Policy, Report
from selfgc.errors import Finding, PlanError, ReadError, SelfGCError, StalePlan, StoreError, UsageError, WireError
from selfgc.model.ids import Allocator, ObjectId, ObjectKind, SessionKey, kind_of, number_of
from selfgc.model.message import Message, Part
from selfgc.model.plan import Action, Fold, Mask, Plan, Prune, ReadPlan, parse_id, read_plan
from selfgc.model.protocols import Store, TokenCounter
from selfgc.model.records import EntryKind, JournalEntry, LedgerEntry, NewEntry, Payload, SessionInfo


def errors(error: SelfGCError) -> None:
    """Each error carries what its docstring says."""
    if isinstance(error, PlanError):
        assert_type(error.findings, tuple[Finding, ...])
    elif isinstance(error, WireError):
        assert_type(error.path, str)
    elif isinstance(error, ReadError):
        assert_type(error.line, int | None)
    plan_error: type[PlanError] = StalePlan
    others: list[type[SelfGCError]] = [UsageError, StoreError, plan_error]
    assert_type(others, list[type[SelfGCError]])


def ids() -> None:
    """Ids have a type of their own, and so have the allocator's answers."""
    found = parse_id("function:Read:1")
    assert_type(found, ObjectId)
    assert_type(kind_of(found), ObjectKind)
    assert_type(number_of(found), int)
    assert_type(Allocator().turn(), tuple[ObjectId, Allocator])
    assert_type(Allocator().span(ObjectKind.SKILL, "review"), tuple[ObjectId, Allocator])


def messages(message: Message) -> None:
    """A message holds its bytes and its parts."""
    assert_type(message.raw, bytes)
    assert_type(message.parts, tuple[Part, ...])
    assert_type(message.is_signed, bool)


def plans() -> None:
    """A plan is made of the three actions, by hand or from JSON."""
    target = parse_id("function:Read:1")
    actions: tuple[Action, ...] = (Fold(target), Mask(target), Prune(target))
    assert_type(Plan(actions).actions, tuple[Fold | Mask | Prune, ...])
    assert_type(read_plan(b"{}"), ReadPlan)


class MyCounter:
    """A counter that somebody else wrote."""

    def count(self, text: str) -> int:
        """Count words."""
        return len(text.split())


class MyStore:
    """A store that somebody else wrote."""

    def append(
        self,
        session: SessionKey,
        *,
        journal: Sequence[JournalEntry] = (),
        payloads: Sequence[Payload] = (),
        entries: Sequence[NewEntry] = (),
        expected_commits: int | None = None,
    ) -> None:
        """Write nothing."""

    def journal(self, session: SessionKey) -> list[JournalEntry]:
        """Hold nothing."""
        return []

    def ledger(self, session: SessionKey) -> list[LedgerEntry]:
        """Hold nothing."""
        return []

    def payload(self, session: SessionKey, sha256: str) -> bytes:
        """Hold nothing."""
        return b""

    def payload_ids(self, session: SessionKey) -> list[str]:
        """Hold nothing."""
        return []

    def sessions(self) -> list[SessionInfo]:
        """Hold nothing."""
        return []

    def close(self) -> None:
        """Do nothing."""


def protocols() -> None:
    """What has the right methods is a counter or a store, without inheriting anything."""
    counter: TokenCounter = MyCounter()
    store: Store = MyStore()
    assert_type(counter.count("a b"), int)
    assert_type(store.ledger(SessionKey("s"))[0].kind, EntryKind)


def engine(store: Store) -> None:
    """The engine takes any store and any planner, and gives typed answers."""
    made = ContextEngine(store=store, session="s", policy=Policy(keep_spans=3))
    assert_type(made.view(), list[dict[str, object]])
    assert_type(made.view_body(), bytes)
    assert_type(made.maintain(), Report)
    assert_type(made.restore("function:Read:1"), bytes)
    assert_type(made.restorable_ids(), list[ObjectId])
