"""OpenAI Chat Completions: split a wire message into parts, and put changed ones together.

What the provider accepts stands in `chat_rules`. Calls are addressed as `tool_calls.n`, texts as `content`
or `content.n` (a tool message's content is one part, whatever it is), reasoning that a compatible server or
a gateway hands out by the member it stands in.
"""

from collections.abc import Mapping, Sequence

from selfgc.dialects.blocks import (
    MEDIA_TOKENS,
    argument_text,
    canonical_digest,
    decoded_object,
    items_of,
    kind_of_block,
    last_marker,
    string_leaves,
    string_member,
    tools_text,
    with_leaves,
)
from selfgc.dialects.chat_rules import Shape, check, shape
from selfgc.errors import WireError
from selfgc.model.dialect import Change
from selfgc.model.message import Message, Part, PartKind
from selfgc.model.profile import Profile, Violation
from selfgc.model.wire import decode, elements, encode, join_elements, join_members, members

_TEXT_KIND = {
    "user": PartKind.USER_TEXT,
    "assistant": PartKind.ASSISTANT_TEXT,
    "system": PartKind.SYSTEM,
    "developer": PartKind.SYSTEM,
    "tool": PartKind.TOOL_RESULT,
}
_REASONING = ("reasoning_content", "reasoning_details", "reasoning", "thinking_blocks")
_SIGNED = frozenset({"reasoning_details", "thinking_blocks"})
_INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")
_OTHER_BLOCKS = frozenset({"tool_use", "tool_result"})
_MEDIA = frozenset({"image_url", "input_audio", "file"})


class ChatDialect:
    """The Chat Completions wire format. Keeps the shapes of messages it has checked."""

    name = "chat"

    def __init__(self) -> None:
        self._shapes: dict[bytes, Shape] = {}

    def split(self, raw: bytes) -> Message:
        """Take one wire message apart. WireError when it is no object with a role."""
        value = decode(raw)
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            raise WireError('expected a message object with a "role"; see docs/errors.md#wireerror')
        if any(kind_of_block(item) in _OTHER_BLOCKS for item in _items(value.get("content"))):
            raise WireError("this is a message of Anthropic Messages; govern it with the dialect anthropic")
        parts = [*_reasoning_parts(value), *_content_parts(value), *_call_parts(value)]
        return Message(raw, canonical_digest(value), value["role"], tuple(parts))

    def texts(self, message: Message) -> tuple[str, ...]:
        """Return the decoded text of each part."""
        value = decoded_object(message.raw)
        return tuple(_text(value, part) for part in message.parts)

    def arguments(self, message: Message, part: int) -> dict[str, str]:
        """Return the string leaves of a call's arguments; empty when they are no JSON object."""
        call = _at(decoded_object(message.raw), message.parts[part].path)
        return string_leaves(_parsed_arguments(call)) if isinstance(call, dict) else {}

    def content(self, message: Message, part: int) -> bytes:
        """Return the raw JSON value of a result's or text's content."""
        raw = members(message.raw).get("content", b"null")
        path = message.parts[part].path
        if "." not in path:
            return raw
        return members(elements(raw)[int(path.rpartition(".")[2])]).get("text", b'""')

    def rewrite(self, raw: bytes, changes: Mapping[str, Change]) -> bytes | None:
        """Return `raw` with the named parts changed; None when neither text nor call is left."""
        if not changes:
            return raw
        fields = members(raw)
        if decode(fields["role"]) == "tool":
            return _rewritten_result(fields, changes.get("content"))
        if "content" in fields:
            fields["content"] = _rewritten_content(fields["content"], changes)
        if items_of(fields.get("tool_calls", b"null")):
            fields["tool_calls"] = _rewritten_list(fields["tool_calls"], "tool_calls", changes)
            if fields["tool_calls"] == b"[]":
                del fields["tool_calls"]
        for key in changes.keys() & set(_REASONING):
            fields.pop(key, None)
        return join_members(fields) if _says_something(fields) else None

    def tag(self, raw: bytes, header: str, tags: Mapping[str, str]) -> bytes:
        """Return a message with a text part before the user's words, or a tag behind a tool message's text."""
        fields = members(raw)
        tag = tags.get(str(decode(fields.get("tool_call_id", b"null"))))
        texts = _text_items(fields)
        if header:
            texts.insert(0, encode({"type": "text", "text": header}))
        elif tag is not None and not fields.get("content", b"").startswith(b"["):
            return join_members(fields | {"content": encode(f"{decode(fields['content'])}\n{tag}")})
        elif tag is not None:
            texts.append(encode({"type": "text", "text": tag}))
        return join_members(fields | {"content": join_elements(texts)})

    def merge(self, first: bytes, second: bytes) -> bytes:
        """Return two messages of one role as one: their texts and reasoning joined, their calls in order."""
        fields, others = members(first), members(second)
        content = _joined_content([*_text_items(fields), *_text_items(others)])
        for key, value in others.items():
            present = fields.get(key, b"null")
            if present == b"null":
                fields[key] = value
            elif key in _REASONING:
                fields[key] = _joined_reasoning(present, value)
            elif key == "tool_calls":
                fields[key] = join_elements([*items_of(present), *items_of(value)])
        return join_members(fields | {"content": content})

    def move_marker(self, source: bytes, target: bytes) -> bytes | None:
        """Return None: this dialect has no cache markers of its own; a gateway's extras leave with their part."""
        del source, target
        return None

    def answer(self, call_ids: Sequence[str], text: str) -> tuple[bytes, ...]:
        """Return a tool message for each of these calls."""
        return tuple(encode({"role": "tool", "tool_call_id": name, "content": text}) for name in call_ids)

    def system_text(self, fields: Mapping[str, bytes]) -> str:
        """Return the JSON of `tools`; system prompts are messages here."""
        return tools_text(fields)

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


