"""Agreement of the LLM judge with the deterministic one: Cohen's kappa, the confusion matrix, every disagreement.

Compared is "no impact" of a card with S1 (visible or recoverable, at most two restores) over both matchers united.
"""

from collections.abc import Iterable

import msgspec

from selfgc.bench.records import Judgement
from selfgc.bench.scorecard.cards import ScoreCard
from selfgc.errors import UsageError


class Disagreement(msgspec.Struct, frozen=True):
    """One case on which the judges differ, with what each has to say."""

    session: str
    cut: int
    subject: str
    card_no_impact: bool
    s1: bool
    culprit: str
    summary: str
    """Of the first counted vote."""
    losses: tuple[str, ...]
    """What the deterministic judge misses in the view."""


class Agreement(msgspec.Struct, frozen=True, tag="agreement"):
    """How far the judges agree. The four counts are the confusion matrix."""

    both_fine: int
    both_impact: int
    only_card_fine: int
    """The card says no impact, S1 says impact."""
    only_s1_fine: int
    observed: float | None
    """Share of cases with the same verdict; None when there are no cases."""
    kappa: float | None
    """None when chance alone would agree always: both judges say the same of every case."""
    disagreements: tuple[Disagreement, ...]
    without_verdict: int
    """Cards that say nothing."""
    without_partner: int
    """Cards whose case the deterministic judge has not judged."""

    @property
    def cases(self) -> int:
        """Cases that both have judged."""
        return self.both_fine + self.both_impact + self.only_card_fine + self.only_s1_fine


def subject_name(judgement: Judgement) -> str:
    """Return the subject as cards name it: with `@rate` where a rate was asked for."""
    return judgement.subject if judgement.rate is None else f"{judgement.subject}@{judgement.rate:g}"


def agreement(cards: Iterable[ScoreCard], judgements: Iterable[Judgement]) -> Agreement:
    """Return the agreement over all cards. UsageError when a case is judged twice, as when two sets are mixed."""
    judged: dict[tuple[str, int, str], Judgement] = {}
    for judgement in judgements:
        key = (judgement.session, judgement.cut, subject_name(judgement))
        if key in judged:
            raise UsageError(f"two judgements of {key[2]} on {key[0]} cut at {key[1]}; pass those of one set")
        judged[key] = judgement
    counts = {(card, s1): 0 for card in (True, False) for s1 in (True, False)}
    differ: list[Disagreement] = []
    silent = alone = 0
    for card in cards:
        partner = judged.get((card.session, card.cut, card.subject))
        if card.no_impact is None:
            silent += 1
        elif partner is None:
            alone += 1
        else:
            counts[card.no_impact, partner.both.s1] += 1
            if card.no_impact != partner.both.s1:
                differ.append(_disagreement(card, partner, is_fine=card.no_impact))
    return Agreement(
        both_fine=counts[True, True],
        both_impact=counts[False, False],
        only_card_fine=counts[True, False],
        only_s1_fine=counts[False, True],
        observed=_share(counts[True, True] + counts[False, False], sum(counts.values())),
        kappa=kappa_of(counts[True, True], counts[True, False], counts[False, True], counts[False, False]),
        disagreements=tuple(sorted(differ, key=lambda one: (one.session, one.cut, one.subject))),
        without_verdict=silent,
        without_partner=alone,
    )


def kappa_of(both: int, only_first: int, only_second: int, neither: int) -> float | None:
    """Return Cohen's kappa of two yes-or-no judges, (observed - chance) / (1 - chance); None where it has no value."""
    total = both + only_first + only_second + neither
    if not total:
        return None
    first, second = (both + only_first) / total, (both + only_second) / total
    chance = first * second + (1 - first) * (1 - second)
    return None if chance == 1 else ((both + neither) / total - chance) / (1 - chance)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _disagreement(card: ScoreCard, partner: Judgement, *, is_fine: bool) -> Disagreement:
    summaries = (vote.scores.summary for vote in card.votes if vote.scores is not None and vote.counts)
    return Disagreement(
        session=card.session,
        cut=card.cut,
        subject=card.subject,
        card_no_impact=is_fine,
        s1=partner.both.s1,
        culprit=card.culprit,
        summary=next(summaries, ""),
        losses=tuple(f"{loss.status} {loss.category}: {loss.text}" for loss in partner.losses),
    )
