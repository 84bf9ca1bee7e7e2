"""The texts of decoded messages, and one spelling for matching them: what the judge reads of any transcript.

Messages are plain decoded JSON, in Anthropic Messages form or OpenAI Chat form. The judge reads them by itself,
without the dialects, so that a fault in a dialect's rendering cannot hide from it.
"""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

Decoded: TypeAlias = Mapping[str, object]
"""One message as `json.loads` gives it."""

_CALL_TYPES = frozenset({"tool_use", "server_tool_use"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})


class Source(StrEnum):
    """Who brought a text into the transcript, and as what."""

    SYSTEM = "system"
    USER = "user"
    PROSE = "prose"
    THINKING = "thinking"
    ARGUMENT = "argument"
    RESULT = "result"


class Leaf(NamedTuple):
    """One decoded text of a message. `tool` and `key` tell, for an argument, whose and which one it is."""

    source: Source
    text: str
    tool: str = ""
    key: str = ""


def leaves(message: Decoded) -> Iterator[Leaf]:
    """Yield every text of the message in order; media and blocks that hold no text are passed over."""
    role, content = message.get("role"), message.get("content")
    yield from _thinking(message.get("reasoning_content"))
    if role == "tool":
        yield from _result(content)
    else:
        own = _source_of(role)
        for block in _blocks(content):
            yield from _block(block, own)
    for call in _mappings(message.get("tool_calls")):
        yield from _chat_call(call)


def raw_text(message: Decoded) -> str:
    """Return the message's texts as they are, one after the other; for counting tokens."""
    return "\n".join(leaf.text for leaf in leaves(message))


def view_text(messages: Iterable[Decoded]) -> str:
    """Return all decoded text of a view in the spelling that matching needs, one leaf a line."""
    return "\n".join(normal(leaf.text) for message in messages for leaf in leaves(message))


def compatible(text: str) -> str:
    """Return `text` with compatibility forms unified (NFKC): full-width digits, ligatures, hard spaces."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def normal(text: str) -> str:
    """Return `text` in the spelling of `view_text`: NFKC, and every run of white space one space."""
    return " ".join(compatible(text).split())


LONGEST_LINE = 2_000
"""Characters; of longer lines only those are searched that are JSON or prose."""
_BLANKS = 40
"""A long line with a blank in so many characters is prose; minified code and encoded bytes have fewer."""


def searchable(text: str) -> str:
    """Return a text without the long lines that nobody reads: minified, encoded, binary."""
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(line for line in text.split("\n") if len(line) <= LONGEST_LINE or _is_readable(line))


def _is_readable(line: str) -> bool:
    return line.lstrip()[:1] in {"{", "["} or line.count(" ") * _BLANKS >= len(line)


def has_text(message: Decoded) -> bool:
    """Whether the message itself (not a tool result in it) says something."""
    spoken = (Source.USER, Source.PROSE)
    return any(leaf.source in spoken and leaf.text.strip() for leaf in leaves(message))


def has_result(message: Decoded) -> bool:
    """Whether the message carries a tool's result."""
    return message.get("role") == "tool" or any(_is_result(block) for block in _mappings(message.get("content")))


def has_call(message: Decoded) -> bool:
    """Whether the message calls a tool."""
    if _mappings(message.get("tool_calls")):
        return True
    return any(block.get("type") in _CALL_TYPES for block in _mappings(message.get("content")))


def _source_of(role: object) -> Source:
    if role == "assistant":
        return Source.PROSE
    return Source.USER if role == "user" else Source.SYSTEM


def _mappings(value: object) -> list[Decoded]:
    """Return the objects of a JSON array; an empty list for anything else."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def _blocks(content: object) -> list[Decoded]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else _mappings(content)


def _is_result(block: Decoded) -> bool:
    return str(block.get("type", "")).endswith("tool_result")


def _block(block: Decoded, own: Source) -> Iterator[Leaf]:
    kind = block.get("type")
    if kind in _TEXT_TYPES:
        yield Leaf(own, str(block.get("text", "")))
    elif kind == "thinking":
        yield from _thinking(block.get("thinking"))
    elif kind in _CALL_TYPES:
        yield from _arguments(block.get("input"), str(block.get("name", "")))
    elif _is_result(block):
        yield from _result(block.get("content"))


def _thinking(value: object) -> Iterator[Leaf]:
    if isinstance(value, str) and value:
        yield Leaf(Source.THINKING, value)


def _result(content: object) -> Iterator[Leaf]:
    for block in _blocks(content):
        if block.get("type") in _TEXT_TYPES:
            yield Leaf(Source.RESULT, str(block.get("text", "")))


def _chat_call(call: Decoded) -> Iterator[Leaf]:
    function = call.get("function")
    if isinstance(function, Mapping):
        yield from _arguments(_parsed(function.get("arguments")), str(function.get("name", "")))


def _parsed(arguments: object) -> object:
    """Return what an arguments text says; a text that is no JSON stands for itself."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _arguments(value: object, tool: str, key: str = "") -> Iterator[Leaf]:
    """Yield the scalar leaves of a call's arguments, each under the nearest key above it."""
    if isinstance(value, str):
        yield Leaf(Source.ARGUMENT, value, tool, key)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield Leaf(Source.ARGUMENT, str(value), tool, key)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _arguments(item, tool, str(name))
    elif isinstance(value, Sequence):
        for item in value:
            yield from _arguments(item, tool, key)
