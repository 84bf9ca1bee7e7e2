"""What is asked of an endpoint and what comes back, as values; no client library is needed for them."""

import hashlib
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from selfgc.bench.scorecard.settings import JudgeSettings


class Ask(msgspec.Struct, frozen=True):
    """One question. `vote` tells repetitions of the same words apart."""

    rules: str
    prompt: str
    form: str
    """Name of the answer's schema."""
    schema: dict[str, Any]
    vote: int

    def digest(self, settings: JudgeSettings) -> str:
        """Return the digest under which the answer is kept: of everything that can change what is answered."""
        sent = [
            settings.dialect.value,
            settings.base_url,
            settings.model,
            settings.temperature,
            settings.structured,
            settings.max_output_tokens,
            self,
        ]
        return hashlib.sha256(msgspec.json.encode(sent, order="sorted")).hexdigest()


class Said(msgspec.Struct, frozen=True):
    """An answer as the endpoint gave it, with what it billed."""

    text: str
    refusal: str = ""
    """Why the model would not answer."""
    is_truncated: bool = False
    """Whether the output limit ended it."""
    read: int = 0
    """Input tokens read from the provider's cache."""
    written: int = 0
    uncached: int = 0
    output: int = 0
    without: tuple[str, ...] = ()
    """Optional fields that the endpoint refused, so that it was asked without them."""


class Failed(msgspec.Struct, frozen=True):
    """A call that brought no answer."""

    why: str
    is_worth_repeating: bool = False
    retry_after: float | None = None
    """Seconds that the endpoint asks for."""
    refused: str = ""
    """The optional field that the endpoint does not take."""
    is_final: bool = False
    """Whether every other call would fail alike: no such model, no such key."""


class Lack(StrEnum):
    """Why there is no answer."""

    FAILED = "failed"
    """The endpoint gave none, however often it was asked."""
    UNASKED = "unasked"
    """Nothing was asked: offline, or a limit was reached."""


class Missed(msgspec.Struct, frozen=True):
    """No answer, and why."""

    lack: Lack
    why: str


class Endpoint(Protocol):
    """Whoever can be asked."""

    def ask(self, ask: Ask, without: frozenset[str]) -> Said | Failed:
        """Ask once; `without` names the optional fields to leave out."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...
