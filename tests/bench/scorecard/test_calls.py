"""Questions and the digests under which their answers are kept."""

import pytest

from bench.scorecard.scorecards import ask, settings
from selfgc.bench.scorecard.settings import Wire

PLAIN = settings("folder")


@pytest.mark.parametrize(
    "changes",
    [{"model": "n"}, {"temperature": None}, {"structured": False}, {"base_url": "u"}, {"dialect": Wire.MESSAGES}],
)
def test_what_can_change_the_answer_changes_the_digest(changes):
    """Model, address, format, temperature, schema."""
    assert ask().digest(settings("folder", **changes)) != ask().digest(PLAIN)


def test_words_and_vote_are_part_of_the_digest():
    """Three votes on the same words are three answers."""
    assert len({ask("a").digest(PLAIN), ask("b").digest(PLAIN), ask("a", 1).digest(PLAIN)}) == 3


@pytest.mark.parametrize("changes", [{"offline": True}, {"max_cost": 0.1}, {"least_overall": 3}, {"retries": 0}])
def test_what_cannot_change_the_answer_does_not(changes):
    """Limits, the threshold, repetitions."""
    assert ask().digest(settings("folder", **changes)) == ask().digest(PLAIN)
