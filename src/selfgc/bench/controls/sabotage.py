"""Sidecar sabotage: what a good pointer leads to is recoverable, and after each kind of damage it no longer is."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from selfgc.bench.controls.folding import Folded, foldable, id_only, item_of, named, nameless, renamed
from selfgc.bench.controls.prepared import Judges, Prepared, told, with_first
from selfgc.bench.governed import Restorable
from selfgc.bench.records import ControlRecord, Status
from selfgc.bench.texts import Decoded

LEAST_RECOVERABLE = 0.9
"""Share of the undamaged folds that the judge must find recoverable, or the control would show nothing."""

Damaged = tuple[str, list[Decoded], list[Restorable]]
"""What was damaged, the view and the payloads."""


def sabotage(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> ControlRecord:
    """Return how often damage to payloads and pointers was caught."""
    whole, good = foldable(cases, judges, size=size, seed=seed)
    caught: Counter[str] = Counter()
    wrong = []
    statuses: Counter[Status] = Counter()
    for fold in good:
        for damage, view, items in _damages(fold):
            status = fold.status(judges, view, items)
            statuses[status] += 1
            caught[damage] += status not in {Status.RECOVERABLE, Status.VISIBLE}
            if status in {Status.RECOVERABLE, Status.VISIBLE}:
                wrong.append(f"{damage} in {fold.case.cut.session.name} at {fold.case.cut.case.cut}: {status}")
    found = (
        f"{len(good)} of {whole} folds recoverable before; caught of {len(good)}: "
        f"{', '.join(f'{damage} {number}' for damage, number in caught.items())}; "
        f"{', '.join(f'{status} {number}' for status, number in sorted(statuses.items()))}; seed {seed}"
    )
    holds = bool(good) and not wrong and len(good) >= LEAST_RECOVERABLE * whole
    expected = "recoverable before, lost or unroutable (or re-derivable) after each damage"
    return ControlRecord("sidecar sabotage", expected, with_first(found, wrong), holds)


def wording(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> ControlRecord:
    """Return whether pointers with the same facts in other words get the same verdict."""
    _, good = foldable(cases, judges, size=size, seed=seed)
    wrong = []
    for fold in good:
        status = fold.status(judges, fold.view(renamed), fold.items)
        if status is not Status.RECOVERABLE:
            wrong.append(f"{fold.case.cut.session.name} at {fold.case.cut.case.cut}: {status}")
    found = f"{len(wrong)} of {len(good)} verdicts differ; {told([fold.case for fold in good], seed)}"
    holds = bool(good) and not wrong
    return ControlRecord("other wording of pointers", "verdict unchanged", with_first(found, wrong), holds)


def _damages(fold: Folded) -> Iterator[Damaged]:
    good, items = fold.view(named), fold.items
    yield "flipped byte", good, [_flipped(item) for item in items]
    yield "lost payload", good, []
    yield "dropped pointer", fold.view(nameless), items
    yield "id only", fold.view(id_only), items
    other = item_of("c:store:other", "nothing that anybody asked for stands in here")
    yield "swapped bytes", good, _swapped(items, other, keeps_digest=True)
    yield "swapped payloads", good, _swapped(items, other, keeps_digest=False)


def _flipped(item: Restorable) -> Restorable:
    middle = len(item.payload) // 2
    damaged = bytearray(item.payload)
    damaged[middle] ^= 1
    return msgspec.structs.replace(item, payload=bytes(damaged))


def _swapped(items: Sequence[Restorable], other: Restorable, *, keeps_digest: bool) -> list[Restorable]:
    """Return the payloads, each exchanged with that of another id; their digests stay in place or go along."""
    found = []
    for number, item in enumerate(items):
        away = msgspec.structs.replace(other, id=f"{other.id}:{number}")
        one = (item.id, other.payload, item.sha256 if keeps_digest else other.sha256)
        two = (away.id, item.payload, other.sha256 if keeps_digest else item.sha256)
        found += [Restorable(*one), Restorable(*two)]
    return found
