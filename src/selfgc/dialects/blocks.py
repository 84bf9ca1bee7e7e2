"""What both dialects do alike: the leaves of call arguments, the kind of a block, markers, canonical digests.

A leaf is told by its path: its keys and list places joined by dots. Inside a key `~` is written `~0` and a
dot `~1`, as JSON Pointer does with its own separator, so that no two leaves share a path.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from selfgc.errors import WireError
from selfgc.model.wire import decode, elements, encode, encode_exact, join_elements, join_members, members

MAX_LEAVES = 10_000
"""Arguments are walked up to this many values; a container beyond it counts as one leaf that is no string."""
LONGEST_PATH = 200
"""A container at a longer path counts as one leaf too: a long key would be told again for all that it holds."""

_Steps = tuple[str, ...]


def string_leaves(value: object) -> dict[str, str]:
    """Return the string leaves of decoded arguments by path, in order; empty when they are no object or list."""
    return {path: leaf for path, leaf in _leaves(value, _escaped) if path is not None and isinstance(leaf, str)}


def with_leaves(raw: bytes, changes: Mapping[str, str]) -> bytes:
    """Return the JSON of arguments with the string leaves at these paths replaced; other values keep their bytes."""
    return _replaced(raw.strip(), {tuple(path.split(".")): text for path, text in changes.items()})


def argument_text(value: object) -> str:
    """Return a call's arguments as text, one leaf a line: strings as they are, all else as compact JSON."""
    return "\n".join(
        _shown(leaf) if path is None else f"{path}: {_shown(leaf)}" for path, leaf in _leaves(value, lambda key: key)
    )


def _shown(leaf: object) -> str:
    return leaf if isinstance(leaf, str) else encode(leaf).decode()


def _leaves(value: object, spell: Callable[[str], str]) -> Iterator[tuple[str | None, object]]:
    """Yield each leaf with its path (None for the root): strings, and the largest values that hold no string."""
    pending: list[tuple[str | None, object]] = [(None, value)]
    left = MAX_LEAVES
    while pending:
        path, item = pending.pop()
        inner = _inside(item) if path is None or len(path) <= LONGEST_PATH else ()
        if inner and len(inner) <= left:
            left -= len(inner)
            head = "" if path is None else f"{path}."
            pending.extend((head + spell(key), child) for key, child in reversed(inner))
        else:
            yield path, item


def _inside(item: object) -> Sequence[tuple[str, object]]:
    """Return what a container holds by key; nothing for a list of plain values, which is told as a whole."""
    if isinstance(item, dict):
        return list(item.items())
    if isinstance(item, list) and any(isinstance(child, str | dict | list) for child in item):
        return [(str(number), child) for number, child in enumerate(item)]
    return ()


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace(".", "~1")


def _replaced(raw: bytes, changes: Mapping[_Steps, str]) -> bytes:
    if raw.startswith(b'"'):
        return encode(changes[()]) if () in changes else raw
    below: dict[str, dict[_Steps, str]] = {}
    for steps, text in changes.items():
        if steps:
            below.setdefault(steps[0], {})[steps[1:]] = text
    if raw.startswith(b"{"):
        fields = members(raw)
        for key, item in fields.items():
            if (inner := below.get(_escaped(key))) is not None:
                fields[key] = _replaced(item, inner)
        return join_members(fields)
    if raw.startswith(b"["):
        items = elements(raw)
        for number, item in enumerate(items):
            if (inner := below.get(str(number))) is not None:
                items[number] = _replaced(item, inner)
        return join_elements(items)
    return raw


def kind_of_block(block: object) -> str:
    """Return the `type` of a content block; empty when it is no object, or its type no string."""
    return string_member(block, "type")


def string_member(block: object, key: str) -> str:
    """Return a string member of a decoded object; empty when there is no such string."""
    value = block.get(key) if isinstance(block, dict) else None
    return value if isinstance(value, str) else ""


def canonical_digest(value: object) -> bytes:
    """Return SHA-256 over a decoded message without cache markers, string content as one text block."""
    unmarked = _unmarked(value)
    if isinstance(unmarked, dict) and "content" in unmarked:
        unmarked["content"] = _canonical_content(unmarked["content"])
    return hashlib.sha256(encode_exact(unmarked)).digest()


def _canonical_content(content: object) -> object:
    """Return a single plain text as clients most often write it; anything else as it is."""
    if isinstance(content, list) and len(content) == 1 and kind_of_block(content[0]) == "text":
        text = content[0].get("text")
        return text if isinstance(text, str) and len(content[0]) == 2 else content
    return content


def _unmarked(value: object) -> object:
    """Leave out markers of the message, its blocks, and blocks inside results; arguments are not looked into."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if key != "cache_control"}
        if isinstance(kept.get("content"), list):
            kept["content"] = [_unmarked(block) for block in kept["content"]]
        return kept
    return value


def is_marked(raw: bytes) -> bool:
    """Whether wire bytes may hold a cache marker; a quick look, wrong only for a key that is written in escapes."""
    return b'"cache_control"' in raw


def marker_of(block: bytes) -> bytes | None:
    """Return the cache marker of a wire block, or else the last one inside its content."""
    if not is_marked(block) or not block.startswith(b"{"):
        return None
    fields = members(block)
    own = fields.get("cache_control", b"null")
    return own if own != b"null" else last_marker(items_of(fields.get("content", b"null")))


def last_marker(blocks: Sequence[bytes]) -> bytes | None:
    """Return the cache marker of the last block that has one."""
    return next(filter(None, map(marker_of, reversed(blocks))), None)


def items_of(raw: bytes) -> list[bytes]:
    """Return the elements of a JSON array; none when it is anything else."""
    return elements(raw) if raw.startswith(b"[") else []


def decoded_object(raw: bytes) -> dict[str, object]:
    """Return a wire message as a dict; an empty one when it is no object."""
    value = decode(raw)
    return value if isinstance(value, dict) else {}


MEDIA_TOKENS = 1600
"""Estimate for one image: what a provider bills for about a million pixels."""


def media_estimate(block: Mapping[str, object]) -> int:
    """Return an estimate in tokens for an image or document block; base64 is never counted as text."""
    source = block.get("source")
    if kind_of_block(block) != "document":
        return MEDIA_TOKENS
    size = len(string_member(source, "data"))
    return size // 4 if kind_of_block(source) == "text" else max(MEDIA_TOKENS, size // 40)


def tools_text(fields: Mapping[str, bytes]) -> str:
    """Return the JSON of a request's `tools`, compact, so that white space is not counted; empty without them."""
    raw = fields.get("tools", b"")
    try:
        return encode(decode(raw)).decode() if raw else ""
    except WireError:
        return raw.decode("utf-8", "replace")
