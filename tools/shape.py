"""Holds the shape of the package within its limits: sizes, nesting, types, imports, handlers, docs, tests.

Usage: `python tools/shape.py src/selfgc tests`. Prints a table of name, value and limit, and below it the
places that break a limit; the exit code is 1 when there are any. Limits stand in this file and nowhere else.
"""

import ast
import statistics
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import Function, Module, duplicated, import_depths, measure_package, reachable

PURE_ROOMS = frozenset({"errors", "model", "economics", "governance", "dialects", "planners"})
CORE_ROOMS = PURE_ROOMS | {"sidecar", "engine"}
VAGUE_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"})
FILE_ROWS = 600
FILE_ROWS_USUAL = 400
BODY_ROWS = 60
BODY_MEDIAN = 8
BODY_MEAN = 12
BODY_P90 = 30
NESTING = 4
ARGUMENTS = 6
IMPORT_DEPTH = 10
TOP_IMPORT_DEPTH = 13
"""For the rooms on top of everything: the bench has layers of its own (judge, arms, runs) over engine and readers."""
TOP_ROOMS = frozenset({"bench", "cli"})
LAZY_IMPORTS = 2
BROAD_EXCEPTS = 5
DUPLICATED_PERCENT = 3


@dataclass(frozen=True)
class Check:
    """One row of the table: what was measured, what it may be, and where it is broken."""

    name: str
    value: str
    limit: str
    places: tuple[str, ...] = ()


def main(arguments: list[str]) -> int:
    """Measure, print, and return the exit code."""
    if len(arguments) != 2:
        print("usage: shape.py PACKAGE TESTS", file=sys.stderr)
        return 2
    package, tests = Path(arguments[0]), Path(arguments[1])
    try:
        modules = measure_package(package)
    except SyntaxError as error:
        print(f"{error.filename}:{error.lineno}: {error.msg}", file=sys.stderr)
        return 1
    checks = [*check_modules(modules), *check_tests(modules, tests)]
    print(render(checks))
    for module in modules:
        if FILE_ROWS_USUAL < module.rows <= FILE_ROWS:
            print(f"note: {module.path} has {module.rows} rows; over {FILE_ROWS_USUAL} needs a reason")
    broken = [(check.name, place) for check in checks for place in check.places]
    for name, place in broken:
        print(f"{name}: {place}")
    return 1 if broken else 0


def render(checks: Iterable[Check]) -> str:
    """Return the table; a broken row ends in a mark."""
    rows = [("", "value", "limit", ""), *((c.name, c.value, c.limit, "BROKEN" if c.places else "") for c in checks)]
    wide = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{name:{wide[0]}}  {value:>{wide[1]}}  {limit:>{wide[2]}}  {mark}".rstrip()
        for name, value, limit, mark in rows
    )


def check_modules(modules: list[Module]) -> list[Check]:
    """Return every check that needs only the package itself."""
    return [*_sizes(modules), *_bodies(modules), *_signatures(modules), *_imports(modules), *_words(modules)]


def check_tests(modules: list[Module], tests: Path) -> list[Check]:
    """Return the checks of the test folder: one test file a module, and no mocks beside the pure rooms."""
    missing = [
        f"{module.path} has no {expected}"
        for module in modules
        if module.path.name != "__init__.py" and not (expected := expected_test(module.name, tests)).is_file()
    ]
    mocks = [place for path in _pure_tests(tests) for place in find_mocks(path)]
    return [_count("modules without a test file", missing), _count("mocks in tests of rooms 1 to 6", mocks)]


def expected_test(module: str, tests: Path) -> Path:
    """Return where the test file of that module belongs: `tests/<room>/test_<module>.py`."""
    *folders, name = module.split(".")[1:]
    return tests.joinpath(*folders, f"test_{name.strip('_')}.py")


