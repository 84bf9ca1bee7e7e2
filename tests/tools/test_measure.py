"""What `tools/measure.py` counts, on packages of a few rows."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from measure import Function, Module, duplicated, find_modules, import_depths, measure_package, nesting, reachable


def package(root: Path, **files: str) -> list[Module]:
    """Write `thing/<room>/<module>.py` for each `room___module=source`, and measure it."""
    folder = root / "thing"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""A thing."""\n')
    for name, source in files.items():
        path = folder.joinpath(*name.split("___")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(source))
    return measure_package(folder)


def module(root: Path, source: str) -> Module:
    return next(found for found in package(root, one=source) if found.name == "thing.one")


def function(root: Path, source: str) -> Function:
    return module(root, source).functions[0]


def test_modules_have_dotted_names(tmp_path):
    """A package's `__init__.py` goes by the package's name."""
    package(tmp_path, room___one="")
    assert list(find_modules(tmp_path / "thing")) == ["thing", "thing.room.one"]


def test_broken_source_is_an_error(tmp_path):
    """What is no Python is not skipped."""
    with pytest.raises(SyntaxError):
        package(tmp_path, one="def")


def test_code_rows_leave_out_docstrings_and_comments(tmp_path):
    """Docstrings, empty rows and comments on rows of their own are no code; comments behind code stay."""
    found = module(
        tmp_path,
        '''\
        """Says
        two rows."""

        # a comment
        x = 1  # with a comment behind
        text = "# no comment"
        ''',
    )
    assert (found.rows, found.code) == (6, ["x = 1  # with a comment behind", 'text = "# no comment"'])
    assert found.is_documented


def test_function_rows_leave_out_the_docstring(tmp_path):
    """The size of a function is its rows from `def` on, decorators and docstring aside."""
    found = function(
        tmp_path,
        '''\
        @property
        def one(self) -> int:
            """Say it
            at length."""
            # why
            return 1
        ''',
    )
    assert (found.rows, found.is_documented, found.line) == (3, True, 2)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("def f(a, /, b, *c, d, **e): return 1", 5),
        ("class C:\n    def f(self, a): return 1", 1),
        ("class C:\n    @staticmethod\n    def f(a): return 1", 1),
        ("class C:\n    @classmethod\n    def f(cls, a): return 1", 1),
    ],
)
def test_arguments(tmp_path, source, count):
    """Every kind of argument counts, except the one that a method is bound to."""
    assert function(tmp_path, source).arguments == count


@pytest.mark.parametrize(
    ("source", "is_typed"),
    [
        ("def f(a: int) -> int: return a", True),
        ("def f(a) -> int: return a", False),
        ("def f(a: int): return a", False),
        ("def f(*a) -> int: return 1", False),
        ("class C:\n    def __init__(self, a: int): self.a = a", True),
    ],
)
def test_typed(tmp_path, source, is_typed):
    """A function is typed when every argument and the result are; `__init__` needs no result."""
    assert function(tmp_path, source).is_typed is is_typed


def test_public_names(tmp_path):
    """Names with an underscore, functions in functions and overloads are not public."""
    found = module(
        tmp_path,
        """\
        class Open:
            def method(self): return 1
            def _method(self): return 1
        class _Closed: ...
        def outer():
            def inner(): return 1
            class Inner: ...
            return inner
        @overload
        def either(): ...
        """,
    )
    assert [item.name for item in found.functions if item.is_public] == ["method", "outer"]
    assert found.classes == [("Open", 1, False)]


def test_functions_without_a_body(tmp_path):
    """A protocol's method, which says only what it does, has no body."""
    assert not function(tmp_path, 'def f():\n    """Do it."""\n    ...').has_body


@pytest.mark.parametrize(
    ("source", "depth"),
    [
        ("x = 1", 0),
        ("if a:\n    for b in c:\n        x = 1", 2),
        ("if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3", 1),
        ("if a:\n    def f():\n        if b:\n            x = 1", 1),
        ("match a:\n    case 1:\n        with b:\n            x = 1", 2),
    ],
)
def test_nesting(source, depth):
    """Blocks in blocks count, `elif` as its `if`; a function within starts anew."""
    assert nesting(ast.parse(source)) == depth


def test_imports_within_the_package(tmp_path):
    """Absolute and relative imports name modules of the package; what is outside or for types only does not count."""
    found = {
        item.name: item
        for item in package(
            tmp_path,
            one="",
            room___two="",
            room___three="""\
            import json
            import thing.one
            from thing.room import two
            from ..one import something
            from . import two
            if TYPE_CHECKING:
                from thing import four
            """,
            four="""\
            def f():
                from thing import one
            """,
        )
    }
    assert found["thing.room.three"].imports == {"thing.one", "thing.room.two"}
    assert (found["thing.four"].imports, found["thing.four"].lazy) == (set(), [2])


def test_relative_import_in_a_package_file(tmp_path):
    """In an `__init__.py` one dot is the package itself."""
    found = {item.name: item for item in package(tmp_path, room_____init__="from .two import x", room___two="")}
    assert found["thing.room"].imports == {"thing.room.two"}


def chain(**edges: str) -> list[Module]:
    return [Module(name, Path(), imports=set(targets)) for name, targets in edges.items()]


def test_import_depth_is_the_longest_chain():
    """A module that imports nothing has depth 1."""
    assert import_depths(chain(a="bc", b="c", c="")) == {"a": 3, "b": 2, "c": 1}


def test_cycles_reach_themselves_and_end():
    """Modules in a cycle are in their own reach; the depth leaves the cycle out."""
    modules = chain(a="b", b="ac", c="")
    assert [name for name, found in reachable(modules).items() if name in found] == ["a", "b"]
    assert import_depths(modules) == {"a": 1, "b": 2, "c": 1}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("try: x = 1\nexcept ValueError: x = 2", []),
        ("try: x = 1\nexcept Exception: x = 2", [(2, False)]),
        ("try: x = 1\nexcept: x = 2  # noqa: E722", [(2, False)]),
        ("try: x = 1\nexcept Exception: x = 2  # noqa: BLE001, S110 a hook must never break the agent", [(2, True)]),
        ("try: x = 1\nexcept BaseException:\n    # whatever happens, the file is closed\n    x = 2", [(2, True)]),
        ("try:\n    x = 1\n# whatever happens, it goes on\nexcept Exception:\n    x = 2", [(4, True)]),
        ("try: x = 1\nexcept Exception:\n    x = 2  # a comment on another matter", [(2, False)]),
    ],
)
def test_broad_handlers_and_their_reasons(tmp_path, source, expected):
    """A reason is three words or more in a comment on the row, or alone on the row above or below."""
    assert module(tmp_path, source).broad == expected


def rows(*numbers: int) -> list[str]:
    return [f"x{number} = {number}" for number in numbers]


def test_eight_like_rows_in_two_places_are_duplicated():
    """Rows count once each, however many windows hold them; seven like rows are none."""
    nine = Module("a", Path(), code=[*rows(*range(9)), "from b import c", ")"])
    assert duplicated([nine, Module("b", Path(), code=[*rows(100), *rows(*range(9))])]) == {"a": 9, "b": 9}
    assert duplicated([nine, Module("b", Path(), code=rows(*range(7)))]) == {}
