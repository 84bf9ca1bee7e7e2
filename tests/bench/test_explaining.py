"""Cards: a verdict as a person can check it."""

import pytest

import bench_world as world
from selfgc.bench.arms.registry import arms_named
from selfgc.bench.comparing import Order, orders_of
from selfgc.bench.explaining import explain
from selfgc.bench.preparing import prepare
from selfgc.errors import UsageError


@pytest.fixture
def found(tmp_path):
    world.write_session(tmp_path / "mine")
    (made,) = prepare([tmp_path / "mine"], [], workers=1, store=None, step=lambda _: None)
    return made


def explained(found, arm, cut=world.CUT, session="one"):
    return explain(found, session, cut, orders_of(arms_named(arm), [], None)[0], None)


def test_a_card_shows_source_and_pointer(found):
    """What stood around it, and what the view says of the payload that holds it."""
    made = explained(found, "fold-all-routing")
    card = next(card for card in made.cards if card.loss.text == world.OLD_LINE.strip())
    assert "def price_of(row_plan):" in card.source_text
    assert "function:Read:1" in card.view_text
    assert made.judgement.subject == "fold-all-routing"


def test_what_nothing_leads_to_has_no_pointer(found):
    """Deleted, not folded; a span's source is shown too."""
    made = explained(found, "delete-all")
    assert made.cards
    assert all(card.view_text == "" for card in made.cards)
    assert any(card.loss.matcher == "B" and card.source_text for card in made.cards)


def test_a_case_that_is_not_there_is_refused_with_those_that_are(found):
    """Or with the word that there is no such session."""
    with pytest.raises(UsageError, match=r"no case one:99; its cases are one:10, one:14"):
        explained(found, "none", cut=99)
    with pytest.raises(UsageError, match="no such session"):
        explained(found, "none", session="ten")


def test_an_arm_that_could_not_is_told(found):
    """With its own words."""
    with pytest.raises(UsageError, match="broken could not govern one:14"):
        explain(found, "one", world.CUT, Order("broken", ("false",), (None,)), None)
