"""The rarity filter: an anchor that other sessions hold too is no sign that this prefix was needed.

Sessions of the same project count most here: they share names and lines that an agent would write anyway.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from selfgc.bench.judge.typed import all_spelled, line_anchor
from selfgc.bench.texts import Decoded, compatible, leaves

MAX_SHARE = 0.01
"""In a larger share of the other sessions than this an anchor is common; with up to 99 others, in any."""
_GUTTER = re.compile(r"\s*\d+(?:\t|→|[:-](?=\s))")
"""The line number that file readers and searches print before a line."""


class Rarity(msgspec.Struct, frozen=True):
    """In which sessions of a corpus each anchor occurs."""

    sessions: tuple[str, ...] = ()
    """The names of the corpus; the bit of a session is its place here."""
    holders: dict[str, int] = {}
    """By anchor, the bits of the sessions that hold it."""
    ignored: int = 0
    """The bits of the sessions that do not count."""

    def is_rare(self, anchor: str, session: str) -> bool:
        """Whether at most `MAX_SHARE` of the sessions other than `session` hold the anchor."""
        away = self.ignored | self._bit(session)
        others = len(self.sessions) - away.bit_count()
        return (self.holders.get(anchor, 0) & ~away).bit_count() <= MAX_SHARE * others

    def ignoring(self, *names: str) -> "Rarity":
        """Return the same filter with these sessions left out of the corpus, as the foreign-future control needs."""
        bits = self.ignored
        for name in names:
            bits |= self._bit(name)
        return msgspec.structs.replace(self, ignored=bits)

    def _bit(self, name: str) -> int:
        return 1 << self.sessions.index(name) if name in self.sessions else 0


def rarity_of(sessions: Iterable[tuple[str, Sequence[Decoded]]]) -> Rarity:
    """Return the filter of a corpus of named sessions. The order of the sessions does not change any answer."""
    names: list[str] = []
    holders: dict[str, int] = {}
    for name, messages in sessions:
        bit = 1 << len(names)
        names.append(name)
        for anchor in _spelled_in(messages):
            holders[anchor] = holders.get(anchor, 0) | bit
    return Rarity(tuple(names), holders)


def _spelled_in(messages: Sequence[Decoded]) -> set[str]:
    texts = {compatible(leaf.text) for message in messages for leaf in leaves(message)}
    text = "\n".join(texts)
    found = {part for anchor in all_spelled(text) for part in _with_endings(anchor)}
    found.update(_lines(text))
    return found


def _with_endings(anchor: str) -> Iterator[str]:
    """Yield the anchor and, for a path or URL, its endings: the same file is written under many roots."""
    yield anchor
    if "/" in anchor and " " not in anchor:
        steps = anchor.split("/")
        for start in range(1, len(steps)):
            yield "/".join(steps[start:])


def _lines(text: str) -> Iterator[str]:
    for line in set(text.split("\n")):
        anchor = line_anchor(_GUTTER.sub("", line, count=1) if line[:8].lstrip()[:1].isdigit() else line)
        if anchor is not None:
            yield anchor.text
