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
    "filepath",
    "filename",
    "absolute_path",
    "relative_path",
    "notebook_path",
    "target_file",
    "file",
    "uri",
    "AbsolutePath",
    "TargetFile",
)
_COMMAND_KEYS = ("command", "cmd", "script", "code", "CommandLine")
_URL_KEYS = ("url", "URL", "link")
_QUERY_KEYS = ("pattern", "query", "regex", "search", "q", "glob", "Query")
_BODY_KEYS = ("content", "contents", "file_text")
_CHANGE_KEYS = frozenset({"old_string", "old_str", "new_string", "new_str", "oldString", "newString"})
_PARTIAL_KEYS = (
    "offset",
    "limit",
    "view_range",
    "line_range",
    "start_line",
    "end_line",
    "startLine",
    "endLine",
    "StartLine",
    "line_start",
    "start_line_one_indexed",
    "from",
    "pages",
    "head",
    "tail",
)
_PARTIAL_LINE = re.compile(rf"^(?:{'|'.join(_PARTIAL_KEYS)}): (?!null$)", re.MULTILINE)
_NOTE_TOOL = re.compile(r"todo|task_?(create|update|list|get)|update_plan|plan$|memory|note(?!book)", re.IGNORECASE)
_WRITE_TOOL = re.compile(r"write|create|save", re.IGNORECASE)
_EDIT_TOOL = re.compile(r"edit|replace|patch|insert|update|delete|remove|rename", re.IGNORECASE)
_AGENT_TOOL = re.compile(r"^(task|agent|subagent|spawn_agent|dispatch)", re.IGNORECASE)
_SKILL_TOOL = re.compile(r"^skill$|load_skill|use_skill", re.IGNORECASE)
_EDITOR_COMMANDS = {
    "view": Effect.READ,
    "create": Effect.WRITE,
    "str_replace": Effect.EDIT,
    "insert": Effect.EDIT,
    "undo_edit": Effect.EDIT,
}
"""An editor tool says in its `command` what it does to the file at its `path`."""
_SHELL_FLAGS = frozenset({"-c", "-lc", "-ic", "-Command", "/c"})
_READ_COMMAND = re.compile(
    r"(?:cd [^;&|<>\n]++(?:&&|;)\s*+)?(?:cat|head|tail|less|more|type|Get-Content|sed -n|nl|bat)[ \t]++"
    r"((?!<<)(?:[^|;&<>`$\n]|\$(?!\())*+)\Z"
)
"""A command that does nothing but show a file: no pipe, no second command, nothing substituted."""
_WORD = re.compile(r"\"([^\"\n]*+)\"|'([^'\n]*+)'|([^\s\"']++)")
_PATH_LIKE = re.compile(r"[/\\.][\w./\\-]")
_PATCH = "*** Begin Patch"
_PATCH_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\+\+\+ b?/?(.+)$", re.MULTILINE)
_SHOWN = 160


def facts_of(tool: str, arguments: Mapping[str, str], text: str = "") -> SpanFacts:
    """Return what a call of `tool` with these string arguments does; the outcome is not known yet.

    `text` is the call as text, one argument a line; it tells of arguments that are no strings, such as `offset`.
    """
    effect, target = _effect_and_target(tool, arguments)
    partial = effect is Effect.READ and _reads_a_slice(arguments, text)
    return SpanFacts(effect, " ".join(target.split())[:_SHOWN], partial)


def _reads_a_slice(arguments: Mapping[str, str], text: str) -> bool:
    if any(key in arguments for key in _PARTIAL_KEYS) or _PARTIAL_LINE.search(text):
        return True
    return re.search(r"\bhead\b|\btail\b|sed -n", _command_of(arguments)) is not None


def _effect_and_target(tool: str, arguments: Mapping[str, str]) -> tuple[Effect, str]:
    path = _first(arguments, _PATH_KEYS)
    if _SKILL_TOOL.search(tool):
        return Effect.SKILL, _first(arguments, ("skill", "name", "command")) or path
    if _AGENT_TOOL.search(tool) and "prompt" in arguments:
        return Effect.AGENT, _first(arguments, ("description", "subagent_type"))
    if _NOTE_TOOL.search(tool):
        return Effect.NOTE, _first(arguments, ("subject", "taskId", "title")) or path
    if _is_edit(tool, arguments) and (edited := path or _patched(arguments)):
        return _kind_of_edit(tool, arguments), edited
    if path and _first(arguments, _QUERY_KEYS) == "":
        return Effect.READ, path
    return _without_path(_command_of(arguments), arguments, path)


def _command_of(arguments: Mapping[str, str]) -> str:
    """Return the shell command of a call, also when it is given as a list of words."""
    words = [text for key, text in arguments.items() if key.rpartition(".")[0] in _COMMAND_KEYS]
    if len(words) > 1 and words[-2] in _SHELL_FLAGS:
        return words[-1]
    return _first(arguments, _COMMAND_KEYS) or " ".join(words)


def _is_edit(tool: str, arguments: Mapping[str, str]) -> bool:
    command = _command_of(arguments)
    if any(key.rpartition(".")[2] in _CHANGE_KEYS for key in arguments) or _PATCH in command:
        return True
    if command in _EDITOR_COMMANDS:
        return _EDITOR_COMMANDS[command] is not Effect.READ
    named = _WRITE_TOOL.search(tool) or _EDIT_TOOL.search(tool) or any(key in arguments for key in _BODY_KEYS)
    return bool(named) and not _first(arguments, _COMMAND_KEYS[:2])