def _reasoning_parts(value: Mapping[str, object]) -> list[Part]:
    return [Part(PartKind.THINKING, key, is_signed=key in _SIGNED) for key in _REASONING if value.get(key)]


def _content_parts(value: Mapping[str, object]) -> list[Part]:
    role, content = string_member(value, "role"), value.get("content")
    kind = _TEXT_KIND.get(role, PartKind.OPAQUE)
    if role == "tool":
        media = sum(MEDIA_TOKENS for item in _items(content) if kind_of_block(item) in _MEDIA)
        return [Part(kind, "content", call_id=string_member(value, "tool_call_id"), media_tokens=media)]
    if isinstance(content, str) and content:
        return [Part(kind, "content")]
    return [_content_part(kind, number, item) for number, item in enumerate(_items(content))]


def _content_part(kind: PartKind, number: int, item: object) -> Part:
    path, name = f"content.{number}", kind_of_block(item)
    if name == "text":
        return Part(kind, path)
    if name in _MEDIA:
        return Part(PartKind.MEDIA, path, media_tokens=MEDIA_TOKENS)
    return Part(PartKind.OPAQUE, path)


def _call_parts(value: Mapping[str, object]) -> list[Part]:
    """Return the calls, and what an assistant may say in place of content; of these only calls are ever edited."""
    parts = [_call_part(number, call) for number, call in enumerate(_items(value.get("tool_calls")))]
    parts += [Part(PartKind.OPAQUE, key) for key in ("function_call", "refusal") if value.get(key)]
    if value.get("audio"):
        parts.append(Part(PartKind.OPAQUE, "audio", media_tokens=MEDIA_TOKENS))
    return parts


def _call_part(number: int, call: object) -> Part:
    """Return the part of a call. One of a kind that is not known has no arguments, but it still has its result."""
    path = f"tool_calls.{number}"
    if not isinstance(call, dict) or not isinstance(call.get("id"), str):
        return Part(PartKind.OPAQUE, path)
    kind = kind_of_block(call) or "function"
    tool = string_member(call.get(kind), "name") or kind
    return Part(PartKind.TOOL_CALL, path, call_id=call["id"], tool=tool, is_signed=bool(call.get("extra_content")))


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _at(value: Mapping[str, object], path: str) -> object:
    key, _, number = path.partition(".")
    return _items(value.get(key))[int(number)] if number else value.get(key)


def _text(value: Mapping[str, object], part: Part) -> str:
    found = _at(value, part.path)
    if isinstance(found, str):
        return found
    if part.kind is PartKind.TOOL_CALL:
        return f"{part.tool}\n{_call_text(found)}"
    if part.kind is PartKind.TOOL_RESULT:
        return "\n".join(_item_text(item) for item in _items(found))
    if part.kind is PartKind.MEDIA or part.path == "audio":
        return ""
    return _item_text(found)


def _item_text(item: object) -> str:
    """Return the text of a content part; the JSON of one that is neither text nor media."""
    kind = kind_of_block(item)
    if kind == "text":
        return string_member(item, "text")
    return "" if kind in _MEDIA else encode(item).decode()


