"""What calls cost."""

import pytest

from bench.scorecard.scorecards import ask, settings
from selfgc.bench.scorecard.calls import Said
from selfgc.bench.scorecard.money import Prices


def test_prices_come_from_the_catalogue():
    """Each kind of token at its own price: gpt-5.5 has 5, 0.5 and 30 dollars."""
    million = Said("", read=1_000_000, uncached=1_000_000, output=1_000_000)
    assert Prices(settings("c")).cost(million) == pytest.approx(35.5)


def test_own_prices_come_first():
    """They hold for every input token."""
    prices = Prices(settings("c", price_input=2.0, price_output=3.0))
    assert prices.cost(Said("", read=500_000, written=250_000, uncached=250_000, output=1_000_000)) == pytest.approx(5)
    assert Prices(settings("c", price_input=0.0, price_output=0.0)).most(ask()) == 0


def test_a_call_is_reckoned_at_its_most():
    """All of the prompt uncached, the output as long as it may be."""
    prices = Prices(settings("c", price_input=1.0, price_output=1.0, max_output_tokens=1_000))
    assert prices.most(ask("word " * 1_000)) == pytest.approx(2_000 / 1e6, rel=0.01)
