"""Small session files for tests of the command line, and what it printed as values."""

import json
from pathlib import Path

from click.testing import Result

from builders import body_of, session

WORDS = (
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "nobody",
    "in",
    "this",
    "old",
    "house",
)
FOLDED = {
    "actions": [{"action": "fold", "id": f"function:Read:{number}", "reason": "read long ago"} for number in (1, 2)]
}
"""A plan that folds the first two calls."""


def prose(turn, call):
    """About 600 tokens of words without an anchor in them, unlike those of other calls."""
    return " ".join(WORDS[(n * n * turn + n * call) % len(WORDS)] for n in range(600))


def turns_of(count, *, calls=5, answer="Done."):
    """Turns in which files are read: each result is about 600 tokens long and unlike any other."""
    return [
        (
            f"Please look at part {turn} of the project.",
            [
                (
                    "Read",
                    {"file_path": f"/repo/part_{turn}/file_{call}.py"},
                    prose(turn, call),
                )
                for call in range(1, calls + 1)
            ],
            answer,
        )
        for turn in range(1, count + 1)
    ]


def write_session(path: Path, count: int = 4, *, dialect: str = "anthropic", **fields) -> Path:
    """A request body of so many whole turns, and one more that is still to be answered."""
    messages = session([*turns_of(count), ("And now?", [], "")], dialect)
    model = "claude-sonnet-4-5" if dialect == "anthropic" else "gpt-4o"
    path.write_bytes(body_of(messages, **({"model": model, "max_tokens": 1000} | fields)))
    return path


def document(done: Result):
    """The one JSON document on standard output."""
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.output
    return json.loads(lines[0])


def error_of(done: Result):
    """The one JSON object on standard error."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.output
    return json.loads(lines[0])


def write_plan(path: Path, value=None) -> Path:
    """A file with a plan; by default the one that folds the first two calls."""
    path.write_text(json.dumps(FOLDED if value is None else value), "utf-8")
    return path
