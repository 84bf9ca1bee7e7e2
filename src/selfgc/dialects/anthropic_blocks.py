"""Content blocks of the Anthropic dialect: what a block must look like, and what it says about its message.

Each kind of block has one function, which notes in a `Reading` the calls and results of the block and the
rules that can be seen broken in the block alone. The numbers are those of `anthropic_rules`. A kind that is
not known here is accepted as it is: the provider adds kinds more often than we can follow.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeGuard

import msgspec

from selfgc.model.profile import Violation

Block = dict[str, Any]
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NEVER_IN_RESULT = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "mcp_tool_use",
        "compaction",
        "fallback",
    }
)
_SOURCE_FIELD = {"base64": "data", "url": "url", "file": "file_id", "text": "data"}


class Mark(NamedTuple):
    """One cache marker: where it stands, and the lifetime that it asks for."""

    path: str
    ttl: str


class ServerEvent(NamedTuple):
    """One half of a server tool's use: the call, or its result."""

    place: int
    """Where in the content it stands."""
    call_id: str
    result: str
    """The kind of the result block; empty for the call."""


class Reference(NamedTuple):
    """A name that a block gives, and the path of the block: a tool it refers to, a toolset it belongs to."""

    path: str
    call_id: str
    name: str


class Reading(msgspec.Struct):
    """What the blocks of one message say, gathered while they are read in order."""

    role: str
    found: list[Violation] = []
    calls: list[str] = []
    results: list[str] = []
    places: list[int] = []
    """Where in the content each result stands."""
    marks: list[Mark] = []
    server: list[ServerEvent] = []
    tool_references: list[Reference] = []
    toolsets: list[Reference] = []
    cited: list[tuple[str, bool]] = []
    """Each document's path, and whether citations are enabled on it."""

    def break_rule(self, rule: str, path: str, sentence: str, call_id: str = "") -> None:
        """Note that a rule is broken at `path` of this message."""
        self.found.append(Violation(rule, path, sentence, call_id=call_id))


def read_blocks(content: list[object], role: str) -> Reading:
    """Read the blocks of one message."""
    reading = Reading(role)
    for index, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(block, dict) or not isinstance(kind, str):
            reading.break_rule(
                "A29", f"content.{index}", "a content block is an object with a `type`; mend or remove this one"
            )
            continue
        reader = _READERS.get(kind)
        if reader is not None:
            reader(reading, index, block)
        elif kind.endswith("_tool_result"):
            _server_result(reading, index, block)
        if "cache_control" in block:
            _mark(reading, f"content.{index}", block)
    _require_results_first(reading)
    return reading


def _require_results_first(reading: Reading) -> None:
    places = reading.places
    if places and places[-1] != len(places) - 1:
        late = next(place for order, place in enumerate(places) if place != order)
        reading.break_rule(
            "A9",
            f"content.{late}",
            "`tool_result` blocks come first in a user turn, text only after all of them; move the text behind",
        )


def block_marks(blocks: object, path: str) -> Iterable[Mark]:
    """Yield the cache markers of a list of blocks or of tool definitions, in order."""
    if isinstance(blocks, list):
        for index, block in enumerate(blocks):
            marker = block.get("cache_control") if isinstance(block, dict) else None
            if isinstance(marker, dict):
                yield Mark(f"{path}.{index}", _ttl(marker))


def _ttl(marker: Block) -> str:
    ttl = marker.get("ttl")
    return ttl if isinstance(ttl, str) else "5m"


def _mark(reading: Reading, path: str, block: Block) -> None:
    marker = block["cache_control"]
    if marker is None:
        return
    if not isinstance(marker, dict):
        reading.break_rule(
            "A30", path, '`cache_control` is an object such as {"type": "ephemeral"}; correct or remove it'
        )
    elif block["type"] in ("thinking", "redacted_thinking"):
        reading.break_rule(
            "A30", path, "a thinking block takes no `cache_control`; move it back to the nearest other block"
        )
    else:
        if block["type"] == "text" and block.get("text") == "":
            reading.break_rule(
                "A30", path, "`cache_control` cannot stand on an empty text block; move it back to another block"
            )
        reading.marks.append(Mark(path, _ttl(marker)))


