"""Where the needs of a case stand, and folds made by hand: what holds one is put away, and pointers stand in its place.

Nothing of governance is used here: the view, the pointers and the payloads are plain data whose verdict is known.
"""

import hashlib
import re
from collections.abc import Callable, Sequence

import msgspec

from selfgc.bench.controls.prepared import Judges, Prepared, dice, joined, parts_of, sampled
from selfgc.bench.governed import Restorable
from selfgc.bench.judge.needs import Need
from selfgc.bench.judge.sources import calls_of
from selfgc.bench.judge.typed import Anchor, spellings
from selfgc.bench.judge.uses import Use
from selfgc.bench.judge.verbatim import Span
from selfgc.bench.records import Judgement, Status
from selfgc.bench.texts import Decoded, normal, raw_text

_NEAR = 180
"""Characters on each side of a need from which a pointer takes its words."""
_MOST_WORDS = 12
_TRIES = 8
"""Needs of a case that are tried until one can be pointed at."""
_WORD = re.compile(r"(?<![\w.-])[A-Za-z]{5,}(?![\w.-])")

Wording = Callable[[str, Sequence[str]], str]
"""Makes a pointer's text of an id and of words that tell what the payload is about."""


class Sources:
    """Where the needs of one case stand: the messages that hold each, and those that put one together."""

    def __init__(self, case: Prepared, judges: Judges) -> None:
        self._needs = case.strict
        self._parts = parts_of(case.cut, judges)
        self._deletable = case.cut.deletable
        self._fixed = sorted(set(range(len(self._parts))) - set(self._deletable))
        self._alone = [self._bearing(need) for need in self._needs]

    def everything(self) -> set[int]:
        """Return the messages that hold a need or a window of one, and what else is missing to see all needs."""
        holding = {n for bearing in self._alone for n in bearing}
        return self._completed(holding)

    def fewest(self) -> set[int]:
        """Return the last message that holds each need, and what else is missing to see all needs."""
        last = {
            bearing[-1] for need, bearing in zip(self._needs, self._alone, strict=True) if self._is_held(need, bearing)
        }
        return self._completed(last)

    def to_delete(self) -> set[int]:
        """Return the messages without which no need is seen."""
        gone = {n for bearing in self._alone for n in bearing}
        for need in self._needs:
            while True:
                last = self._completing(need, [*self._fixed, *(n for n in self._deletable if n not in gone)])
                if last is None or last in self._fixed:
                    break
                gone.add(last)
        return gone

    def _bearing(self, need: Need) -> list[int]:
        if isinstance(need, Span):
            return [n for n in self._deletable if len(self._parts[n].missing(need)) < len(need.windows)]
        spelled = spellings(Anchor(need.kind, need.anchor))
        found = [n for n in self._deletable if any(spelling in self._parts[n].text for spelling in spelled)]
        return [n for n in found if self._parts[n].holds(need)]

    def _is_held(self, need: Need, bearing: Sequence[int]) -> bool:
        return bool(bearing) and self._parts[bearing[-1]].holds(need)

    def _completed(self, held: set[int]) -> set[int]:
        added = set(held)
        kept = [*self._fixed, *sorted(added)]
        seen = joined(self._parts[n] for n in kept)
        for need in self._needs:
            while not seen.holds(need):
                last = self._completing(need, [*kept, *self._deletable])
                if last is None:
                    break
                added.add(last)
                kept.append(last)
                seen = joined(self._parts[n] for n in kept)
        return added

    def _completing(self, need: Need, order: Sequence[int]) -> int | None:
        """Return the first message of an order with which the ones up to it show a need; None when all do not."""
        if not self._shows(need, order):
            return None
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if self._shows(need, order[:middle]):
                high = middle
            else:
                low = middle + 1
        return order[low - 1] if low else None

    def _shows(self, need: Need, order: Sequence[int]) -> bool:
        return joined(self._parts[n] for n in order).holds(need)


class Fold(msgspec.Struct, frozen=True):
    """One message put away."""

    message: int
    item: Restorable
    words: tuple[str, ...]
    """Words that stand near the need and are none of it."""


