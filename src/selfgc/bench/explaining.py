"""The cards of one case: each needed use that is out of view, with its source, the view's own words, and its fate."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from selfgc.bench.arms.protocol import Failed
from selfgc.bench.comparing import Order, ask_arm, close_arms
from selfgc.bench.judge.reading import Reading
from selfgc.bench.judge.routes import names
from selfgc.bench.judge.verdict import Judge
from selfgc.bench.preparing import SetOfCases, case_of
from selfgc.bench.records import CaseRecord, Judgement, Loss
from selfgc.bench.sessions import read_session
from selfgc.bench.texts import Decoded, leaves, normal
from selfgc.economics.tokens import VocabularyCounter
from selfgc.errors import UsageError

EXCERPT = 240
"""Characters that a card shows of a text."""


class Card(msgspec.Struct, frozen=True):
    """One verdict, as a person can check it."""

    loss: Loss
    source_text: str
    """What stood around it in the prefix."""
    view_text: str
    """What the governed view says of the payload that gives it back; empty when nothing does."""


class Explanation(msgspec.Struct, frozen=True):
    """All cards of one case under one arm."""

    case: CaseRecord
    judgement: Judgement
    cards: tuple[Card, ...]


def explain(found: SetOfCases, session: str, cut: int, order: Order, rate: float | None) -> Explanation:
    """Return the cards of a case. UsageError when the set has no such case, or the arm could not."""
    place = next((n for n, case in enumerate(found.cases) if (case.session, case.cut) == (session, cut)), None)
    if place is None:
        cuts = ", ".join(f"{case.session}:{case.cut}" for case in found.cases if case.session == session)
        raise UsageError(f"no case {session}:{cut}; " + (f"its cases are {cuts}" if cuts else "no such session"))
    path = next(path for path in sorted(Path(found.folder).glob("*.json*")) if path.stem == session)
    recorded = read_session(path)
    case = case_of(recorded, found.cases[place])
    try:
        governed = ask_arm(order, recorded, case, rate)
    finally:
        close_arms()
    if isinstance(governed, Failed):
        raise UsageError(f"{order.arm} could not govern {session}:{cut}: {governed.error}")
    judge = Judge(found.name, recorded, Reading(VocabularyCounter().count))
    judgement = judge.judge(found.needs[place], governed, subject=order.arm, rate=rate)
    cards = tuple(
        Card(loss, _around(case.prefix, loss), _pointer(governed.messages, loss)) for loss in judgement.losses
    )
    return Explanation(found.cases[place], judgement, cards)


def _around(prefix: Sequence[Decoded], loss: Loss) -> str:
    if loss.source_message < 0:
        return ""
    exact = loss.text if loss.matcher == "A" else max(loss.text.split(" "), key=len)
    for leaf in leaves(prefix[loss.source_message]):
        text = normal(leaf.text)
        found = text.find(exact)
        if found >= 0:
            return _cut(text, found, len(exact))
    return ""


def _pointer(messages: Sequence[Decoded], loss: Loss) -> str:
    if not loss.restored_by:
        return ""
    for message in messages:
        for leaf in leaves(message):
            text = normal(leaf.text)
            if names(loss.restored_by, text):
                found = text.find(loss.restored_by.rpartition(":")[0].rpartition(":")[2])
                return _cut(text, max(0, found), 0)
    return ""


def _cut(text: str, found: int, length: int) -> str:
    start, end = max(0, found - EXCERPT // 2), found + length + EXCERPT // 2
    return ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")
