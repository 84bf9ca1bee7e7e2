"""Matcher A: which uses of a continuation needed the prefix, and whether a governed view still shows them.

1. Uses are what the agent itself produced (arguments, prose, thinking) and what the user's own words refer to.
2. The continuation is walked in order: the uses of a message are tested first, then its texts become known.
3. A use is needed when its anchor occurs in the prefix, is not yet known, and is rare.
4. Each anchor is tested once, at its first use: after that the agent's own text holds it.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.judge.guessable import is_common_file, is_common_folder
from selfgc.bench.judge.produced import Place, produced, weight_of
from selfgc.bench.judge.rarity import Rarity
from selfgc.bench.judge.typed import Anchor, Kind, spellings
from selfgc.bench.texts import Decoded, Source, leaves, normal, view_text

_EVERYTHING_RARE = Rarity()


class Use(msgspec.Struct, frozen=True):
    """One use of an anchor that was to be had, at that step, only from the prefix."""

    anchor: str
    kind: Kind
    step: int
    """The assistant message of the continuation that uses it, counted from 1; 0 for the user message that opens it."""
    weight: float
    place: Place
    where: str
    """For a person: the tool and argument, or the place again."""


def needed_uses(
    case: Case, *, known_text: str = "", protected: Sequence[Decoded] = (), rarity: Rarity = _EVERYTHING_RARE
) -> list[Use]:
    """Return the needed uses of the case in order, by teacher forcing along its continuation.

    `known_text` is what every view holds (system prompt, tool definitions), `protected` the tail of the prefix that
    every method keeps.
    """
    prefix = view_text(case.in_view)
    known = "\n".join([normal(known_text), _standing_text(case.prefix), view_text(protected)])
    tested: set[str] = set()
    needed: list[Use] = []
    step = 0
    for message in case.continuation:
        step += message.get("role") == "assistant"
        for use in _heaviest(message, step):
            if use.anchor in tested:
                continue
            tested.add(use.anchor)
            if rarity.is_rare(use.anchor, case.session) and visible(use, prefix) and not visible(use, known):
                needed.append(use)
        known = known + "\n" + view_text([message])
    return needed


def visible(use: Use, text: str) -> bool:
    """Whether the anchor stands in `text`, which `view_text` made, in any of its spellings.

    A path also counts when its folder and its ending (two steps at least, or a usual name) are to be had there.
    """
    anchor = Anchor(use.kind, use.anchor)
    if any(stands_in(spelling, text) for spelling in spellings(anchor)):
        return True
    return use.kind is Kind.PATH and _is_composable(use.anchor, text)


def stands_in(exact: str, text: str) -> bool:
    """Whether the exact string stands in the text as a whole word: `id_12` does not stand in `valid_123`."""
    start = text.find(exact)
    while start >= 0:
        if _is_bounded(text, start, start + len(exact)):
            return True
        start = text.find(exact, start + 1)
    return False


def _is_bounded(text: str, start: int, end: int) -> bool:
    left = start == 0 or not _is_word(text[start]) or not _is_word(text[start - 1]) or _is_escape(text, start)
    return left and (end == len(text) or not _is_word(text[end - 1]) or not _is_word(text[end]))


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _is_escape(text: str, start: int) -> bool:
    """Whether a line break or tab, escaped within a JSON string, ends before `start`."""
    return start >= 2 and text[start - 2] == "\\" and text[start - 1] in "nrt"


def _is_composable(path: str, text: str) -> bool:
    """Whether an absolute path can be put together: its folder stands there, and its ending does or is guessable."""
    steps = path.split("/")
    if steps[0] and not steps[0].endswith(":"):
        return False
    least = 2 if steps[0] else 3
    return any(
        _stands_path(steps[cut:], text, guess=True) and _stands_path(steps[:cut], text)
        for cut in range(least, len(steps))
    )


def _stands_path(steps: list[str], text: str, *, guess: bool = False) -> bool:
    path = "/".join(steps)
    if guess and (is_common_file(path) or all(map(is_common_folder, steps))):
        return True
    if guess and len(steps) < 2:
        return False
    return any(stands_in(spelling, text) for spelling in spellings(Anchor(Kind.PATH, path)))


def _standing_text(prefix: Iterable[Decoded]) -> str:
    """Return the system texts among the messages: no method removes them."""
    return "\n".join(
        normal(leaf.text) for message in prefix for leaf in leaves(message) if leaf.source is Source.SYSTEM
    )


def _heaviest(message: Decoded, step: int) -> Iterator[Use]:
    """Yield the uses of one message, each anchor once, at its heaviest place."""
    best: dict[str, Use] = {}
    for found in produced(message):
        weight = weight_of(found.place, found.anchor.kind)
        held = best.get(found.anchor.text)
        if held is None or weight > held.weight:
            best[found.anchor.text] = Use(found.anchor.text, found.anchor.kind, step, weight, found.place, found.where)
    yield from best.values()
