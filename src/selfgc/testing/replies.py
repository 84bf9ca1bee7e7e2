"""What a scripted provider can be told to reply: answers of a model, and everything that goes wrong on the way."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec


class Call(msgspec.Struct, frozen=True):
    """One tool call of an answer. Without an id it gets one that is unique in its provider."""

    name: str
    arguments: Mapping[str, object] = {}
    id: str = ""


class Answer(msgspec.Struct, frozen=True):
    """What the model says: text, calls, or a refusal; in the order thinking, text, calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    """Reasoning before the text, signed; Chat Completions counts it among the tokens and does not show it."""
    refusal: str = ""
    """Why the model does not answer. Messages shows it as text with the stop reason `refusal`."""
    is_truncated: bool = False
    """Whether the output limit was reached: stop reason `max_tokens` or `length`."""
    delay: float = 0.0
    """Seconds until the first byte."""


class Failure(msgspec.Struct, frozen=True):
    """An HTTP error in the provider's own form: 429, 500, 529, or any other status from 400 on."""

    status: int
    message: str = "scripted failure"
    retry_after: float | None = None
    """Seconds, sent as the header `retry-after`."""


class Hang(msgspec.Struct, frozen=True):
    """No byte at all for so long; then, or when the provider is closed, the connection ends."""

    seconds: float = 3600.0


class Cut(msgspec.Struct, frozen=True):
    """An answer whose connection breaks after so many bytes of the body, streamed or not."""

    answer: Answer
    after: int = 0


class Junk(msgspec.Struct, frozen=True):
    """A body as it stands, whatever was asked for."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


Reply: TypeAlias = str | Answer | Failure | Hang | Cut | Junk
"""One entry of a script; a plain text stands for an answer of that text."""
