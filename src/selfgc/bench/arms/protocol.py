"""The wire between the bench and an arm: one JSON line in, one JSON line out.

An arm is given the request with the prefix as its messages and nothing that comes after, so that it cannot know
the future. Arms may run in another environment: the form is plain JSON, payload bytes in base64.
"""

from collections.abc import Mapping, Sequence

import msgspec

from selfgc.bench.governed import Governed
from selfgc.bench.texts import Decoded
from selfgc.errors import UsageError


class Ask(msgspec.Struct, frozen=True):
    """One prefix to govern."""

    dialect: str
    body: Mapping[str, object]
    """The request: `messages` is the prefix."""
    rate: float | None = None
    """Share of the tokens that is to leave the view, 0 to 1; None: the arm's own default."""
    seed: int = 0
    protected: int = 0
    """So many of the last messages stay as they are."""
    boundary: str = "turn"
    """`turn` or `step`: where the session was cut."""

    @property
    def messages(self) -> Sequence[dict[str, object]]:
        """The prefix's messages."""
        held = self.body["messages"]
        if not isinstance(held, list):
            raise UsageError(f"expected a list of messages, got {type(held).__name__}")
        return held


class Failed(msgspec.Struct, frozen=True):
    """An arm's word that it could not."""

    error: str


def encode(value: Ask | Governed | Failed) -> bytes:
    """Return a line, without its end."""
    return msgspec.json.encode(value)


def read_ask(line: bytes) -> Ask:
    """Read an ask. UsageError when the line is none."""
    try:
        return msgspec.json.decode(line, type=Ask)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"expected an ask as one JSON line, but {error}") from error


def read_answer(line: bytes) -> Governed | Failed:
    """Read an answer; a line that is none of the two forms is a failure that says so."""
    try:
        value = msgspec.json.decode(line)
        if isinstance(value, dict) and "error" in value:
            return Failed(str(value["error"]))
        return msgspec.convert(value, Governed, str_keys=True)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        return Failed(f"no answer that can be read: {error}; it began with {line[:80]!r}")


def kept_what_it_must(ask: Ask, governed: Governed) -> bool:
    """Whether the protected tail and all system messages stand in the view just as they were asked."""
    tail = list(ask.messages[len(ask.messages) - ask.protected :]) if ask.protected else []
    standing = [message for message in ask.messages if message.get("role") in {"system", "developer"}]
    kept: Sequence[Decoded] = governed.messages
    return list(kept[len(kept) - len(tail) :]) == tail and all(message in kept for message in standing)
