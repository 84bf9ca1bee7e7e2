"""One round of governing a recorded session, as `govern` and `inspect` run it, and all that there is to tell of it."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from selfgc.engine.context import ContextEngine
from selfgc.engine.report import ActionRow, Report
from selfgc.errors import Finding
from selfgc.model.ids import SessionKey
from selfgc.model.legality import Legality
from selfgc.model.plan import Plan
from selfgc.model.policy import Boundary, Policy
from selfgc.model.profile import Violation
from selfgc.model.protocols import Store
from selfgc.model.snapshot import Planner, Snapshot
from selfgc.model.wire import split_body
from selfgc.readers.recording import Recording


class Order(msgspec.Struct, frozen=True):
    """What a round is to do."""

    policy: Policy = Policy()
    planner: Planner | None = None
    """None: the default planner."""
    plan: Plan | None = None
    """A plan from outside, instead of a planner."""
    findings: tuple[Finding, ...] = ()
    """What of that plan could not be read."""
    is_cold: bool = True


class Round(msgspec.Struct, frozen=True):
    """What a round did."""

    session: SessionKey
    recording: Recording
    report: Report
    snapshot: Snapshot
    """The session after the round."""
    view: bytes
    """The request body to send."""
    tokens: int
    """Tokens of that request."""
    unsent: tuple[ActionRow, ...]
    """What was folded or masked before it was ever sent, beside the plan."""
    violations: tuple[Violation, ...]
    """Rules of the provider that the view breaks, as the recorded request did."""
    faults: tuple[str, ...]
    """What went wrong on the way; the view is then whole, but perhaps not governed."""

    @property
    def prune_rate(self) -> float:
        """Share of the transcript's tokens that the view does not hold."""
        whole = self.report.tokens_transcript
        return 1 - self.tokens / whole if whole else 0.0

    @property
    def verdict(self) -> str:
        """Why something was committed, or nothing was."""
        is_lost = self.report.decision is not None and self.report.decision.commit and not self.report.committed
        return "it could not be written into the store" if is_lost else self.report.reason

    @property
    def idle_pins(self) -> tuple[str, ...]:
        """Pinned ids that protect nothing: no tool call of the session has such an id."""
        return tuple(pin for pin in self.snapshot.policy.pinned_ids if pin not in self.report.pinned)

    @property
    def advice(self) -> str:
        """What would let more be committed, as a sentence; empty when there is nothing to say."""
        if self.report.committed or self.snapshot.edits or self.snapshot.policy.boundary is Boundary.STEP:
            return ""
        spans = self.snapshot.spans
        start = Legality(self.snapshot).frozen_from
        late = sum(span.result is not None and span.result.message >= start for span in spans)
        if self.report.reason.startswith("unsafe boundary"):
            return "the session stops inside a turn; --boundary step allows a commit between two steps of it"
        if late and not self.report.actions:
            return f"{late} of {len(spans)} tool calls stand in the last turn; --boundary step allows to touch them"
        return ""


def run_round(recording: Recording, store: Store, session: SessionKey, order: Order) -> Round:
    """Take a recorded session in, plan, rehearse and commit into the store, and make the view."""
    engine = ContextEngine(
        store=store, session=session, dialect=recording.dialect, policy=order.policy, planner=order.planner
    )
    with collected_warnings() as faults:
        engine.observe_body(recording.body)
        before = engine.snapshot().edits
        report = engine.maintain(order.plan, findings=order.findings, is_cold=order.is_cold)
        view = engine.view_body()
    snapshot = engine.snapshot()
    planned = {row.id for row in report.actions}
    unsent = tuple(
        ActionRow(edit.id, edit.action, edit.reason, edit.tokens_before, edit.tokens_after)
        for edit in snapshot.edits.values()
        if not edit.within and edit.id not in planned and before.get(edit.id) != edit
    )
    return Round(
        session=session,
        recording=recording,
        report=report,
        snapshot=snapshot,
        view=view,
        tokens=engine.view_tokens() if view != recording.body else int(snapshot.transcript_tokens),
        unsent=unsent,
        violations=tuple(_violations(snapshot, view)),
        faults=_distinct([*report.warnings, *faults]),
    )


def _distinct(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences without those that only say again, in more words, what one before says."""
    kept: list[str] = []
    for sentence in sentences:
        if not any(said in sentence for said in kept):
            kept.append(sentence)
    return tuple(kept)


def _violations(snapshot: Snapshot, view: bytes) -> list[Violation]:
    body = split_body(view)
    return snapshot.dialect.check(body.messages, body.fields, snapshot.profile)


class _Collected(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect what the engine logs, which is what it could not do, instead of letting it go to standard error."""
    messages: list[str] = []
    log, handler = logging.getLogger("selfgc"), _Collected(messages)
    propagates, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield messages
    finally:
        log.removeHandler(handler)
        log.propagate = propagates
