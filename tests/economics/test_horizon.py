"""How many calls are still to come."""

from selfgc.economics.horizon import OFFSET, calls_to_come


def test_as_many_again_and_a_few():
    """A session that has run for long is expected to run for long; a new one for a few calls."""
    assert [calls_to_come(calls) for calls in (0, 1, 10, 100)] == [OFFSET, 1 + OFFSET, 10 + OFFSET, 100 + OFFSET]


def test_the_mean_of_the_survival_curve():
    """The expected rest is the sum over ((n + c) / (n + m + c))^2, up to the half that steps add."""
    n = 20
    rest = sum(((n + OFFSET) / (n + m + OFFSET)) ** 2 for m in range(1, 1_000_000))
    assert abs(rest - calls_to_come(n)) < 0.6
