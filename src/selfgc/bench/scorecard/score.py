"""Scoring: every subject's view of every case is put before the judge, blind, and comes back as a card."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias, TypeVar

from selfgc.bench.cases import Case
from selfgc.bench.governed import Governed
from selfgc.bench.scorecard.asking import Asker
from selfgc.bench.scorecard.calls import Ask
from selfgc.bench.scorecard.cards import ScoreCard, Seat, card_of, vote_of
from selfgc.bench.scorecard.evidence import Evidence, evidence_of
from selfgc.bench.scorecard.prompts import letters_of, scoring_prompt, scoring_rules
from selfgc.bench.scorecard.schema import SCORES
from selfgc.bench.scorecard.settings import JudgeSettings
from selfgc.errors import UsageError

CaseKey: TypeAlias = tuple[str, int]
"""Session and cut."""
Views: TypeAlias = Mapping[str, Mapping[CaseKey, Governed]]
"""What each subject made of each case; a subject may lack cases."""
_Job = TypeVar("_Job")
_Card = TypeVar("_Card")


def score_cases(cases: Sequence[Case], governed_by_subject: Views, settings: JudgeSettings) -> list[ScoreCard]:
    """Return a card for each view, ordered by session, cut and subject.

    What a card says depends on the case and the view alone: not on the subject's name, nor on who else takes part or
    in which order. Limits of time and money hold for this call; what they leave unasked stands on the cards as such.
    UsageError when a case is there twice, or when nothing can be asked (no client, no key).
    """
    by_key = keyed(cases)
    found = ((*key, subject) for subject, views in governed_by_subject.items() for key in views if key in by_key)
    seats = [Seat(*parts) for parts in sorted(found)]

    def score(asker: Asker, seat: Seat) -> ScoreCard:
        case = by_key[seat.session, seat.cut]
        shown = shown_to_judge(case, governed_by_subject[seat.subject][seat.session, seat.cut], seat.subject, settings)
        letters = letters_of(settings.seed, (seat.session, seat.cut), shown)
        prompt = scoring_prompt(letters, shown)
        asks = (Ask(scoring_rules(), prompt, SCORES.name, SCORES.sent_schema, vote) for vote in range(settings.votes))
        return card_of(seat, letters, [vote_of(asker.ask(ask)) for ask in asks], settings)

    with Asker(settings) as asker:
        return in_random_order(seats, partial(score, asker), settings)


def keyed(cases: Iterable[Case]) -> dict[CaseKey, Case]:
    """Return the cases by session and cut. UsageError when one is there twice."""
    found: dict[CaseKey, Case] = {}
    for case in cases:
        key = (case.session, case.cut)
        if key in found:
            raise UsageError(f"the case {case.session} cut at {case.cut} is there twice; score one set at a time")
        found[key] = case
    return found


def shown_to_judge(case: Case, governed: Governed, subject: str, settings: JudgeSettings) -> Evidence:
    """Return what the judge sees of a view, without the subject's name (with or without `@rate`) and other tells."""
    return evidence_of(case, governed, (subject, subject.partition("@")[0], *settings.hidden_names), settings)


def in_random_order(jobs: Sequence[_Job], work: Callable[[_Job], _Card], settings: JudgeSettings) -> list[_Card]:
    """Do the jobs in the seed's random order, several at a time; return what came of them in the jobs' own order."""

    def place(job: _Job) -> bytes:
        return hashlib.sha256(f"{settings.seed} {job}".encode()).digest()

    shuffled = sorted(jobs, key=place)
    pool = ThreadPoolExecutor(settings.parallel)
    try:
        done = dict(zip(shuffled, pool.map(work, shuffled), strict=True))
    finally:
        pool.shutdown(cancel_futures=True)  # after an error or an interrupt nothing more is begun
    return [done[job] for job in jobs]
