"""Record the example session: a scripted agent, and five tools that really run in a temporary folder.

    python examples/record_session.py [--out examples/session.json]

The script (`scenario/`) fixes what is said and called; every result is what the tool really gave. So that two
recordings are the same bytes, the temporary folder is shown as `/home/agent/project`, run times of test suites
are shown as one fixed time, and commands run with a fixed hash seed, locale, time zone and author.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from scenario.declarations import MAX_TOKENS, MODEL, SYSTEM, TOOLS
from scenario.script import ROOT, SEED, Argument, Call, Step
from scenario.story import LAST_REQUEST, TURNS

Block = dict[str, object]
Message = dict[str, object]

OUTPUT_LIMIT = 30_000
"""Characters of one command's output that are shown; the middle of longer ones is left out."""

_NAME = re.compile("«([a-z0-9_]+)»")
_SUITE_TIME = re.compile(r"(Ran \d+ tests? in )\d+\.\d+s")
_LETTERS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class ToolError(Exception):
    """A call that failed; the message is what the agent sees, marked as an error."""


class ScriptError(Exception):
    """The recorded world and the script disagree: a call failed or succeeded against what is written there."""


class Result(NamedTuple):
    """What one call gave."""

    text: str
    is_error: bool


class Workshop:
    """The folder the tools work in, and the tools."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.folder = folder
        self.clock = 0
        self.tools: dict[str, Callable[[Mapping[str, Argument]], str]] = {
            "Bash": self.bash,
            "Read": self.read,
            "Write": self.write,
            "Edit": self.edit,
            "Grep": self.grep,
        }
        self._lay_out()

    def _lay_out(self) -> None:
        for source in sorted(SEED.rglob("*.txt")):
            target = self.root / source.relative_to(SEED).with_suffix("")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
        python = self.folder / "bin" / "python"
        python.parent.mkdir()
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)

    def run(self, call: Call, arguments: Mapping[str, Argument]) -> Result:
        """Run one call and return what the agent sees."""
        self.clock += 1
        try:
            return Result(self.shown(self.tools[call.tool](arguments)), is_error=False)
        except ToolError as error:
            return Result(self.shown(str(error)), is_error=True)

    def shown(self, text: str) -> str:
        """Return a tool's output without what differs between machines and runs."""
        text = text.replace(str(self.root), ROOT).replace(sysconfig.get_path("stdlib"), "/usr/lib/python3")
        return _SUITE_TIME.sub(r"\g<1>0.004s", text)

    def place(self, shown_path: Argument) -> Path:
        """Return where a shown path really is."""
        path = Path(str(shown_path))
        if not path.is_relative_to(ROOT):
            raise ToolError(f"{path} is outside of {ROOT}")
        return self.root / path.relative_to(ROOT)

    def environment(self) -> dict[str, str]:
        """Return the variables a command gets: fixed ones, and nothing of this machine but the search path."""
        stamp = f"{1_900_000_000 + 60 * self.clock} +0000"
        settings = {"core.abbrev": "7", "init.defaultBranch": "main", "commit.gpgsign": "false", "gc.auto": "0"}
        pairs: dict[str, str] = {}
        for number, (key, value) in enumerate(settings.items()):
            pairs |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        who = {f"GIT_{role}_{key}": text for role in ("AUTHOR", "COMMITTER") for key, text in _AUTHOR.items()}
        return pairs | who | {
            "GIT_CONFIG_COUNT": str(len(settings)),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_DATE": stamp,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "COLUMNS": "100",
            "LC_ALL": "C",
            "TZ": "UTC",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONUNBUFFERED": "1",
            "PYTHONUTF8": "1",
        }  # fmt: skip

    def bash(self, arguments: Mapping[str, Argument]) -> str:
        """Run a command; a failure shows its exit code first."""
        done = subprocess.run(
            ["/bin/sh", "-c", str(arguments["command"]).replace(ROOT, str(self.root))],
            cwd=self.root,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=60,
        )
        text = self.shown(done.stdout.decode()).rstrip("\n")
        if len(text) > OUTPUT_LIMIT:
            half = OUTPUT_LIMIT // 2
            text = f"{text[:half]}\n\n... {len(text) - OUTPUT_LIMIT} characters left out ...\n\n{text[-half:]}"
        if done.returncode:
            raise ToolError(f"Exit code {done.returncode}\n{text}")
        return text or "(no output)"

    def read(self, arguments: Mapping[str, Argument]) -> str:
        """Show a file's lines with their numbers."""
        lines = self._text(arguments["file_path"]).splitlines()
        first = int(arguments.get("offset", 1))
        last = first - 1 + int(arguments.get("limit", len(lines)))
        return _numbered(lines, first, last)

    def write(self, arguments: Mapping[str, Argument]) -> str:
        """Write a file as a whole."""
        path, content = self.place(arguments["file_path"]), str(arguments["content"])
        verb = "Updated" if path.exists() else "Created"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
        return f"{verb} {arguments['file_path']} ({len(content.splitlines())} lines)"

    def edit(self, arguments: Mapping[str, Argument]) -> str:
        """Replace a string that stands exactly once, and show the lines around it."""
        text = self._text(arguments["file_path"])
        old, new = str(arguments["old_string"]), str(arguments["new_string"])
        if text.count(old) != 1:
            found = "not found" if old not in text else f"found {text.count(old)} times"
            raise ToolError(f"old_string was {found} in {arguments['file_path']}; it must stand there exactly once")
        start = text[: text.index(old)].count("\n") + 1
        text = text.replace(old, new)
        self.place(arguments["file_path"]).write_text(text, encoding="utf-8", newline="")
        around = _numbered(text.splitlines(), max(1, start - 2), start + new.count("\n") + 2)
        return f"Updated {arguments['file_path']}. The lines around the change are now:\n{around}"

    def grep(self, arguments: Mapping[str, Argument]) -> str:
        """Show the lines that a pattern is found in, as `path:number:line`."""
        top, pattern = self.place(arguments["path"]), re.compile(str(arguments["pattern"]))
        paths = [top] if top.is_file() else sorted(path for path in top.rglob("*") if path.is_file())
        found = []
        for path in paths:
            if ".git" not in path.parts and path.suffix != ".db":
                lines = path.read_text(encoding="utf-8").splitlines()
                name = path.relative_to(self.root)
                found += [f"{name}:{number}:{line}" for number, line in enumerate(lines, 1) if pattern.search(line)]
        return "\n".join(found) or "No matches found"

    def _text(self, shown_path: Argument) -> str:
        try:
            return self.place(shown_path).read_bytes().decode()
        except FileNotFoundError:
            raise ToolError(f"{shown_path} does not exist") from None