def _call_text(call: object) -> str:
    if isinstance(call, dict) and isinstance(call.get("custom"), dict):
        return string_member(call["custom"], "input")
    function = call.get("function") if isinstance(call, dict) else None
    return argument_text(_parsed_arguments(call)) if isinstance(function, dict) else encode(call).decode()


def _parsed_arguments(call: object) -> object:
    """Return the arguments of a call: a decoded object, or the text as it stands when it is no JSON object."""
    text = string_member(call.get("function") if isinstance(call, dict) else None, "arguments")
    try:
        value = decode(text.encode("utf-8", "surrogatepass"))
    except WireError:
        return text
    return value if isinstance(value, dict) else text


def _rewritten_result(fields: dict[str, bytes], change: Change | None) -> bytes | None:
    if change is not None and change.is_removal:
        return None
    if change is not None and change.call_id is not None:
        fields["tool_call_id"] = encode(change.call_id)
    if change is not None and change.text is not None:
        fields["content"] = _as_content(fields.get("content", b"null"), change.text)
    return join_members(fields)


def _as_content(old: bytes, text: str) -> bytes:
    """Return a text as content; a gateway's cache marker on the old content stays on it."""
    marker = last_marker(items_of(old))
    if marker is None:
        return encode(text)
    return join_elements([join_members({"type": b'"text"', "text": encode(text), "cache_control": marker})])


def _rewritten_content(content: bytes, changes: Mapping[str, Change]) -> bytes:
    """Return content with its changes. A lone text is one part, be it sent as a string or as a list of one."""
    items = items_of(content)
    if items:
        only = {"content.0": changes["content"]} if len(items) == 1 and "content" in changes else {}
        kept = _rewritten_list(content, "content", only | dict(changes))
        return kept if kept != b"[]" else b"null"
    change = changes.get("content", changes.get("content.0"))
    if change is None:
        return content
    return b"null" if change.text is None else encode(change.text)


def _rewritten_list(array: bytes, key: str, changes: Mapping[str, Change]) -> bytes:
    kept: list[bytes] = []
    for number, item in enumerate(elements(array)):
        change = changes.get(f"{key}.{number}")
        if change is None:
            kept.append(item)
        elif not change.is_removal:
            kept.append(_changed(item, change))
    return join_elements(kept)


def _changed(item: bytes, change: Change) -> bytes:
    fields = members(item)
    if change.call_id is not None:
        fields["id"] = encode(change.call_id)
    if change.arguments is not None:
        fields |= _with_arguments(decoded_object(item), fields, change.arguments)
    if change.text is not None:
        fields["text"] = encode(change.text)
    return join_members(fields)


def _with_arguments(
    call: Mapping[str, object], fields: Mapping[str, bytes], changes: Mapping[str, str]
) -> dict[str, bytes]:
    """Return the `function` member with changed arguments; nothing when they are no JSON object."""
    if not isinstance(_parsed_arguments(call), dict):
        return {}
    text = string_member(call["function"], "arguments").encode("utf-8", "surrogatepass")
    changed = encode(with_leaves(text, changes).decode("utf-8", "surrogatepass"))
    return {"function": join_members(members(fields["function"]) | {"arguments": changed})}


def _says_something(fields: Mapping[str, bytes]) -> bool:
    if fields.get("content", b"null") not in {b"null", b"[]", b'""'}:
        return True
    return any(fields.get(key, b"null") != b"null" for key in _INSTEAD_OF_CONTENT)


def _text_items(fields: Mapping[str, bytes]) -> list[bytes]:
    content = fields.get("content", b"null")
    if content.startswith(b'"') and content != b'""':
        return [join_members({"type": b'"text"', "text": content})]
    return items_of(content)


def _joined_content(items: Sequence[bytes]) -> bytes:
    """Return parts as content: one string when all are plain text, as every server takes it; else a list."""
    blocks = [decoded_object(item) for item in items]
    if any(kind_of_block(block) != "text" or block.keys() != {"type", "text"} for block in blocks):
        return join_elements(items)
    return encode("\n\n".join(string_member(block, "text") for block in blocks)) if blocks else b"null"


def _joined_reasoning(first: bytes, second: bytes) -> bytes:
    if first.startswith(b'"') and second.startswith(b'"'):
        return encode(f"{decode(first)}\n\n{decode(second)}")
    return join_elements([*items_of(first), *items_of(second)]) if items_of(first) else first