def _text(reading: Reading, index: int, block: Block) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        reading.break_rule("A29", f"content.{index}", "a text block has a string `text`; write one or remove the block")
    elif not text or text.isspace():
        reading.break_rule(
            "A29", f"content.{index}", "text blocks must hold more than white space; remove the block or write a text"
        )
    if block.get("citations"):
        _citations(reading, index, block["citations"])


def _citations(reading: Reading, index: int, citations: object) -> None:
    for citation in citations if isinstance(citations, list) else ():
        if (
            isinstance(citation, dict)
            and citation.get("type") == "web_search_result_location"
            and not _is_filled(citation.get("encrypted_index"))
        ):
            reading.break_rule(
                "A16", f"content.{index}", "a web search citation lost its `encrypted_index`; send the block as it came"
            )


def _tool_use(reading: Reading, index: int, block: Block) -> None:
    path = f"content.{index}"
    call_id = block.get("id")
    if not isinstance(call_id, str) or not _CALL_ID.fullmatch(call_id):
        reading.break_rule(
            "A8", path, "a `tool_use` id is made of letters, digits, `_` and `-`; give the call such an id"
        )
    if not isinstance(call_id, str):
        return
    if reading.role != "assistant":
        reading.break_rule("A5", path, "`tool_use` blocks stand in assistant messages only; move or remove it", call_id)
        return
    reading.calls.append(call_id)
    if not isinstance(block.get("input"), dict):
        reading.break_rule(
            "A12", path, "`tool_use.input` is a JSON object; clear it to {} and not to a string", call_id
        )
    if not _is_filled(block.get("name")):
        reading.break_rule("A12", path, "`tool_use.name` is a string that is not empty; name the tool", call_id)
    if isinstance(block.get("toolset_name"), str):
        reading.toolsets.append(Reference(path, call_id, block["toolset_name"]))


def _tool_result(reading: Reading, index: int, block: Block) -> None:
    path = f"content.{index}"
    call_id = block.get("tool_use_id")
    if not _is_filled(call_id):
        reading.break_rule("A6", path, "a `tool_result` names its call in `tool_use_id`; name it or remove the result")
        call_id = ""
    if reading.role != "user":
        reading.break_rule("A6", path, "`tool_result` blocks stand in user messages only; move or remove it", call_id)
        return
    reading.results.append(call_id)
    reading.places.append(index)
    if "is_error" in block and not isinstance(block["is_error"], bool | None):
        reading.break_rule("A11", path, "`is_error` is true or false; keep the value that came", call_id)
    if isinstance(block.get("toolset_name"), str):
        reading.toolsets.append(Reference(path, call_id, block["toolset_name"]))
    content = block.get("content")
    if isinstance(content, list):
        _result_content(reading, path, call_id, content)
    elif not isinstance(content, str | None):
        reading.break_rule(
            "A11", path, "`tool_result.content` is a string or a list of blocks; send it as text", call_id
        )


def _result_content(reading: Reading, path: str, call_id: str, content: list[object]) -> None:
    for index, block in enumerate(content):
        place = f"{path}.content.{index}"
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(block, dict) or not isinstance(kind, str):
            reading.break_rule(
                "A11", place, "a block in a result is an object with a `type`; mend or remove it", call_id
            )
            continue
        if kind in _NEVER_IN_RESULT:
            reading.break_rule("A11", place, f"a result holds no `{kind}` block; send it as text", call_id)
        elif kind == "text":
            _result_text(reading, place, call_id, block)
        elif kind in ("image", "document"):
            _require_source(reading, place, block)
        elif kind == "tool_reference" and isinstance(block.get("tool_name"), str):
            reading.tool_references.append(Reference(place, call_id, block["tool_name"]))
        if "cache_control" in block:
            _mark(reading, place, block)


def _result_text(reading: Reading, path: str, call_id: str, block: Block) -> None:
    # White space alone is let through here: tools print bare newlines, and providers take them in results.
    if not isinstance(block.get("text"), str):
        reading.break_rule("A11", path, "a text block has a string `text`; write one or remove the block", call_id)
    elif not block["text"]:
        reading.break_rule(
            "A29", path, "text blocks must be non-empty, in results too; remove the block or write a text", call_id
        )


