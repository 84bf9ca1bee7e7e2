"""Context objects: what a planner may target."""

import re

import msgspec

from selfgc.model.ids import ObjectId, ObjectKind, Tokens
from selfgc.model.message import Message, PartKind, PartRef
from selfgc.model.spans import Effect, Outcome, SpanFacts

PART_OVERHEAD = 4
"""Tokens that a provider adds around each part; one figure for all, the same before and after."""


class PartFacts(msgspec.Struct, frozen=True, gc=False):
    """What is known of one part without its text."""

    tokens: int
    anchors: tuple[str, ...] = ()
    body: bytes = b""
    """Short digest of the part's text, to tell repeats; empty for short texts."""


class CallFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of the call at one part, kept beside the message so that they are found out once."""

    part: int
    tool: str
    facts: SpanFacts
    written: bytes = b""
    """Short digest of the largest argument, to tell that a later read shows what was written."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One message with everything that is found out about it once."""

    message: Message
    parts: tuple[PartFacts, ...]
    calls: tuple[CallFacts, ...] = ()
    outcomes: tuple[tuple[int, Outcome], ...] = ()
    """For each result: its part's index, and how it says that the call ended."""
    skill_parts: tuple[tuple[int, str], ...] = ()
    """Texts that a harness put in as skill state: the part's index, and the skill's name."""

    @property
    def tokens(self) -> int:
        """Tokens of the whole message."""
        return sum(part.tokens for part in self.parts) + PART_OVERHEAD

    @property
    def opens_turn(self) -> bool:
        """Whether it is real user input: text or media, and no answer to a tool call."""
        if self.message.role != "user":
            return False
        skills = {number for number, _ in self.skill_parts}
        kinds = {part.kind for number, part in enumerate(self.message.parts) if number not in skills}
        return bool(kinds) and PartKind.TOOL_RESULT not in kinds


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
