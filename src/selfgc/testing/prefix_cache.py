"""A provider's prefix cache: what of a request it has seen before, and what it will know after.

A request is a row of segments (tools, system blocks, message blocks). A prefix that ends at a marked segment is
kept under the digest of everything up to there, and read by a later request whose prefix is the same to the byte.

1. Anthropic Messages: marks are the segments with `cache_control`; each mark looks back `lookback` segments.
2. Chat Completions: every segment is marked and the look-back has no end; what is read is rounded down to `step`.
3. Below `minimum` tokens nothing is kept and nothing read.
4. An entry lives for the lifetime of its mark, from the start of the request that wrote or last read it.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import msgspec

LIFETIME = 300.0
LONG_LIFETIME = 3600.0


def quarter(text: str) -> int:
    """Return a quarter of the characters: a plain way to count tokens."""
    return len(text) // 4


class CacheRules(msgspec.Struct, frozen=True):
    """How a provider caches. The defaults keep every prefix, so that short tests see the cache work."""

    minimum: int = 1
    """Tokens below which a prefix is not cached; 1,024 with most models."""
    lookback: int = 20
    """Segments that a mark looks back, Messages only."""
    step: int = 1
    """Cached tokens are rounded down to a multiple of this, Chat Completions only; 128 at OpenAI."""


class Segment(NamedTuple):
    """One piece of a request: its text without cache marks, and the lifetime of a mark that ends it (0: no mark)."""

    text: str
    lifetime: float = 0.0


class Usage(NamedTuple):
    """Input tokens of one request, by what became of them; together they are the whole input."""

    read: int
    written: int
    """Written for the short lifetime."""
    written_long: int
    uncached: int

    @property
    def total(self) -> int:
        """All input tokens."""
        return sum(self)


class _Entry(NamedTuple):
    end: float
    lifetime: float


class PrefixCache:
    """Remembers prefixes by model and tells each request's usage. Safe for several threads."""

    def __init__(
        self, rules: CacheRules, count: Callable[[str], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`count` counts the tokens of one segment."""
        self._rules, self._count, self._clock = rules, count, clock
        self._kept: dict[bytes, _Entry] = {}
        self._lock = threading.Lock()

    def use(self, model: str, segments: Sequence[Segment], *, is_automatic: bool = False) -> Usage:
        """Return the usage of a request, and keep its marked prefixes. `is_automatic`: the second rule."""
        digests = list(_digests(model, segments))
        tokens = [0, *accumulate(self._count(segment.text) for segment in segments)]
        marks = [
            place
            for place, segment in enumerate(segments, 1)
            if segment.lifetime and tokens[place] >= self._rules.minimum
        ]
        with self._lock:
            now = self._clock()
            hit = self._hit(digests, marks, now, len(segments) if is_automatic else self._rules.lookback)
            if hit:
                self._keep(digests[hit - 1], now, self._kept[digests[hit - 1]].lifetime)
            for place in marks:
                self._keep(digests[place - 1], now, segments[place - 1].lifetime)
        if is_automatic:
            read = tokens[hit] // self._rules.step * self._rules.step
            return Usage(read, 0, 0, tokens[-1] - read)
        return _split(segments, tokens, marks, hit)

    def _keep(self, digest: bytes, now: float, lifetime: float) -> None:
        self._kept[digest] = _Entry(now + lifetime, lifetime)

    def _hit(self, digests: Sequence[bytes], marks: Sequence[int], now: float, back: int) -> int:
        """Return how many segments are read: the longest living prefix that a mark finds."""
        for mark in reversed(marks):
            for place in range(mark, max(0, mark - back), -1):
                entry = self._kept.get(digests[place - 1])
                if entry is not None and entry.end > now:
                    return place
        return 0


def _digests(model: str, segments: Sequence[Segment]) -> Iterator[bytes]:
    """Yield for each segment the digest of everything up to its end."""
    running = hashlib.sha256(model.encode())
    for segment in segments:
        text = segment.text.encode("utf-8", "surrogatepass")
        running.update(len(text).to_bytes(8, "big"))
        running.update(text)
        yield running.digest()


def _split(segments: Sequence[Segment], tokens: Sequence[int], marks: Sequence[int], hit: int) -> Usage:
    """Return the usage: read up to the hit, written from there to the last mark, the rest uncached."""
    written = {LIFETIME: 0, LONG_LIFETIME: 0}
    ends = [hit, *(place for place in marks if place > hit)]
    for start, end in pairwise(ends):
        written[segments[end - 1].lifetime] += tokens[end] - tokens[start]
    return Usage(tokens[hit], written[LIFETIME], written[LONG_LIFETIME], tokens[-1] - tokens[ends[-1]])
