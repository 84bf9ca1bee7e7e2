"""The controls of the judge over the sets of a run: gathered from the session files, with our planner in a process."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from selfgc.bench.arms.process import ArmProcess
from selfgc.bench.arms.protocol import Ask, Failed
from selfgc.bench.arms.registry import ARMS
from selfgc.bench.controls.gathering import gather
from selfgc.bench.controls.running import run_controls
from selfgc.bench.preparing import SetOfCases
from selfgc.bench.records import ControlRecord
from selfgc.bench.sessions import read_sessions
from selfgc.economics.tokens import VocabularyCounter
from selfgc.errors import UsageError

OURS = "reachability"
PAIRS = 80
"""Foreign futures of each kind."""
SEED = 1


def control_records(
    sets: Sequence[SetOfCases], others: Sequence[Path], step: Callable[[str], None]
) -> list[ControlRecord]:
    """Return every control over the cases of all sets. `step` is told what is being done."""
    step("gathering cases and foreign futures for the controls")
    count = VocabularyCounter().count
    sessions = {found.name: list(read_sessions(Path(found.folder))) for found in sets}
    common = [(str(folder / one.name), one.messages) for folder in others for one in read_sessions(folder)]
    gathered = gather(sessions, common, count=count, pairs=PAIRS, seed=SEED)
    step("running the controls of the judge")
    with ArmProcess(ARMS[OURS].argv()) as arm:
        return run_controls(
            gathered.prepared, gathered.pairs, gathered.corpus, count=count, plans={OURS: lambda raw: plan_of(arm, raw)}
        )


def plan_of(arm: ArmProcess, raw: bytes) -> bytes:
    """Return the plan of an arm for a serialised request. UsageError when it gives none."""
    answer = arm.ask(Ask("anthropic", msgspec.json.decode(raw, type=dict[str, object])))
    if isinstance(answer, Failed):
        raise UsageError(f"{OURS} gave no plan for the future-perturbation test: {answer.error}")
    return answer.plan.encode()
