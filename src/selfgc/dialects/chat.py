"""OpenAI Chat Completions: split a wire message into parts, and put changed ones together.

What the provider accepts stands in `chat_rules`. Calls are addressed as `tool_calls.n`, texts as
`content` or `content.n`, reasoning that a compatible server hands out as `reasoning_content`.
"""

from collections.abc import Mapping, Sequence

from selfgc.dialects.blocks import (
    MEDIA_TOKENS,
    canonical_digest,
    decoded_object,
    leaf_text,
    string_leaves,
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
_REASONING = ("reasoning_content", "reasoning_details", "reasoning")
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
        fields = members(raw)
        if "content" in changes:
            _change_content(fields, changes["content"])
        elif fields.get("content", b"").startswith(b"["):
            fields["content"] = _rewritten_list(fields["content"], "content", changes)
        if "tool_calls" in fields:
            fields["tool_calls"] = _rewritten_list(fields["tool_calls"], "tool_calls", changes)
        for key in _REASONING:
            if key in changes:
                del fields[key]
        return _without_empties(fields)

    def merge(self, first: bytes, second: bytes) -> bytes:
        """Return two messages of one role as one: their texts joined, their calls in order."""
        fields, others = members(first), members(second)
        texts = [*_text_items(fields), *_text_items(others)]
        if all(decoded_object(item).keys() == {"type", "text"} for item in texts):
            joined = "\n\n".join(str(decoded_object(item)["text"]) for item in texts)
            fields["content"] = encode(joined) if texts else b"null"
        else:
            fields["content"] = join_elements(texts)
        calls = [*elements(fields.get("tool_calls", b"[]")), *elements(others.get("tool_calls", b"[]"))]
        if calls:
            fields["tool_calls"] = join_elements(calls)
        return join_members(fields)

    def move_marker(self, source: bytes, target: bytes) -> bytes | None:
        """Return None: this dialect has no cache markers of its own; a gateway's extras leave with their part."""
        del source, target
        return None

    def answer(self, call_ids: Sequence[str], text: str) -> tuple[bytes, ...]:
        """Return a tool message for each of these calls."""
        return tuple(encode({"role": "tool", "tool_call_id": name, "content": text}) for name in call_ids)

    def system_text(self, fields: Mapping[str, bytes]) -> str:
        """Return the JSON of `tools`; system prompts are messages here."""
        return fields.get("tools", b"").decode("utf-8", "replace")

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
    return [Part(PartKind.THINKING, key, is_signed=key == "reasoning_details") for key in _REASONING if value.get(key)]


def _content_parts(value: Mapping[str, object]) -> list[Part]:
    role, content = str(value["role"]), value.get("content")
    kind = _TEXT_KIND.get(role, PartKind.OPAQUE)
    call_id = str(value.get("tool_call_id", ""))
    if isinstance(content, str) and (content or role == "tool"):
        return [Part(kind, "content", call_id=call_id)]
    if not isinstance(content, list):
        return []
    if role == "tool":
        return [Part(kind, "content", call_id=call_id)]
    return [_content_part(kind, number, item) for number, item in enumerate(content)]


def _content_part(kind: PartKind, number: int, item: object) -> Part:
    path, name = f"content.{number}", item.get("type") if isinstance(item, dict) else None
    if name == "text":
        return Part(kind, path)
    if name in _MEDIA:
        return Part(PartKind.MEDIA, path, media_tokens=MEDIA_TOKENS)
    return Part(PartKind.OPAQUE, path)


def _call_parts(value: Mapping[str, object]) -> list[Part]:
    calls = value.get("tool_calls")
    parts = [_call_part(number, call) for number, call in enumerate(calls)] if isinstance(calls, list) else []
    if value.get("function_call"):
        parts.append(Part(PartKind.OPAQUE, "function_call"))
    return parts


def _call_part(number: int, call: object) -> Part:
    path = f"tool_calls.{number}"
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return Part(PartKind.OPAQUE, path, call_id=str(call.get("id", "")) if isinstance(call, dict) else "")
    signed = "extra_content" in call
    return Part(PartKind.TOOL_CALL, path, call_id=str(call.get("id")), tool=str(function.get("name")), is_signed=signed)


def _at(value: Mapping[str, object], path: str) -> object:
    key, _, number = path.partition(".")
    found = value.get(key)
    return found[int(number)] if number and isinstance(found, list) else found


def _text(value: Mapping[str, object], part: Part) -> str:
    found = _at(value, part.path)
    if isinstance(found, str):
        return found
    if part.kind is PartKind.TOOL_CALL and isinstance(found, dict):
        arguments = _parsed_arguments(found)
        return f"{part.tool}\n{leaf_text(string_leaves(arguments), arguments)}"
    if part.kind is PartKind.TOOL_RESULT and isinstance(found, list):
        return "\n".join(str(item.get("text", "")) for item in found if isinstance(item, dict))
    if part.kind is PartKind.MEDIA:
        return ""
    return str(found.get("text")) if isinstance(found, dict) and "text" in found else encode(found).decode()


def _parsed_arguments(call: Mapping[str, object]) -> object:
    function = call.get("function")
    text = function.get("arguments") if isinstance(function, dict) else None
    try:
        value = decode(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    except WireError:
        return text
    return value if isinstance(value, dict) else text


def _rewritten_list(array: bytes, key: str, changes: Mapping[str, Change]) -> bytes:
    kept: list[bytes] = []
    for number, item in enumerate(elements(array)):
        change = changes.get(f"{key}.{number}")
        if change is None:
            kept.append(item)
        elif change.call_id is not None:
            kept.append(join_members(members(item) | {"id": encode(change.call_id)}))
        elif change.arguments is not None:
            kept.append(_with_arguments(item, change.arguments))
        elif change.text is not None:
            kept.append(join_members(members(item) | {"text": encode(change.text)}))
    return join_elements(kept)


def _with_arguments(call: bytes, arguments: Mapping[str, str]) -> bytes:
    fields = members(call)
    function = members(fields["function"])
    value = with_leaves(_parsed_arguments(decoded_object(call)), arguments)
    function["arguments"] = encode(encode(value).decode())
    return join_members(fields | {"function": join_members(function)})


def _change_content(fields: dict[str, bytes], change: Change) -> None:
    if change.call_id is not None:
        fields["tool_call_id"] = encode(change.call_id)
    else:
        fields["content"] = b"null" if change.text is None else encode(change.text)


def _without_empties(fields: dict[str, bytes]) -> bytes | None:
    if fields.get("tool_calls") == b"[]":
        del fields["tool_calls"]
    if fields.get("content") in {b"[]", b'""'}:
        fields["content"] = b"null"
    has_content = fields.get("content", b"null") != b"null"
    return join_members(fields) if has_content or "tool_calls" in fields or "function_call" in fields else None


def _text_items(fields: Mapping[str, bytes]) -> list[bytes]:
    content = fields.get("content", b"null")
    if content.startswith(b"["):
        return elements(content)
    return [] if content in {b"null", b'""'} else [join_members({"type": b'"text"', "text": content})]