def _kind_of_edit(tool: str, arguments: Mapping[str, str]) -> Effect:
    writes = _WRITE_TOOL.search(tool) is not None and not _EDIT_TOOL.search(tool)
    return _EDITOR_COMMANDS.get(arguments.get("command", ""), Effect.WRITE if writes else Effect.EDIT)


def _patched(arguments: Mapping[str, str]) -> str:
    """Return the first file that a patch among the arguments names."""
    found = _PATCH_FILE.search("\n".join(arguments.values()))
    return next((group for group in found.groups() if group), "") if found else ""


def _without_path(command: str, arguments: Mapping[str, str], path: str) -> tuple[Effect, str]:
    if command:
        shown = _shown_file(command.strip())
        return (Effect.READ, shown) if shown else (Effect.RUN, command)
    if url := _first(arguments, _URL_KEYS):
        return Effect.FETCH, url
    if query := _first(arguments, _QUERY_KEYS):
        return Effect.SEARCH, f"{query} in {path}" if path else query
    return Effect.OTHER, next(iter(arguments.values()), "")


def _shown_file(command: str) -> str:
    """Return the one file that a command shows; empty when it does more, or shows several."""
    shows = _READ_COMMAND.match(command)
    words = [next(filter(None, groups), "") for groups in _WORD.findall(shows[1])] if shows else []
    paths = [word for word in words if _PATH_LIKE.search(word) and not word.startswith("-")]
    if len(paths) == 1 or (paths and "sed -n" in command):
        return paths[-1]
    return ""


def _first(arguments: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((arguments[key] for key in keys if arguments.get(key)), "")


_EXIT_CODE = re.compile(
    r"^[ \t\[(*>]*+(?:(?:error: )?(?:the )?(?:process|command|script|program|finished|failed)\b[^\n]{0,120}?\b)?"
    r"((?:(?:exit(?:ed)?(?: with)?[ _-]?(?:code|status)|return[ _-]?code)[\"']?[ \t]*[:=]?[ \t]*"
    r"|exited with |\bexit ?[:=] ?|(?<=[\[(])exit )(-?\d{1,10}))[\])}.\"'*]*+[ \t]*$"
    r"|((?:exit|return)_?code\"\s*:\s*(-?\d{1,10}))\b"
    r"|<((?:exit_?|return)code>\s*(-?\d{1,10}))\s*<",
    re.IGNORECASE | re.MULTILINE,
)
"""An exit code that the harness tells: on a line of its own, or in a field; not one that a text speaks of."""
_ERROR_LINE = re.compile(
    r"(?m)^.*(?:Error\b|Exception\b|FAILED|\bfailed\b|Traceback|\berror(?:\[|:| [A-Z]+\d)|fatal:|panic:|panicked"
    r"|denied|not found|No such file|cannot |refused).*$"
)
_REFUSAL = re.compile(
    r"(?i)to replace (?:was )?not found|old_?str(?:ing)?\b.{0,200}not (?:found|unique|appear)|no match|not unique"
    r"|found (?:\d+|multiple) (?:matches|occurrences)|no replacement was performed|(?:did|does) not match"
    r"|failed to (?:edit|find|apply)|could not find|verification failed|unable to apply|has not been read"
    r"|file does not exist|InputValidationError|tool_use_error|modified since read|user doesn't want"
)


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
_LONGEST_REFUSAL = 2000


def read_outcome(result: str, *, is_error: bool) -> Outcome:
    """Read from a result's text how the call ended."""
    head, tail = result[:_READ_AT_EACH_END], result[-_READ_AT_EACH_END:]
    exit_text, exit_code = _exit_code(_header(head[:400]), tail[-2000:])
    errors = _ERROR_LINE.findall(tail) or _ERROR_LINE.findall(head)
    return Outcome(
        exit_text=exit_text,
        error_line=" ".join(errors[-1].split())[:_SHOWN] if errors else "",
        is_failed=is_error or exit_code != 0,
        is_refused=len(result) < _LONGEST_REFUSAL and _REFUSAL.search(_first_line(result)) is not None,
    )


def _first_line(text: str) -> str:
    return text.lstrip().partition("\n")[0]


def _header(head: str) -> str:
    """Return what a harness says before the output itself: everything above `Output:`, or else the first line."""
    above, mark, _ = head.partition("\nOutput:")
    return above if mark else _first_line(head)


def _exit_code(head: str, tail: str) -> tuple[str, int]:
    """Return the exit code as it is written and as a number: of the header, or else the last one that is told."""
    told = [*_EXIT_CODE.finditer(head)][:1] or [*_EXIT_CODE.finditer(tail)]
    if not told:
        return "", 0
    text, number = filter(None, told[-1].groups())
    return text, int(number)


_TELLS_REFUSAL = frozenset({Effect.EDIT, Effect.WRITE, Effect.READ})


def with_outcome(facts: SpanFacts, outcome: Outcome) -> SpanFacts:
    """Return a call's facts with how it ended."""
    failed = outcome.is_failed or (outcome.is_refused and facts.effect in _TELLS_REFUSAL)
    shown = (outcome.exit_text, outcome.error_line) if failed or facts.effect is Effect.RUN else ()
    return msgspec.structs.replace(facts, has_failed=failed, outcome="; ".join(text for text in shown if text))
