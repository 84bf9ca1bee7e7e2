"""The page of a run."""

import re

from selfgc.bench.page import page_of
from selfgc.bench.records import Bill, CaseRecord, Category, ControlRecord, Judgement, Levels, Loss, Status


def levels(s0):
    return Levels(2, 2 if s0 else 1, s0, s1=True, s2=True, kept=True, restores=0 if s0 else 1)


def judgement(session, arm, rate=None, *, s0=True):
    loss = Loss("A", "<x>", "id", "argument", "Bash", 1, 1.0, Status.RECOVERABLE, Category.LOCATOR)
    both = levels(s0)
    losses = () if s0 else (loss,)
    return Judgement("<set>", session, 1, arm, rate, 1000, 400, 10, both, both, both, both, 1.0, 1, 1, losses)


def bill(policy, money):
    return Bill(
        set="<set>",
        session="a",
        policy=policy,
        sheet="opus-5",
        lifetime="5m",
        calls=10,
        tokens_mean=1.0,
        tokens_peak=2,
        read=90,
        written=10,
        uncached=0,
        output=1,
        money_read=money,
        money_written=0.0,
        money_uncached=0.0,
        money_output=0.0,
        money_planner=0.0,
        money_restores=0.0,
        breaks=1,
        commits=1,
        restores=0.0,
    )


CASES = [
    CaseRecord(
        "<set>",
        name,
        1,
        "",
        2,
        "turn",
        is_headline=True,
        is_hard=False,
        tokens=1000,
        protected_tokens=9,
        needed_a=2,
        needed_b=0,
    )
    for name in ("a", "b")
]
RECORDS = [
    *CASES,
    *(judgement(name, arm, s0=arm == "reachability") for name in ("a", "b") for arm in ("reachability", "oldest-turn")),
    judgement("a", "anthropic-clear", 0.44),
    judgement("a", "headroom"),
    bill("none", 10.0),
    bill("default", 4.0),
    ControlRecord("identity", "100 %", "<all>", holds=True),
]


def test_the_page_is_whole_and_asks_nobody():
    """One document with the drawing code in it; no address is loaded from anywhere."""
    page = page_of(RECORDS, dated="2026-12-01")
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>")
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=", page)
    assert len(page) < 6_000_000


def test_figures_tables_and_controls_are_there():
    """S0 and S1, losses, money and the judge's own checks; what stands in records is escaped."""
    page = page_of(RECORDS, dated="2026-12-01")
    for words in (
        "2 cases of 2 sessions, 0 of them vacuous",
        "&lt;set&gt;, turn cuts: 2 cases, 0 vacuous",
        "ours against each arm",
        "Needed uses out of view",
        "Billed input: opus-5 5m",
        "-60.0%",
        "&lt;all&gt;",
    ):
        assert words in page
    assert "<set>" not in page.replace("&lt;set&gt;", "")


def test_an_empty_run_has_a_page_too():
    """It says that there is nothing."""
    assert "0 cases of 0 sessions" in page_of([], dated="2026-12-01")
