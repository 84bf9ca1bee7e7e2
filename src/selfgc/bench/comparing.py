"""Runs arms over cases in worker processes and judges what they give back; a run that was cut off goes on.

Each worker has a process for each arm. An arm that fails is recorded with its fault and judged as if it had done
nothing; a view that the provider would refuse is recorded as not valid.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import msgspec

from selfgc.bench.arms.process import ArmProcess
from selfgc.bench.arms.protocol import Ask, Failed
from selfgc.bench.arms.registry import Arm
from selfgc.bench.cases import Case
from selfgc.bench.governed import Governed
from selfgc.bench.judge.needs import Needs
from selfgc.bench.judge.reading import Reading
from selfgc.bench.judge.verdict import Judge
from selfgc.bench.preparing import SetOfCases, case_of
from selfgc.bench.records import CaseRecord, Judgement
from selfgc.bench.session import Session
from selfgc.bench.sessions import read_session
from selfgc.economics.tokens import VocabularyCounter
from selfgc.engine.context import DIALECTS, load_catalog

Key = tuple[str, str, int, str, float | None]
"""Set, session, cut, arm and rate: one judgement."""


class Order(msgspec.Struct, frozen=True):
    """Arms to run, each with its command and the rates that are asked of it; None is its default."""

    arm: str
    argv: tuple[str, ...]
    rates: tuple[float | None, ...]


class Work(msgspec.Struct, frozen=True):
    """One session's part of a run."""

    set: str
    path: str
    cases: tuple[CaseRecord, ...]
    needs: tuple[Needs, ...]
    orders: tuple[Order, ...]
    done: frozenset[Key]


def key_of(judgement: Judgement) -> Key:
    """Return what names a judgement."""
    return judgement.set, judgement.session, judgement.cut, judgement.subject, judgement.rate


def orders_of(arms: Sequence[Arm], rates: Sequence[float], peers: Path | None) -> list[Order]:
    """Return the orders of a run: every arm at its default, those with a knob at each rate too."""
    return [Order(arm.name, tuple(arm.argv(peers)), (None, *(rates if arm.has_knob else ()))) for arm in arms]


def compare(
    sets: Sequence[SetOfCases], orders: Sequence[Order], done: frozenset[Key], *, workers: int
) -> Iterator[list[Judgement]]:
    """Yield the judgements of one session after the other, as they are ready; those that are done are left out."""
    works = [work for found in sets for work in _works(found, orders, done)]
    works.sort(key=lambda work: -sum(record.tokens for record in work.cases))
    with ProcessPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(run_work, work) for work in works]):
            yield future.result()


def _works(found: SetOfCases, orders: Sequence[Order], done: frozenset[Key]) -> Iterator[Work]:
    by_session: dict[str, list[int]] = {}
    for place, record in enumerate(found.cases):
        by_session.setdefault(record.session, []).append(place)
    paths = {path.stem: path for path in sorted(Path(found.folder).glob("*.json*"))}
    for name, places in by_session.items():
        yield Work(
            set=found.name,
            path=str(paths[name]),
            cases=tuple(found.cases[place] for place in places),
            needs=tuple(found.needs[place] for place in places),
            orders=tuple(orders),
            done=frozenset(key for key in done if key[:2] == (found.name, name)),
        )


def run_work(work: Work) -> list[Judgement]:
    """Return the judgements of one session's cases that are not done yet."""
    session = read_session(Path(work.path))
    judge = Judge(work.set, session, Reading(VocabularyCounter().count))
    judged: list[Judgement] = []
    for record, needs in zip(work.cases, work.needs, strict=True):
        case = case_of(session, record)
        wanted = [(order, rate) for order in work.orders for rate in order.rates]
        judged += [
            _judged(judge, session, case, needs, order, rate)
            for order, rate in wanted
            if (work.set, session.name, record.cut, order.arm, rate) not in work.done
        ]
    return judged


_processes: dict[str, ArmProcess] = {}
"""The processes of this worker's arms; they end when the worker's end of their pipes does."""


def _judged(judge: Judge, session: Session, case: Case, needs: Needs, order: Order, rate: float | None) -> Judgement:
    start = time.perf_counter()
    answer = ask_arm(order, session, case, rate)
    seconds = time.perf_counter() - start
    fault = answer.error if isinstance(answer, Failed) else ""
    governed = Governed(tuple(map(dict, case.prefix))) if isinstance(answer, Failed) else answer
    judgement = judge.judge(needs, governed, subject=order.arm, rate=rate)
    valid = is_valid(session, [*governed.messages, case.continuation[0]])
    was_valid = valid or is_valid(session, [*case.prefix, case.continuation[0]])
    return msgspec.structs.replace(judgement, seconds=seconds, fault=fault, is_valid=valid or not was_valid)


def ask_arm(order: Order, session: Session, case: Case, rate: float | None) -> Governed | Failed:
    """Return what an arm makes of a case's prefix."""
    process = _processes.setdefault(order.arm, ArmProcess(order.argv))
    body: Mapping[str, object] = {**session.fields, "messages": list(case.prefix)}
    return process.ask(
        Ask(session.dialect, body, rate, seed=case.cut, protected=len(case.protected), boundary=case.boundary.value)
    )


def close_arms() -> None:
    """End the processes of this worker's arms."""
    for process in _processes.values():
        process.stop()
    _processes.clear()


def is_valid(session: Session, messages: Sequence[Mapping[str, object]]) -> bool:
    """Whether the provider would take these messages. A history that was broken before may stay as broken."""
    model = str(session.fields.get("model", ""))
    raws = [msgspec.json.encode(message) for message in messages]
    fields = {key: msgspec.json.encode(value) for key, value in session.fields.items()}
    return not DIALECTS[session.dialect]().check(raws, fields, load_catalog().row(model).profile(model))
