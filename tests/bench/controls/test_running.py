"""All controls in one call."""

from pathlib import Path

import msgspec
import pytest

from control_cases import NAMES, count, needing, vacuous
from selfgc.bench.controls.gathering import gather
from selfgc.bench.controls.running import Samples, run_controls
from selfgc.bench.judge.needs import Corpus
from selfgc.bench.sessions import read_session

SESSIONS = Path(__file__).parents[4] / "shared" / "sessions"
CASES = [needing("one"), needing("two", NAMES[3:]), vacuous("three")]
SMALL = Samples(bounds=2, random=2, placebo=2, planted=1, folds=2, determinism=1, perturbation=1)
NAMED = [
    "identity",
    "delete all but the protected tail",
    "random deletion",
    "anti-oracle",
    "oracle",
    "foreign future",
    "foreign future, same repository",
    "planted facts",
    "sidecar sabotage",
    "other wording of pointers",
    "re-rendering, keys in another order",
    "re-rendering, texts as blocks",
    "re-rendering of the continuation",
    "determinism",
    "length-matched placebo",
    "future perturbation, nothing",
]


def test_every_control_is_run_and_holds():
    """In the order of the table; the order of the cases changes nothing."""
    plans = {"nothing": lambda body: b""}
    records = run_controls(CASES, [], Corpus(), count=count, plans=plans, samples=SMALL)
    assert [record.name for record in records] == NAMED
    assert [record.name for record in records if not record.holds] == []
    assert run_controls(CASES[::-1], [], Corpus(), count=count, plans=plans, samples=SMALL) == records


def test_without_subjects_there_is_no_perturbation():
    """The judge's own controls need none."""
    records = run_controls(CASES, [], Corpus(), count=count, samples=SMALL)
    assert [record.name for record in records] == NAMED[:-1]


def test_records_can_be_written():
    """As JSON lines, like every record."""
    records = run_controls(CASES, [], Corpus(), count=count, samples=SMALL)
    assert msgspec.json.decode(msgspec.json.encode(records[0]))["type"] == "control"


@pytest.mark.shared
@pytest.mark.skipif(not SESSIONS.exists(), reason="the recorded sessions are not there")
def test_controls_hold_on_recorded_sessions():
    """Of two short sessions; foreign futures are too few there to say anything."""
    sessions = [read_session(SESSIONS / f"{name}.json") for name in ("s32", "s36")]
    gathered = gather({"sessions": sessions}, count=count, pairs=0, seed=1)
    records = run_controls(gathered.prepared, gathered.pairs, gathered.corpus, count=count, samples=SMALL)
    assert [record for record in records if not record.holds] == []
