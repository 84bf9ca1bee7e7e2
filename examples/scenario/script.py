"""The words of a script: turns, steps and calls, and short makers for the five tools' calls.

A text may hold `«name»`: the recorder puts there what an earlier call taught under that name, so that the
agent can only use values that a tool really printed.
"""

from pathlib import Path
from typing import NamedTuple

ROOT = "/home/agent/project"
"""The folder as the recorded session shows it; the recorder works in a temporary one."""

FILES = Path(__file__).parent / "files"
SEED = Path(__file__).parent / "seed"

Argument = str | int | bool


class Call(NamedTuple):
    """One tool call. `learn` maps a name to a pattern whose first group is looked up in the result."""

    tool: str
    arguments: dict[str, Argument]
    fails: bool
    learn: dict[str, str]


class Step(NamedTuple):
    """One assistant message that calls tools; several calls are made in parallel."""

    text: str
    calls: tuple[Call, ...]


class Turn(NamedTuple):
    """What the user asks, the steps that follow, and the answer that ends the turn."""

    user: str
    steps: tuple[Step, ...]
    answer: str


def do(text: str, *calls: Call) -> Step:
    """Return a step; an empty text is left out of the message."""
    return Step(text, calls)


def bash(command: str, description: str, *, fails: bool = False, **learn: str) -> Call:
    """Run a command in the project's folder."""
    return Call("Bash", {"command": command, "description": description}, fails, learn)


def read(path: str, offset: int = 0, limit: int = 0, **learn: str) -> Call:
    """Read a file, or `limit` lines of it from line `offset` on."""
    arguments: dict[str, Argument] = {"file_path": f"{ROOT}/{path}"}
    if offset:
        arguments |= {"offset": offset, "limit": limit}
    return Call("Read", arguments, fails=False, learn=learn)


def write(path: str) -> Call:
    """Write the file that stands under the same path in `files/`."""
    content = (FILES / f"{path}.txt").read_text(encoding="utf-8")
    return write_text(path, content)


def write_text(path: str, content: str) -> Call:
    """Write a file whose text stands in the script."""
    return Call("Write", {"file_path": f"{ROOT}/{path}", "content": content}, fails=False, learn={})


def edit(path: str, old: str, new: str, *, fails: bool = False) -> Call:
    """Replace a string that stands exactly once in the file."""
    arguments: dict[str, Argument] = {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}
    return Call("Edit", arguments, fails, learn={})


def grep(pattern: str, path: str = "", **learn: str) -> Call:
    """Search lines of files under a path."""
    return Call("Grep", {"pattern": pattern, "path": f"{ROOT}/{path}".rstrip("/")}, fails=False, learn=learn)


TESTS = "python -m unittest discover -s tests -t ."
