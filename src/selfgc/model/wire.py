"""Raw JSON: take wire bytes apart without losing a byte, and put them together again.

Values that nobody edits stay the very bytes that came in; only what a plan names is written anew.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from selfgc.errors import WireError

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()
_SPACE = b" \t\r\n"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_DEPTH = 256
"""Deeper nesting than this is refused: no provider accepts it, and it is the usual shape of an attack."""


def decode(raw: bytes, path: str = "$") -> object:
    """Return the value of one JSON text. Lone surrogates are accepted, as clients do send them."""
    try:
        return _ANY.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _decode_slowly(raw, path)


def _decode_slowly(raw: bytes, path: str) -> object:
    try:
        return json.loads(raw.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WireError(f"expected JSON, but {error}; send the body as the client library made it", path) from error


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def encode(value: object) -> bytes:
    """Return compact JSON of `value`. A lone surrogate becomes U+FFFD: providers refuse it (V7)."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return without_lone_surrogates(json.dumps(value, ensure_ascii=False)).encode()


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
    return {key: encode_exact(item) for key, item in value.items()}


def elements(raw: bytes, path: str = "$") -> list[bytes]:
    """Return the elements of a JSON array in order, each as the bytes that stand there."""
    try:
        return [bytes(value) for value in _ARRAY.decode(raw)]
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        value = decode(raw, path)
        if not isinstance(value, list):
            raise WireError(f"expected a JSON array, got {type(value).__name__}", path) from None
        return [encode_exact(item) for item in value]


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
    if start is None:
        fields_again = dict.fromkeys([*fields, key], b"null") | fields
        raw = join_members(fields_again | {key: array})
        start = raw.rindex(array)
    first, last = _edges(array, messages)
    separator = _gap(array, messages)
    return Body(raw[: start + first], messages, separator, raw[start + last :], fields)


def _find_member(raw: bytes, key: str, value: bytes) -> int | None:
    """Return where the raw `value` of a top-level `key` starts, or None when it stands in no usual spelling."""
    for match in re.finditer(rb'"' + re.escape(key.encode()) + rb'"\s*:\s*', raw):
        if raw.startswith(value, match.end()) and _is_top_level(raw, match.start()):
            return match.end()
    return None


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
        return 1, len(array) - 1
    return array.index(messages[0]), array.rindex(messages[-1]) + len(messages[-1])


def _gap(array: bytes, messages: tuple[bytes, ...]) -> bytes:
    if len(messages) < 2:
        return b","
    start = array.index(messages[0]) + len(messages[0])
    gap = array[start : array.index(b",", start) + 1]
    rest = array[start + len(gap) :]
    return gap + rest[: len(rest) - len(rest.lstrip(_SPACE))]
