"""The judge's prompts, and the letters of the methods."""

from bench.scorecard.scorecards import DIMENSIONS
from selfgc.bench.scorecard.evidence import Evidence
from selfgc.bench.scorecard.prompts import comparing_prompt, comparing_rules, letters_of, scoring_prompt, scoring_rules

ONE, TWO = Evidence("view 1", "plan 1", "gone 1", "next"), Evidence("view 2", "plan 2", "gone 2", "next")


def test_the_rules_name_the_question_and_the_schema():
    """What is asked for stands in the prompt, for endpoints without structured output."""
    assert "Narrative coherence is not enough" in scoring_rules()
    assert all(name in scoring_rules() for name in DIMENSIONS)
    assert all(name in comparing_rules() for name in ("A_better", "stronger_aspects", "confidence"))


def test_a_view_is_shown_in_four_parts():
    """Under its letters only."""
    prompt = scoring_prompt("QX", ONE)
    assert [line for line in prompt.splitlines() if line.startswith("<") and "/" not in line] == [
        '<retained method="QX">',
        '<plan method="QX">',
        '<removed method="QX">',
        "<future>",
    ]


def test_a_pair_shares_its_future():
    """Both views, the future turn once."""
    prompt = comparing_prompt(TWO, ONE)
    assert prompt.index('method="A"') < prompt.index("view 2") < prompt.index('method="B"') < prompt.index("view 1")
    assert prompt.count("<future>") == 1


def test_letters_come_from_seed_case_and_view():
    """Two capital letters; the same view in the same case has the same, another one others."""
    letters = [letters_of(seed, ("s", cut), shown) for seed in range(6) for cut in range(6) for shown in (ONE, TWO)]
    assert all(len(one) == 2 and one.isupper() for one in letters)
    assert len(set(letters)) > 30
    assert letters_of(1, ("s", 2), ONE) == letters_of(1, ("s", 2), Evidence("view 1", "plan 1", "gone 1", "next"))
