"""The LLM judge over cases of a set, against a scripted provider over real HTTP."""

import sys

import pytest

import bench_world as world
from bench.scorecard.scorecards import answer
from selfgc.bench.arms.registry import arms_named
from selfgc.bench.comparing import Order, orders_of
from selfgc.bench.preparing import prepare
from selfgc.bench.scorecard.settings import JudgeSettings
from selfgc.bench.scoring import score
from selfgc.testing import ScriptedProvider


@pytest.fixture
def found(tmp_path):
    world.write_session(tmp_path / "mine")
    (made,) = prepare([tmp_path / "mine"], [], workers=1, store=None, step=lambda _: None)
    return made


def scored(found, tmp_path, orders):
    with ScriptedProvider(lambda _: answer(5)) as provider:
        settings = JudgeSettings(
            model="gpt-5.5", cache_folder=str(tmp_path / "answers"), base_url=provider.openai_url, votes=1
        )
        return score(found, orders, settings, sample=5, step=lambda _: None)


def test_views_of_cases_with_needs_are_scored_and_compared(found, tmp_path):
    """One case needs something; deletion is an impact for S1, while this model finds no fault in anything."""
    made = scored(found, tmp_path, orders_of(arms_named("none,delete-all"), (), None))
    assert [(card.session, card.cut, card.subject) for card in made.cards] == [
        ("one", world.CUT, "delete-all"),
        ("one", world.CUT, "none"),
    ]
    assert (made.agreement.both_fine, made.agreement.only_card_fine) == (1, 1)


def test_an_arm_that_fails_has_no_card(found, tmp_path):
    """Nothing to show to the model."""
    broken = Order("broken", (sys.executable, "-c", "raise SystemExit(1)"), (None,))
    assert scored(found, tmp_path, [broken]).cards == ()
