"""Measures a package's source without importing it: files, functions, imports, handlers, like rows.

Only numbers and places come out of here; what they may be stands in `shape.py`.
"""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith, ast.Match)
_NOT_COMPARED = re.compile(r"(from|import) |[)\]}(\[{,]+$|@overload")
_NO_REASON = re.compile(
    r"#|noqa(:\s*[A-Z]+\d+([,\s]+[A-Z]+\d+)*)?|type: ignore(\[[\w,-]+\])?|pragma: no (cover|branch)"
)
WINDOW = 8
"""So many like rows in a row, in two places, count as duplicated."""


@dataclass(frozen=True)
class Function:
    """One function or method. `rows` counts from `def` to its end, without the docstring."""

    name: str
    line: int
    rows: int
    nesting: int
    arguments: int
    is_typed: bool
    is_public: bool
    is_documented: bool
    is_overload: bool
    has_body: bool


@dataclass
class Module:
    """One file: its size, and what was found in it."""

    name: str
    path: Path
    rows: int = 0
    code: list[str] = field(default_factory=list)
    """The rows that are neither empty nor docstring nor comment, without indentation."""
    is_documented: bool = False
    functions: list[Function] = field(default_factory=list)
    classes: list[tuple[str, int, bool]] = field(default_factory=list)
    """Name, line and whether documented, of each public class outside functions."""
    imports: set[str] = field(default_factory=set)
    """Modules of the same package imported when this one is imported."""
    lazy: list[int] = field(default_factory=list)
    """Lines inside functions where a module of the same package is imported."""
    broad: list[tuple[int, bool]] = field(default_factory=list)
    """Line of each handler of everything, and whether a reason stands beside it."""


