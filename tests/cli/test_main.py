"""The group: commands by name, and how errors end."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from selfgc.cli.main import COMMANDS, main
from selfgc.errors import PlanError, ReadError, StoreError, UsageError, WireError


def raising(monkeypatch, error):
    """Let `selfgc check FILE` end in that error."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr("selfgc.cli.check.read_file", fail)


def started(*arguments, **others):
    return subprocess.Popen(
        [sys.executable, "-m", "selfgc", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **others
    )


def test_help_lists_every_command(run):
    """`--help` names each command with its sentence."""
    text = " ".join(run("--help").stdout.split())
    assert all(f"{name} {' '.join(sentence.split())}" in text for name, sentence in COMMANDS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_loaded_by_its_name(name):
    """Each name leads to a click command that has it, with --json and --debug."""
    command = main.get_command(click.Context(main), name)
    assert command.name == name
    for found in command.commands.values() if isinstance(command, click.Group) else [command]:
        assert {"--json", "--debug"} <= {option for parameter in found.params for option in parameter.opts}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_else(option):
    """No command's module and nothing that prints tables is imported for them."""
    code = (
        f"import sys; from selfgc.cli.main import main; main(['{option}'], standalone_mode=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert [name for name in loaded if name.startswith(("rich", "selfgc.cli.", "selfgc.readers"))] == [
        "selfgc.cli.main"
    ]


def test_the_version_is_the_project_s(run):
    """It stands in two places, which are held together here."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    assert run("--version", prog_name="selfgc").stdout == f"selfgc {project['version']}\n"


def test_a_module_without_a_command_is_a_bug(monkeypatch):
    """What stands under `command` in a command's module must be one."""
    monkeypatch.setattr("selfgc.cli.check.command", "none")
    with pytest.raises(TypeError, match=r"selfgc\.cli\.check:command should be"):
        main.get_command(click.Context(main), "check")


def test_an_unknown_command_is_a_usage_error(run):
    """The exit code is 2, for people and for programs."""
    assert run("collect").exit_code == 2
    done = run("collect", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert json.loads(done.stderr) == {"error": "No such command 'collect'.", "kind": "NoSuchCommand"}


@pytest.mark.parametrize("arguments", [("--nothing",), ("check",), ("check", "x", "--nothing")])
def test_wrong_usage_is_told_by_click(run, arguments):
    """Without --json the usage line is shown; the exit code is 2."""
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("Usage: ")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("ask otherwise"), 2),
        (PlanError("no plan"), 1),
        (ReadError("no session", 3), 1),
        (WireError("no request"), 1),
        (StoreError("no store"), 1),
    ],
)
def test_errors_have_their_exit_code(run, monkeypatch, error, code):
    """What the caller asked wrongly is 2, everything else that is refused is 1."""
    raising(monkeypatch, error)
    done = run("check", "x")
    assert (done.exit_code, done.stdout, done.stderr) == (code, "", f"Error: {error}\n")
    done = run("check", "x", "--json")
    assert (done.exit_code, done.stdout) == (code, "")
    assert json.loads(done.stderr) == {"error": str(error), "kind": type(error).__name__}


def test_a_message_steers_no_terminal(run, monkeypatch):
    """Control characters that a message quotes from a file become blanks, and it stays one line."""
    raising(monkeypatch, ReadError("a \x1b[31mred\nline"))
    assert run("check", "x").stderr == "Error: a  [31mred line\n"


def test_a_bug_ends_in_one_line(run, monkeypatch):
    """What is no error of ours asks for a report; the traceback comes with --debug."""
    raising(monkeypatch, ZeroDivisionError("by zero"))
    done = run("check", "x")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "ZeroDivisionError: by zero; this is a fault in selfgc: please report it" in done.stderr
    done = run("check", "x", "--debug", "--json")
    assert "Traceback" in done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["kind"] == "ZeroDivisionError"


def test_an_interrupt_ends_with_130(run, monkeypatch):
    """Ctrl-C leaves no traceback."""
    raising(monkeypatch, KeyboardInterrupt())
    done = run("check", "x")
    assert (done.exit_code, done.output) == (130, "")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_broken_pipe_ends_quietly(recorded, options):
    """When nobody reads the output any more, nothing is said, and the exit code tells it."""
    process = started("inspect", recorded, *options)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), said) == (141, b"")


def test_a_full_pipe_that_is_written_at_the_end_ends_quietly(recorded):
    """Also what only leaves the buffer when the command is done counts as a broken pipe."""
    process = started("check", recorded)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), said) == (141, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_ctrl_c_ends_a_command_that_waits():
    """Also while it reads standard input."""
    code = (
        "import os, signal, sys, threading; from selfgc.cli.main import main; "
        "threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start(); main(['check', '-'], prog_name='selfgc')"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    said = process.stderr.read()
    process.stdin.close()
    process.stderr.close()
    assert (process.wait(), said) == (130, b"")
