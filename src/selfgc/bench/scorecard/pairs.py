"""Pairs: where two cards of a case disagree, the judge sees both views, and raw numbers get calibrated ones beside.

1. A pair is asked about twice, each view standing first once. A view is better when both answers say so; when they
   contradict each other, or one says tie, it is a tie. Without two answers of the schema there is no decision.
2. Calibrated, a case of disagreement counts 1 for the better view and 0 for the other, or half for each after a tie;
   without a decision, and where the cards agree, it counts as it does raw. The paper says that it calibrates so, and
   not how; this is ours. Raw and calibrated numbers are never mixed.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.scorecard.asking import Asker
from selfgc.bench.scorecard.calls import Ask, Missed, Said
from selfgc.bench.scorecard.cards import Came, ScoreCard
from selfgc.bench.scorecard.prompts import comparing_prompt, comparing_rules
from selfgc.bench.scorecard.schema import PREFERENCE, Preference, Verdict
from selfgc.bench.scorecard.score import CaseKey, Views, in_random_order, keyed, shown_to_judge
from selfgc.bench.scorecard.settings import JudgeSettings


class PairVote(msgspec.Struct, frozen=True):
    """One answer on a pair, with the subject that stood first as A."""

    first: str
    came: Came
    preference: Preference | None = None
    note: str = ""


class PairCard(msgspec.Struct, frozen=True, tag="pair"):
    """Two subjects on one case."""

    session: str
    cut: int
    subjects: tuple[str, str]
    """In order of name."""
    votes: tuple[PairVote, ...]
    better: str | None
    """The better subject, empty for a tie, None without a decision."""
    is_swayed: bool = False
    """Whether the two answers contradict each other: the judge went by the order."""


class Calibrated(msgspec.Struct, frozen=True, tag="calibrated"):
    """No impact of one subject beside another, over the cases where both have a verdict."""

    subject: str
    beside: str
    cases: int
    raw: int
    """Cases without impact by the cards."""
    calibrated: float
    """The same by rule 2."""
    disagreements: int
    better: int
    ties: int
    undecided: int


class _Pair(NamedTuple):
    session: str
    cut: int
    subjects: tuple[str, str]


def compare_cases(
    cases: Sequence[Case],
    governed_by_subject: Views,
    cards: Iterable[ScoreCard],
    subjects: tuple[str, str],
    settings: JudgeSettings,
) -> list[PairCard]:
    """Return a card for each case where the verdicts of two subjects disagree. Limits hold for this call."""
    by_key = keyed(cases)
    one, other = sorted(subjects)
    pairs = [_Pair(*key, (one, other)) for key, said in _verdicts(cards, (one, other)).items() if said[0] != said[1]]

    def compare(asker: Asker, pair: _Pair) -> PairCard:
        key = (pair.session, pair.cut)
        shown = {
            name: shown_to_judge(by_key[key], governed_by_subject[name][key], name, settings) for name in pair.subjects
        }
        votes = []
        for first, second in (pair.subjects, pair.subjects[::-1]):
            prompt = comparing_prompt(shown[first], shown[second])
            ask = Ask(comparing_rules(), prompt, PREFERENCE.name, PREFERENCE.sent_schema, 0)
            votes.append(_vote(first, asker.ask(ask)))
        return _card(pair, votes)

    with Asker(settings) as asker:
        return in_random_order(pairs, partial(compare, asker), settings)


def calibrate(
    cards: Iterable[ScoreCard], pairs: Iterable[PairCard], subjects: tuple[str, str]
) -> tuple[Calibrated, Calibrated]:
    """Return raw and calibrated counts of two subjects, each beside the other."""
    verdicts = _verdicts(cards, subjects)
    better = {(card.session, card.cut): card.better for card in pairs if set(card.subjects) == set(subjects)}
    one, other = (_calibrated(place, subjects, verdicts, better) for place in (0, 1))
    return one, other


def _calibrated(
    place: int,
    subjects: tuple[str, str],
    verdicts: Mapping[CaseKey, tuple[bool, bool]],
    better: Mapping[CaseKey, str | None],
) -> Calibrated:
    own = subjects[place]
    disputed = [key for key, said in verdicts.items() if said[0] != said[1]]
    found = [better.get(key) for key in disputed]
    raw = sum(said[place] for said in verdicts.values())
    disputed_raw = sum(verdicts[key][place] for key, said in zip(disputed, found, strict=True) if said is not None)
    won, ties = found.count(own), found.count("")
    return Calibrated(
        subject=own,
        beside=subjects[1 - place],
        cases=len(verdicts),
        raw=raw,
        calibrated=raw - disputed_raw + won + ties / 2,
        disagreements=len(disputed),
        better=won,
        ties=ties,
        undecided=found.count(None),
    )


def _verdicts(cards: Iterable[ScoreCard], subjects: tuple[str, str]) -> dict[CaseKey, tuple[bool, bool]]:
    """Return both verdicts of each case where both subjects have one."""
    found: tuple[dict[CaseKey, bool], dict[CaseKey, bool]] = ({}, {})
    for card in cards:
        if card.subject in subjects and card.no_impact is not None:
            found[subjects.index(card.subject)][card.session, card.cut] = card.no_impact
    return {key: (said, found[1][key]) for key, said in sorted(found[0].items()) if key in found[1]}


def _vote(first: str, said: Said | Missed) -> PairVote:
    if isinstance(said, Missed):
        return PairVote(first, Came(said.lack.value), note=said.why)
    if said.refusal:
        return PairVote(first, Came.REFUSED, note=said.refusal)
    found = "cut off at the output limit" if said.is_truncated else PREFERENCE.read(said.text)
    if isinstance(found, str):
        return PairVote(first, Came.BROKEN, note=found)
    return PairVote(first, Came.SCORED, found)


def _card(pair: _Pair, votes: Sequence[PairVote]) -> PairCard:
    named = [_preferred(pair, vote) for vote in votes]
    is_decided = None not in named
    agreed = named[0] if named[0] == named[1] else ""
    return PairCard(
        session=pair.session,
        cut=pair.cut,
        subjects=pair.subjects,
        votes=tuple(votes),
        better=agreed if is_decided else None,
        is_swayed=is_decided and "" not in named and named[0] != named[1],
    )


def _preferred(pair: _Pair, vote: PairVote) -> str | None:
    """Return the subject a vote prefers, nothing for a tie, None when there is no answer."""
    if vote.preference is None:
        return None
    second = pair.subjects[1 - pair.subjects.index(vote.first)]
    return {Verdict.A: vote.first, Verdict.B: second, Verdict.TIE: ""}[vote.preference.verdict]
