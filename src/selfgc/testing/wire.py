"""What both formats of the scripted provider share: a reply ready to be sent, and the pieces of a stream."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from selfgc.testing.prefix_cache import Segment, Usage
from selfgc.testing.replies import Answer, Failure

PIECE = 24
"""Characters of one piece of a streamed text."""


class Made(NamedTuple):
    """An answer with what the provider adds to it."""

    answer: Answer
    """Its calls have ids."""
    id: str
    model: str
    usage: Usage
    output: int
    """Tokens of the output."""


class Format(Protocol):
    """One provider format: how a request is cut into segments, and how replies are written."""

    is_automatic: bool
    """Whether every prefix is cached without a mark."""

    def segments(self, fields: Mapping[str, object]) -> Sequence[Segment]:
        """Return the request's segments in the order the cache sees them."""
        ...

    def body(self, made: Made) -> Mapping[str, object]:
        """Return the whole answer."""
        ...

    def events(self, made: Made, fields: Mapping[str, object]) -> Iterator[bytes]:
        """Yield the server-sent events of the answer."""
        ...

    def error(self, failure: Failure) -> Mapping[str, object]:
        """Return the body of an HTTP error."""
        ...


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces; nothing for an empty one."""
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def compact(value: object) -> str:
    """Return compact JSON in the order of the value's own members."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def mappings(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a JSON array; an empty list for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