def _thinking(reading: Reading, index: int, block: Block) -> None:
    _require_assistant(reading, index, "A22", "thinking blocks")
    if not isinstance(block.get("thinking"), str) or not _is_filled(block.get("signature")):
        reading.break_rule(
            "A22",
            f"content.{index}",
            "a `thinking` block has a string `thinking` and its `signature`; send it as it came or drop it whole",
        )


def _redacted_thinking(reading: Reading, index: int, block: Block) -> None:
    _require_assistant(reading, index, "A22", "thinking blocks")
    if not _is_filled(block.get("data")):
        reading.break_rule(
            "A22", f"content.{index}", "a `redacted_thinking` block has its `data`; send it as it came or drop it whole"
        )


def _media(reading: Reading, index: int, block: Block) -> None:
    _require_source(reading, f"content.{index}", block)
    if block["type"] == "document":
        citations = block.get("citations")
        enabled = isinstance(citations, dict) and citations.get("enabled") is True
        reading.cited.append((f"content.{index}", enabled))


def _require_source(reading: Reading, path: str, block: Block) -> None:
    source = block.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    if not isinstance(source, dict) or not isinstance(kind, str):
        reading.break_rule("A31", path, "images and documents have a `source` with a `type`; remove the block whole")
        return
    field = _SOURCE_FIELD.get(kind)
    if field is not None and not _is_filled(source.get(field)):
        reading.break_rule(
            "A31", path, f"a {kind} source has its `{field}`; keep the block as it came or remove it whole"
        )
    elif kind == "base64" and not _is_filled(source.get("media_type")):
        reading.break_rule("A31", path, "a base64 source tells its `media_type`; keep the block as it came")
    elif kind == "content":
        reading.marks.extend(block_marks(source.get("content"), f"{path}.source.content"))


def _compaction(reading: Reading, index: int, block: Block) -> None:
    content = block.get("content")
    if content == "" or not isinstance(content, str | None):
        reading.break_rule(
            "A20",
            f"content.{index}",
            "a `compaction` block has its summary, or null when compaction failed; an empty one is refused: "
            "send the block as it came",
        )


def _server_call(reading: Reading, index: int, block: Block) -> None:
    _require_assistant(reading, index, "A15", "server tool calls")
    call_id = block.get("id")
    if not _is_filled(call_id):
        reading.break_rule("A15", f"content.{index}", "a server tool call has an `id`; send it as it came")
        return
    reading.server.append(ServerEvent(index, call_id, ""))
    if not isinstance(block.get("input"), dict):
        reading.break_rule("A12", f"content.{index}", "a tool call's `input` is a JSON object; keep what came", call_id)


def _server_result(reading: Reading, index: int, block: Block) -> None:
    _require_assistant(reading, index, "A15", "results of server tools")
    call_id = block.get("tool_use_id")
    if not _is_filled(call_id):
        reading.break_rule("A15", f"content.{index}", "a server tool's result names its call; send it as it came")
        return
    reading.server.append(ServerEvent(index, call_id, block["type"]))
    content = block.get("content")
    for item in content if isinstance(content, list) else ():
        if (
            isinstance(item, dict)
            and item.get("type") == "web_search_result"
            and not _is_filled(item.get("encrypted_content"))
        ):
            reading.break_rule(
                "A16",
                f"content.{index}",
                "a web search result lost its `encrypted_content`; send it as it came",
                call_id,
            )


def _require_assistant(reading: Reading, index: int, rule: str, what: str) -> None:
    if reading.role != "assistant":
        reading.break_rule(rule, f"content.{index}", f"{what} stand in assistant messages only; move or remove it")


def _is_filled(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value)


_READERS: dict[str, Callable[[Reading, int, Block], None]] = {
    "text": _text,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "image": _media,
    "document": _media,
    "compaction": _compaction,
    "server_tool_use": _server_call,
    "mcp_tool_use": _server_call,
}
