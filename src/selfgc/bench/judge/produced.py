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


class Form(StrEnum):
    """How the anchors of a piece are found."""

    PROSE = "prose"
    """Any text or code: by the patterns."""
    LINE = "line"
    """One line that must match byte for byte."""
    PATH = "path"
    """The whole text is a path."""


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


class Piece(NamedTuple):
    """One stretch of text that the agent produced (or the user said), and where it stands."""

    text: str
    place: Place
    where: str
    form: Form


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
    for piece in pieces(message):
        for anchor in _anchors(piece):
            yield Produced(anchor, piece.place, piece.where)


def pieces(message: Decoded) -> Iterator[Piece]:
    """Yield the agent's own texts, or the user's words without what a harness put there; tool results are none."""
    prose = Place.PROSE if has_call(message) else Place.ANSWER
    for leaf in leaves(message):
        if leaf.source is Source.PROSE:
            yield Piece(leaf.text, prose, prose.value, Form.PROSE)
        elif leaf.source is Source.THINKING:
            yield Piece(leaf.text, Place.THINKING, "thinking", Form.PROSE)
        elif leaf.source is Source.USER:
            yield Piece(_HARNESS.sub(" ", leaf.text), Place.USER, "user", Form.PROSE)
        elif leaf.source is Source.ARGUMENT:
            yield from _argument(leaf)


def _anchors(piece: Piece) -> Iterator[Anchor]:
    if piece.form is Form.PROSE:
        yield from anchors(compatible(piece.text))
        return
    anchor = line_anchor(piece.text) if piece.form is Form.LINE else path_anchor(compatible(piece.text))
    if anchor is not None:
        yield anchor


def _argument(leaf: Leaf) -> Iterator[Piece]:
    where = f"{leaf.tool}.{leaf.key}"
    if leaf.key in _POSITION_KEYS:
        return
    if leaf.key in _EXACT_KEYS:
        yield from _exact_lines(leaf.text.split("\n"), where)
    elif _PATCH in leaf.text:
        yield from _patch(leaf.text.split("\n"), where)
    elif leaf.key in _PATH_KEYS:
        yield Piece(leaf.text, Place.ARGUMENT, where, Form.PATH)
    elif leaf.key in _NOTE_KEYS:
        yield Piece(leaf.text, Place.PROSE, where, Form.PROSE)
    elif leaf.key in _BODY_KEYS:
        yield Piece(leaf.text, Place.WRITTEN, where, Form.PROSE)
    else:
        yield from _command(leaf.text, where)


def _exact_lines(lines: list[str], where: str) -> Iterator[Piece]:
    for line in lines:
        yield Piece(line, Place.EXACT, where, Form.LINE)


def _command(text: str, where: str) -> Iterator[Piece]:
    """Yield the pieces of a short argument; of a long one (a script, a here-document) the ends are the argument."""
    lines = text.split("\n")
    if len(lines) < _BODY_LINES:
        yield Piece(text, Place.ARGUMENT, where, Form.PROSE)
        return
    yield Piece(f"{lines[0]}\n{lines[-1]}", Place.ARGUMENT, where, Form.PROSE)
    yield Piece("\n".join(lines[1:-1]), Place.WRITTEN, where, Form.PROSE)


def _patch(lines: list[str], where: str) -> Iterator[Piece]:
    """Yield what a patch names, what it must match, and what it adds."""
    added = []
    for line in lines:
        header = _PATCH_FILE.match(line)
        if header is not None:
            yield Piece(header[1] or header[2], Place.ARGUMENT, where, Form.PATH)
        elif line.startswith("+"):
            added.append(line[1:])
        elif line.startswith((" ", "-")):
            yield Piece(line[1:], Place.EXACT, where, Form.LINE)
    yield Piece("\n".join(added), Place.WRITTEN, where, Form.PROSE)
