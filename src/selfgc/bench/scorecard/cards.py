"""Cards: what the votes on one governed case come to, and the rule that makes a verdict of them.

No public text says how the paper turns a card into "no impact"; this rule is ours:

1. A vote counts when an answer came, was of the schema, and says `valid`. Refusals, broken and cut-off answers, and
   votes that were never cast are kept, each as what it is, and do not count.
2. A vote says no impact when no dimension stands at `fail`, each scores at least `least_score` (3), and the overall
   score is at least `least_overall` (4.0). `uncertain` changes nothing; it is counted apart.
3. The card says what most of the counted votes say; when they are split evenly, impact. It says nothing when half
   or more of the votes do not count.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from statistics import fmean
from typing import NamedTuple

import msgspec

from selfgc.bench.scorecard.calls import Missed, Said
from selfgc.bench.scorecard.schema import SCORES, Dimensions, Scores, Standing
from selfgc.bench.scorecard.settings import JudgeSettings


class Came(StrEnum):
    """What came of one vote."""

    SCORED = "scored"
    BROKEN = "broken"
    """The answer was not of the schema, or was cut off."""
    REFUSED = "refused"
    FAILED = "failed"
    UNASKED = "unasked"


class Seat(NamedTuple):
    """One subject on one case."""

    session: str
    cut: int
    subject: str


class Vote(msgspec.Struct, frozen=True):
    """One vote on one governed case."""

    came: Came
    scores: Scores | None = None
    note: str = ""
    """Why there are no scores."""

    @property
    def counts(self) -> bool:
        """Whether it counts (rule 1)."""
        return self.scores is not None and self.scores.valid


class ScoreCard(msgspec.Struct, frozen=True, tag="scorecard"):
    """One subject on one case, as the LLM judge sees it."""

    session: str
    cut: int
    subject: str
    letters: str
    """Under which the judge saw it."""
    votes: tuple[Vote, ...]
    no_impact: bool | None
    """Raw verdict by rule 3; None: too few votes count."""
    overall: float | None = None
    """Mean overall score of the counted votes."""
    dimensions: Mapping[str, float] = {}
    """Mean score by dimension."""
    culprit: str = ""
    """The target named by most of the counted votes that name one."""
    uncertain: int = 0
    """Counted votes that say so."""
    consistency: float | None = None
    """Share of the counted votes that agree with the card."""


def vote_of(said: Said | Missed) -> Vote:
    """Return what an answer counts as."""
    if isinstance(said, Missed):
        return Vote(Came(said.lack.value), note=said.why)
    if said.refusal:
        return Vote(Came.REFUSED, note=said.refusal)
    if said.is_truncated:
        return Vote(Came.BROKEN, note="cut off at the output limit")
    found = SCORES.read(said.text)
    return Vote(Came.SCORED, found) if isinstance(found, Scores) else Vote(Came.BROKEN, note=found)


def is_without_impact(scores: Scores, settings: JudgeSettings) -> bool:
    """Whether one vote says no impact (rule 2)."""
    has_failed = any(
        one.status is Standing.FAIL or one.score < settings.least_score for one in scores.dimension_scores.each()
    )
    return not has_failed and scores.overall_score >= settings.least_overall


def card_of(seat: Seat, letters: str, votes: Sequence[Vote], settings: JudgeSettings) -> ScoreCard:
    """Return the card of a case's votes (rule 3)."""
    counted = [vote.scores for vote in votes if vote.scores is not None and vote.counts]
    said = [is_without_impact(scores, settings) for scores in counted]
    verdict = 2 * sum(said) > len(said) if 2 * len(counted) > len(votes) else None
    named = Counter(scores.failure_culprit.target_id or "" for scores in counted)
    del named[""]
    return ScoreCard(
        session=seat.session,
        cut=seat.cut,
        subject=seat.subject,
        letters=letters,
        votes=tuple(votes),
        no_impact=verdict,
        overall=fmean(scores.overall_score for scores in counted) if counted else None,
        dimensions=_means([scores.dimension_scores for scores in counted]),
        culprit=max(named, key=lambda name: (named[name], name), default=""),
        uncertain=sum(scores.uncertain for scores in counted),
        consistency=None if verdict is None else said.count(verdict) / len(said),
    )


def _means(counted: Sequence[Dimensions]) -> dict[str, float]:
    if not counted:
        return {}
    scores = [[one.score for one in dimensions.each()] for dimensions in counted]
    return dict(zip(Dimensions.__struct_fields__, map(fmean, zip(*scores, strict=True)), strict=True))
