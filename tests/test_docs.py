"""The pages of docs/ name every setting, error, rule and method of the code, and their examples print what they show.

An example is a fenced block. `python` blocks of a page run one after the other in one namespace; what they print is
compared with the `text` block right behind them, if there is one. Of `console` blocks each line that begins with `$ `
is run by a shell, together with the lines behind it that begin with `> `; what follows is what it prints. `…` stands
for whatever is printed there.
"""

import contextlib
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from selfgc import ContextEngine, Policy, Report, errors
from selfgc.dialects import anthropic_rules, chat_rules
from selfgc.economics.benefit import Benefit, Terms
from selfgc.economics.catalog import Row
from selfgc.engine.report import ActionRow
from selfgc.governance import oracle
from selfgc.governance.decide import Decision
from selfgc.model import legality
from selfgc.model.plan import Fold, Plan
from selfgc.model.records import EntryKind
from selfgc.planners.registry import PLANNERS
from selfgc.readers.recording import Notes, Recording
from selfgc.sidecar.verify import Area

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SESSION = ROOT / "examples" / "session.json"
WITH_EXAMPLES = ("concepts", "economics", "errors", "formats", "library", "planner", "rules", "store")
REHEARSED = ("malformed", "stale_plan", "conflict", "too_many", "no_saving")
_COMMAND = re.compile(r"^\$ (.*(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """One block that runs, and what it is said to print; None: nothing is said of it."""

    kind: str
    source: str
    printed: str | None


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text("utf-8")


def examples(text: str) -> Iterator[Example]:
    """The blocks of a page that run, in order; a console block is split into its commands."""
    blocks = list(_BLOCK.finditer(text))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] == "python":
            is_next = after is not None and after[1] == "text" and not text[block.end() : after.start()].strip()
            yield Example("python", block[2], after[2] if after is not None and is_next else None)
        elif block[1] == "console":
            for command in _COMMAND.finditer(block[2]):
                yield Example("console", command[1], command[2])


def run(example: Example, folder: Path, namespace: dict[str, object]) -> str:
    """What an example prints when it is run in a folder."""
    if example.kind == "python":
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example.source, "an example", "exec"), namespace)  # noqa: S102 - our own pages
        return printed.getvalue()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "NO_COLOR": "1"}
    done = subprocess.run(
        ["sh", "-c", "exec 2>&1\n" + example.source.replace("\n> ", "\n")],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    return done.stdout.decode()


def prints(shown: str, printed: str) -> bool:
    """Whether what is printed is what is shown, up to blanks at the ends of lines."""
    pattern = ".*?".join(re.escape(piece) for piece in re.sub(r"[ \t]+$", "", shown, flags=re.MULTILINE).split("…"))
    return re.fullmatch(pattern, re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE), re.DOTALL) is not None


def unnamed(names: Iterable[str], text: str) -> list[str]:
    """The names that a text does not hold as code."""
    return [name for name in names if not re.search(rf"`[^`\n]*(?<!\w){re.escape(name)}(?!\w)[^`\n]*`", text)]


def numbered(docstring: str | None) -> list[str]:
    """The rules that a docstring lists, with each number of a row such as `V1 to V3, V5`."""
    found: list[str] = []
    for row in re.findall(r"^(?:[VAC]\d+(?: to |, )?)+(?=\s)", docstring or "", re.MULTILINE):
        for first, last in re.findall(r"[VAC](\d+)(?: to [VAC](\d+))?", row):
            found += [f"{row[0]}{number}" for number in range(int(first), int(last or first) + 1)]
    return found


@pytest.mark.parametrize("name", WITH_EXAMPLES)
@pytest.mark.skipif(shutil.which("sh") is None, reason="the examples are run by a POSIX shell")
def test_examples_print_what_the_page_shows(name, tmp_path):
    """Every example of a page runs as written, and prints what stands there."""
    shutil.copy(SESSION, tmp_path / "session.json")
    namespace: dict[str, object] = {"__name__": "example"}
    found = list(examples(page(name)))
    assert found
    for example in found:
        printed = run(example, tmp_path, namespace)
        if example.printed is not None:
            assert prints(example.printed, printed), f"{example.source}\nprinted:\n{printed}"
    for engine in namespace.values():
        if isinstance(engine, ContextEngine):
            engine.store.close()


def test_settings_are_described_with_their_defaults():
    """The table of settings has a row for each field of Policy, with its default."""
    text = page("library")
    for field in msgspec.structs.fields(Policy):
        default = f'"{field.default}"' if isinstance(field.default, str) else repr(field.default)
        assert f"| `{field.name}` | `{default}` |" in text


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Report, "library"),
        (ActionRow, "library"),
        (Decision, "library"),
        (Plan, "library"),
        (Fold, "library"),
        (Recording, "formats"),
        (Notes, "formats"),
        (Row, "economics"),
        (Terms, "economics"),
        (Benefit, "economics"),
    ],
)
def test_fields_are_named(value, name):
    """What callers get or give is described field by field."""
    assert unnamed((field.name for field in msgspec.structs.fields(value)), page(name)) == []


def test_methods_of_the_engine_are_described():
    """Each public method of ContextEngine has a heading of its own, and each argument is named."""
    text = page("library")
    for name, method in inspect.getmembers(ContextEngine, inspect.isfunction):
        if not name.startswith("_"):
            assert re.search(rf"^### `{name}\(", text, re.MULTILINE), name
            assert unnamed(set(inspect.signature(method).parameters) - {"self"}, text) == []
    assert unnamed(set(inspect.signature(ContextEngine).parameters), text) == []


def test_errors_have_headings():
    """Each class of the tree of errors has a heading on the page of errors, so that messages can point to it."""
    text = page("errors")
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.SelfGCError):
            assert re.search(rf"^## {name}$", text, re.MULTILINE), name


def test_rules_of_plans_are_described():
    """Each rule by which an action is refused is described, those of legality with their numbers."""
    listed = re.findall(r"^(L\d+)\s+(\w+)", legality.__doc__ or "", re.MULTILINE)
    assert len(listed) == 10
    for number, name in listed:
        assert re.search(rf"\| {number} \| `{name}` \|", page("rules"))
    assert unnamed(REHEARSED, page("rules")) == []


def test_rules_of_requests_are_described():
    """Each rule that the dialects hold and each check of the oracle has a row."""
    listed = [*numbered(anthropic_rules.__doc__), *numbered(chat_rules.__doc__), *numbered(oracle.__doc__)]
    assert {"A1", "A33", "C9", "V4", "V20"} <= set(listed)
    for number in {*listed, *(f"V{count}" for count in range(1, 21))}:
        assert re.search(rf"^\| {number} \| ", page("rules"), re.MULTILINE), number


def test_planners_ledger_entries_and_areas_are_named():
    """Planners, kinds of ledger entries and areas of a store are named where they belong."""
    assert unnamed(PLANNERS, page("planner")) == []
    assert unnamed(EntryKind, page("concepts")) == []
    assert unnamed(Area, page("store")) == []


def test_every_page_is_in_the_table():
    """The first page links to each other one."""
    assert [path.name for path in DOCS.glob("*.md") if f"({path.name})" not in page("index")] == ["index.md"]
