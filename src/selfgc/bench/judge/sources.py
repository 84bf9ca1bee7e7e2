"""Where in a prefix a need was met: the calls of the transcript, their keys, and whether they can be made again.

The judge tells tools apart by itself, from names and commands; it shares no table with a planner.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from selfgc.bench.texts import Decoded, Source, leaves

_READ_TOOL = re.compile(r"read|view|cat\b|open|grep|glob|search|find|list|ls\b|fetch|get_|query|browse", re.IGNORECASE)
_WRITE_TOOL = re.compile(r"write|edit|create|patch|replace|insert|update|delete|remove|move|send|post", re.IGNORECASE)
_SHELL_TOOL = re.compile(r"bash|shell|exec|terminal|run_command|powershell", re.IGNORECASE)
_READ_COMMAND = re.compile(
    r"\s*(?:cd [^;&|]+&&\s*)?(?:cat|head|tail|sed -n|nl|grep|rg|ls|find|wc|tree"
    r"|git (?:show|log|diff|status|blame|ls-files)|curl(?! .*(?:-X|--request|-d|--data))|type|Get-Content|Select-String"
    r"|jq|stat|file|which)\b(?![^|]*>(?!&|/dev/null))"
)
"""A command that only looks."""
_KEYS = ("file_path", "path", "notebook_path", "filename", "url", "command", "cmd", "pattern", "query", "prompt")


class Call(msgspec.Struct, frozen=True):
    """One tool call of a prefix."""

    tool: str
    key: str
    """What it is about: path, URL, command or query; the first text argument when none is named so."""
    asked: int
    """Index of the message that makes it."""
    answered: int
    """Index of the message with its result; -1 when there is none."""
    is_repeatable: bool
    """A read: made again, it gives the same unless something was written in between."""
    is_write: bool


class Origin(msgspec.Struct, frozen=True):
    """The last place of the prefix where something stood."""

    message: int
    source: Source
    call: Call | None


def calls_of(messages: Sequence[Decoded]) -> list[Call]:
    """Return the calls of a transcript in order."""
    answered = {key: number for number, message in enumerate(messages) for key in _answers(message)}
    return [
        _call(tool, arguments, number, answered.get(key, -1))
        for number, message in enumerate(messages)
        for key, tool, arguments in _asks(message)
    ]


def call_texts(message: Decoded) -> Mapping[object, str]:
    """Return the arguments of each call in a message as text, by the call's id."""
    return {key: f"{tool} {_flat(arguments)}" for key, tool, arguments in _asks(message)}


def result_texts(message: Decoded) -> Mapping[object, str]:
    """Return the text of each result in a message, by the id of its call."""
    if message.get("role") == "tool":
        return {message.get("tool_call_id"): "\n".join(leaf.text for leaf in leaves(message))}
    return {
        block.get("tool_use_id"): "\n".join(leaf.text for leaf in leaves({"role": "user", "content": [block]}))
        for block in _blocks(message)
        if str(block.get("type", "")).endswith("tool_result")
    }


def is_stale(call: Call, calls: Sequence[Call]) -> bool:
    """Whether something was written, later than a call, to what it was about."""
    name = call.key.rpartition("/")[2]
    return any(later.is_write and later.asked > call.asked and _touches(later, call.key, name) for later in calls)


def _touches(later: Call, key: str, name: str) -> bool:
    return later.key == key or (bool(name) and name in later.key)


def _call(tool: str, arguments: object, asked: int, answered: int) -> Call:
    key = _key(arguments)
    if _SHELL_TOOL.search(tool):
        repeatable = _READ_COMMAND.match(key) is not None
        return Call(tool, key, asked, answered, is_repeatable=repeatable, is_write=not repeatable)
    writes = _WRITE_TOOL.search(tool) is not None
    reads = not writes and _READ_TOOL.search(tool) is not None
    return Call(tool, key, asked, answered, is_repeatable=reads, is_write=writes)


def _key(arguments: object) -> str:
    if not isinstance(arguments, Mapping):
        return str(arguments)
    for name in _KEYS:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
    return next((value for value in arguments.values() if isinstance(value, str)), "")


def _asks(message: Decoded) -> Iterator[tuple[object, str, object]]:
    for block in _blocks(message):
        if block.get("type") in {"tool_use", "server_tool_use"}:
            yield block.get("id"), str(block.get("name", "")), block.get("input")
    called = message.get("tool_calls")
    for call in called if isinstance(called, list) else []:
        function = call.get("function", {})
        try:
            arguments: object = msgspec.json.decode(str(function.get("arguments", "")))
        except msgspec.DecodeError:
            arguments = function.get("arguments")
        yield call.get("id"), str(function.get("name", "")), arguments


def _answers(message: Decoded) -> Iterator[object]:
    if message.get("role") == "tool":
        yield message.get("tool_call_id")
    for block in _blocks(message):
        if str(block.get("type", "")).endswith("tool_result"):
            yield block.get("tool_use_id")


def _blocks(message: Decoded) -> list[Mapping[str, object]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list | tuple) else []


def _flat(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(_flat(item) for item in value.values())
    if isinstance(value, list):
        return " ".join(map(_flat, value))
    return str(value)
