"""The command `selfgc`: which commands there are, and the one place where errors become messages and exit codes.

0    done
1    refused, or the input is not valid; `check` and `verify` found something
2    usage: an unknown option, a value that cannot be, a name that is missing
130  interrupted from the keyboard
141  the reader of the output went away

A command's module is imported when the command is asked for: `--help` and `--version` load nothing else.
"""

import errno
import importlib
import json
import os
import sys
import traceback
from collections.abc import Mapping
from typing import NoReturn

import click

from selfgc.errors import SelfGCError, UsageError

COMMANDS: Mapping[str, str] = {
    "inspect": "Show what a recorded session consists of, and what could be reclaimed.",
    "govern": "Plan, rehearse and commit; write the request to send next.",
    "restore": "Give back the exact bytes of a folded object.",
    "history": "Show the ledger: what was planned, refused, committed, restored.",
    "verify": "Check every payload, pointer, journal and ledger of a store.",
    "check": "Check a request by the rules of its provider.",
    "bench": "Measure on recorded sessions: what is pruned, and what later work would have missed.",
}
"""Each command and its short help. The command is `command` in the module of its name."""

VERSION = "0.1.0"
"""The version in `pyproject.toml`; asking the installed metadata for it would take longer than all the rest."""

INTERRUPTED = 130
READER_GONE = 141


class CommandLine(click.Group):
    """A group whose commands are loaded one by one, and whose errors are told in one way."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the names of the commands, in the order in which one meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Load one command; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"selfgc.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"selfgc.cli.{cmd_name}:command should be a click.Command, but is {type(command).__name__}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for; every error on its way out passes here."""
        told = _Told(as_json="--json" in ctx.args, debug="--debug" in ctx.args)
        try:
            result: object = super().invoke(ctx)
            sys.stdout.flush()
        except SelfGCError as error:
            told.fail(error, 2 if isinstance(error, UsageError) else 1)
        except (click.exceptions.Exit, click.Abort):
            raise
        except click.ClickException as error:
            if not told.as_json:
                raise
            told.fail(error, error.exit_code)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except Exception as error:  # noqa: BLE001 - outer edge: a bug of ours ends in one line, not in a screen of frames
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                _silence()
                ctx.exit(READER_GONE)
            told.fail(error, 1, is_bug=not isinstance(error, OSError))
        return result


class _Told:
    """How an error is told: in a line for people, or as one JSON object; on standard error either way."""

    def __init__(self, *, as_json: bool, debug: bool) -> None:
        self.as_json = as_json
        self._debug = debug

    def fail(self, error: Exception, code: int, *, is_bug: bool = False) -> NoReturn:
        """Tell the error and end with that exit code."""
        kind = type(error).__name__
        sentence = error.format_message() if isinstance(error, click.ClickException) else str(error)
        if is_bug:
            sentence = f"{kind}: {sentence}; this is a fault in selfgc: please report it with the output of --debug"
        if self._debug:
            traceback.print_exception(error)
        if self.as_json:
            click.echo(json.dumps({"error": sentence, "kind": kind}), err=True)
        else:
            click.echo(f"Error: {_harmless(sentence)}", err=True)
        raise click.exceptions.Exit(code) from error


def _harmless(sentence: str) -> str:
    """Return a message as one line that steers no terminal: it may quote what stood in a file."""
    return "".join(c if c.isprintable() else " " for c in sentence)


def _silence() -> None:
    """Send what is still buffered for standard output nowhere, so that closing it says nothing more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@click.group(cls=CommandLine)
@click.version_option(VERSION, message="%(prog)s %(version)s")
def main() -> None:
    """Govern the context of long-running LLM agents.

    A recorded session goes in; a smaller request that can be sent as it is comes out, and every byte that was
    folded away can be had back from the store.

    Exit codes: 0 done, 1 refused or invalid input, 2 usage.
    """
