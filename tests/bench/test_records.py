"""The records of a run."""

from selfgc.bench.records import Bill, CaseRecord, Judgement, Levels

LEVELS = Levels(needed=2, visible=2, s0=True, s1=True, s2=True, kept=True, restores=0)


def case(a, b):
    return CaseRecord(
        "set",
        "s",
        1,
        "",
        1,
        "turn",
        is_headline=True,
        is_hard=False,
        tokens=9,
        protected_tokens=1,
        needed_a=a,
        needed_b=b,
    )


def test_a_case_without_needs_is_vacuous():
    """No method can fail it."""
    assert case(0, 0).is_vacuous
    assert not case(0, 1).is_vacuous


def test_net_prune_counts_what_comes_back():
    """Pointers are in the view already."""
    one = Judgement("set", "s", 1, "x", None, 100, 40, 10, LEVELS, LEVELS, LEVELS, LEVELS, 1.0, 0, 0, ())
    assert (one.prune, one.net_prune) == (0.6, 0.5)


def test_a_bill_adds_up():
    """Input with planner and restores; output beside it."""
    bill = Bill(
        set="s",
        session="s",
        policy="none",
        sheet="x",
        lifetime="5m",
        calls=1,
        tokens_mean=1.0,
        tokens_peak=1,
        read=1,
        written=1,
        uncached=1,
        output=1,
        money_read=1.0,
        money_written=2.0,
        money_uncached=4.0,
        money_output=8.0,
        money_planner=16.0,
        money_restores=32.0,
        breaks=0,
        commits=0,
        restores=0.0,
    )
    assert (bill.money_input, bill.money) == (55.0, 63.0)
