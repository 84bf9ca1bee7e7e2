"""One digest, again, in another order and in another process."""

import msgspec

from control_cases import NAMES, needing, vacuous
from selfgc.bench.controls import determinism as module
from selfgc.bench.controls.determinism import about, determinism, digest_of, world_of
from selfgc.bench.controls.judging import SessionJudges

CASES = [needing("one"), needing("two", NAMES[3:]), vacuous("three")]


def test_the_digest_stays():
    """Twice, shuffled, and where strings have other hashes."""
    record = determinism(CASES, SessionJudges, size=3, seed=1)
    assert record.holds, record.found
    assert record.found.endswith(" of 3 cases of 3 sessions, seed 1")


def test_other_verdicts_have_another_digest():
    """One other session, or other gaps, change it."""
    digests = {
        digest_of(world_of(cases, seed), SessionJudges(about))
        for cases, seed in ((CASES, 1), (CASES[:2], 1), (CASES, 2))
    }
    assert len(digests) == 3


def test_a_digest_that_wanders_is_told(monkeypatch):
    """With another answer each time the control fails, and says where."""
    answers = iter("abcdef")
    monkeypatch.setattr(module, "digest_of", lambda world, judges: next(answers))
    record = determinism(CASES, SessionJudges, size=1, seed=1)
    assert not record.holds
    assert record.found.endswith("another one: again, shuffled, other process")


def test_a_process_that_fails_is_told():
    """What it said stands in the place of a digest."""
    broken = msgspec.structs.replace(world_of(CASES, 1), cuts=("no place",))
    assert "Expected `object`, got `str`" in module._elsewhere(broken)


def test_nothing_to_digest_shows_nothing():
    """Without cases the control does not hold."""
    assert not determinism([], SessionJudges, size=3, seed=1).holds
