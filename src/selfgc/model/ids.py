"""Object ids and the session-local monotonic allocator that hands them out.

An id comes from structure alone (kind, tool name, order of appearance); it is never parsed out of
transcript text, and a number once given is never given again in the session.
"""

import re
from enum import StrEnum
from typing import NewType

import msgspec

ObjectId = NewType("ObjectId", str)
"""`conversation:user:k`, `function:<tool>:n` or `skill:<name>:n`."""

Tokens = NewType("Tokens", int)
"""A number of tokens, counted offline with one vocabulary for every message of a session."""

SessionKey = NewType("SessionKey", str)
"""The name a session has in a store; chosen by the caller, never derived from a fixed-length head."""

ID_PATTERN = re.compile(r"(conversation|function|skill):([A-Za-z0-9_.-]{1,64}):([1-9][0-9]{0,9})")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_.-]")


class ObjectKind(StrEnum):
    """What a context object is: a user turn, a tool span, or skill state."""

    CONVERSATION = "conversation"
    FUNCTION = "function"
    SKILL = "skill"


def kind_of(object_id: ObjectId) -> ObjectKind:
    """Return the kind that stands before the first colon of an id."""
    return ObjectKind(object_id.partition(":")[0])


def number_of(object_id: ObjectId) -> int:
    """Return the allocator's number that ends an id."""
    return int(object_id.rpartition(":")[2])


def safe_name(name: str) -> str:
    """Return a tool or skill name with every character outside `[A-Za-z0-9_.-]` replaced, 64 at most."""
    return _NOT_IN_NAME.sub("_", name)[:64] or "_"


class Allocator(msgspec.Struct, frozen=True):
    """The numbers given so far. `next_turn` is for user turns, `next_span` for spans and skills together."""

    next_turn: int = 1
    next_span: int = 1

    def turn(self) -> tuple[ObjectId, "Allocator"]:
        """Give the next user turn an id; the second value is the allocator to go on with."""
        taken = ObjectId(f"conversation:user:{self.next_turn}")
        return taken, Allocator(self.next_turn + 1, self.next_span)

    def span(self, kind: ObjectKind, name: str) -> tuple[ObjectId, "Allocator"]:
        """Give the next tool span or skill an id; the second value is the allocator to go on with."""
        taken = ObjectId(f"{kind}:{safe_name(name)}:{self.next_span}")
        return taken, Allocator(self.next_turn, self.next_span + 1)

    def past(self, object_id: ObjectId) -> "Allocator":
        """Return an allocator that will never give `object_id` again; used when ids come from a store."""
        number = number_of(object_id) + 1
        if kind_of(object_id) is ObjectKind.CONVERSATION:
            return Allocator(max(self.next_turn, number), self.next_span)
        return Allocator(self.next_turn, max(self.next_span, number))