class Folded(msgspec.Struct, frozen=True):
    """A case with one need, whose every source is put away."""

    case: Prepared
    folds: tuple[Fold, ...]

    @property
    def items(self) -> list[Restorable]:
        """The payloads."""
        return [fold.item for fold in self.folds]

    def view(self, wording: Wording) -> list[Decoded]:
        """Return the prefix with pointers in the place of what is put away."""
        pointers = {fold.message: wording(fold.item.id, fold.words) for fold in self.folds}
        return [
            {"role": message.get("role"), "content": pointers[number]} if number in pointers else message
            for number, message in enumerate(self.case.cut.case.prefix)
        ]

    def status(self, judges: Judges, messages: Sequence[Decoded], items: Sequence[Restorable]) -> Status:
        """Return what became of the need in a view."""
        return status_of(judges.judge(self.case, messages, items))


def status_of(judgement: Judgement) -> Status:
    """Return the status of the one need of a judgement."""
    return judgement.losses[0].status if judgement.losses else Status.VISIBLE


def named(object_id: str, words: Sequence[str]) -> str:
    """The wording of a good pointer."""
    return f"[folded {object_id}] on {', '.join(words)}"


def renamed(object_id: str, words: Sequence[str]) -> str:
    """Another wording with the same facts."""
    return f"<put-away subject={' '.join(reversed(words))!r} ref={object_id!r}/>"


def id_only(object_id: str, _: Sequence[str]) -> str:
    """The wording of a pointer that tells nothing."""
    return f"[folded {object_id}]"


def nameless(_: str, words: Sequence[str]) -> str:
    """What is left when the pointer itself is gone: the words, and no id."""
    return f"[folded] on {', '.join(words)}"


def folded(case: Prepared, need: Need, judges: Judges) -> Folded | None:
    """Return a case with one of its needs put away; None when its neighbourhood has no words to point with."""
    uses, spans = ((need,), ()) if isinstance(need, Use) else ((), (need,))
    alone = Prepared(case.cut, msgspec.structs.replace(case.needs, uses=uses, spans=spans))
    texts = {number: raw_text(case.cut.case.prefix[number]) for number in Sources(alone, judges).to_delete()}
    tools = {place: call.tool for call in calls_of(case.cut.case.prefix) for place in (call.asked, call.answered)}
    folds = tuple(
        Fold(number, item_of(f"function:{tools.get(number, 'message')}:{number}", text), words)
        for number, text in sorted(texts.items())
        if (words := _words(normal(text), need))
    )
    return Folded(alone, folds) if folds and len(folds) == len(texts) else None


def foldable(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> tuple[int, list[Folded]]:
    """Return how many needs were put away, one a case, and those folds that the judge finds recoverable."""
    found = []
    for case in sampled((case for case in cases if not case.is_vacuous), size, seed):
        needs = dice("folds", seed, case.cut.place).sample(case.strict, min(_TRIES, len(case.strict)))
        fold = next((made for need in needs if (made := folded(case, need, judges)) is not None), None)
        if fold is not None:
            found.append(fold)
    good = [fold for fold in found if fold.status(judges, fold.view(named), fold.items) is Status.RECOVERABLE]
    return len(found), good


def item_of(object_id: str, text: str) -> Restorable:
    """Return a text as a payload whose digest is right."""
    payload = text.encode("utf-8", "surrogatepass")
    return Restorable(object_id, payload, hashlib.sha256(payload).hexdigest())


def _words(text: str, need: Need) -> tuple[str, ...]:
    own = need.text if isinstance(need, Span) else need.anchor
    start = text.find(max(need.windows[0].split(" "), key=len) if isinstance(need, Span) else own)
    if start < 0:
        return ()
    near = text[max(0, start - _NEAR) : start + _NEAR]
    found = dict.fromkeys(word for word in _WORD.findall(near) if word.lower() not in own.lower())
    return tuple(found)[:_MOST_WORDS]
