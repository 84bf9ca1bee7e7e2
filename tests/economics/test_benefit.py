"""What a commit is worth: the break-even table, a worked example, and every term."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfgc.economics
from selfgc.economics.benefit import REASONING_WEIGHT, RESTORE_TOKENS, Terms, commit_benefit
from selfgc.economics.catalog import LifetimeIs, Money, Row, read_catalog
from selfgc.errors import UsageError
from selfgc.model.ids import Tokens
from selfgc.model.profile import Thinking

CATALOG = read_catalog(Path(selfgc.economics.__file__).with_name("data").joinpath("models.toml").read_bytes())
OPUS = CATALOG.row("claude-opus-5")


def priced(write, read, output=25.0):
    return Row("*", write, write, write, read, output, 300, LifetimeIs.MAXIMUM, 1024, Thinking.NONE, "a test")


def terms(removed, suffix, calls=15.0, *, is_cold=False, **others):
    return Terms(Tokens(removed), Tokens(suffix), calls, is_cold, **others)


RATIOS = (0.2, 0.3, 0.44, 0.5, 0.7, 0.9)
BREAK_EVEN = {
    "grok-4.7": (12, 7, 3.8, 3, 1.3, 0.3),
    "qwen3.7-max": (16, 9.3, 5.1, 4, 1.7, 0.4),
    "minimax-m3": (16, 9.3, 5.1, 4, 1.7, 0.4),
    "gpt-5.5": (36, 21, 11.5, 9, 3.9, 1),
    "gemini-3.1-pro": (36, 21, 11.5, 9, 3.9, 1),
    "kimi-k3": (36, 21, 11.5, 9, 3.9, 1),
    "claude-opus-5": (46, 26.8, 14.6, 11.5, 4.9, 1.3),
    "claude-haiku-4-5": (46, 26.8, 14.6, 11.5, 4.9, 1.3),
    "gpt-5.6": (46, 26.8, 14.6, 11.5, 4.9, 1.3),
    "gpt-6-sol": (46, 26.8, 14.6, 11.5, 4.9, 1.3),
    "claude-opus-5-5": (96, 56, 30.5, 24, 10.3, 2.7),
    "claude-sonnet-5-5": (96, 56, 30.5, 24, 10.3, 2.7),
    "deepseek-v4-pro": (116, 68, 37, 29, 12.4, 3.2),
    "claude-fable-5-1": (196, 114, 62, 49, 21, 5.4),
    "deepseek-v4-flash": (196, 114, 62, 49, 21, 5.4),
}
"""Calls to come at which a free plan pays, by model, when it removes each of RATIOS of the suffix."""


@pytest.mark.parametrize("model", BREAK_EVEN)
def test_break_even_by_model_and_share(model):
    """k (1 / share - 1) calls: between 7 and 114 for the same plan, so that no constant is right."""
    prices = CATALOG.row(model)
    found = [commit_benefit(terms(round(share * 100_000), 100_000), prices).break_even for share in RATIOS]
    assert [round(calls, 1) for calls in found] == [pytest.approx(calls, abs=0.51) for calls in BREAK_EVEN[model]]
    precise = [(mine, told) for mine, told in zip(found, BREAK_EVEN[model], strict=True) if told != int(told)]
    assert [round(mine, 1) for mine, _ in precise] == [told for _, told in precise]


@pytest.mark.parametrize(
    ("model", "wanted"),
    [("claude-opus-5", (76, 44, 24, 19, 8.1, 2.1)), ("gpt-6-sol", (96, 56, 30.5, 24, 10.3, 2.7))],
)
def test_break_even_of_long_lifetimes(model, wanted):
    """Dearer writes make a break dearer."""
    row = CATALOG.row(model)
    prices = priced(row.write_long, row.read)
    found = [commit_benefit(terms(round(share * 100_000), 100_000), prices).break_even for share in RATIOS]
    assert found == [pytest.approx(calls, abs=0.51) for calls in wanted]


def test_no_break_where_nothing_is_cached():
    """Without cache prices every edit pays from the first call on."""
    found = commit_benefit(terms(100, 100_000, calls=1), CATALOG.row("ollama/anything"))
    assert (found.break_even, found.cache_break) == (0.0, 0.0)
    assert found.total == pytest.approx(100 / 1e6)


def test_a_front_prune_that_loses_money():
    """30% of an 80,000-token suffix: the break costs $0.322, a call saves $0.012, 15 calls do not pay for it."""
    found = commit_benefit(terms(24_000, 80_000), OPUS)
    assert found.cache_break == pytest.approx(0.322)
    assert found.saved / 15 == pytest.approx(0.012)
    assert found.total == pytest.approx(-0.142)
    assert found.break_even == pytest.approx(26.8, abs=0.05)


def test_a_tail_prune_that_gains():
    """Less is removed, nearer to the end: the break costs $0.0345 and pays after 5 calls."""
    found = commit_benefit(terms(14_000, 20_000), OPUS)
    assert found.cache_break == pytest.approx(0.0345)
    assert found.saved / 15 == pytest.approx(0.007)
    assert found.break_even == pytest.approx(4.9, abs=0.05)
    assert found.total == pytest.approx(0.07, abs=0.001)


def test_the_front_prune_on_a_cold_cache():
    """Nothing breaks: $0.15 at once, $0.318 over 15 calls."""
    assert commit_benefit(terms(24_000, 80_000, calls=1, is_cold=True), OPUS).total == pytest.approx(0.15)
    found = commit_benefit(terms(24_000, 80_000, is_cold=True), OPUS)
    assert found.total == pytest.approx(0.318)
    assert (found.break_even, found.cache_break) == (0.0, 0.0)


def test_the_front_prune_on_cheaper_reads():
    """The same plan needs 114 calls where a read costs a fiftieth of a write."""
    found = commit_benefit(terms(24_000, 80_000), CATALOG.row("claude-fable-5-1"))
    assert found.break_even == pytest.approx(114, abs=0.5)


def test_a_cold_commit_saves_the_first_write_even_without_calls_to_come():
    """The call at hand is always there; fewer than it is no cost."""
    assert commit_benefit(terms(1_000, 5_000, calls=0, is_cold=True), OPUS).total == pytest.approx(0.00625)


@pytest.mark.parametrize("is_cold", [False, True])
def test_planning_reasoning_and_restores_cost(is_cold):
    """Each further term lowers the benefit by what it says, on either cache."""
    plain = commit_benefit(terms(24_000, 80_000, is_cold=is_cold), OPUS)
    found = commit_benefit(
        terms(24_000, 80_000, is_cold=is_cold, planning=Money(0.02), reasoning=Tokens(4_000), restores=0.5), OPUS
    )
    assert found.planning == 0.02
    assert found.reasoning == pytest.approx(4_000 * REASONING_WEIGHT * 25 / 1e6)
    assert found.restores == pytest.approx(0.5 * (RESTORE_TOKENS * 6.25 + 80_000 * 0.5) / 1e6)
    assert found.total == pytest.approx(plain.total - found.planning - found.reasoning - found.restores)


def test_further_terms_move_the_break_even():
    """What a commit costs beside the break must be saved as well: cost / (r D) calls more."""
    plain = commit_benefit(terms(24_000, 80_000), OPUS)
    found = commit_benefit(terms(24_000, 80_000, planning=Money(0.024)), OPUS)
    assert found.break_even - plain.break_even == pytest.approx(2)


@pytest.mark.parametrize("removed", [0, -5])
@pytest.mark.parametrize("is_cold", [False, True])
def test_a_plan_that_removes_nothing_is_refused(removed, is_cold):
    """There is no break-even for it."""
    with pytest.raises(UsageError, match=f"got {removed} removed"):
        commit_benefit(terms(removed, 100, is_cold=is_cold), OPUS)


SHARES = st.floats(0.01, 1)
PRICES = st.builds(lambda read, factor: priced(read * factor, read), st.floats(0.01, 10), st.floats(1, 80))
TERMS = st.builds(
    lambda suffix, share, planning, restores: terms(
        max(1, round(suffix * share)), suffix, planning=Money(planning), restores=restores
    ),
    st.integers(1, 1_000_000),
    SHARES,
    st.floats(0, 1),
    st.floats(0, 3),
)


def at(case, calls, *, is_cold=False):
    return terms(case.removed, case.suffix, calls, is_cold=is_cold, planning=case.planning, restores=case.restores)


@settings(deadline=None)
@given(TERMS, PRICES)
def test_benefit_is_nothing_at_break_even(case, prices):
    """Below that many calls a commit loses, above it gains."""
    calls = commit_benefit(case, prices).break_even
    found = commit_benefit(at(case, calls), prices)
    scale = max(found.saved, 1e-9)
    assert found.total == pytest.approx(0, abs=1e-6 * scale)
    assert commit_benefit(at(case, calls + 1), prices).total > 0
    assert calls == 0 or commit_benefit(at(case, calls * 0.9), prices).total < 0


@settings(deadline=None)
@given(TERMS, PRICES, st.floats(1, 500))
def test_a_cold_cache_never_makes_a_commit_worse(case, prices, calls):
    """What is written anyway costs no break."""
    warm, cold = (commit_benefit(at(case, calls, is_cold=is_cold), prices).total for is_cold in (False, True))
    assert cold >= warm - 1e-9 * abs(warm)
