"""The shape of one Anthropic message: all that the rules over several messages need to know of it.

A shape is made once for each message and kept by its bytes; it also carries the rules that the message
breaks on its own. Making one never fails: what cannot be read becomes a violation.
"""

from typing import Any

import msgspec

from selfgc.dialects.anthropic_blocks import Mark, Reading, Reference, ServerEvent, read_blocks
from selfgc.dialects.json_rules import strict_value
from selfgc.model.profile import Violation

ROLES = ("user", "assistant", "system")
_THINKING = ("thinking", "redacted_thinking")
_INSTRUCTIONS = ("text", "tool_addition", "tool_removal")
_NO_INSTRUCTIONS = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "image",
        "document",
        "server_tool_use",
        "mcp_tool_use",
        "compaction",
        "fallback",
    }
)
_CLEARING = ("next_user_message", "never")


class Rare(msgspec.Struct, frozen=True, gc=False):
    """What most messages have nothing of."""

    first: str = ""
    """Kind of the first block."""
    last: str = ""
    """Kind of the last block."""
    has_fallback: bool = False
    marks: tuple[Mark, ...] = ()
    server: tuple[ServerEvent, ...] = ()
    tool_references: tuple[Reference, ...] = ()
    toolsets: tuple[Reference, ...] = ()
    cited: tuple[tuple[str, bool], ...] = ()


class Shape(msgspec.Struct, frozen=True, gc=False):
    """One message, as the rules over several messages see it."""

    size: int
    """Bytes of the message."""
    role: str = ""
    """Empty when the message cannot be read."""
    violations: tuple[Violation, ...] = ()
    """What is wrong with the message alone; paths start at the message."""
    calls: tuple[str, ...] = ()
    """Ids of its `tool_use` blocks, in order."""
    results: tuple[str, ...] = ()
    """Ids that its `tool_result` blocks answer, in order."""
    places: tuple[int, ...] = ()
    """Where in the content each result stands."""
    has_other: bool = False
    """It holds something beside results."""
    is_empty: bool = False
    """Its content is an empty string or list, or is missing in a system message."""
    starts_with_thinking: bool = False
    ends_with_space: bool = False
    """It ends with a text whose last character is white space."""
    rare: Rare | None = None


def shape(raw: bytes) -> Shape:
    """Return the shape of one wire message. Never raises: what cannot be read is a violation in the shape."""
    value, broken = strict_value(raw, "A33")
    found = [] if broken is None else [broken]
    if not isinstance(value, dict):
        if broken is None:
            found.append(Violation("A2", "", "a message is an object with `role` and `content`; remove what is none"))
        return Shape(len(raw), violations=tuple(found))
    role = value.get("role")
    if role not in ROLES:
        found.append(Violation("A2", "role", "`role` is user, assistant or system; correct the role"))
        return Shape(len(raw), violations=tuple(found))
    if role == "system" or "clear_at" in value:
        found.extend(_system_violations(value))
    content = value.get("content")
    if isinstance(content, list) and content:
        return _shape_of_blocks(len(raw), role, content, found)
    return _shape_of_text(len(raw), role, content, found)


def _shape_of_text(size: int, role: str, content: object, found: list[Violation]) -> Shape:
    is_empty = content in ("", []) or (content is None and role == "system")
    is_text = isinstance(content, str)
    if not is_text and not is_empty:
        found.append(Violation("A29", "content", "`content` is a string or a list of blocks; write one of them"))
    if isinstance(content, str) and content.isspace():
        found.append(Violation("A29", "content", "text must hold more than white space; write a text or remove it"))
    return Shape(
        size,
        role,
        tuple(found),
        has_other=not is_empty,
        is_empty=is_empty,
        ends_with_space=isinstance(content, str) and content[-1:].isspace(),
    )


def _shape_of_blocks(size: int, role: str, content: list[Any], found: list[Violation]) -> Shape:
    reading = read_blocks(content, role)
    kinds = [_kind(block) for block in content]
    if role == "system":
        found.extend(_uninstructive(kinds))
    return Shape(
        size,
        role,
        tuple(found + reading.found) if found or reading.found else (),
        tuple(reading.calls),
        tuple(reading.results),
        tuple(reading.places),
        has_other=len(reading.places) < len(content),
        starts_with_thinking=kinds[0] in _THINKING,
        ends_with_space=kinds[-1] == "text" and str(content[-1].get("text"))[-1:].isspace(),
        rare=_rare(reading, kinds),
    )


def _rare(reading: Reading, kinds: list[str]) -> Rare | None:
    has_fallback = "fallback" in kinds
    if not (
        reading.marks
        or reading.server
        or reading.tool_references
        or reading.toolsets
        or reading.cited
        or has_fallback
        or "compaction" in kinds
    ):
        return None
    return Rare(
        kinds[0],
        kinds[-1],
        has_fallback,
        tuple(reading.marks),
        tuple(reading.server),
        tuple(reading.tool_references),
        tuple(reading.toolsets),
        tuple(reading.cited),
    )


def _system_violations(message: dict[str, Any]) -> list[Violation]:
    found = []
    if message.get("role") != "system":
        found.append(Violation("A3", "clear_at", "`clear_at` stands on system messages only; remove it here"))
    elif not message.get("content") and message.get("output_config") is None:
        found.append(Violation("A3", "", "a system message has content or `output_config`; write one or remove it"))
    if message.get("clear_at") not in (None, *_CLEARING):
        found.append(Violation("A3", "clear_at", f"`clear_at` is one of {', '.join(_CLEARING)}; correct it"))
    return found


def _uninstructive(kinds: list[str]) -> list[Violation]:
    allowed = ", ".join(_INSTRUCTIONS)
    return [
        Violation("A3", f"content.{index}", f"a system message holds {allowed} blocks; move the others")
        for index, kind in enumerate(kinds)
        if kind in _NO_INSTRUCTIONS
    ]


def _kind(block: object) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""
