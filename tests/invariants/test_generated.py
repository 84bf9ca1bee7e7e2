"""The 17 invariants of the design over generated transcripts of both dialects, in memory and on a disk.

What each invariant asks for stands in `invariant_checks`, with its number.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    hold(number, dialect, "memory", max_examples=16, derandomize=True)


@DIALECTS
@EVERY
def test_on_disk(number, dialect):
    """Each invariant holds in sessions whose store is a file, with an engine of its own after each restart."""
    hold(number, dialect, "sqlite", max_examples=6, derandomize=True)


@pytest.mark.slow
@DIALECTS
@EVERY
def test_in_many_more(number, dialect):
    """The long form: other sessions each time."""
    hold(number, dialect, "memory", max_examples=400)


@given(st.data())
@settings(max_examples=30, derandomize=True, deadline=None, suppress_health_check=QUIET)
def test_generated_transcripts_are_governed(data):
    """The generator is no idle one: what it draws is valid, and a good part of it is edited."""
    for dialect in ("anthropic", "chat"):
        CHECKS[3](data.draw(transcripts(dialect)), data.draw(schedules()), "memory")
