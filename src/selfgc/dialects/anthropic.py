"""Anthropic Messages: split a wire message into parts, and put changed ones together.

What the provider accepts stands in `anthropic_rules`; nothing here knows of HTTP or of a client library.
"""

from collections.abc import Mapping, Sequence

from selfgc.dialects.anthropic_rules import Shape, check, shape
from selfgc.dialects.blocks import (
    argument_text,
    canonical_digest,
    decoded_object,
    items_of,
    kind_of_block,
    last_marker,
    marker_of,
    media_estimate,
    string_leaves,
    string_member,
    tools_text,
    with_leaves,
)
from selfgc.errors import WireError
from selfgc.model.dialect import Change
from selfgc.model.message import COMPACTION, Message, Part, PartKind
from selfgc.model.profile import Profile, Violation
from selfgc.model.wire import decode, elements, encode, join_elements, join_members, members

_TEXT_KIND = {"user": PartKind.USER_TEXT, "assistant": PartKind.ASSISTANT_TEXT, "system": PartKind.SYSTEM}
_OTHER_ROLES = frozenset({"tool", "function", "developer"})
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
        if "tool_calls" in value or role in _OTHER_ROLES:
            raise WireError("this is a message of OpenAI Chat Completions; govern it with the dialect chat")
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
        if not changes:
            return raw
        fields = members(raw)
        content = fields.get("content", b"null")
        if not content.startswith(b"["):
            return _rewritten_string(fields, changes.get("content", changes.get("content.0")))
        blocks = elements(content)
        only = changes.get("content") if len(blocks) == 1 else None
        kept: list[bytes] = []
        for number, block in enumerate(blocks):
            change = changes.get(f"content.{number}", only)
            if change is None:
                kept.append(block)
            elif change.is_removal:
                _give_marker(marker_of(block), kept)
            else:
                kept.append(_changed(block, change))
        return join_members(fields | {"content": join_elements(kept)}) if kept else None

    def tag(self, raw: bytes, header: str, tags: Mapping[str, str]) -> bytes:
        """Return a message with a text block before the user's words and tags behind the results of these calls."""
        fields = members(raw)
        blocks = [_tagged(block, tags) for block in _blocks(fields)]
        if header:
            blocks.insert(0, encode({"type": "text", "text": header}))
        return join_members(fields | {"content": join_elements(blocks)})

    def merge(self, first: bytes, second: bytes) -> bytes:
        """Return two messages of one role as one: the blocks of both, in order, and the members of both."""
        fields, others = members(first), members(second)
        blocks = [*_blocks(fields), *_blocks(others)]
        new = {key: value for key, value in others.items() if key not in fields}
        return join_members(fields | new | {"content": join_elements(blocks)})

    def move_marker(self, source: bytes, target: bytes) -> bytes | None:
        """Put the last cache marker of `source` onto the last block of `target` that can hold one."""
        if b'"cache_control"' not in source:
            return None
        fields = members(target)
        blocks = _blocks(fields)
        if not _give_marker(last_marker(_blocks(members(source))), blocks):
            return None
        return join_members(fields | {"content": join_elements(blocks)})

    def answer(self, call_ids: Sequence[str], text: str) -> tuple[bytes, ...]:
        """Return one user message that answers these calls with an error."""
        if not call_ids:
            return ()
        blocks = [{"type": "tool_result", "tool_use_id": name, "content": text, "is_error": True} for name in call_ids]
        return (encode({"role": "user", "content": blocks}),)

    def system_text(self, fields: Mapping[str, bytes]) -> str:
        """Return the text of `system` and the JSON of `tools`."""
        system = decode(fields.get("system", b"null"))
        blocks = system if isinstance(system, list) else [{"type": "text", "text": system}]
        return "\n".join(filter(None, [*(_text(block) for block in blocks), tools_text(fields)]))

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
    kind = kind_of_block(block)
    if kind == "tool_use":
        call_id, tool = string_member(block, "id"), string_member(block, "name")
        return Part(PartKind.TOOL_CALL, path, call_id=call_id, tool=tool)
    if kind == "tool_result":
        media = sum(media_estimate(inner) for inner in _inner(block) if kind_of_block(inner) in _MEDIA)
        call_id, is_error = string_member(block, "tool_use_id"), block.get("is_error") is True
        return Part(PartKind.TOOL_RESULT, path, call_id=call_id, is_error=is_error, media_tokens=media)
    if kind in _MEDIA:
        return Part(PartKind.MEDIA, path, media_tokens=media_estimate(block))
    if kind == "compaction":
        return Part(PartKind.OPAQUE, path, tool=COMPACTION, is_signed=True)
    return Part(_plain_kind(role, kind), path, is_signed=kind in _THINKING)


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
    kind = kind_of_block(block)
    if kind in {"text", "thinking"}:
        return string_member(block, kind)
    if kind == "tool_use":
        return f"{string_member(block, 'name')}\n{argument_text(block.get('input'))}"
    if kind == "tool_result":
        content = block.get("content")
        return content if isinstance(content, str) else "\n".join(filter(None, map(_text, _inner(block))))
    return "" if kind in _MEDIA else encode(block).decode()


def _rewritten_string(fields: dict[str, bytes], change: Change | None) -> bytes | None:
    if change is None:
        return join_members(fields)
    return None if change.text is None else join_members(fields | {"content": encode(change.text)})


def _tagged(block: bytes, tags: Mapping[str, str]) -> bytes:
    fields = members(block)
    tag = tags.get(str(decode(fields.get("tool_use_id", b"null"))))
    if tag is None:
        return block
    content = fields.get("content", b'""')
    if content.startswith(b"["):
        inner = join_elements([*elements(content), encode({"type": "text", "text": tag})])
    else:
        inner = encode(f"{decode(content)}\n{tag}")
    return join_members(fields | {"content": inner})


def _changed(block: bytes, change: Change) -> bytes:
    fields = members(block)
    kind = kind_of_block(decoded_object(block))
    if change.call_id is not None:
        fields["tool_use_id" if kind == "tool_result" else "id"] = encode(change.call_id)
    if change.arguments is not None:
        fields["input"] = with_leaves(fields.get("input", b"{}"), change.arguments)
    if change.text is not None:
        if (marker := marker_of(block)) is not None:
            fields["cache_control"] = marker
        fields["text" if kind == "text" else "content"] = encode(change.text)
    return join_members(fields)


def _give_marker(marker: bytes | None, blocks: list[bytes]) -> bool:
    """Put a marker on the last of these blocks that can hold one, but never before one that is marked already."""
    if marker is None:
        return False
    for place in reversed(range(len(blocks))):
        if marker_of(blocks[place]) is not None:
            return False
        if _can_hold(blocks[place]):
            blocks[place] = join_members(members(blocks[place]) | {"cache_control": marker})
            return True
    return False


def _can_hold(raw: bytes) -> bool:
    block = decoded_object(raw)
    kind = kind_of_block(block)
    return kind in _MARKABLE and (kind != "text" or bool(string_member(block, "text").strip()))


def _blocks(fields: Mapping[str, bytes]) -> list[bytes]:
    """Return the content of a message as blocks; a string is one text block, an empty one none."""
    content = fields.get("content", b"null")
    if content.startswith(b'"') and content != b'""':
        return [join_members({"type": b'"text"', "text": content})]
    return items_of(content)
