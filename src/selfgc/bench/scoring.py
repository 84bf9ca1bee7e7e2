"""The LLM judge over cases of a set: arms govern them, the model scores the views, both judges are compared."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from selfgc.bench.arms.protocol import Failed
from selfgc.bench.cases import Case
from selfgc.bench.comparing import Order, ask_arm, close_arms
from selfgc.bench.governed import Governed
from selfgc.bench.judge.reading import Reading
from selfgc.bench.judge.verdict import Judge
from selfgc.bench.preparing import SetOfCases, case_of
from selfgc.bench.records import Judgement
from selfgc.bench.scorecard.agreement import Agreement, agreement
from selfgc.bench.scorecard.cards import ScoreCard
from selfgc.bench.scorecard.score import score_cases
from selfgc.bench.scorecard.settings import JudgeSettings
from selfgc.bench.sessions import read_session
from selfgc.economics.tokens import VocabularyCounter


class Scored(msgspec.Struct, frozen=True):
    """What the model said of a sample of cases, and how far the deterministic judge agrees."""

    cards: tuple[ScoreCard, ...]
    judgements: tuple[Judgement, ...]
    agreement: Agreement


def score(
    found: SetOfCases, orders: Sequence[Order], settings: JudgeSettings, *, sample: int, step: Callable[[str], None]
) -> Scored:
    """Return the cards of up to `sample` cases, drawn with the settings' seed, for each arm at its default.

    An arm that fails on a case has no card there. UsageError when nothing can be asked (no client, no key).
    """
    cases: list[Case] = []
    views: dict[str, dict[tuple[str, int], Governed]] = {order.arm: {} for order in orders}
    judgements: list[Judgement] = []
    try:
        for place in _drawn(found, sample, settings.seed):
            step(f"governing {found.cases[place].session}:{found.cases[place].cut}")
            case, judged = _governed(found, place, orders, views)
            cases.append(case)
            judgements += judged
    finally:
        close_arms()
    step("asking the model")
    cards = score_cases(cases, views, settings)
    return Scored(tuple(cards), tuple(judgements), agreement(cards, judgements))


def _drawn(found: SetOfCases, sample: int, seed: int) -> list[int]:
    """Return the places of the cases to score: cases in which something was needed, as many as asked for."""
    places = [place for place, case in enumerate(found.cases) if not case.is_vacuous]
    dice = random.Random(f"{found.digest} {seed}")  # noqa: S311 - the sample must be the same again
    return sorted(dice.sample(places, min(sample, len(places))))


def _governed(
    found: SetOfCases, place: int, orders: Sequence[Order], views: dict[str, dict[tuple[str, int], Governed]]
) -> tuple[Case, list[Judgement]]:
    record, needs = found.cases[place], found.needs[place]
    path = next(path for path in sorted(Path(found.folder).glob("*.json*")) if path.stem == record.session)
    session = read_session(path)
    case = case_of(session, record)
    judge = Judge(found.name, session, Reading(VocabularyCounter().count))
    judged = []
    for order in orders:
        governed = ask_arm(order, session, case, None)
        if not isinstance(governed, Failed):
            views[order.arm][record.session, record.cut] = governed
            judged.append(judge.judge(needs, governed, subject=order.arm))
    return case, judged
