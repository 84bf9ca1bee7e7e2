"""The shape of one Chat Completions message: all that the rules over several messages need to know of it.

A shape is made once for each message and kept by its bytes; it also carries the rules that the message
breaks on its own (numbers as in `chat_rules`). Making one never fails: what cannot be read becomes a
violation. Members that are not known here (`reasoning_content`, `reasoning_details`, `annotations`) pass.
"""

import re
from collections.abc import Callable
from typing import Any, TypeGuard

import msgspec

from selfgc.dialects.json_rules import strict_value
from selfgc.errors import WireError
from selfgc.model.profile import Violation
from selfgc.model.wire import decode

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
LONGEST_ID = 40
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_INSTEAD_OF_CONTENT = ("tool_calls", "refusal", "audio", "function_call")


class Shape(msgspec.Struct, frozen=True, gc=False):
    """One message, as the rules over several messages see it."""

    size: int
    """Bytes of the message."""
    role: str = ""
    """Empty when the message cannot be read."""
    violations: tuple[Violation, ...] = ()
    """What is wrong with the message alone; paths start at the message."""
    calls: tuple[str, ...] = ()
    """Ids of its `tool_calls`, in order."""
    answers: str = ""
    """The id that a message of role tool answers."""
    function: str = ""
    """The name in a legacy `function_call`, or in the message of role function that answers one."""


def shape(raw: bytes) -> Shape:
    """Return the shape of one wire message. Never raises: what cannot be read is a violation in the shape."""
    value, broken = strict_value(raw, "V7")
    found = [] if broken is None else [broken]
    role = value.get("role") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(role, str) or role not in ROLES:
        if broken is None:
            sentence = f"a message is an object whose `role` is one of {', '.join(sorted(ROLES))}; correct or remove it"
            found.append(Violation("C5", "", sentence))
        return Shape(len(raw), violations=tuple(found))
    reader = _READERS.get(role, _read_prompt)
    return reader(value, role, len(raw), found)


def _read_prompt(message: dict[str, Any], role: str, size: int, found: list[Violation]) -> Shape:
    found.extend(_content_violations(message.get("content")))
    return Shape(size, role, tuple(found))


def _read_assistant(message: dict[str, Any], role: str, size: int, found: list[Violation]) -> Shape:
    content = message.get("content")
    if content is not None:
        found.extend(_content_violations(content))
    elif not any(message.get(key) for key in _INSTEAD_OF_CONTENT):
        sentence = "an assistant message without `tool_calls` or `refusal` has content; write one or remove the message"
        found.append(Violation("C4", "content", sentence))
    calls = message.get("tool_calls")
    if calls == [] or not isinstance(calls, list | None):
        sentence = "`tool_calls` is a list of at least one call; leave the member out when there is none"
        found.append(Violation("C4", "tool_calls", sentence))
    ids = _call_ids(calls, found) if isinstance(calls, list) else ()
    function = message.get("function_call")
    if function is not None:
        found.extend(_function_violations(function, "function_call", ""))
    name = function.get("name") if isinstance(function, dict) else None
    return Shape(size, role, tuple(found), ids, function=name if isinstance(name, str) else "")


def _read_tool(message: dict[str, Any], role: str, size: int, found: list[Violation]) -> Shape:
    call_id = message.get("tool_call_id")
    if not _is_call_id(call_id):
        sentence = f"`tool_call_id` is a string of 1 to {LONGEST_ID} characters, the id of a call; name the call"
        found.append(Violation("C3", "tool_call_id", sentence))
    content = message.get("content")
    if isinstance(content, list) and content:
        found.extend(
            Violation("C6", f"content.{index}", "a tool message holds text parts only; send the part as text")
            for index, part in enumerate(content)
            if not (isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str))
        )
    elif not isinstance(content, str):
        sentence = "the content of a tool message is a string or a list of text parts; write the result as text"
        found.append(Violation("C6", "content", sentence))
    return Shape(size, role, tuple(found), answers=call_id if isinstance(call_id, str) else "")


def _read_function(message: dict[str, Any], role: str, size: int, found: list[Violation]) -> Shape:
    if message.get("content") is not None:
        found.extend(_content_violations(message["content"]))
    name = message.get("name")
    if not isinstance(name, str) or not name:
        found.append(Violation("C8", "name", "a message of role function has the name of its function; write it"))
        name = ""
    return Shape(size, role, tuple(found), function=name)


_READERS: dict[str, Callable[[dict[str, Any], str, int, list[Violation]], Shape]] = {
    "assistant": _read_assistant,
    "tool": _read_tool,
    "function": _read_function,
}


def _content_violations(content: object) -> list[Violation]:
    if isinstance(content, str):
        return []
    if not isinstance(content, list) or not content:
        return [Violation("C4", "content", "`content` is a string or a list of at least one part; write one of them")]
    return [
        Violation(
            "C4", f"content.{index}", "a part is an object with a `type`, a text part has a string `text`; mend it"
        )
        for index, part in enumerate(content)
        if not _is_part(part)
    ]


def _is_part(part: object) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    return part["type"] != "text" or isinstance(part.get("text"), str)


def _call_ids(calls: list[Any], found: list[Violation]) -> tuple[str, ...]:
    ids: list[str] = []
    for index, call in enumerate(calls):
        path = f"tool_calls.{index}"
        call_id = call.get("id") if isinstance(call, dict) else None
        if not _is_call_id(call_id):
            sentence = (
                f"a call is an object with an `id` of 1 to {LONGEST_ID} characters; give it and its answer such an id"
            )
            found.append(Violation("C3", path, sentence))
        if not isinstance(call_id, str):
            continue
        if call_id in ids:
            sentence = f"the id {call_id} stands on two calls of one message; rename one together with its answer"
            found.append(Violation("C9", path, sentence, call_id=call_id))
        ids.append(call_id)
        found.extend(_call_violations(call, path, call_id))
    return tuple(ids)


def _call_violations(call: dict[str, Any], path: str, call_id: str) -> list[Violation]:
    if call.get("type", "function") == "function":
        return _function_violations(call.get("function"), f"{path}.function", call_id)
    custom = call.get("custom")
    if call["type"] == "custom" and not (isinstance(custom, dict) and isinstance(custom.get("input"), str)):
        sentence = "a custom call has a `custom` object with a string `input`; keep the call as it came"
        return [Violation("C3", f"{path}.custom", sentence, call_id=call_id)]
    return []


def _function_violations(function: object, path: str, call_id: str) -> list[Violation]:
    if not isinstance(function, dict):
        sentence = "a call has a `function` object with `name` and `arguments`; keep the call as it came"
        return [Violation("C3", path, sentence, call_id=call_id)]
    found = []
    name = function.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        sentence = "a function's name is 1 to 64 letters, digits, `_` or `-`; correct the name"
        found.append(Violation("C3", f"{path}.name", sentence, call_id=call_id))
    if not _is_json_text(function.get("arguments")):
        sentence = '`arguments` is a string of JSON; clear it to "{}" and not to an object or half a text'
        found.append(Violation("C3", f"{path}.arguments", sentence, call_id=call_id))
    return found


def _is_json_text(arguments: object) -> bool:
    if not isinstance(arguments, str):
        return False
    try:
        decode(arguments.encode("utf-8", "surrogatepass"))
    except WireError:
        return False
    return True


def _is_call_id(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 1 <= len(value) <= LONGEST_ID
