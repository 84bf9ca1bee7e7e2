"""Anthropic Messages: split a wire message into parts, and put changed ones together.

What the provider accepts stands in `anthropic_rules`; nothing here knows of HTTP or of a client library.
"""

from collections.abc import Mapping, Sequence

from selfgc.dialects.anthropic_rules import Shape, check, shape
from selfgc.dialects.blocks import (
    canonical_digest,
    decoded_object,
    is_marked,
    leaf_text,
    media_estimate,
    string_leaves,
    with_leaves,
)
from selfgc.errors import WireError
from selfgc.model.dialect import Change
from selfgc.model.message import COMPACTION, Message, Part, PartKind
from selfgc.model.profile import Profile, Violation
from selfgc.model.wire import decode, elements, encode, join_elements, join_members, members

_TEXT_KIND = {"user": PartKind.USER_TEXT, "assistant": PartKind.ASSISTANT_TEXT, "system": PartKind.SYSTEM}
_THINKING = frozenset({"thinking", "redacted_thinking"})
_MEDIA = frozenset({"image", "document", "container_upload"})
_SERVER = frozenset({"server_tool_use", "mcp_tool_use"})
_MARKABLE = frozenset({"text", "tool_use", "image", "tool_result", "document"})


class AnthropicDialect:
    """The Anthropic Messages wire format. Keeps the shapes of messages it has checked."""

    name = "anthropic"

    def __init__(self) -> None:
        self._shapes: dict[bytes, Shape] = {}

    def split(self, raw: bytes) -> Message:
        """Take one wire message apart. WireError when it is no object with a role and content."""
        value = decode(raw)
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            raise WireError('expected a message object with a "role"; see docs/errors.md#wireerror')
        role, content = value["role"], value.get("content")
        parts: tuple[Part, ...] = ()
        if isinstance(content, str):
            parts = (Part(_TEXT_KIND.get(role, PartKind.OPAQUE), "content"),)
        elif isinstance(content, list):
            parts = tuple(_part(role, number, block) for number, block in enumerate(content))
        elif content is not None:
            raise WireError('expected "content" to be a string or a list of blocks', "$.content")
        return Message(raw, canonical_digest(value), role, parts)

    def texts(self, message: Message) -> tuple[str, ...]:
        """Return the decoded text of each part."""
        content = decoded_object(message.raw).get("content")
        if isinstance(content, list):
            return tuple(_text(block) for block in content)
        return (content,) if isinstance(content, str) else ()

    def arguments(self, message: Message, part: int) -> dict[str, str]:
        """Return the string leaves of a `tool_use` block's input."""
        content = decoded_object(message.raw).get("content")
        block = content[part] if isinstance(content, list) else None
        value = block.get("input") if isinstance(block, dict) else None
        return string_leaves(value) if isinstance(value, dict) else {}

    def content(self, message: Message, part: int) -> bytes:
        """Return the raw JSON value of a result's or text's content."""
        raw = members(message.raw)["content"]
        if not raw.startswith(b"["):
            return raw
        block = members(elements(raw)[part])
        return block.get("content", block.get("text", b'""'))

    def rewrite(self, raw: bytes, changes: Mapping[str, Change]) -> bytes | None:
        """Return `raw` with the named parts changed; markers of parts that leave move back in the message."""
        fields = members(raw)
        if not fields["content"].startswith(b"["):
            return _rewritten_string(fields, changes.get("content"))
        kept: list[bytes] = []
        for number, block in enumerate(elements(fields["content"])):
            change = changes.get(f"content.{number}")
            if change is None:
                kept.append(block)
            elif change.is_removal:
                _move_back(block, kept)
            else:
                kept.append(_changed(block, change))
        return join_members(fields | {"content": join_elements(kept)}) if kept else None

    def merge(self, first: bytes, second: bytes) -> bytes:
        """Return two messages of one role as one: the blocks of both, in order."""
        fields = members(first)
        blocks = [*_blocks(fields["content"]), *_blocks(members(second)["content"])]
        return join_members(fields | {"content": join_elements(blocks)})

    def move_marker(self, source: bytes, target: bytes) -> bytes | None:
        """Put the last cache marker of `source` onto the last block of `target` that can hold one."""
        marker = _last_marker(source)
        fields = members(target)
        blocks = _blocks(fields["content"])
        if marker is None or not blocks or not _can_hold(blocks[-1]):
            return None
        blocks[-1] = join_members(members(blocks[-1]) | {"cache_control": marker})
        return join_members(fields | {"content": join_elements(blocks)})

    def answer(self, call_ids: Sequence[str], text: str) -> tuple[bytes, ...]:
        """Return one user message that answers these calls with an error."""
        if not call_ids:
            return ()
        blocks = [{"type": "tool_result", "tool_use_id": name, "content": text, "is_error": True} for name in call_ids]
        return (encode({"role": "user", "content": blocks}),)

    def system_text(self, fields: Mapping[str, bytes]) -> str:
        """Return the text of `system` and the JSON of `tools`."""
        system = decode(fields["system"]) if "system" in fields else ""
        blocks = system if isinstance(system, list) else [{"type": "text", "text": system}]
        tools = fields.get("tools", b"").decode("utf-8", "replace")
        return "\n".join([*(_text(block) for block in blocks), tools])

    def check(self, messages: Sequence[bytes], fields: Mapping[str, bytes], profile: Profile) -> list[Violation]:
        """Return the provider's rules that the request breaks."""
        shapes = self._shapes
        for raw in messages:
            if raw not in shapes:
                shapes[raw] = shape(raw)
        found = check([shapes[raw] for raw in messages], fields, profile)
        if len(shapes) > 4 * len(messages) + 1000:
            self._shapes = {raw: shapes[raw] for raw in messages}
        return found


