"""What an agent produced in one message, as anchors at places; and what a use at each place weighs.

Arguments are told apart: text that an edit must match byte for byte, a path, a short exact argument, a body that the
agent wrote, and notes for people. Tool results are no uses.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from selfgc.bench.judge.typed import Anchor, Kind, anchors, line_anchor, path_anchor
from selfgc.bench.texts import Decoded, Leaf, Source, compatible, has_call, leaves


class Place(StrEnum):
    """Where a use stands."""

    EXACT = "exact"
    """Text that an edit must match: `old_string`, context and removed lines of a patch."""
    ARGUMENT = "argument"
    WRITTEN = "written"
    """A body in an argument: a file's text, new text of an edit, a script, a prompt."""
    ANSWER = "answer"
    """Prose of a message without tool calls: what the user is told."""
    PROSE = "prose"
    THINKING = "thinking"
    USER = "user"


class Produced(NamedTuple):
    """One anchor that the agent produced (or the user referred to), and where it stands."""

    anchor: Anchor
    place: Place
    where: str


_WEIGHTS = {
    Place.EXACT: 1.0,
    Place.ARGUMENT: 1.0,
    Place.WRITTEN: 0.5,
    Place.ANSWER: 0.3,
    Place.PROSE: 0.3,
    Place.THINKING: 0.2,
    Place.USER: 0.3,
}
_HEAVIER = {
    (Place.WRITTEN, Kind.URL): 1.0,
    (Place.WRITTEN, Kind.ID): 1.0,
    (Place.ANSWER, Kind.URL): 0.8,
    (Place.ANSWER, Kind.ID): 0.8,
    (Place.ANSWER, Kind.NUMBER): 0.8,
    (Place.ANSWER, Kind.QUOTED): 0.8,
    (Place.ANSWER, Kind.ERROR): 0.8,
}

_EXACT_KEYS = frozenset({"old_string", "old_str", "old_text", "oldString", "oldText", "oldStr", "old"})
_PATH_KEYS = frozenset({"file_path", "filePath", "path", "notebook_path", "filename", "planFilePath", "workdir", "cwd"})
_NOTE_KEYS = frozenset(
    {"description", "subject", "activeForm", "explanation", "justification", "summary", "status", "subagent_type"}
)
_POSITION_KEYS = frozenset(
    {
        "offset",
        "limit",
        "timeout",
        "timeout_ms",
        "head_limit",
        "line",
        "start_line",
        "end_line",
        "insert_line",
        "view_range",
        "max_results",
        "context",
        "-A",
        "-B",
        "-C",
        "yield_time_ms",
        "max_output_tokens",
        "taskId",
        "output_mode",
    }
)
_BODY_KEYS = frozenset(
    {
        "content",
        "new_string",
        "new_str",
        "new_text",
        "newString",
        "newText",
        "newStr",
        "file_text",
        "new_source",
        "code",
        "prompt",
        "plan",
        "text",
        "body",
        "todos",
    }
)
_BODY_LINES = 6
"""A string argument of so many lines is a body, whatever its key."""
_PATCH = "*** Begin Patch"
_PATCH_FILE = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (.+)|\*\*\* Move to: (.+)")
_HARNESS = re.compile(
    r"<(system-reminder|local-command-\w+|command-\w+|task-notification|turn_aborted|environment_context)\b.*?</\1>"
    r"|\[Request interrupted by user[^\]]*\]|\AThis session is being continued from a previous conversation.*",
    re.DOTALL,
)


def weight_of(place: Place, kind: Kind) -> float:
    """Return what a use weighs, 0 to 1: exact use in an argument most, mentions in prose least."""
    return _HEAVIER.get((place, kind), _WEIGHTS[place])


def produced(message: Decoded) -> Iterator[Produced]:
    """Yield the anchors of the agent's own texts, or of the user's words without what a harness put there."""
    prose = Place.PROSE if has_call(message) else Place.ANSWER
    for leaf in leaves(message):
        if leaf.source is Source.PROSE:
            yield from _all_at(leaf.text, prose, prose.value)
        elif leaf.source is Source.THINKING:
            yield from _all_at(leaf.text, Place.THINKING, "thinking")
        elif leaf.source is Source.USER:
            yield from _all_at(_HARNESS.sub(" ", leaf.text), Place.USER, "user")
        elif leaf.source is Source.ARGUMENT:
            yield from _argument(leaf)


def _all_at(text: str, place: Place, where: str) -> Iterator[Produced]:
    for anchor in anchors(compatible(text)):
        yield Produced(anchor, place, where)


def _argument(leaf: Leaf) -> Iterator[Produced]:
    where = f"{leaf.tool}.{leaf.key}"
    if leaf.key in _POSITION_KEYS:
        return
    if leaf.key in _EXACT_KEYS:
        yield from _exact_lines(leaf.text.split("\n"), where)
    elif _PATCH in leaf.text:
        yield from _patch(leaf.text.split("\n"), where)
    elif leaf.key in _PATH_KEYS:
        yield from _path(leaf.text, where)
    elif leaf.key in _NOTE_KEYS:
        yield from _all_at(leaf.text, Place.PROSE, where)
    elif leaf.key in _BODY_KEYS:
        yield from _all_at(leaf.text, Place.WRITTEN, where)
    else:
        yield from _command(leaf.text, where)


def _exact_lines(lines: list[str], where: str) -> Iterator[Produced]:
    for line in lines:
        anchor = line_anchor(line)
        if anchor is not None:
            yield Produced(anchor, Place.EXACT, where)


def _path(text: str, where: str) -> Iterator[Produced]:
    anchor = path_anchor(compatible(text))
    if anchor is not None:
        yield Produced(anchor, Place.ARGUMENT, where)


def _command(text: str, where: str) -> Iterator[Produced]:
    """Yield the anchors of a short argument; of a long one (a script, a here-document) the ends are the argument."""
    lines = text.split("\n")
    if len(lines) < _BODY_LINES:
        yield from _all_at(text, Place.ARGUMENT, where)
        return
    yield from _all_at(f"{lines[0]}\n{lines[-1]}", Place.ARGUMENT, where)
    yield from _all_at("\n".join(lines[1:-1]), Place.WRITTEN, where)


def _patch(lines: list[str], where: str) -> Iterator[Produced]:
    """Yield what a patch names, what it must match, and what it adds."""
    added = []
    for line in lines:
        header = _PATCH_FILE.match(line)
        if header is not None:
            yield from _path(header[1] or header[2], where)
        elif line.startswith("+"):
            added.append(line[1:])
        elif line.startswith((" ", "-")):
            yield from _exact_lines([line[1:]], where)
    yield from _all_at("\n".join(added), Place.WRITTEN, where)
