"""tracegc's `compact(messages)`: it removes duplicate calls and superseded `key: value` texts, whole blocks at a time.

It has no measure for how much; at a rate that its defaults do not reach, its switches that are off by default are
turned on. Its receipts stay outside the messages: no text of the view names them, so that nothing can be asked for.
"""

import importlib
from typing import Any

from .exchange import Foreign, Governed, Message, Request
from .prefix import share_removed

KNOWN = frozenset({"text", "tool_use", "tool_result"})
"""The types of blocks that it reads. It drops all others without a word, so they are carried around it."""
SWITCHES = {"prune_obsolete_reads": True, "prune_redundant_verifications": True}


def readable(messages: list[Message]) -> list[Message]:
    """Return the messages with the blocks alone that the peer knows; one without others is the same object."""
    return [message if _is_known(message) else {**message, "content": _known(message)} for message in messages]


def carry_back(messages: list[Message], given: list[Message], left: list[Message]) -> list[Message | None]:
    """Return for each message what is left of it: itself, less blocks, or None. The peer hands on the very objects."""
    kept = {id(message) for message in left}
    for message in left:
        content = message.get("content")
        kept.update(map(id, content) if isinstance(content, list) else ())
    return [_left_of(old, new, kept) for old, new in zip(messages, given, strict=True)]


def govern(request: Request) -> Governed:
    """Return the request's messages compacted."""
    given = readable(request.messages)
    result = _compact(given, {})
    governed = carry_back(request.messages, given, result.messages)
    told = ["defaults"]
    if request.rate is not None and share_removed(request, governed) < request.rate:
        result = _compact(given, SWITCHES)
        governed = carry_back(request.messages, given, result.messages)
        told = [f"all switches on ({', '.join(SWITCHES)}); it has no measure for how much"]
    if any(old is not new for old, new in zip(request.messages, given, strict=True)):
        told.append("blocks that it does not know were carried around it")
    told.append(f"{len(result.receipts)} receipts, none named in the messages")
    return Governed(governed, notes=tuple(told))


def _compact(messages: list[Message], switches: dict[str, bool]) -> Foreign:
    """Run the peer, with a cache of its own. It is imported here and nowhere else, so that the rest needs no peer."""
    api = importlib.import_module("tracegc.api")
    return api.compact(messages, cache=api.SemanticCache(), **switches)


def _is_known(message: Message) -> bool:
    content = message.get("content")
    return not isinstance(content, list) or all(block.get("type") in KNOWN for block in content)


def _known(message: Message) -> list[Any]:
    return [block for block in message["content"] if block.get("type") in KNOWN]


def _left_of(old: Message, new: Message, kept: set[int]) -> Message | None:
    content = old.get("content")
    if not isinstance(content, list):
        return old if id(new) in kept else None
    left = [block for block in content if block.get("type") not in KNOWN or id(block) in kept]
    if len(left) == len(content):
        return old
    return {**old, "content": left} if left else None
