"""The 17 invariants over recorded sessions, each governed at a few cuts; skipped where the recordings are not."""

import json
from pathlib import Path

import pytest

from builders import dialect_named
from invariant_checks import CHECKS
from selfgc.model.policy import Boundary, Policy
from selfgc.model.profile import Profile
from selfgc.model.wire import split_body
from transcripts import Schedule, Transcript

SESSIONS = Path(__file__).parents[3] / "shared" / "sessions"
SHORT = ("s34.json", "s32.json", "s36.json")
SCHEDULES = {
    "planner": Schedule(Policy(), ("maintain", "nothing", "maintain"), ("fold",)),
    "any plan": Schedule(
        Policy(boundary=Boundary.STEP), ("plan", "restart", "plan"), ("fold", "", "mask", "prune", "")
    ),
}
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SESSIONS.exists(), reason="the recorded sessions are not there"),
]


def recorded(name, cuts):
    """A recorded session, cut at so many user inputs or, where there are too few, results."""
    request = json.loads((SESSIONS / name).read_bytes())["request"]
    messages = request.pop("messages")
    raws = tuple(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") for message in messages)
    ends = [n for n in range(1, len(raws) + 1) if messages[n - 1]["role"] == "user"]
    chosen = tuple(ends[len(ends) * (n + 1) // cuts - 1] for n in range(cuts))
    return Transcript("anthropic", raws, request, cuts=chosen)


@pytest.mark.parametrize("name", SHORT)
def test_recordings_are_valid(name):
    """What a recorded client sent is valid by our own rules."""
    transcript = recorded(name, 3)
    for length in transcript.calls:
        body = split_body(transcript.body(length))
        assert dialect_named("anthropic").check(body.messages, body.fields, Profile()) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("number", CHECKS)
@pytest.mark.parametrize("name", SHORT)
def test_short_form(name, number, schedule):
    """Each invariant holds for three sessions at three cuts each."""
    CHECKS[number](recorded(name, 3), SCHEDULES[schedule], "memory")


@pytest.mark.slow
@pytest.mark.parametrize("number", CHECKS)
@pytest.mark.parametrize("path", sorted(SESSIONS.glob("*.json")), ids=lambda path: path.stem)
def test_long_form(path, number):
    """Each invariant holds for every session at eight cuts."""
    for schedule in SCHEDULES.values():
        CHECKS[number](recorded(path.name, 8), schedule, "sqlite")
