"""Projection: the active view as a pure function of transcript and committed edits.

Untouched messages are the bytes that came in. What an edit touches is rewritten by the dialect, part by
part, and the same edits over the same message always give the same bytes.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence

import msgspec

from selfgc.governance.carriers import tagged
from selfgc.governance.lineage import Item, join_neighbours
from selfgc.model.dialect import Change, Dialect
from selfgc.model.ids import ObjectId
from selfgc.model.message import PartKind
from selfgc.model.outcome import Repair, View
from selfgc.model.policy import Carrier
from selfgc.model.records import Edit, Replacement
from selfgc.model.snapshot import Snapshot

Cache = MutableMapping[bytes, bytes | None]
"""Renderings by a digest of message bytes and changes; the caller keeps it between calls."""


def changes_by_message(replacements: Iterable[Replacement]) -> dict[str, dict[str, Change]]:
    """Group frozen renderings by message chain; of two for one part the later one counts."""
    grouped: dict[str, dict[str, Change]] = {}
    for item in replacements:
        grouped.setdefault(item.chain, {})[item.path] = Change(item.text, item.arguments)
    return grouped


def project(
    snapshot: Snapshot,
    edits: Mapping[ObjectId, Edit],
    raws: Sequence[bytes] | None = None,
    repairs: Sequence[Repair] = (),
    cache: Cache | None = None,
) -> View:
    """Return the view of a snapshot under these edits and repairs.

    `raws` are the messages as they came this time (they may carry other cache markers); by default those
    of the snapshot.
    """
    sent = raws if raws is not None else [entry.message.raw for entry in snapshot.entries]
    changes = changes_by_message(item for edit in edits.values() for item in edit.replacements)
    touched = _touched(snapshot, changes, repairs)
    is_tagged = snapshot.policy.carrier is Carrier.TAGS
    if not touched and not repairs and not is_tagged:
        return View(tuple(sent), tuple(range(len(sent))))
    items: list[Item] = []
    for number, (raw, entry) in enumerate(zip(sent, snapshot.entries, strict=True)):
        rendered = raw if number not in touched else _render(snapshot.dialect, raw, touched[number], cache)
        if rendered is not None:
            items.append(Item(rendered, number, entry.message.role, entry.message.is_signed))
        elif items and (moved := snapshot.dialect.move_marker(raw, items[-1].raw)) is not None:
            items[-1] = msgspec.structs.replace(items[-1], raw=moved)
    if is_tagged:
        items = list(tagged(snapshot, items))
    joined = join_neighbours(snapshot.dialect, _with_answers(snapshot.dialect, items, repairs))
    return View(tuple(item.raw for item in joined), tuple(item.origin for item in joined), frozenset(touched))


def _touched(
    snapshot: Snapshot, changes: Mapping[str, dict[str, Change]], repairs: Sequence[Repair]
) -> dict[int, dict[str, Change]]:
    touched: dict[int, dict[str, Change]] = {}
    if changes:
        touched = {number: dict(changes[chain]) for number, chain in enumerate(snapshot.chains) if chain in changes}
    for repair in repairs:
        if repair.change is not None:
            found = touched.setdefault(repair.message, {})
            found[repair.path] = _both(found.get(repair.path), repair.change)
    return touched


def _both(edit: Change | None, repair: Change) -> Change:
    """Put an edit and a repair of one part together: an orphan leaves, a doubled id is renamed beside the edit."""
    if edit is None or edit.is_removal or repair.is_removal:
        return repair if edit is None or repair.is_removal else edit
    return msgspec.structs.replace(edit, call_id=repair.call_id)


def _render(dialect: Dialect, raw: bytes, changes: Mapping[str, Change], cache: Cache | None) -> bytes | None:
    if cache is None:
        return dialect.rewrite(raw, changes)
    key = hashlib.sha256(raw + msgspec.json.encode(changes)).digest()
    if key not in cache:
        cache[key] = dialect.rewrite(raw, changes)
    return cache[key]


def _with_answers(dialect: Dialect, items: Sequence[Item], repairs: Sequence[Repair]) -> Iterator[Item]:
    """Put in the answers that a broken history lacks, each right behind the message with its call."""
    missing: dict[int, list[str]] = {}
    if not repairs:
        yield from items
        return
    for repair in repairs:
        if repair.change is None:
            missing.setdefault(repair.message, []).append(repair.call_id)
    for item in items:
        yield item
        for answer in dialect.answer(missing.get(item.origin, ()), NO_OUTPUT):
            role = dialect.split(answer).role
            yield Item(answer, item.origin, role, is_answer=True)


NO_OUTPUT = "[interrupted: no output was recorded]"
"""What stands for a result that the history never got."""


def reasoning_changes(snapshot: Snapshot, before: int) -> tuple[Replacement, ...]:
    """Return the removal of every thinking part in the messages before an index."""
    return tuple(
        Replacement(snapshot.chains[number], part.path)
        for number in range(before)
        for part in snapshot.entries[number].message.parts
        if part.kind is PartKind.THINKING
    )
