"""The two lines of the exchange: what is asked, and what is answered. Values, and their JSON."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
"""One message in Anthropic Messages form, as `json.loads` gives it."""
Foreign: TypeAlias = Any
"""A value or module of the peer's: its types are not at hand where this is checked."""


@dataclass(frozen=True)
class Request:
    """A prefix to govern."""

    fields: dict[str, Any]
    """The request's members but for its messages: model, system prompt, tools."""
    messages: list[Message]
    rate: float | None = None
    """Share of the request's tokens to remove; None: as the peer's own defaults have it."""
    protected: int | None = None
    """How many messages at the end every method keeps; None: the last complete turn."""


@dataclass(frozen=True)
class Governed:
    """What the peer made of it."""

    messages: list[Message | None]
    """One for each message that came: itself, edited, or None where the peer took it out."""
    payloads: dict[str, str] = field(default_factory=dict)
    """What can be asked for: by the id that stands in the messages, the original text."""
    notes: tuple[str, ...] = ()


class NotUnderstood(ValueError):
    """The line is not a request that a driver can answer; the message says why."""


def read_request(line: str) -> Request:
    """Return the request of one line. NotUnderstood when it is not one."""
    try:
        asked = json.loads(line)
    except ValueError as error:
        raise NotUnderstood(f"expected one JSON object a line, got what is no JSON: {error}") from error
    body = asked.get("body") if isinstance(asked, dict) else None
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise NotUnderstood('expected {"dialect": "anthropic", "body": {"messages": [...]}}')
    if asked.get("dialect", "anthropic") != "anthropic":
        raise NotUnderstood(f'expected the dialect "anthropic", got {asked["dialect"]!r}; convert the prefix first')
    fields = {key: value for key, value in body.items() if key != "messages"}
    return Request(fields, body["messages"], asked.get("rate"), asked.get("protected"))


def answer(messages: list[Message], payloads: dict[str, str], notes: tuple[str, ...]) -> dict[str, Any]:
    """Return what is written for a request that was governed."""
    return {
        "messages": messages,
        "payloads": [_payload(key, text) for key, text in payloads.items()],
        "plan": "",
        "note": "; ".join(notes),
    }


def _payload(key: str, text: str) -> dict[str, str]:
    written = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(written).hexdigest()
    return {"id": key, "payload": base64.b64encode(written).decode("ascii"), "sha256": digest}
