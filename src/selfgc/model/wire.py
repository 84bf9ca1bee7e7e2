"""Raw JSON: take wire bytes apart without losing a byte, and put them together again.

Values that nobody edits stay the very bytes that came in; only what a plan names is written anew.
"""

import json
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

import msgspec

from selfgc.errors import WireError

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()
_SPACE = b" \t\r\n"
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},:]', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_DEPTH = 256
"""Deeper nesting than this is refused: no provider accepts it, and it is the usual shape of an attack."""


def decode(raw: bytes, path: str = "$") -> object:
    """Return the value of one JSON text. Lone surrogates are accepted, as clients do send them.

    WireError when it is no JSON, or nests deeper than `MAX_DEPTH`.
    """
    try:
        value: object = _ANY.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = _decode_slowly(raw, path)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise WireError(f"expected at most {MAX_DEPTH} levels of nesting, got more; send the value as text", path)
    return value


def _decode_slowly(raw: bytes, path: str) -> object:
    try:
        return json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WireError(f"expected JSON, but {error}; send the body as the client library made it", path) from error


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _is_deep(value: object) -> bool:
    """Whether containers nest deeper than `MAX_DEPTH`; it looks at level after level and never recurses."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def encode(value: object) -> bytes:
    """Return compact JSON of `value`. A lone surrogate becomes U+FFFD: providers refuse it (V7)."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value)
        return without_lone_surrogates(json.dumps(plain, ensure_ascii=False, separators=(",", ":"))).encode()


def encode_exact(value: object) -> bytes:
    """Return compact JSON of a value that a caller hands in; a lone surrogate stays, as an escape."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def without_lone_surrogates(text: str) -> str:
    """Return `text` with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8."""
    return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def members(raw: bytes, path: str = "$") -> dict[str, bytes]:
    """Return the members of a JSON object in order, each value as the bytes that stand there."""
    try:
        return {key: bytes(value) for key, value in _OBJECT.decode(raw).items()}
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        return _members_slowly(raw, path)


def _members_slowly(raw: bytes, path: str) -> dict[str, bytes]:
    value = decode(raw, path)
    if not isinstance(value, dict):
        raise WireError(f"expected a JSON object, got {type(value).__name__}", path)
    return {key: raw[start:end] for key, start, end in _member_places(raw)}


def elements(raw: bytes, path: str = "$") -> list[bytes]:
    """Return the elements of a JSON array in order, each as the bytes that stand there."""
    try:
        return [bytes(value) for value in _ARRAY.decode(raw)]
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        value = decode(raw, path)
        if not isinstance(value, list):
            raise WireError(f"expected a JSON array, got {type(value).__name__}", path) from None
        return [raw[start:end] for start, end in _places(raw)]


def _member_places(raw: bytes) -> list[tuple[str, int, int]]:
    """Return each key of a JSON object with the place of its value, in order; a doubled key comes twice."""
    places = _places(raw)
    return [
        (str(decode(raw[start:end])), *value) for (start, end), value in zip(places[::2], places[1::2], strict=True)
    ]


def _places(raw: bytes) -> list[tuple[int, int]]:
    """Return where the elements of a JSON array stand, or the keys and values of an object in turn.

    Slower than a decoder that skips values, but it takes every text that `decode` takes.
    """
    edges: list[int] = []
    depth = 0
    for token in _TOKEN.finditer(raw):
        mark = token[0]
        depth -= mark in (b"]", b"}")
        if depth == 0 or (depth == 1 and mark in (b",", b":")):
            edges.append(token.start())
        depth += mark in (b"[", b"{")
    return [trimmed for edge, end in pairwise(edges) if (trimmed := _trimmed(raw, edge + 1, end)) is not None]


def _trimmed(raw: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Return the place without the blanks around it; None when nothing else is there (an empty container)."""
    piece = raw[start:end].lstrip(_SPACE)
    return (end - len(piece), end - len(piece) + len(piece.rstrip(_SPACE))) if piece else None


def join_members(fields: Mapping[str, bytes]) -> bytes:
    """Return a JSON object of raw member values, in the order of the mapping."""
    return b"{" + b",".join(encode_exact(key) + b":" + value for key, value in fields.items()) + b"}"


def join_elements(values: Iterable[bytes]) -> bytes:
    """Return a JSON array of raw values."""
    return b"[" + b",".join(values) + b"]"


class Body(NamedTuple):
    """One request body, taken apart around its list of messages."""

    head: bytes
    """Everything before the first message, the opening bracket included."""
    messages: tuple[bytes, ...]
    """Each message as the bytes that stand in the body."""
    separator: bytes
    """What stands between the first two messages."""
    tail: bytes
    """Everything after the last message, the closing bracket included."""
    fields: dict[str, bytes]
    """Every other top-level member, raw."""

    def joined(self, messages: Iterable[bytes]) -> bytes:
        """Return the body with other messages in it; all else is the bytes that came in."""
        return self.head + self.separator.join(messages) + self.tail


def split_body(raw: bytes, key: str = "messages") -> Body:
    """Take a request body apart around the array under `key`; WireError when there is no such array."""
    fields = members(raw)
    if key not in fields:
        raise WireError(f"expected a request body with a {key!r} array, found the keys {sorted(fields)[:12]}")
    array = fields.pop(key)
    messages = tuple(elements(array, f"$.{key}"))
    start = _find_member(raw, key, array)
    first, last = _edges(array, messages)
    separator = _gap(array, messages)
    return Body(raw[: start + first], messages, separator, raw[start + last :], fields)


def _find_member(raw: bytes, key: str, value: bytes) -> int:
    """Return where the raw `value` of the top-level `key` starts; of a doubled key, the last counts."""
    usual = re.compile(rb'"' + re.escape(key.encode()) + rb'"\s*:\s*')
    found = [match for match in usual.finditer(raw) if raw.startswith(value, match.end())]
    if len(found) == 1 and _is_top_level(raw, found[0].start()):
        return found[0].end()
    return [start for name, start, _ in _member_places(raw) if name == key][-1]


def _is_top_level(raw: bytes, position: int) -> bool:
    """Whether a key at `position` belongs to the outermost object: what stands before it is whole members."""
    before = raw[:position].rstrip(_SPACE)
    if before.strip(_SPACE) == b"{":
        return True
    if not before.endswith(b","):
        return False
    try:
        _OBJECT.decode(before[:-1] + b"}")
    except msgspec.DecodeError:
        return False
    return True


def _edges(array: bytes, messages: tuple[bytes, ...]) -> tuple[int, int]:
    if not messages:
        return 1, 1
    return array.index(messages[0]), array.rindex(messages[-1]) + len(messages[-1])


def _gap(array: bytes, messages: tuple[bytes, ...]) -> bytes:
    if len(messages) < 2:
        return b","
    start = array.index(messages[0]) + len(messages[0])
    gap = array[start : array.index(b",", start) + 1]
    rest = array[start + len(gap) :]
    return gap + rest[: len(rest) - len(rest.lstrip(_SPACE))]


_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_SURROGATE = re.compile(rb"\\\\|" + _HIGH + _LOW + rb"|(" + _HIGH + rb"|" + _LOW + rb")")
_ANY_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def without_lone_escapes(raw: bytes) -> bytes:
    r"""Return JSON with each escaped lone surrogate as `\ufffd`: equally long, so positions stay what they are."""
    if _ANY_SURROGATE.search(raw) is None:
        return raw
    return _SURROGATE.sub(lambda match: rb"\ufffd" if match[1] else match[0], raw)
