"""Cards: what votes come to, and the rule for no impact."""

import pytest

from bench.scorecard.scorecards import DIMENSIONS, answer, settings
from selfgc.bench.scorecard.calls import Lack, Missed, Said
from selfgc.bench.scorecard.cards import Came, Seat, Vote, card_of, is_without_impact, vote_of
from selfgc.bench.scorecard.schema import SCORES

SETTINGS = settings("c")


def card(*answers):
    votes = [one if isinstance(one, Vote) else vote_of(Said(one)) for one in answers]
    return card_of(Seat("s", 1, "mine"), "QX", votes, SETTINGS)


@pytest.mark.parametrize(
    ("said", "came", "note"),
    [
        (Said(answer()), Came.SCORED, ""),
        (Said(answer()[:30]), Came.BROKEN, "not of the schema"),
        (Said(answer(), is_truncated=True), Came.BROKEN, "output limit"),
        (Said(answer(), refusal="I will not"), Came.REFUSED, "I will not"),
        (Missed(Lack.FAILED, "HTTP 500"), Came.FAILED, "HTTP 500"),
        (Missed(Lack.UNASKED, "offline"), Came.UNASKED, "offline"),
    ],
)
def test_what_an_answer_counts_as(said, came, note):
    """Rule 1: only an answer of the schema has scores."""
    vote = vote_of(said)
    assert vote.came is came
    assert note in vote.note
    assert vote.counts == (came is Came.SCORED)


def test_a_vote_that_calls_itself_invalid_does_not_count():
    """The material allowed no judgement."""
    assert not vote_of(Said(answer(valid=False))).counts


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (answer(5), True),
        (answer(3, 4.0), True),
        (answer(5, 3.9), False),
        (answer(5, goal_retention=2), False),
        (answer(5, status="warn"), True),
        (answer(5, status="fail"), False),
        (answer(5, uncertain=True), True),
    ],
)
def test_the_rule_for_no_impact(text, fine):
    """Rule 2: no fail, each dimension at least 3, overall at least 4."""
    assert is_without_impact(SCORES.read(text), SETTINGS) is fine


def test_the_threshold_can_be_moved():
    """For a look at how much hangs on it."""
    assert is_without_impact(SCORES.read(answer(2, 2)), settings("c", least_overall=2, least_score=2))


@pytest.mark.parametrize(
    ("votes", "verdict", "consistency"),
    [
        ((answer(5), answer(5), answer(1)), True, 2 / 3),
        ((answer(1), answer(1), answer(5)), False, 2 / 3),
        ((answer(5), answer(5), answer(5)), True, 1.0),
        ((answer(5), answer(1), "broken"), False, 0.5),
        ((answer(5), answer(5), "broken"), True, 1.0),
        ((answer(5), "broken", "broken"), None, None),
        ((answer(5), "broken"), None, None),
        (("broken",), None, None),
    ],
)
def test_most_counted_votes_decide(votes, verdict, consistency):
    """Rule 3: split evenly means impact, half or more without a count means nothing."""
    found = card(*votes)
    assert (found.no_impact, found.consistency) == (verdict, consistency)
    assert len(found.votes) == len(votes)


def test_a_card_sums_its_votes_up():
    """Means over the counted votes, the culprit that most name, how many are uncertain."""
    found = card(
        answer(4, culprit="a", uncertain=True),
        answer(2, culprit="b"),
        answer(3, goal_retention=0, culprit="b"),
        answer(0, valid=False, culprit="c"),
    )
    assert found.overall == 3
    assert found.dimensions == {name: 2 if name == "goal_retention" else 3 for name in DIMENSIONS}
    assert (found.culprit, found.uncertain) == ("b", 1)


def test_a_card_without_votes_that_count_is_empty():
    """Nothing is made up."""
    found = card("broken", Vote(Came.UNASKED))
    assert (found.overall, found.dimensions, found.culprit, found.uncertain) == (None, {}, "", 0)
