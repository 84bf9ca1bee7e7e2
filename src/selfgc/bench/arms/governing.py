"""Arms that govern through our own engine: rehearsal, protection and recovery are the same for all of them."""

import hashlib
import re
from collections.abc import Mapping

import msgspec

from selfgc.bench.arms.planners import PLANNERS
from selfgc.bench.arms.protocol import Ask
from selfgc.bench.governed import Governed, Restorable
from selfgc.engine.context import ContextEngine
from selfgc.errors import UsageError
from selfgc.model.plan import Plan, read_plan
from selfgc.model.policy import Policy
from selfgc.model.snapshot import Snapshot

_POINTER = re.compile(
    r"\A(?P<before>.{0,200}?)\[folded [^\]]*?: (?P<back>selfgc restore (?P<id>[^\s\],]+))[^\]]*\].*\Z", re.DOTALL
)


def govern(name: str, ask: Ask) -> Governed:
    """Return the prefix as the arm of that name would send it. UsageError when there is no such arm."""
    if name.startswith("plan:"):
        return _through_engine(ask, _plan_of_file(name.removeprefix("plan:")), name)
    if name not in PLANNERS:
        raise UsageError(f"expected an arm ({', '.join(PLANNERS)}), got {name!r}")
    return _through_engine(ask, None, name)


def _plan_of_file(path: str) -> Plan:
    try:
        with open(path, "rb") as opened:  # noqa: PTH123 - a path as the caller wrote it
            return read_plan(opened.read()).plan
    except OSError as error:
        raise UsageError(f"expected a plan at {path}, but {error.strerror}") from error


def _through_engine(ask: Ask, plan: Plan | None, name: str) -> Governed:
    policy = Policy(target_prune=ask.rate, boundary=ask.boundary)  # type: ignore[arg-type]  # names are taken too
    engine = ContextEngine(session="bench", dialect=ask.dialect, policy=policy)
    if plan is None:
        engine.planner = PLANNERS[name](ask.seed)
    fields = {key: value for key, value in ask.body.items() if key != "messages"}
    engine.observe(ask.messages, **fields)
    snapshot = engine.snapshot()
    used = plan if plan is not None else engine.planner.plan(snapshot)
    report = engine.maintain(plan=used, is_cold=True)
    messages = engine.view()
    if name in _REWORDED:
        rows = _subjects(snapshot) if name == "fold-all-routing" else {}
        messages = [{key: _reworded(value, rows) for key, value in message.items()} for message in messages]
    payloads = tuple(_restorable(engine, object_id) for object_id in engine.restorable_ids())
    return Governed(
        tuple(messages), payloads, msgspec.json.encode(used).decode(), "" if report.committed else report.reason
    )


_REWORDED = frozenset({"fold-all-id", "fold-all-routing", "ours-bare-pointers"})
"""Arms whose pointers are cut down afterwards."""


def _restorable(engine: ContextEngine, object_id: str) -> Restorable:
    payload = engine.restore(object_id)
    return Restorable(object_id, payload, hashlib.sha256(payload).hexdigest())


def _subjects(snapshot: Snapshot) -> Mapping[str, str]:
    return {span.id: f"{span.tool} {span.facts.target}".strip() for span in snapshot.spans}


def _reworded(value: object, rows: Mapping[str, str]) -> object:
    """Return a message with each pointer cut down to its id, and to tool and subject where `rows` has them."""
    if isinstance(value, str):
        found = _POINTER.match(value)
        if found is None:
            return value
        return f"[folded: {found['back']}] {rows.get(found['id'], '')}".rstrip()
    if isinstance(value, dict):
        return {key: _reworded(item, rows) for key, item in value.items()}
    if isinstance(value, list):
        return [_reworded(item, rows) for item in value]
    return value
