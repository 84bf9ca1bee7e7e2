"""What both dialects do alike: the string leaves of call arguments, and canonical digests."""

import hashlib
from collections.abc import Mapping

from selfgc.model.wire import decode, encode

MAX_LEAVES = 10_000
"""A call with more string arguments than this is left as it is."""


def string_leaves(value: object) -> dict[str, str]:
    """Return the string leaves of decoded arguments by dotted path, in order."""
    found: dict[str, str] = {}
    pending: list[tuple[str, object]] = [("", value)]
    while pending and len(found) < MAX_LEAVES:
        path, item = pending.pop()
        if isinstance(item, str):
            found[path] = item
        elif isinstance(item, dict):
            pending.extend((f"{path}.{key}" if path else str(key), inner) for key, inner in reversed(item.items()))
        elif isinstance(item, list):
            pending.extend((f"{path}.{number}", inner) for number, inner in reversed(list(enumerate(item))))
    return found


def with_leaves(value: object, changes: Mapping[str, str], path: str = "") -> object:
    """Return decoded arguments with the string leaves at these dotted paths replaced."""
    if isinstance(value, str):
        return changes.get(path, value)
    if isinstance(value, dict):
        return {key: with_leaves(inner, changes, f"{path}.{key}" if path else str(key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_leaves(inner, changes, f"{path}.{number}") for number, inner in enumerate(value)]
    return value


def leaf_text(leaves: Mapping[str, str], value: object) -> str:
    """Return a call's arguments as text: the string leaves by key, or compact JSON when there are none."""
    if not leaves:
        return encode(value).decode()
    return "\n".join(f"{path}: {text}" for path, text in leaves.items())


def canonical_digest(value: object) -> bytes:
    """Return SHA-256 over a decoded message without cache markers, string content as one text block."""
    if isinstance(value, dict):
        value = {key: _canonical_content(inner) if key == "content" else inner for key, inner in value.items()}
    return hashlib.sha256(encode(_unmarked(value))).digest()


def _canonical_content(content: object) -> object:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _unmarked(value: object) -> object:
    """Leave out markers of the message, its blocks, and blocks inside results; arguments are not looked into."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if key != "cache_control"}
        if isinstance(kept.get("content"), list):
            kept["content"] = [_unmarked(block) for block in kept["content"]]
        return kept
    return value


def is_marked(raw: bytes) -> bool:
    """Whether wire bytes may hold a cache marker; a quick look that is never wrong when it says no."""
    return b'"cache_control"' in raw


def decoded_object(raw: bytes) -> dict[str, object]:
    """Return a wire message as a dict; an empty one when it is no object."""
    value = decode(raw)
    return value if isinstance(value, dict) else {}


MEDIA_TOKENS = 1600
"""Estimate for one image: what a provider bills for about a million pixels."""


def media_estimate(block: Mapping[str, object]) -> int:
    """Return an estimate in tokens for an image or document block; base64 is never counted as text."""
    source = block.get("source")
    if block.get("type") == "document" and isinstance(source, dict) and isinstance(source.get("data"), str):
        if source.get("type") == "text":
            return len(source["data"]) // 4
        return max(MEDIA_TOKENS, len(source["data"]) // 40)
    return MEDIA_TOKENS
