"""What a subject makes of a case's prefix, and what the judge reads of it: messages, payloads, tokens.

A subject is whoever governs: our planners, the baselines, the peers. What it hands over is data, so that all are
judged alike and none can see what the judge sees.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping

import msgspec

from selfgc.bench.texts import Decoded, normal, raw_text


class Restorable(msgspec.Struct, frozen=True):
    """A payload that somebody who reads the view can ask for by its id."""

    id: str
    """As it stands in the view's pointers."""
    payload: bytes
    """What `restore` really gave."""
    sha256: str
    """Hex digest that the store's index promises; the judge compares it with the payload's own."""

    @property
    def is_whole(self) -> bool:
        """Whether the payload is what the index promises."""
        return hashlib.sha256(self.payload).hexdigest() == self.sha256

    def text(self) -> str:
        """Return the payload's texts as they are, those of a JSON value one after the other."""
        written = self.payload.decode("utf-8", "replace")
        try:
            value = json.loads(written)
        except (ValueError, RecursionError):
            return written
        return "\n".join(_strings(value)) if isinstance(value, dict | list | str) else written


class Governed(msgspec.Struct, frozen=True):
    """One prefix as a subject would send it."""

    messages: tuple[dict[str, object], ...]
    """The rendered view, after repair and normalisation; system prompt and tools are the request's own."""
    payloads: tuple[Restorable, ...] = ()
    plan: str = ""
    """What was decided, as text: the same prefix must give the same, whatever follows it."""
    note: str = ""
    """Why nothing was done, or what went wrong."""


Counter = Callable[[str], int]
"""Counts the tokens of a text."""


def tokens_of(fields: Mapping[str, object], messages: Iterable[Decoded], count: Counter) -> int:
    """Return the tokens of a request: its messages' texts, system prompt and tool definitions."""
    held = [json.dumps(fields[key], ensure_ascii=False) for key in ("system", "tools") if key in fields]
    return sum(map(count, held)) + sum(count(raw_text(message)) for message in messages)


def normal_payload(item: Restorable) -> str:
    """Return a payload's text in the spelling that matching needs; nothing when it is not what was promised."""
    return normal(item.text()) if item.is_whole else ""


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