_AUTHOR = {"NAME": "Project Agent", "EMAIL": "agent@warehouse.example"}


def _numbered(lines: list[str], first: int, last: int) -> str:
    chosen = lines[first - 1 : last]
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(chosen, first)) or "(empty)"


class Recorder:
    """Plays the script in a workshop and writes down the messages."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.facts: dict[str, str] = {}
        self.calls = 0

    def filled(self, text: str) -> str:
        """Return a text with the learned values in place of their names."""
        return _NAME.sub(lambda match: self.facts[match[1]], text)

    def messages(self) -> Iterator[Message]:
        """Play every turn, and ask the last request."""
        for turn in TURNS:
            yield _message("user", _text(self.filled(turn.user)))
            for step in turn.steps:
                yield from self._step(step)
            yield _message("assistant", _text(self.filled(turn.answer)))
        yield _message("user", _text(self.filled(LAST_REQUEST)) | {"cache_control": {"type": "ephemeral"}})

    def _step(self, step: Step) -> Iterator[Message]:
        said = [_text(self.filled(step.text))] if step.text else []
        uses: list[Block] = []
        results: list[Block] = []
        for call in step.calls:
            arguments = {
                key: self.filled(value) if isinstance(value, str) else value for key, value in call.arguments.items()
            }
            self.calls += 1
            call_id = _call_id(self.calls)
            uses.append({"type": "tool_use", "id": call_id, "name": call.tool, "input": arguments})
            results.append(self._result(call, arguments, call_id))
        yield _message("assistant", *said, *uses)
        yield _message("user", *results)

    def _result(self, call: Call, arguments: Mapping[str, Argument], call_id: str) -> Block:
        result = self.workshop.run(call, arguments)
        if result.is_error is not call.fails:
            raise ScriptError(
                f"call {self.calls}, {call.tool} {dict(arguments)}: is_error={result.is_error}\n{result.text}"
            )
        for name, pattern in call.learn.items():
            match = re.search(self.filled(pattern), result.text, re.MULTILINE)
            if match is None:
                raise ScriptError(f"call {self.calls}: {pattern!r} for {name} is not in\n{result.text}")
            self.facts[name] = match[1]
        block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": [_text(result.text)]}
        return block | ({"is_error": True} if result.is_error else {})


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _message(role: str, *content: Block) -> Message:
    return {"role": role, "content": list(content)}


def _call_id(number: int) -> str:
    value = int.from_bytes(hashlib.sha256(f"stocktake {number}".encode()).digest())
    letters = []
    for _ in range(22):
        value, index = divmod(value, len(_LETTERS))
        letters.append(_LETTERS[index])
    return "toolu_01" + "".join(letters)


def record() -> bytes:
    """Play the script once and return the request body, one message a line."""
    with tempfile.TemporaryDirectory() as folder:
        messages = list(Recorder(Workshop(Path(folder).resolve())).messages())
    head = {"model": MODEL, "max_tokens": MAX_TOKENS, "system": SYSTEM, "tools": TOOLS}
    fields = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    lines = ",\n".join(json.dumps(message, ensure_ascii=False) for message in messages)
    return ("{" + ",\n".join(fields) + f',\n"messages": [\n{lines}\n]}}\n').encode()


def main() -> None:
    """Record the session into a file."""
    parser = argparse.ArgumentParser(description="Record the example session.")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("session.json"))
    out = parser.parse_args().out
    body = record()
    out.write_bytes(body)
    print(f"{out}: {len(body):,} bytes")


if __name__ == "__main__":
    main()