def _part(role: str, number: int, block: object) -> Part:
    path = f"content.{number}"
    if not isinstance(block, dict):
        return Part(PartKind.OPAQUE, path)
    kind = block.get("type")
    if kind == "tool_use":
        return Part(PartKind.TOOL_CALL, path, call_id=str(block.get("id")), tool=str(block.get("name")))
    if kind == "tool_result":
        media = sum(media_estimate(inner) for inner in _inner(block) if inner.get("type") in _MEDIA)
        call_id, is_error = str(block.get("tool_use_id")), block.get("is_error") is True
        return Part(PartKind.TOOL_RESULT, path, call_id=call_id, is_error=is_error, media_tokens=media)
    if kind in _MEDIA:
        return Part(PartKind.MEDIA, path, media_tokens=media_estimate(block))
    if kind == "compaction":
        return Part(PartKind.OPAQUE, path, tool=COMPACTION, is_signed=True)
    return Part(_plain_kind(role, str(kind)), path, is_signed=kind in _THINKING)


def _plain_kind(role: str, kind: str) -> PartKind:
    if kind == "text":
        return _TEXT_KIND.get(role, PartKind.OPAQUE)
    if kind in _THINKING:
        return PartKind.THINKING
    return PartKind.SERVER_TOOL if kind in _SERVER or kind.endswith("_tool_result") else PartKind.OPAQUE


def _inner(block: Mapping[str, object]) -> list[dict[str, object]]:
    content = block.get("content")
    return [inner for inner in content if isinstance(inner, dict)] if isinstance(content, list) else []


def _text(block: object) -> str:
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "thinking":
        return str(block.get("thinking", ""))
    if kind == "tool_use":
        value = block.get("input")
        return f"{block.get('name')}\n{leaf_text(string_leaves(value), value)}"
    if kind == "tool_result":
        content = block.get("content")
        return content if isinstance(content, str) else "\n".join(filter(None, map(_text, _inner(block))))
    return "" if kind in _MEDIA else encode(block).decode()


def _rewritten_string(fields: dict[str, bytes], change: Change | None) -> bytes | None:
    if change is None:
        return join_members(fields)
    return None if change.text is None else join_members(fields | {"content": encode(change.text)})


def _changed(block: bytes, change: Change) -> bytes:
    fields = members(block)
    if change.call_id is not None:
        key = "id" if "id" in fields else "tool_use_id"
        return join_members(fields | {key: encode(change.call_id)})
    if change.arguments is not None:
        value = with_leaves(decode(fields["input"]), change.arguments)
        return join_members(fields | {"input": encode(value)})
    key = "text" if decode(fields["type"]) == "text" else "content"
    return join_members(fields | {key: encode(change.text)})


def _move_back(block: bytes, kept: list[bytes]) -> None:
    """Give the cache marker of a block that leaves to the block before it, when that one can hold it."""
    if not is_marked(block):
        return
    marker = members(block).get("cache_control")
    if marker is not None and kept and _can_hold(kept[-1]):
        kept[-1] = join_members(members(kept[-1]) | {"cache_control": marker})


def _can_hold(block: bytes) -> bool:
    fields = members(block)
    kind = decode(fields.get("type", b"null"))
    is_empty = kind == "text" and not str(decode(fields.get("text", b'""'))).strip()
    return kind in _MARKABLE and "cache_control" not in fields and not is_empty


def _last_marker(raw: bytes) -> bytes | None:
    if not is_marked(raw):
        return None
    markers = [members(block).get("cache_control") for block in _blocks(members(raw)["content"])]
    return next((marker for marker in reversed(markers) if marker is not None), None)


def _blocks(content: bytes) -> list[bytes]:
    if content.startswith(b"["):
        return elements(content)
    return [join_members({"type": b'"text"', "text": content})]