def find_mocks(path: Path) -> list[str]:
    """Return where a test file takes a mock: an import of one, or a fixture that replaces things."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names) if any("mock" in alias.name for alias in names):
                found.append(f"{path}:{node.lineno} imports a mock")
            case ast.ImportFrom(module=module, names=names) if any(
                "mock" in name for name in (module or "", *(alias.name for alias in names))
            ):
                found.append(f"{path}:{node.lineno} imports a mock")
            case ast.arg(arg="monkeypatch" | "mocker"):
                found.append(f"{path}:{node.lineno} takes {node.arg}")
            case _:
                pass
    return found


def _pure_tests(tests: Path) -> Iterator[Path]:
    for room in sorted(PURE_ROOMS):
        yield from sorted(tests.joinpath(room).rglob("*.py"))
        yield from sorted(tests.glob(f"test_{room}.py"))


def _sizes(modules: list[Module]) -> list[Check]:
    rows = max((module.rows for module in modules), default=0)
    code = sum(len(module.code) for module in modules)
    like = duplicated(modules)
    percent = _percent(sum(like.values()), code)
    by_rows = sorted(like.items(), key=lambda item: (-item[1], item[0]))
    return [
        Check("files", str(len(modules)), ""),
        Check("rows", str(sum(module.rows for module in modules)), ""),
        Check(
            "longest file",
            str(rows),
            str(FILE_ROWS),
            tuple(f"{module.path} has {module.rows} rows" for module in modules if module.rows > FILE_ROWS),
        ),
        Check(
            "duplicated rows, %",
            f"{percent:.1f}",
            str(DUPLICATED_PERCENT),
            tuple(f"{name}: {count} rows" for name, count in by_rows) if percent > DUPLICATED_PERCENT else (),
        ),
    ]


def _bodies(modules: list[Module]) -> list[Check]:
    bodies = [(module, function) for module, function in _functions(modules) if _is_body(function)]
    sizes = sorted(function.rows for _, function in bodies) or [0]
    core = [(module, function) for module, function in bodies if _room(module) in CORE_ROOMS]
    outer = [(module, function) for module, function in bodies if _room(module) not in CORE_ROOMS]
    longest_first = sorted(bodies, key=lambda item: -item[1].rows)
    typical = tuple(f"{_place(*item)} has {item[1].rows} rows" for item in longest_first[:10])

    def typical_check(name: str, value: float, limit: int) -> Check:
        return Check(f"body rows, {name}", f"{value:.1f}", str(limit), typical if value > limit else ())

    return [
        typical_check("median", statistics.median(sizes), BODY_MEDIAN),
        typical_check("mean", round(statistics.mean(sizes), 1), BODY_MEAN),
        typical_check("p90", sizes[int(0.9 * (len(sizes) - 1))], BODY_P90),
        _worst("longest body, rooms 1 to 8", [(f.rows, _place(m, f)) for m, f in core], BODY_ROWS, "rows"),
        Check("longest body, other rooms", str(max((f.rows for _, f in outer), default=0)), ""),
        _worst("deepest nesting", [(f.nesting, _place(m, f)) for m, f in bodies], NESTING, "blocks in blocks"),
        _worst("most arguments", [(f.arguments, _place(m, f)) for m, f in bodies], ARGUMENTS, "arguments"),
    ]


def _signatures(modules: list[Module]) -> list[Check]:
    functions = list(_functions(modules))
    untyped = [_place(module, function) for module, function in functions if not function.is_typed]
    public = [
        (function.is_documented, _place(module, function)) for module, function in functions if function.is_public
    ]
    public += [
        (is_documented, f"{module.path}:{line} {name}")
        for module in modules
        for name, line, is_documented in module.classes
    ]
    bare = [place for is_documented, place in public if not is_documented]
    unopened = [str(module.path) for module in modules if not module.is_documented]
    return [
        Check(
            "typed functions, %",
            f"{_percent(len(functions) - len(untyped), len(functions), 100):.1f}",
            "100",
            tuple(untyped),
        ),
        Check(
            "documented public names, %",
            f"{_percent(len(public) - len(bare), len(public), 100):.1f}",
            "100",
            tuple(bare),
        ),
        _count("modules without a docstring", unopened),
    ]


def _imports(modules: list[Module]) -> list[Check]:
    depths = import_depths(modules)
    reach = reachable(modules)
    lazy = [f"{module.path}:{line}" for module in modules for line in module.lazy]
    inner = [(depth, name) for name, depth in depths.items() if _room_of(name) not in TOP_ROOMS]
    outer = [(depth, name) for name, depth in depths.items() if _room_of(name) in TOP_ROOMS]
    return [
        _worst("import depth", inner, IMPORT_DEPTH, "modules deep"),
        _worst("import depth, bench and cli", outer, TOP_IMPORT_DEPTH, "modules deep"),
        _count("modules in an import cycle", [name for name, found in reach.items() if name in found]),
        _count("lazy imports", lazy, LAZY_IMPORTS),
    ]


def _words(modules: list[Module]) -> list[Check]:
    broad = [(f"{module.path}:{line}", is_reasoned) for module in modules for line, is_reasoned in module.broad]
    vague = [str(module.path) for module in modules if module.name.rpartition(".")[2].strip("_") in VAGUE_NAMES]
    return [
        _count("broad excepts", [place for place, _ in broad], BROAD_EXCEPTS),
        _count("broad excepts without a reason", [place for place, is_reasoned in broad if not is_reasoned]),
        _count("vague module names", vague),
    ]


def _functions(modules: Iterable[Module]) -> Iterator[tuple[Module, Function]]:
    return ((module, function) for module in modules for function in module.functions)


def _is_body(function: Function) -> bool:
    return function.has_body and not function.is_overload


def _room(module: Module) -> str:
    return _room_of(module.name)


def _room_of(name: str) -> str:
    return (*name.split("."), "")[1]


def _place(module: Module, function: Function) -> str:
    return f"{module.path}:{function.line} {function.name}"


def _percent(part: int, whole: int, empty: float = 0) -> float:
    return round(100 * part / whole, 1) if whole else empty


def _count(name: str, places: list[str], limit: int = 0) -> Check:
    return Check(name, str(len(places)), str(limit), tuple(places) if len(places) > limit else ())


def _worst(name: str, found: list[tuple[int, str]], limit: int, unit: str) -> Check:
    worst = max((value for value, _ in found), default=0)
    return Check(
        name, str(worst), str(limit), tuple(f"{place}: {value} {unit}" for value, place in found if value > limit)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
