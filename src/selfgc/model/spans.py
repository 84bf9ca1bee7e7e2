"""What a tool call does: its subject, its effect on the world, and how it ended.

Tools are told apart by the names of their arguments first and by their own names second, because every
harness has other names for the same half a dozen tools.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

import msgspec


class Effect(StrEnum):
    """What a call does to the world outside the transcript."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    RUN = "run"
    SEARCH = "search"
    FETCH = "fetch"
    NOTE = "note"
    AGENT = "agent"
    SKILL = "skill"
    OTHER = "other"


class SpanFacts(msgspec.Struct, frozen=True, gc=False):
    """The facts of one call that planners and pointers need."""

    effect: Effect
    target: str
    """The path, URL, command or query it is about; empty when there is none."""
    is_partial: bool = False
    """A read of some lines only."""
    has_failed: bool = False
    """The result says that the call did not do what was asked."""
    outcome: str = ""
    """How it ended: the exit code or the telling error line, as it stands in the result."""


_PATH_KEYS = (
    "file_path",
    "path",
    "filePath",
    "filename",
    "notebook_path",
    "target_file",
    "file",
    "uri",
    "AbsolutePath",
)
_COMMAND_KEYS = ("command", "cmd", "script", "code", "CommandLine")
_URL_KEYS = ("url", "URL", "link")
_QUERY_KEYS = ("pattern", "query", "regex", "search", "q", "glob", "Query")
_PARTIAL_KEYS = ("offset", "limit", "view_range", "start_line", "line_start", "StartLine", "from", "pages")
_NOTE_TOOL = re.compile(r"todo|task_?(create|update|list|get)|update_plan|plan$|memory|note", re.IGNORECASE)
_WRITE_TOOL = re.compile(r"write|create|save", re.IGNORECASE)
_EDIT_TOOL = re.compile(r"edit|replace|patch|insert|update", re.IGNORECASE)
_AGENT_TOOL = re.compile(r"^(task|agent|subagent|spawn_agent|dispatch)", re.IGNORECASE)
_SKILL_TOOL = re.compile(r"^skill$|load_skill|use_skill", re.IGNORECASE)
_READ_COMMAND = re.compile(
    r"\s*(?:cd [^;&|]+(?:&&|;)\s*)?(?:cat|head|tail|less|more|type|Get-Content|sed -n|nl|bat)\s+(?!<<)[^|;&<>]*$"
)
_PATCH_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\+\+\+ b?/?(.+)$", re.MULTILINE)
_COMMAND_PATH = re.compile(r"[\w~./\\:-]*[/\\.][\w./\\-]+")

_EXIT_CODE = re.compile(
    r"(?i)\b(?:exit(?:ed)?(?: with)?(?: code| status)?|return ?code|exit_code)[\s:=\"]+(-?\d{1,3})\b"
)
_ERROR_LINE = re.compile(
    r"(?m)^.*(?:\bError\b|Error:|Exception\b|FAILED|\bfailed\b|Traceback|\berror(?:\[|:)|fatal:|panic:"
    r"|denied|not found|No such file|cannot |refused).*$"
)
_FAILED_EDIT = re.compile(
    r"(?i)string to replace not found|old_string .*not found|no match|not unique|found \d+ matches|has not been read"
    r"|file does not exist|InputValidationError|did not match|tool_use_error|modified since read|user doesn't want"
)
_SHOWN = 160


def facts_of(tool: str, arguments: Mapping[str, str]) -> SpanFacts:
    """Return what a call of `tool` with these string arguments does; the outcome is not known yet."""
    effect, target = _effect_and_target(tool, arguments)
    partial = effect is Effect.READ and any(key in arguments for key in _PARTIAL_KEYS)
    return SpanFacts(effect, " ".join(target.split())[:_SHOWN], partial or _reads_a_slice(effect, arguments))


def _reads_a_slice(effect: Effect, arguments: Mapping[str, str]) -> bool:
    command = _first(arguments, _COMMAND_KEYS)
    return effect is Effect.READ and re.search(r"\bhead\b|\btail\b|sed -n", command) is not None


