"""The core's budgets of time and memory, as ratios to floors that are measured in the same run.

The floors are what nobody can avoid: taking the request's JSON apart and hashing each message.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

from selfgc.bench.texts import Decoded
from selfgc.economics.tokens import VocabularyCounter
from selfgc.engine.context import ContextEngine
from selfgc.governance.rehearse import rehearse
from selfgc.model.wire import split_body

STEPS = 40
"""So many single steps are timed for the median."""


class Budget(msgspec.Struct, frozen=True):
    """One row: what was measured, the figure as shown, and what is asked for."""

    what: str
    shown: str
    asked: str


def measure_budgets(dialect: str, fields: Mapping[str, object], messages: Sequence[Decoded]) -> list[Budget]:
    """Return the rows for one long request."""
    body = json.dumps({**fields, "messages": list(messages)}, ensure_ascii=False).encode()
    floor = _floor(body)
    counter = VocabularyCounter()
    counter.count("load the vocabulary before anything is timed")
    first, step, plan = _times(dialect, fields, messages, counter)
    size = f"{len(body) / 1e6:.1f} MB, {len(messages):,} messages"
    return [
        Budget(f"floor: split and hash ({size})", f"{floor * 1e3:.1f} ms", ""),
        Budget("observe + view, one new step, p50", f"{step * 1e3:.1f} ms = {step / floor:.1f} x floor", "3 x floor"),
        Budget("first sight", f"{first:.2f} s", "0.5 s"),
        Budget("default plan + rehearsal", f"{plan:.2f} s", "0.25 s"),
        Budget("peak memory, first sight to governed view", f"{_memory(dialect, body):.1f} x the request", "6 x"),
        Budget("import selfgc", f"{_process('import selfgc') * 1e3:.0f} ms", "100 ms"),
        Budget("selfgc --help, whole process", f"{_help() * 1e3:.0f} ms", "150 ms"),
    ]


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _floor(body: bytes) -> float:
    def work() -> None:
        for raw in split_body(body).messages:
            hashlib.sha256(raw).digest()

    return median(_timed(work) for _ in range(15))


def _times(
    dialect: str, fields: Mapping[str, object], messages: Sequence[Decoded], counter: VocabularyCounter
) -> tuple[float, float, float]:
    def request(upto: int) -> bytes:
        return json.dumps({**fields, "messages": list(messages[:upto])}, ensure_ascii=False).encode()

    upto = len(messages) - 2 * STEPS
    engine = ContextEngine(dialect=dialect)
    whole = request(upto)
    first = _timed(lambda: engine.observe_body(whole))
    snapshot = engine.snapshot()
    plan = _timed(lambda: rehearse(snapshot, engine.planner.plan(snapshot), counter))
    engine.maintain(is_cold=True)
    engine.view_body()
    steps = []
    for step in range(1, STEPS + 1):
        grown = request(upto + 2 * step)

        def work(body: bytes = grown) -> None:
            engine.observe_body(body)
            engine.view_body()

        steps.append(_timed(work))
    return first, median(steps), plan


_MEMORY_PROGRAM = """
import re, sys
from selfgc import ContextEngine
from selfgc.economics.tokens import VocabularyCounter
from selfgc.sidecar.sqlite import SqliteStore


def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024


counter = VocabularyCounter()
for piece in iter(lambda: sys.stdin.buffer.read(4096), b""):
    counter.count(piece.decode("utf-8", "replace"))
before = peak()
body = open(sys.argv[2], "rb").read()
engine = ContextEngine(dialect=sys.argv[1], store=SqliteStore(sys.argv[3]))
engine.observe_body(body)
engine.view_body()
engine.maintain(is_cold=True)
engine.view_body()
print((peak() - before) / len(body))
"""


def _memory(dialect: str, body: bytes) -> float:
    """Return peak memory above an interpreter with package and vocabulary loaded, in multiples of the request.

    Read from the kernel's high-water mark of the process, which only Linux has. The vocabulary's tables, which
    do not grow with the request, are touched before the first reading.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, store = Path(folder) / "body.json", Path(folder) / "store.db"
        path.write_bytes(body)
        command = [sys.executable, "-c", _MEMORY_PROGRAM, dialect, str(path), str(store)]
        return float(subprocess.run(command, input=body, capture_output=True, check=True).stdout)


def _process(program: str) -> float:
    """Return the time a program takes above an interpreter that does nothing, in seconds."""

    def work(text: str) -> float:
        command = [sys.executable, "-c", text]
        return median(_timed(lambda: subprocess.run(command, check=True)) for _ in range(7))

    return work(program) - work("pass")


def _help() -> float:
    command = [sys.executable, "-m", "selfgc", "--help"]
    return median(_timed(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(7))
