"""Runs one round of governing over a recorded session, and collects all that there is to tell of it."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from selfgc.cli.rounds import Order, Round, violations_in
from selfgc.engine.context import ContextEngine
from selfgc.engine.report import ActionRow
from selfgc.model.ids import SessionKey
from selfgc.model.protocols import Store
from selfgc.readers.recording import Recording


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
        violations=violations_in(snapshot, view),
        faults=_distinct([*report.warnings, *faults]),
    )


def _distinct(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences without those that only say again, in more words, what one before says."""
    kept: list[str] = []
    for sentence in sentences:
        if not any(said in sentence for said in kept):
            kept.append(sentence)
    return tuple(kept)


class _Collected(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
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
