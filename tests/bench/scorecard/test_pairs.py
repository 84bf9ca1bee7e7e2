"""Pairs over real HTTP: which view is better, and what calibration makes of it."""

import pytest

from bench.scorecard.scorecards import answer, case, preference, settings, view
from selfgc.bench.scorecard.calls import Said
from selfgc.bench.scorecard.cards import Came, Seat, card_of, vote_of
from selfgc.bench.scorecard.pairs import PairCard, calibrate, compare_cases
from selfgc.bench.scorecard.settings import Wire
from selfgc.testing import Answer, Failure, ScriptedProvider

SUBJECTS = ("alpha", "beta")
VIEWS = {"alpha": {("s1", 6): view()}, "beta": {("s1", 6): view(1, 2)}}


def card(subject, fine, session="s1"):
    text = "broken" if fine is None else answer(5 if fine else 1)
    return card_of(Seat(session, 6, subject), "QX", [vote_of(Said(text))], settings("c"))


DISAGREE = [card("alpha", True), card("beta", False)]


def compare(script, folder, dialect=Wire.CHAT, cards=DISAGREE, subjects=SUBJECTS, **changes):
    with ScriptedProvider(script) as provider:
        return compare_cases([case()], VIEWS, cards, subjects, settings(folder, provider, dialect, **changes)), provider


@pytest.mark.parametrize("dialect", list(Wire))
def test_a_pair_is_asked_both_ways_round(dialect, tmp_path):
    """Each view stands first once; the judge that goes by the view prefers the same one."""

    def judged(request):
        content = request.fields["messages"][-1]["content"]
        prompt = content if isinstance(content, str) else content[0]["text"]
        return preference("A_better" if '<removed method="A">\n(nothing)' in prompt else "B_better")

    (found,), provider = compare(judged, tmp_path, dialect)
    assert found.better == "alpha"
    assert not found.is_swayed
    assert [vote.first for vote in found.votes] == ["alpha", "beta"]
    assert [vote.preference.verdict for vote in found.votes] == ["A_better", "B_better"]
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("script", "better", "swayed"),
    [
        (["A_better", "B_better"], "alpha", False),
        (["B_better", "A_better"], "beta", False),
        (["A_better", "A_better"], "", True),
        (["tie", "tie"], "", False),
        (["A_better", "tie"], "", False),
    ],
)
def test_only_two_answers_that_agree_decide(script, better, swayed, tmp_path):
    """A judge that goes by the order is seen as such."""
    (found,), _ = compare([preference(verdict) for verdict in script], tmp_path)
    assert (found.better, found.is_swayed) == (better, swayed)


@pytest.mark.parametrize(
    ("reply", "came"),
    [
        ("half {", Came.BROKEN),
        (preference("C_better"), Came.BROKEN),
        (Answer(preference(), is_truncated=True), Came.BROKEN),
        (Answer(refusal="no"), Came.REFUSED),
        (Failure(500), Came.FAILED),
    ],
)
def test_without_two_answers_there_is_no_decision(reply, came, tmp_path):
    """Whatever the other one says."""
    (found,), _ = compare([preference(), reply], tmp_path, retries=0)
    assert found.better is None
    assert not found.is_swayed
    assert found.votes[1].came is came


@pytest.mark.parametrize(
    "cards", [[card("alpha", True), card("beta", True)], [card("alpha", True), card("beta", None)], []]
)
def test_only_disagreements_are_asked_about(cards, tmp_path):
    """Where the cards agree, or one says nothing, there is nothing to settle."""
    found, provider = compare([], tmp_path, cards=cards)
    assert found == []
    assert provider.requests == ()


def test_the_order_of_subjects_does_not_matter(tmp_path):
    """The second time everything is in the cache."""
    with ScriptedProvider([preference("A_better"), preference("B_better")]) as provider:
        plain = settings(tmp_path, provider)
        first = compare_cases([case()], VIEWS, DISAGREE, SUBJECTS, plain)
        assert compare_cases([case()], VIEWS, DISAGREE[::-1], SUBJECTS[::-1], plain) == first
    assert len(provider.requests) == 2


def pair(session, better):
    return PairCard(session, 6, SUBJECTS, (), better)


def test_calibration_stands_beside_the_raw_numbers():
    """A win counts one, a tie half for each; without a decision, and where both agree, the raw verdict stays."""
    verdicts = {"s1": (1, 0), "s2": (1, 0), "s3": (0, 1), "s4": (1, 0), "s5": (1, 1), "s6": (0, 0), "s7": (1, 0)}
    cards = [
        card(subject, bool(said[place]), session)
        for session, said in verdicts.items()
        for place, subject in enumerate(SUBJECTS)
    ]
    pairs = [pair("s1", "alpha"), pair("s2", "beta"), pair("s3", ""), pair("s4", None)]
    pairs.append(PairCard("s1", 6, ("alpha", "other"), (), "other"))
    alpha, beta = calibrate([*cards, card("alpha", None, "s8"), card("beta", True, "s8")], pairs, SUBJECTS)
    assert (alpha.cases, alpha.raw, beta.raw) == (7, 5, 2)
    assert (alpha.disagreements, alpha.better, alpha.ties, alpha.undecided) == (5, 1, 1, 2)
    assert alpha.calibrated == 1 + 0 + 0.5 + 1 + 1 + 0 + 1
    assert beta.calibrated == 0 + 1 + 0.5 + 0 + 1 + 0 + 0
    assert (beta.subject, beta.beside, beta.better) == ("beta", "alpha", 1)
