"""The project's own files: lock files, changelog, facades, and what no file may mention."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import check_docs
import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "selfgc"
LOCKS = ("core", "dev")
FACADES = sorted(PACKAGE.rglob("__init__.py"))
FOLDERS = (".ci", "docs", "examples", "requirements", "src", "tests", "tools")
HOSTS = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("crates", "io"),
    ("golang", "org"),
    ("debian", "org"),
)
MACHINE_FOLDER = "work"
FORBIDDEN = re.compile(
    rf"(?<![\w.~-])/{MACHINE_FOLDER}/|\b(?:{'|'.join(re.escape('.'.join(host)) for host in HOSTS)})\b"
)


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def names(requirements: list[str]) -> set[str]:
    """The distributions that requirements name, in the spelling of lock files."""
    return {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in requirements}


def locked(name: str) -> list[str]:
    """The entries of a lock file, each with its hashes on one line."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def files() -> Iterator[Path]:
    """Every text file that belongs to the project."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".coverage"))
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)


@pytest.mark.parametrize("name", LOCKS)
def test_lock_pins_everything_with_hashes(name):
    """Each entry is one exact version with at least one SHA-256."""
    entries = locked(name)
    assert entries
    assert [line for line in entries if not re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []


@pytest.mark.parametrize("name", LOCKS)
def test_lock_names_no_host(name):
    """Where packages come from is the machine's matter: no address and no option stands in a lock file."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    assert "://" not in text
    assert [line for line in text.splitlines() if line.startswith("-")] == []


def test_locks_hold_what_the_project_asks_for():
    """Run-time dependencies are in both, with the same versions; tools and build backend in the second."""
    asked = project()
    core, dev = (dict(line.split(" ")[0].split("==") for line in locked(name)) for name in LOCKS)
    assert names(asked["project"]["dependencies"]) <= core.keys()
    assert names([*asked["project"]["optional-dependencies"]["dev"], *asked["build-system"]["requires"]]) <= dev.keys()
    assert {name: version for name, version in core.items() if dev.get(name) != version} == {}


def test_changelog_has_a_place_for_changes():
    """The first section is the unreleased one."""
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"


def test_package_is_typed():
    """Type checkers of users read our annotations."""
    assert (PACKAGE / "py.typed").is_file()


def test_licence_is_the_one_that_is_named():
    """The file holds the text of the licence in `pyproject.toml`."""
    assert project()["project"]["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("path", FACADES, ids=lambda path: str(path.parent.relative_to(PACKAGE.parent)))
def test_facades_hold_no_code(path):
    """An `__init__.py` is a docstring, imports, and a sorted `__all__` of exactly what it imports."""
    tree = ast.parse(path.read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in tree.body[1:] if node not in imports]
    exported = [
        ast.literal_eval(node.value)
        for node in rest
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    ]
    assert ast.get_docstring(tree)
    assert len(rest) == len(exported) <= 1
    listed = list(exported[0]) if exported else []
    assert listed == sorted(listed, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert {alias.asname or alias.name for node in imports for alias in node.names} == set(listed)


def test_the_package_exports_the_engine():
    """`import selfgc` gives the engine with what it takes and gives: plans, policy and stores, nothing else."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))
    assert [name for name in modules if not re.match(r"selfgc\.(engine|model|sidecar)\.", name)] == []


def test_importing_does_nothing(tmp_path):
    """Importing every module prints nothing and leaves no file."""
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name not in {"__init__.py", "__main__.py"}
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-c", "\n".join(f"import {name}" for name in modules)],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.stdout + done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_no_file_mentions_a_machine_or_a_registry():
    """No path of a working machine and no registry's host stands in any file."""
    found = []
    for path in files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in FORBIDDEN.finditer(text)]
    assert found == []


def test_the_verbs_are_targets():
    """`make` knows the verbs of CONTRIBUTING.md, and every target that is named there."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    assert {"demo", "check", "test", "docs"} <= named <= targets


@pytest.mark.skipif(not (PACKAGE / "cli" / "main.py").is_file(), reason="the command line is not there")
def test_the_pages_are_sound(capsys):
    """Every link leads somewhere, every command is described, every help text is the command's own."""
    assert check_docs.main([], ROOT, check_docs.load_group()) == 0, capsys.readouterr().out