def find_modules(package: Path) -> dict[str, Path]:
    """Return the package's modules by dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def measure_package(package: Path) -> list[Module]:
    """Measure every module of the package at that folder; SyntaxError when one is no Python."""
    paths = find_modules(package)
    return [_measure(name, path, paths) for name, path in paths.items()]


def _measure(name: str, path: Path, known: Mapping[str, Path]) -> Module:
    source = path.read_text("utf-8")
    tree = ast.parse(source, str(path))
    rows = source.splitlines()
    comments = _comments(source)
    alone = {row for row in comments if rows[row - 1].lstrip().startswith("#")}
    skipped = alone | _docstring_rows(tree)
    module = Module(name, path, rows=len(rows), is_documented=_docstring(tree) is not None)
    module.code = [row.strip() for number, row in enumerate(rows, 1) if row.strip() and number not in skipped]
    _Visitor(module, known, _Comments(comments, alone)).visit(tree)
    return module


@dataclass(frozen=True)
class _Comments:
    text: Mapping[int, str]
    alone: set[int]

    def give_reason(self, line: int) -> bool:
        """Whether a comment of three words or more stands on that line, or alone above or below it."""
        beside = [line, *(row for row in (line - 1, line + 1) if row in self.alone)]
        said = (_NO_REASON.sub(" ", self.text.get(row, "")) for row in beside)
        return any(len(text.split()) >= 3 for text in said)


class _Visitor(ast.NodeVisitor):
    """Walks one tree and fills the module; knows whether it is inside a function or a type-checking block."""

    def __init__(self, module: Module, known: Mapping[str, Path], comments: _Comments) -> None:
        self.module = module
        self.known = known
        self.comments = comments
        self.is_inside = False
        self.is_checking = False

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not self.is_inside and not node.name.startswith("_"):
            self.module.classes.append((node.name, node.lineno, _docstring(node) is not None))
        for child in node.body:
            if isinstance(child, FunctionNode):
                self._function(child, is_method=True)
            else:
                self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node, is_method=False)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node, is_method=False)

    def visit_If(self, node: ast.If) -> None:
        before = self.is_checking
        self.is_checking = before or "TYPE_CHECKING" in ast.unparse(node.test)
        self.generic_visit(node)
        self.is_checking = before

    def visit_Import(self, node: ast.Import) -> None:
        self._imported(node.lineno, (alias.name for alias in node.names))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        stem = self._stem(node)
        joined = ((f"{stem}.{alias.name}", stem) for alias in node.names)
        self._imported(node.lineno, (full if full in self.known else short for full, short in joined))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}:
            self.module.broad.append((node.lineno, self.comments.give_reason(node.lineno)))
        self.generic_visit(node)

    def _function(self, node: FunctionNode, *, is_method: bool) -> None:
        is_public = not node.name.startswith("_") and not self.is_inside
        self.module.functions.append(_measure_function(node, is_method=is_method, is_public=is_public))
        before = self.is_inside
        self.is_inside = True
        self.generic_visit(node)
        self.is_inside = before

    def _stem(self, node: ast.ImportFrom) -> str:
        """Return the absolute name that a `from … import` starts from."""
        base: list[str] = []
        if node.level:
            parts = self.module.name.split(".")
            package = parts if self.module.path.name == "__init__.py" else parts[:-1]
            base = package[: len(package) - node.level + 1]
        return ".".join([*base, *([node.module] if node.module else [])])

    def _imported(self, line: int, names: Iterable[str]) -> None:
        for name in names:
            target = name
            while target and target not in self.known:
                target = target.rpartition(".")[0]
            if not target or target == self.module.name or self.is_checking:
                continue
            if self.is_inside:
                self.module.lazy.append(line)
            else:
                self.module.imports.add(target)


def _measure_function(node: FunctionNode, *, is_method: bool, is_public: bool) -> Function:
    decorators = {getattr(item, "id", getattr(item, "attr", "")) for item in node.decorator_list}
    arguments = _arguments(node, is_bound=is_method and "staticmethod" not in decorators)
    text = _docstring(node)
    text_rows = _end(text) - text.lineno + 1 if text else 0
    return Function(
        name=node.name,
        line=node.lineno,
        rows=_end(node) - node.lineno + 1 - text_rows,
        nesting=nesting(node),
        arguments=len(arguments),
        is_typed=all(item.annotation for item in arguments) and (node.returns is not None or node.name == "__init__"),
        is_public=is_public and "overload" not in decorators,
        is_documented=text is not None,
        is_overload="overload" in decorators,
        has_body=not all(isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) for item in node.body),
    )


def _arguments(node: FunctionNode, *, is_bound: bool) -> list[ast.arg]:
    given = node.args
    collected = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    collected += [item for item in (given.vararg, given.kwarg) if item]
    return collected[1:] if is_bound else collected


def nesting(node: ast.AST, depth: int = 0) -> int:
    """Return how many blocks deep the deepest statement stands; `elif` counts as its `if` does."""
    deepest = depth
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        is_elif = (
            isinstance(node, ast.If) and name == "orelse" and len(children) == 1 and isinstance(children[0], ast.If)
        )
        for child in children:
            if not isinstance(child, ast.AST) or isinstance(child, FunctionNode | ast.ClassDef | ast.Lambda):
                continue
            deepest = max(deepest, nesting(child, depth + (isinstance(child, _BLOCKS) and not is_elif)))
    return deepest


def _docstring(node: ast.Module | ast.ClassDef | FunctionNode) -> ast.Expr | None:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None


def _docstring_rows(tree: ast.Module) -> set[int]:
    rows: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | FunctionNode) and (text := _docstring(node)):
            rows.update(range(text.lineno, _end(text) + 1))
    return rows


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def reachable(modules: Iterable[Module]) -> dict[str, set[str]]:
    """Return for each module everything that importing it imports; a module in a cycle reaches itself."""
    edges = {module.name: module.imports for module in modules}
    reach: dict[str, set[str]] = {}
    for name in edges:
        seen: set[str] = set()
        open_ = [name]
        while open_:
            new = edges[open_.pop()] - seen
            seen |= new
            open_ += new
        reach[name] = seen
    return reach


def import_depths(modules: Iterable[Module]) -> dict[str, int]:
    """Return for each module the length of its longest chain of imports, itself included, cycles left out."""
    known = list(modules)
    edges = {module.name: module.imports for module in known}
    reach = reachable(known)
    depths: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in depths:
            depths[name] = 1 + max((depth(other) for other in edges[name] if name not in reach[other]), default=0)
        return depths[name]

    return {name: depth(name) for name in edges}


def duplicated(modules: Iterable[Module]) -> dict[str, int]:
    """Return for each module how many of its rows stand in a window that stands elsewhere too."""
    places: defaultdict[tuple[str, ...], set[tuple[str, int]]] = defaultdict(set)
    for module in modules:
        for start, window in _windows(module.code):
            places[window].add((module.name, start))
    like = {
        (name, start + offset)
        for found in places.values()
        if len(found) > 1
        for name, start in found
        for offset in range(WINDOW)
    }
    counts: defaultdict[str, int] = defaultdict(int)
    for name, _ in like:
        counts[name] += 1
    return dict(counts)


def _windows(code: list[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    compared = [row for row in code if not _NOT_COMPARED.match(row)]
    for start in range(len(compared) - WINDOW + 1):
        yield start, tuple(compared[start : start + WINDOW])