def _effect_and_target(tool: str, arguments: Mapping[str, str]) -> tuple[Effect, str]:
    path, command = _first(arguments, _PATH_KEYS), _first(arguments, _COMMAND_KEYS)
    if _SKILL_TOOL.search(tool):
        return Effect.SKILL, _first(arguments, ("skill", "name", "command")) or path
    if _AGENT_TOOL.search(tool) and "prompt" in arguments:
        return Effect.AGENT, _first(arguments, ("description", "subagent_type"))
    if _NOTE_TOOL.search(tool):
        return Effect.NOTE, _first(arguments, ("subject", "taskId", "title"))
    if _is_edit(tool, arguments):
        return _edit(tool, arguments, path)
    if path and _first(arguments, _QUERY_KEYS) == "":
        return Effect.READ, path
    return _without_path(command, arguments, path)


def _is_edit(tool: str, arguments: Mapping[str, str]) -> bool:
    if any(key.rpartition(".")[2] in {"old_string", "old_str", "new_string", "new_str"} for key in arguments):
        return True
    return bool(_WRITE_TOOL.search(tool) or _EDIT_TOOL.search(tool)) and not _first(arguments, _COMMAND_KEYS[:2])


def _edit(tool: str, arguments: Mapping[str, str], path: str) -> tuple[Effect, str]:
    if not path:
        patched = _PATCH_FILE.search("\n".join(arguments.values()))
        path = next((group for group in patched.groups() if group), "") if patched else ""
    whole = _WRITE_TOOL.search(tool) is not None and not _EDIT_TOOL.search(tool)
    return (Effect.WRITE if whole else Effect.EDIT), path


def _without_path(command: str, arguments: Mapping[str, str], path: str) -> tuple[Effect, str]:
    if command:
        if _READ_COMMAND.match(command) and (named := _COMMAND_PATH.findall(command)):
            return Effect.READ, str(named[-1])
        return Effect.RUN, command
    if url := _first(arguments, _URL_KEYS):
        return Effect.FETCH, url
    if query := _first(arguments, _QUERY_KEYS):
        return Effect.SEARCH, f"{query} in {path}" if path else query
    return Effect.OTHER, next(iter(arguments.values()), "")


def _first(arguments: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((arguments[key] for key in keys if arguments.get(key)), "")


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How a result's text says that a call ended; read without knowing the call."""

    exit_text: str = ""
    """The exit code as it is written there."""
    error_line: str = ""
    """The last line that names an error."""
    is_failed: bool = False
    """Marked as an error, or an exit code that is not 0."""
    is_refused: bool = False
    """A short text in which an edit or read tool says that it did nothing."""


_READ_AT_EACH_END = 6000


def read_outcome(result: str, *, is_error: bool) -> Outcome:
    """Read from a result's text how the call ended."""
    head, tail = result[:_READ_AT_EACH_END], result[-_READ_AT_EACH_END:]
    exit_code = _EXIT_CODE.search(head[:2000]) or _EXIT_CODE.search(tail[-2000:])
    failed = is_error or (exit_code is not None and exit_code.group(1) != "0")
    errors = _ERROR_LINE.findall(tail) or _ERROR_LINE.findall(head)
    return Outcome(
        exit_text=exit_code.group(0) if exit_code else "",
        error_line=" ".join(errors[-1].split())[:_SHOWN] if errors else "",
        is_failed=failed,
        is_refused=len(result) < 2000 and _FAILED_EDIT.search(result) is not None,
    )


_TELLS_REFUSAL = frozenset({Effect.EDIT, Effect.WRITE, Effect.READ})


def with_outcome(facts: SpanFacts, outcome: Outcome) -> SpanFacts:
    """Return a call's facts with how it ended."""
    failed = outcome.is_failed or (outcome.is_refused and facts.effect in _TELLS_REFUSAL)
    shown = (outcome.exit_text, outcome.error_line) if failed or facts.effect is Effect.RUN else ()
    return msgspec.structs.replace(facts, has_failed=failed, outcome="; ".join(text for text in shown if text))
