"""What governance hands on: views, repairs and rehearsals, as values."""

from typing import NamedTuple

import msgspec

from selfgc.model.dialect import Change
from selfgc.model.ids import Tokens
from selfgc.model.records import Edit, Payload


class View(msgspec.Struct, frozen=True):
    """What the next model call is sent: raw messages, and which transcript message each came from."""

    messages: tuple[bytes, ...]
    origins: tuple[int, ...]
    edited: frozenset[int] = frozenset()
    """Transcript indices of messages that are not sent as they came in."""


class Repair(msgspec.Struct, frozen=True):
    """One repair of a history that came in broken. `change` None: an answer is put in after the message."""

    message: int
    path: str
    change: Change | None
    call_id: str
    sentence: str


class Refused(NamedTuple):
    """An action that rehearsal turned down."""

    object_id: str
    verb: str
    rule: str
    sentence: str


class Rehearsal(msgspec.Struct, frozen=True):
    """A plan worked out against a snapshot: what would be committed, what was refused, and the view."""

    planner: str
    version: int
    digest: str
    edits: tuple[Edit, ...]
    payloads: tuple[Payload, ...]
    refused: tuple[Refused, ...]
    tokens_before: Tokens
    """Tokens of the view as it is now."""
    tokens_after: Tokens
    """Tokens of the view after the commit."""
    reasoning_tokens: Tokens
    """Tokens of bound reasoning that the commit takes out."""
    first_changed: int
    """Index of the first transcript message that changes; the number of messages when none does."""
    view: View
