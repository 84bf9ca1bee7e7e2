"""What `tools/shape.py` lets pass and what it stops, on packages of a few rows."""

from pathlib import Path

import pytest
import shape
from measure import Function, Module


def function(**given: object) -> Function:
    """A function within every limit, but for what is given."""
    sound = {
        "name": "act",
        "line": 7,
        "rows": 5,
        "nesting": 1,
        "arguments": 2,
        "is_typed": True,
        "is_public": True,
        "is_documented": True,
        "is_overload": False,
        "has_body": True,
    }
    return Function(**(sound | given))


def module(name: str = "selfgc.model.ids", **given: object) -> Module:
    """A module within every limit, but for what is given."""
    return Module(name, Path("ids.py"), **({"rows": 100, "is_documented": True} | given))


def broken(*modules: Module) -> list[str]:
    return [check.name for check in shape.check_modules(list(modules)) if check.places]


def test_a_sound_module_passes():
    """Nothing is broken in a module within every limit."""
    assert broken(module(functions=[function()], code=["x = 1"])) == []


def test_an_empty_package_passes():
    """No module, no function: nothing to break."""
    assert broken() == []


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (module(rows=601), "longest file"),
        (module(is_documented=False), "modules without a docstring"),
        (module(functions=[function(nesting=5)]), "deepest nesting"),
        (module(functions=[function(arguments=7)]), "most arguments"),
        (module(functions=[function(is_typed=False)]), "typed functions, %"),
        (module(functions=[function(is_documented=False)]), "documented public names, %"),
        (module(classes=[("Thing", 3, False)]), "documented public names, %"),
        (module(lazy=[1, 2, 3]), "lazy imports"),
        (module(imports={"selfgc.model.ids"}), "modules in an import cycle"),
        (module(broad=[(1, True)] * 6), "broad excepts"),
        (module(broad=[(1, False)]), "broad excepts without a reason"),
        (module("selfgc.model.utils"), "vague module names"),
    ],
)
def test_one_broken_limit(wrong, name):
    """Each limit is broken alone, and named."""
    assert broken(wrong) == [name]


def test_limits_are_inclusive():
    """What reaches a limit exactly is within it."""
    sound = module(
        rows=600,
        functions=[function(rows=60, nesting=4, arguments=6), *[function()] * 20],
        lazy=[1, 2],
        broad=[(1, True)] * 5,
    )
    assert broken(sound) == []


def test_long_bodies_are_for_outer_rooms_only():
    """Over 60 rows fail in rooms 1 to 8 and are only told elsewhere."""
    short = [function()] * 20
    assert broken(module("selfgc.engine.loop", functions=[function(rows=61), *short])) == ["longest body, rooms 1 to 8"]
    assert broken(module("selfgc.cli.main", functions=[function(rows=61), *short])) == []


def test_typical_sizes():
    """Median, mean and 90th percentile have limits of their own."""
    assert broken(module(functions=[function(rows=9)] * 3)) == ["body rows, median"]
    assert broken(module(functions=[function(rows=2)] * 2 + [function(rows=50)])) == ["body rows, mean"]
    assert broken(module(functions=[function(rows=2)] * 8 + [function(rows=31)] * 2)) == ["body rows, p90"]


def test_import_depth():
    """Ten modules in a chain pass, eleven do not."""

    def chain(length: int) -> list[Module]:
        return [
            module(f"selfgc.m{n}", imports={f"selfgc.m{n + 1}"} if n + 1 < length else set()) for n in range(length)
        ]

    assert broken(*chain(10)) == []
    assert broken(*chain(11)) == ["import depth"]


def test_duplication():
    """Like rows are told with their modules, the worst first."""
    like = [f"x = {n}" for n in range(10)]
    checks = shape.check_modules([module("selfgc.a", code=like), module("selfgc.b", code=["y = 1", *like])])
    assert next(check.places for check in checks if check.name == "duplicated rows, %") == (
        "selfgc.a: 10 rows",
        "selfgc.b: 10 rows",
    )


def test_each_module_needs_its_test_file(tmp_path):
    """`selfgc/room/_name.py` is tested in `tests/room/test_name.py`; a package file needs no test."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "test_ids.py").touch()
    tested = Module("selfgc.model._ids", Path("_ids.py"))
    untested = Module("selfgc.errors", Path("errors.py"))
    facade = Module("selfgc.model", Path("__init__.py"))
    missing, _ = shape.check_tests([tested, untested, facade], tmp_path)
    assert missing.places == (f"errors.py has no {tmp_path / 'test_errors.py'}",)


@pytest.mark.parametrize(
    "source",
    [
        "import unittest.mock",
        "from unittest import mock",
        "from unittest.mock import Mock",
        "from pytest_mock import plugin",
        "def test_it(monkeypatch): pass",
        "def test_it(*, mocker): pass",
    ],
)
def test_mocks_beside_pure_rooms(tmp_path, source):
    """Mocks are found beside rooms 1 to 6, and left alone elsewhere."""
    for room in ("model", "engine"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "test_it.py").write_text(source)
    (tmp_path / "test_errors.py").write_text("def test_it(tmp_path): pass")
    _, mocks = shape.check_tests([], tmp_path)
    assert [place.partition(":")[0] for place in mocks.places] == [str(tmp_path / "model" / "test_it.py")]


def write(root: Path, source: str) -> list[str]:
    """A package of one module with its test file; returns the arguments for `main`."""
    for folder in ("selfgc/model", "tests/model"):
        (root / folder).mkdir(parents=True)
    (root / "selfgc/model/ids.py").write_text(source)
    (root / "tests/model/test_ids.py").touch()
    return [str(root / "selfgc"), str(root / "tests")]


def table(printed: str) -> list[str]:
    return [" ".join(row.split()) for row in printed.splitlines()]


def test_main_prints_the_table(tmp_path, capsys):
    """A sound package: a table with values and limits, no places, exit code 0."""
    assert shape.main(write(tmp_path, '"""Ids."""\n\n\ndef f() -> int:\n    """Say."""\n    return 1\n')) == 0
    printed = capsys.readouterr().out
    assert "body rows, mean 2.0 12" in table(printed)
    assert "BROKEN" not in printed


def test_main_prints_the_places(tmp_path, capsys):
    """A broken package: the row is marked, the place is told, exit code 1."""
    assert shape.main(write(tmp_path, '"""Ids."""\n\n\ndef f() -> int:\n    return 1\n')) == 1
    printed = capsys.readouterr().out
    assert "documented public names, % 0.0 100 BROKEN" in table(printed)
    assert f"documented public names, %: {tmp_path}/selfgc/model/ids.py:4 f\n" in printed


def test_main_notes_large_files(tmp_path, capsys):
    """Over 400 rows is told, and no failure."""
    assert shape.main(write(tmp_path, '"""Ids."""\n' + "\n" * 400)) == 0
    assert "ids.py has 401 rows; over 400 needs a reason" in capsys.readouterr().out


def test_main_stops_at_broken_source(tmp_path, capsys):
    """What cannot be parsed is named."""
    assert shape.main(write(tmp_path, "def")) == 1
    assert "ids.py:1: " in capsys.readouterr().err


def test_main_tells_its_usage(capsys):
    """Other arguments than two: usage, exit code 2."""
    assert shape.main([]) == 2
    assert capsys.readouterr().err.startswith("usage")
