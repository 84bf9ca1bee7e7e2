"""Agreement with the deterministic judge."""

import pytest

from bench.scorecard.scorecards import answer, settings
from selfgc.bench.records import Category, Judgement, Levels, Loss, Status
from selfgc.bench.scorecard.agreement import agreement, kappa_of, subject_name
from selfgc.bench.scorecard.calls import Said
from selfgc.bench.scorecard.cards import Seat, card_of, vote_of
from selfgc.errors import UsageError

LOSS = Loss("A", "9431", "number", "argument", "Bash", 1, 1.0, Status.LOST, Category.EVIDENCE)


def card(cut, fine, subject="mine"):
    text = "broken" if fine is None else answer(5 if fine else 1, culprit=None if fine else "function:Read:1")
    return card_of(Seat("s", cut, subject), "QX", [vote_of(Said(text))], settings("c"))


def judgement(cut, s1, subject="mine", rate=None):
    levels = Levels(1, int(s1), s1, s1, s1, s1, 0)
    names = ("a", "b", "both", "face")
    return Judgement(
        set="suite",
        session="s",
        cut=cut,
        subject=subject,
        rate=rate,
        tokens=100,
        tokens_view=50,
        restored_tokens=0,
        **dict.fromkeys(names, levels),
        survival=1.0,
        contracts=0,
        contracts_kept=0,
        losses=() if s1 else (LOSS,),
    )


def test_the_confusion_matrix():
    """Cards on one side, S1 on the other; what cannot be compared is counted apart."""
    said = [(True, True), (True, True), (False, False), (True, False), (False, True)]
    cards = [card(cut, fine) for cut, (fine, _) in enumerate(said)]
    found = agreement([*cards, card(7, None), card(9, True)], [judgement(cut, s1) for cut, (_, s1) in enumerate(said)])
    assert (found.both_fine, found.both_impact, found.only_card_fine, found.only_s1_fine) == (2, 1, 1, 1)
    assert (found.cases, found.observed) == (5, 0.6)
    assert (found.without_verdict, found.without_partner) == (1, 1)
    assert found.kappa == pytest.approx((0.6 - 0.52) / 0.48)


def test_disagreements_are_listed_with_both_sides():
    """What the card blames, and what the deterministic judge misses."""
    found = agreement([card(2, False), card(1, True)], [judgement(1, False), judgement(2, True)])
    first, second = found.disagreements
    assert (first.cut, first.card_no_impact, first.s1, first.losses) == (1, True, False, ("lost evidence: 9431",))
    assert (second.cut, second.culprit, second.summary, second.losses) == (2, "function:Read:1", "score 1", ())


def test_rates_are_part_of_the_name():
    """A subject at a matched rate is another row."""
    at = judgement(1, True, rate=0.44)
    assert subject_name(at) == "mine@0.44"
    assert agreement([card(1, True, "mine@0.44")], [at, judgement(1, False)]).both_fine == 1


def test_a_case_judged_twice_is_refused():
    """As when two sets are mixed."""
    with pytest.raises(UsageError, match="one set"):
        agreement([], [judgement(1, True), judgement(1, True)])


def test_nothing_to_compare():
    """No share and no kappa."""
    found = agreement([], [])
    assert (found.cases, found.observed, found.kappa, found.disagreements) == (0, None, None, ())


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        ((20, 5, 10, 15), 0.4),
        ((5, 0, 0, 5), 1.0),
        ((0, 5, 5, 0), -1.0),
        ((8, 2, 0, 0), 0.0),
        ((10, 0, 0, 0), None),
        ((0, 0, 0, 3), None),
        ((0, 0, 0, 0), None),
    ],
)
def test_kappa(counts, kappa):
    """The textbook example, full agreement, full contradiction, chance, and where it has no value."""
    found = kappa_of(*counts)
    assert found is None if kappa is None else found == pytest.approx(kappa)
