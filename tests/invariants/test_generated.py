"""The 17 invariants of the design over generated transcripts of both dialects, in memory and on a disk.

What each invariant asks for stands in `invariant_checks`, with its number.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governed import desk, drive
from invariant_checks import CHECKS
from transcripts import schedules, transcripts

NAMES = {number: f"invariant_{number:02}_{check.__name__}" for number, check in CHECKS.items()}
EVERY = pytest.mark.parametrize("number", CHECKS, ids=NAMES.__getitem__)
DIALECTS = pytest.mark.parametrize("dialect", ["anthropic", "chat"])
QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)


def hold(number, dialect, kind, **profile):
    """Run one check over generated sessions."""

    @settings(deadline=None, suppress_health_check=QUIET, **profile)
    @given(transcripts(dialect), schedules())
    def run(transcript, schedule):
        CHECKS[number](transcript, schedule, kind)

    run()


def test_every_invariant_is_here():
    """All 17 have a check, and each check says which one it is."""
    assert list(CHECKS) == list(range(1, 18))
    assert all((check.__doc__ or "").startswith(f"Invariant {number}:") for number, check in CHECKS.items())


@DIALECTS
@EVERY
def test_in_memory(number, dialect):
    """Each invariant holds in sessions that are governed in memory."""
    hold(number, dialect, "memory", max_examples=12, derandomize=True)


@DIALECTS
@EVERY
def test_on_disk(number, dialect):
    """Each invariant holds in sessions whose store is a file, with an engine of its own after each restart."""
    hold(number, dialect, "sqlite", max_examples=4, derandomize=True)


@pytest.mark.slow
@DIALECTS
@EVERY
def test_in_many_more(number, dialect):
    """The long form: other sessions each time."""
    hold(number, dialect, "memory", max_examples=400)


def test_the_generator_is_not_idle():
    """Of what it draws a good part is edited, by every verb, in both dialects."""
    seen = Counter()

    @settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=QUIET)
    @given(st.sampled_from(["anthropic", "chat"]).flatmap(transcripts), schedules())
    def look(transcript, schedule):
        with desk("memory") as held:
            for step in drive(transcript, schedule, held):
                seen["edited"] += step.view != step.body
                seen["calls"] += 1
                if step.report is not None and step.report.committed:
                    seen.update(row.action for row in step.report.actions)
                    seen[transcript.dialect] += 1

    look()
    assert seen["edited"] > seen["calls"] / 10
    assert all(seen[name] for name in ("fold", "mask", "prune", "anthropic", "chat")), seen
