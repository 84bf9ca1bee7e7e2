"""What holds for every peer: which messages are protected, how large a request is, how hard a dial must be turned."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .exchange import Message, Request

CHARS_PER_TOKEN = 4
_NOT_TEXT = frozenset({"type", "id", "tool_use_id", "role", "signature", "data", "media_type", "cache_control"})
"""Members of a message that hold no text of the conversation."""


def blocks(message: Message) -> list[Any]:
    """Return the blocks of a message, a plain string as one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def kinds(message: Message) -> set[str]:
    """Return the types of the message's blocks; texts that hold nothing do not count."""
    mappings = [block for block in blocks(message) if isinstance(block, dict)]
    return {str(b.get("type")) for b in mappings if b.get("type") != "text" or str(b.get("text", "")).strip()}


def protected_from(request: Request) -> int:
    """Return the index of the first message that every method keeps, up to the end.

    Where the request does not say how many those are: the last turn, or all when no turn begins.
    """
    if request.protected is not None:
        return max(0, len(request.messages) - request.protected)
    starts = [n for n, message in enumerate(request.messages) if _is_turn(message)]
    return starts[-1] if starts else 0


def put_back(request: Request, governed: Sequence[Message | None]) -> tuple[list[Message], int]:
    """Return the view with the protected messages as they came, and how many of them the peer had changed."""
    start = protected_from(request)
    tail = request.messages[start:]
    changed = sum(before != after for before, after in zip(tail, governed[start:], strict=True))
    return [message for message in governed[:start] if message is not None] + tail, changed


def tokens(value: object) -> int:
    """Return a plain estimate of the tokens of a request's part: a quarter of its texts' characters."""
    return sum(map(len, _texts(value))) // CHARS_PER_TOKEN


def share_removed(request: Request, governed: Sequence[Message | None]) -> float:
    """Return the share of the request's tokens that the view does not hold, its protected messages put back."""
    held = tokens([json.dumps(request.fields[key]) for key in ("system", "tools") if key in request.fields])
    before = held + tokens(request.messages)
    return 1 - (held + tokens(put_back(request, governed)[0])) / before if before else 0.0


def least(most: int, share: Callable[[int], float], rate: float) -> int:
    """Return the least setting from 0 to `most` whose share reaches `rate`, by halving; `most` where none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if share(middle) >= rate:
            high = middle
        else:
            low = middle + 1
    return low


def _is_turn(message: Message) -> bool:
    found = kinds(message)
    return message.get("role") == "user" and "text" in found and "tool_result" not in found


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in _NOT_TEXT:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
