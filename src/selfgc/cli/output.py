"""How commands print: lines and tables for people, one JSON document for programs, progress on the way.

Colour and progress are for terminals only. What stands in a session is data: it is printed as plain text on one
line, never as markup, and without the characters that steer a terminal.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from selfgc.model.wire import encode, without_lone_surrogates

_STEERING = re.compile("[\x00-\x20\x7f-\xa0\u2028-\u202e\u2066-\u2069\ufeff]+")
_WIDTH_OF_FILES = 1000
"""What is no terminal is not wrapped: programs read it line by line."""


class Column:
    """One column of a table. Its cells are kept whole, unless they may be cut or wrapped where a line is full."""

    def __init__(self, heading: str = "", *, right: bool = False, cuts: bool = False, wraps: bool = False) -> None:
        self.heading = heading
        self.right = right
        self.cuts = cuts
        self.wraps = wraps

    def cell(self, text: str) -> Text:
        """Return one cell of this column."""
        return Text(one_line(text), no_wrap=self.cuts, overflow="ellipsis" if self.cuts else "fold")


class _Console(Console):
    """A console that tells a broken pipe as it is, instead of leaving the program with a code of its own."""

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled."""
        raise  # noqa: PLE0704 - rich calls this from its handler of BrokenPipeError


class Printer:
    """Prints what one command has to say, to standard output or, when that carries a payload, to standard error."""

    def __init__(self, *, as_json: bool, to_stderr: bool = False) -> None:
        self._as_json = as_json
        self._file: IO[str] = sys.stderr if to_stderr else sys.stdout
        self._console = _console(self._file)

    def document(self, value: object) -> None:
        """Print a value as one line of JSON in UTF-8."""
        self._file.flush()
        self._file.buffer.write(encode(value) + b"\n")  # type: ignore[attr-defined] # both streams are text over bytes
        self._file.buffer.flush()  # type: ignore[attr-defined] # as above

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line of prose."""
        self._console.print(Text(one_line(text), style), soft_wrap=True)

    def table(self, title: str, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
        """Print a table below its title, and an empty line before it; nothing when there are no rows."""
        has_head = any(column.heading for column in columns)
        table = Table(box=None, show_header=has_head, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
        for column in columns:
            table.add_column(
                column.heading,
                justify="right" if column.right else "left",
                no_wrap=not (column.cuts or column.wraps),
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(column.cell(cell) for column, cell in zip(columns, row, strict=True)))
        if table.row_count:
            self.line()
            self.line(title, "bold")
            with self._console.capture() as captured:
                self._console.print(table)
            for line in captured.get().splitlines():
                self._console.print(Text.from_ansi(line.rstrip()), soft_wrap=True)


def warn(sentence: str) -> None:
    """Print a warning on standard error."""
    _console(sys.stderr).print(Text(f"Warning: {one_line(sentence)}", "yellow"), soft_wrap=True)


class Stages:
    """Tells on a terminal what is being done, and how far it is."""

    def __init__(self, bars: Progress, task: TaskID) -> None:
        self._bars = bars
        self._task = task

    def stage(self, text: str) -> None:
        """Say what is done now."""
        self._bars.update(self._task, description=text, total=None)

    def step(self, done: int, total: int) -> None:
        """Say how far it is."""
        self._bars.update(self._task, completed=done, total=total)


@contextmanager
def progress(text: str) -> Iterator[Stages]:
    """Show on standard error that work goes on, if that is a terminal; it leaves no trace there."""
    console = _console(sys.stderr)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=24))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield Stages(bars, bars.add_task(text, total=None))


def one_line(text: str) -> str:
    """Return text without line ends and without characters that steer a terminal."""
    return without_lone_surrogates(_STEERING.sub(" ", text)).strip()


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 turn`, `1,610 messages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def share(part: int, whole: int) -> str:
    """Return a part of a whole in percent."""
    return f"{part / whole:.1%}" if whole else "-"


def _console(file: IO[str]) -> Console:
    is_terminal = file.isatty()
    has_colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return _Console(
        file=file,
        force_terminal=is_terminal,
        color_system="auto" if has_colour else None,
        width=None if is_terminal else _WIDTH_OF_FILES,
        markup=False,
        emoji=False,
        highlight=False,
    )
