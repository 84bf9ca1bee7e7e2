"""How commands print."""

import io
import json
import sys

import pytest

from selfgc.cli.output import Column, Printer, count, one_line, progress, share, warn


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal, and remembers what was written."""

    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def isatty(self):
        return True

    def text(self):
        return self.buffer.getvalue().decode()


@pytest.fixture
def attach(monkeypatch):
    """Make standard output and standard error one terminal of 80 columns, and return it; pytest's own come between."""

    def attached(**environment):
        stream = Terminal()
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.delenv("NO_COLOR", raising=False)
        for name, value in ({"TERM": "xterm-256color", "COLUMNS": "80"} | environment).items():
            monkeypatch.setenv(name, value)
        return stream

    return attached


def test_a_terminal_gets_colour(attach):
    """Styles become escape sequences there."""
    terminal = attach()
    Printer(as_json=False).line("done", "green")
    assert "\x1b[32mdone\x1b[0m" in terminal.text()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_gets_none_when_it_wants_none(attach, name, value):
    """NO_COLOR and a terminal that knows no colours are heeded."""
    terminal = attach(**{name: value})
    printer = Printer(as_json=False)
    printer.line("done", "green")
    printer.table("Title", [Column("a")], [["b"]])
    assert "\x1b" not in terminal.text()


def test_what_is_no_terminal_gets_plain_text(capsys, monkeypatch):
    """Whatever the environment says, a file holds no escape sequence and no wrapped line."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    printer = Printer(as_json=False)
    printer.line("word " * 60, "green")
    printer.table("Title", [Column("a"), Column("b", cuts=True)], [["1", "x" * 300]])
    with progress("working") as stages:
        stages.stage("still working")
        stages.step(1, 2)
    out, err = capsys.readouterr()
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) == 303
    assert err == ""


def test_a_table_fits_a_terminal(attach):
    """Cells that may be cut are; the others are kept whole."""
    terminal = attach()
    identifier = "function:" + "t" * 30 + ":1"
    Printer(as_json=False).table(
        "Title",
        [Column("id"), Column("n", right=True), Column("subject", cuts=True)],
        [[identifier, "1,234", "word " * 40]],
    )
    lines = terminal.text().splitlines()
    assert all(len(line) <= 80 for line in lines[3:])
    assert identifier in lines[-1]
    assert lines[-1].endswith("…")


def test_a_table_without_rows_is_not_there(capsys):
    """Neither its title."""
    Printer(as_json=False).table("Title", [Column("a")], [])
    assert capsys.readouterr().out == ""


def test_lines_have_no_blanks_at_their_end(capsys):
    """Columns are filled up between, and not behind."""
    Printer(as_json=False).table("Title", [Column("a"), Column("b")], [["1", "long text"], ["22", "x"]])
    assert capsys.readouterr().out == "\nTitle\na   b\n1   long text\n22  x\n"


def test_text_from_a_session_is_no_markup_and_steers_nothing(capsys):
    """Brackets stay, control characters go, and so do marks that turn the direction of text."""
    Printer(as_json=False).table("Title", [Column()], [["[red]a[/red] :smile: \x1b[2Jb\r\nc\u202ed\ud800"]])
    Printer(as_json=False).line("[b]\x1b[2J\n", "bold")
    table, line = capsys.readouterr().out.splitlines()[-2:]
    assert line == "[b] [2J"
    assert table == "[red]a[/red] :smile: [2Jb c d\ufffd"


def test_a_document_is_one_line_in_utf8(capfdbinary):
    """For programs, whatever the locale."""
    Printer(as_json=True).document({"a": "ü\n", "b": [1]})
    assert capfdbinary.readouterr().out == '{"a":"ü\\n","b":[1]}\n'.encode()


def test_a_report_can_go_to_standard_error(capfd):
    """When standard output carries a payload."""
    printer = Printer(as_json=True, to_stderr=True)
    printer.line("said")
    printer.document({})
    out, err = capfd.readouterr()
    assert (out, err.splitlines()[0], json.loads(err.splitlines()[1])) == ("", "said", {})


def test_progress_is_shown_on_a_terminal_and_taken_away(attach):
    """The stage can be read while it lasts; the cursor is shown again at the end."""
    terminal = attach()
    with progress("reading [x]") as stages:
        stages.stage("planning")
        stages.step(1, 2)
    assert "planning" in terminal.text()
    assert "\x1b[?25h" in terminal.text()


def test_a_warning_goes_to_standard_error(capsys):
    """As one line."""
    warn("not\ngood")
    assert capsys.readouterr() == ("", "Warning: not good\n")


def test_words_and_numbers():
    """A number has its noun, a share its percent; nothing of nothing is a dash."""
    assert [count(1, "turn"), count(1234, "turn"), count(0, "entry", "entries")] == [
        "1 turn",
        "1,234 turns",
        "0 entries",
    ]
    assert [share(1, 3), share(0, 0)] == ["33.3%", "-"]
    assert one_line("  a\t\nb\x00 ") == "a b"
