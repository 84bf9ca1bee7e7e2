"""Figures from judgements: intervals, paired tests, slices and pairings."""

import pytest

from selfgc.bench.records import CaseRecord, Category, Judgement, Levels, Loss, Status
from selfgc.bench.tally import clustered, holm, losses_of, mcnemar, pairings_of, rows_of, slices_of, wilson


def levels(*, s0=True, s1=True, needed=2, restores=0):
    return Levels(needed, needed if s0 else needed - 1, s0, s1, s1, s1, restores)


def case(session, cut=1, *, hard=False, headline=True, needed=2, tokens=30_000):
    return CaseRecord("set", session, cut, "coding", 3, "turn", headline, hard, tokens, 100, needed, 0)


def judgement(session, cut=1, arm="reachability", rate=None, view=400, **others):
    both = levels(**others)
    loss = Loss("A", "x", "id", "argument", "Bash.command", 1, 1.0, Status.RECOVERABLE, Category.LOCATOR)
    losses = () if both.s0 else (loss,)
    return Judgement("set", session, cut, arm, rate, 1000, view, 0, both, both, both, both, 1.0, 2, 1, losses)


@pytest.mark.parametrize(
    ("hits", "cases", "low", "high"),
    [(28, 33, 0.6908, 0.9335), (22, 33, 0.4961, 0.8025), (307, 332, 0.8912, 0.9485), (308, 332, 0.8947, 0.9509)],
)
def test_wilson_gives_the_published_intervals(hits, cases, low, high):
    """Those of the paper's tables, to a ten-thousandth."""
    found = wilson(hits, cases)
    assert (found.low, found.high) == (pytest.approx(low, abs=6e-4), pytest.approx(high, abs=6e-4))


def test_no_cases_have_the_widest_interval():
    """Nothing is known."""
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)
    assert (clustered({}).low, clustered({}).high) == (0, 1)


def test_clusters_of_like_values_are_wider_than_single_cases():
    """Ten cuts of one session tell no more than one."""
    alike = clustered({str(n): [float(n % 2)] * 10 for n in range(10)})
    single = wilson(50, 100)
    assert alike.value == single.value == 0.5
    assert alike.high - alike.low > 1.5 * (single.high - single.low)
    assert clustered({"a": [1.0, 0.0], "b": [1.0]}) == clustered({"b": [1.0], "a": [1.0, 0.0]})


def test_mcnemar_is_the_exact_binomial_test():
    """Eight against two: 2 (1 + 10 + 45) / 1024."""
    assert mcnemar(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)
    assert mcnemar(0, 0) == 1
    assert mcnemar(1, 1) == 1


def test_holm_corrects_step_by_step():
    """The smallest by all, the next by one less; never falling."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_slices_overlap():
    """A case may be of its set's cuts, its headline, hard, long, and of its kind."""
    found = slices_of([case("a", hard=True), case("b", headline=False, tokens=9_000)])
    assert {name: len(places) for name, places in found.items()} == {
        "set, turn cuts": 2,
        "set, one cut a session": 1,
        "set, hard": 1,
        "set, 20k tokens and more": 1,
        "set: coding": 2,
    }


def test_a_row_tells_the_share_with_and_without_vacuous_cases():
    """Where nothing was needed nobody fails."""
    cases = [case("a"), case("b"), case("c", needed=0)]
    judged = [judgement("a"), judgement("b", s0=False, restores=1), judgement("c")]
    row = next(row for row in rows_of(cases, judged) if row.slice == "set, turn cuts")
    assert (row.cases, row.vacuous) == (3, 1)
    assert (row.s0.value, row.s0_needed) == (pytest.approx(2 / 3), 0.5)
    assert (row.prune, row.restores, row.contracts) == (0.6, pytest.approx(1 / 3), 0.5)
    assert row.uses_visible == pytest.approx(5 / 6)


def test_the_later_judgement_of_a_case_counts():
    """A run that was repeated."""
    (row, *_) = rows_of([case("a")], [judgement("a", s0=False), judgement("a")])
    assert row.s0.value == 1


def test_ours_is_paired_at_a_rate_that_is_at_least_as_high():
    """Of two of our points the one that prunes no less than the other arm."""
    names = [f"s{n}" for n in range(8)]
    cases = [case(name) for name in names]
    judged = [judgement(name) for name in names]
    judged += [judgement(name, rate=0.3, view=700, s0=False) for name in names]
    judged += [judgement(name, arm="oldest-turn", view=500, s0=False, s1=False) for name in names]
    found = {one.level: one for one in pairings_of(cases, judged, "reachability") if one.slice == "set, turn cuts"}
    assert (found["s0"].ours_rate, found["s0"].ours_net, found["s0"].other_net) == (None, 0.6, 0.5)
    assert (found["s0"].ours_only, found["s0"].theirs_only) == (8, 0)
    assert found["s0"].p == pytest.approx(2 / 2**8)
    assert found["s1"].p_holm == found["s1"].p


def test_where_ours_prunes_less_everywhere_its_highest_point_is_taken():
    """And without ours there is nothing to pair."""
    cases = [case("a")]
    judged = [judgement("a", view=800), judgement("a", arm="delete-all", view=100)]
    assert [one.ours_net for one in pairings_of(cases, judged, "reachability")] == pytest.approx([0.2, 0.2])
    assert pairings_of(cases, judged[1:], "reachability") == []


def test_losses_are_counted_by_category_and_status():
    """Of what weighs enough."""
    found = losses_of([judgement("a", s0=False), judgement("b", s0=False), judgement("c")])
    assert found == {("reachability", None): {(Category.LOCATOR, Status.RECOVERABLE): 2}}
