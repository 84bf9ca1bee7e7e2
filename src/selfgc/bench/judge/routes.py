"""Routes: whether somebody who reads the view finds the payload that holds what is needed, and in how many restores.

A pointer is a text of the view that is not the session's own and names a payload's id; the call beside a result
belongs to it. It routes to a need when it also holds a salient term: of the need's neighbourhood in the payload,
of the source's key (its path, URL or command), or of what the agent names at the place of use.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from selfgc.bench.governed import Restorable
from selfgc.bench.judge.needs import Need
from selfgc.bench.judge.reading import Reading, message_key
from selfgc.bench.judge.sources import call_texts, result_texts
from selfgc.bench.judge.typed import Anchor, spellings
from selfgc.bench.judge.uses import Use, stands_in
from selfgc.bench.judge.verbatim import Span
from selfgc.bench.texts import Decoded, leaves, normal

NEIGHBOURHOOD = 200
"""Characters on each side of a need, in the payload, whose terms lead to it."""
_TERM = re.compile(r"[A-Za-z_][\w.-]{4,}")
_EMPTY = frozenset(
    [
        "folded",
        "masked",
        "pruned",
        "restore",
        "selfgc",
        "function",
        "conversation",
        "context",
        "lines",
        "characters",
        "payload",
        "content",
        "result",
        "tool",
        "output",
        "file",
        "command",
        "turn",
        "calls",
        "cleared",
        "removed",
        "stored",
        "tokens",
        "message",
        "messages",
        "returns",
        "return",
        "import",
        "const",
        "class",
        "export",
        "async",
        "await",
        "string",
        "number",
        "false",
        "public",
        "private",
        "static",
        "array",
        "object",
    ]
)
"""Words of pointers and of code that lead nowhere."""


class Routes:
    """The pointers of one view, and the payloads that they lead to."""

    def __init__(self, reading: Reading, messages: Sequence[Decoded], own: AbstractSet[bytes]) -> None:
        """`own` are the keys (`message_key`) of the session's own messages."""
        self._reading = reading
        self._pointers = list(_pointers(messages, own))
        self._everywhere = _everywhere(self._pointers)

    def lead_to(self, item: Restorable, need: Need, terms: Iterable[str]) -> bool:
        """Whether a pointer names the payload and tells that it is the one to look in."""
        wanted = [*terms, *self._neighbours(item, need)]
        return any(
            names(item.id, pointer) and any(stands_in(term, pointer.replace(item.id, " ")) for term in wanted)
            for pointer in self._pointers
        )

    def _neighbours(self, item: Restorable, need: Need) -> set[str]:
        text = self._reading.payload(item).text
        wanted = spellings(Anchor(need.kind, need.anchor)) if isinstance(need, Use) else [_longest_token(need)]
        exact = next((spelling for spelling in wanted if stands_in(spelling, text)), None)
        if exact is None:
            return set()
        found = text.find(exact)
        near = text[max(0, found - NEIGHBOURHOOD) : found + len(exact) + NEIGHBOURHOOD]
        return {term for term in _TERM.findall(near) if term.lower() not in _EMPTY and term not in self._everywhere}


def _longest_token(span: Span) -> str:
    return max(span.windows[0].split(" "), key=len)


def _everywhere(pointers: Sequence[str]) -> set[str]:
    """Return the terms that most pointers hold: their common wording, which tells none of them from the others."""
    counts = Counter(term for pointer in pointers for term in set(_TERM.findall(pointer)))
    return {term for term, number in counts.items() if number >= COMMON_POINTERS and number > len(pointers) / 2}


COMMON_POINTERS = 8
"""With fewer pointers than this nothing is said to be their common wording."""


def names(object_id: str, text: str) -> bool:
    """Whether a text names an id: in full, without its first link, or in a list that shares all but the number."""
    short = object_id.split(":", 1)[-1]
    if stands_in(object_id, text) or (short != object_id and stands_in(short, text)):
        return True
    name, _, number = short.rpartition(":")
    return bool(name) and re.search(rf"(?<![\w:]){re.escape(name)}:(?:\d+,)+{re.escape(number)}\b", text) is not None


class Cover(msgspec.Struct, frozen=True):
    """Which restores bring back the needs that can be had, in the order in which they are made."""

    ids: tuple[str, ...]
    tokens: int
    by_need: Mapping[int, str]
    """By the need's place in the list, the id that gives it back."""


def cover(holders: Mapping[int, Sequence[Restorable]], size: Callable[[Restorable], int], most: int) -> Cover:
    """Return the restores for the needs: of each its shortest payload, or when those are more than `most`, the fewest.

    The fewest are found greedily: the payload with most needs first, of several the shorter one.
    """
    sizes = {item.id: size(item) for found in holders.values() for item in found}
    left = {need: {item.id for item in found} for need, found in holders.items()}
    shortest = {need: min(found, key=lambda key: (sizes[key], key)) for need, found in left.items()}
    chosen = list(dict.fromkeys(shortest.values()))
    if len(chosen) <= most:
        return Cover(tuple(chosen), sum(sizes[key] for key in chosen), shortest)
    chosen, by_need = [], {}
    while left:
        best = min(sizes, key=lambda key: (-sum(key in found for found in left.values()), sizes[key], key))
        chosen.append(best)
        for need in [need for need, found in left.items() if best in found]:
            by_need[need] = best
            del left[need]
    return Cover(tuple(chosen), sum(sizes[key] for key in chosen), by_need)


def _pointers(messages: Sequence[Decoded], own: AbstractSet[bytes]) -> Iterable[str]:
    """Yield the texts of messages that are not the session's own, a result together with its call."""
    asked: dict[object, str] = {}
    for message in messages:
        asked.update(call_texts(message))
        if message_key(message) in own:
            continue
        results = result_texts(message)
        for call, text in results.items():
            yield normal(f"{asked.get(call, '')}\n{text}")
        yield from (normal(leaf.text) for leaf in leaves(message) if leaf.text)
