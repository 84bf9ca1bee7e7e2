"""Context objects: what a planner may target."""

import re

import msgspec

from selfgc.model.ids import ObjectId, ObjectKind, Tokens
from selfgc.model.message import PartRef
from selfgc.model.spans import Effect, SpanFacts


class PartFacts(msgspec.Struct, frozen=True, gc=False):
    """What is known of one part without its text."""

    tokens: int
    anchors: tuple[str, ...] = ()
    body: bytes = b""
    """Short digest of the part's text, to tell repeats; empty for short texts."""


class Span(msgspec.Struct, frozen=True, gc=False):
    """A tool call with its result: a function object, or skill state."""

    id: ObjectId
    kind: ObjectKind
    tool: str
    call: PartRef
    result: PartRef | None
    """None while the call is open."""
    facts: SpanFacts
    turn: int
    """Index into the snapshot's turns; -1 before the first user turn."""
    call_tokens: Tokens
    result_tokens: Tokens
    body: bytes = b""
    """Short digest of the result's text; of the written body for a write."""

    @property
    def tokens(self) -> int:
        """Tokens of call and result together."""
        return self.call_tokens + self.result_tokens

    @property
    def is_open(self) -> bool:
        """Whether the result has not come yet."""
        return self.result is None


class Turn(msgspec.Struct, frozen=True, gc=False):
    """A user message with everything up to the next one."""

    id: ObjectId
    start: int
    """Index of the user's message."""
    end: int
    """Index past the turn's last message."""
    first_span: int
    """Index of its first span in the snapshot's spans."""
    past_span: int
    """Index past its last span."""


_DOCUMENT = re.compile(r"\.(?:md|mdx|rst|txt|adoc)$", re.IGNORECASE)
_REPORTING = frozenset({Effect.AGENT, Effect.OTHER, Effect.FETCH})


def is_document(span: Span) -> bool:
    """Whether a span's body is prose for people (a plan, a contract, a report) rather than code or data."""
    return _DOCUMENT.search(span.facts.target) is not None or span.facts.effect in _REPORTING
