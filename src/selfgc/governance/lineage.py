"""Lineage repair: pairs, order and roles of a view, for edits of ours and for histories that came in broken.

1. A call that something else follows before its result came gets an error answer in the view; a call at
   the very end is still in flight and is left alone. Results may come in several messages.
2. A result whose call does not stand right before it leaves the view.
3. An id that two calls share is made unique by occurrence, on the later call and its result.
4. A second result for one call leaves the view.
5. Neighbours of one role that an edit brought together become one message, unless one of them is signed.

The transcript is never changed; each repair is a value that the ledger tells.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from selfgc.model.dialect import Change, Dialect
from selfgc.model.message import Part, PartKind
from selfgc.model.outcome import Repair
from selfgc.model.snapshot import Snapshot


class _Round(msgspec.Struct):
    """The calls of the last assistant turn that wait for their results."""

    waiting: dict[str, list[tuple[int, str]]]
    """Call id to the calls that wait under it, in order: the message, and the id that it has in the view."""
    answered: set[str]


def find_repairs(snapshot: Snapshot) -> list[Repair]:
    """Return what a broken history needs so that a provider accepts it; empty when nothing is broken."""
    repairs: list[Repair] = []
    seen: set[str] = set()
    current = _Round({}, set())
    for number, entry in enumerate(snapshot.entries):
        message = entry.message
        if message.role == "assistant":
            repairs += _unanswered(current)
            current = _Round({}, set())
            for part in _of_kind(message.parts, PartKind.TOOL_CALL):
                repairs += _open(current, number, part, seen)
            continue
        answers = list(_of_kind(message.parts, PartKind.TOOL_RESULT))
        for part in answers:
            repairs += _close(current, number, part)
        if len(answers) < max(1, len(message.parts)):
            repairs += _unanswered(current)
            current = _Round({}, current.answered)
    if snapshot.entries and snapshot.entries[-1].message.role == "user":
        repairs += _unanswered(current)
    return repairs


def _of_kind(parts: Sequence[Part], kind: PartKind) -> Iterator[Part]:
    return (part for part in parts if part.kind is kind)


def _open(current: _Round, number: int, part: Part, seen: set[str]) -> list[Repair]:
    view_id, count = part.call_id, 2
    while view_id in seen:
        view_id, count = f"{part.call_id[:32]}-{count}", count + 1
    seen.add(view_id)
    current.waiting.setdefault(part.call_id, []).append((number, view_id))
    if view_id == part.call_id:
        return []
    sentence = f"the id {part.call_id} stands on two calls; the later one is {view_id} in the view"
    return [Repair(number, part.path, Change(call_id=view_id), part.call_id, sentence)]


def _close(current: _Round, number: int, part: Part) -> list[Repair]:
    waiting = current.waiting.get(part.call_id)
    if not waiting:
        why = "answered already" if part.call_id in current.answered else "not asked for right before it"
        return [Repair(number, part.path, Change(), part.call_id, f"a result for {part.call_id}, which was {why}")]
    _, view_id = waiting.pop(0)
    current.answered.add(part.call_id)
    if view_id == part.call_id:
        return []
    return [Repair(number, part.path, Change(call_id=view_id), part.call_id, f"the result belongs to {view_id}")]


def _unanswered(current: _Round) -> list[Repair]:
    return [
        Repair(number, "", None, view_id, f"the call {view_id} never got its result")
        for waiting in current.waiting.values()
        for number, view_id in waiting
    ]


class Item(msgspec.Struct, frozen=True):
    """One message on its way into a view."""

    raw: bytes
    origin: int
    """Index of the transcript message it came from, or behind which it was put."""
    role: str
    is_signed: bool = False
    is_answer: bool = False
    """Put in by a repair; it stands in no transcript."""


def join_neighbours(dialect: Dialect, items: Iterable[Item]) -> list[Item]:
    """Merge neighbours of one role that stand together only because of an edit or a repair."""
    joined: list[Item] = []
    for item in items:
        before = joined[-1] if joined else None
        if before is not None and _became_neighbours(before, item):
            merged = dialect.merge(before.raw, item.raw)
            joined[-1] = msgspec.structs.replace(item, raw=merged, is_answer=False)
        else:
            joined.append(item)
    return joined


def _became_neighbours(before: Item, after: Item) -> bool:
    if before.role != after.role or before.role not in {"user", "assistant"} or before.is_signed or after.is_signed:
        return False
    return before.is_answer or after.is_answer or after.origin - before.origin > 1
