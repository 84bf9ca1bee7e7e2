"""`selfgc verify`: whether everything that a store promises is there."""

from pathlib import Path

import click
import msgspec

from selfgc.cli import arguments
from selfgc.cli.output import Column, Printer, count, progress
from selfgc.errors import StoreError
from selfgc.model.ids import SessionKey
from selfgc.sidecar.sqlite import SqliteStore
from selfgc.sidecar.verify import Problem, verify_store


class Held(msgspec.Struct, frozen=True):
    """How much of one session was found."""

    session: str
    messages: int
    entries: int
    commits: int
    payloads: int
    payload_bytes: int


@click.command("verify")
@arguments.store_option
@arguments.output_options
@click.pass_context
def command(ctx: click.Context, store: Path, *, as_json: bool) -> None:
    """Check every payload, pointer, journal and ledger in STORE.

    Nothing is written. The exit code is 1 when something is missing, damaged or was changed.
    """
    with SqliteStore(store, read_only=True) as opened, progress("verifying") as stages:
        problems = verify_store(opened, stages.step)
        held = _held(opened)
    printer = Printer(as_json=as_json)
    if as_json:
        printer.document({"store": str(store), "whole": not problems, "sessions": held, "problems": problems})
    else:
        _print(printer, store, held, problems)
    if problems:
        ctx.exit(1)


def _held(store: SqliteStore) -> list[Held]:
    """Return what each session holds; nothing when the file is too damaged to tell."""
    try:
        return [
            Held(
                info.key,
                info.messages,
                store.ledger_head(SessionKey(info.key)).sequence,
                info.commits,
                len(store.payload_ids(SessionKey(info.key))),
                info.payload_bytes,
            )
            for info in store.sessions()
        ]
    except StoreError:
        return []


def _print(printer: Printer, store: Path, held: list[Held], problems: list[Problem]) -> None:
    verdict = count(len(problems), "problem") if problems else "everything is there"
    printer.line(f"{store}: {count(len(held), 'session')}: {verdict}", "red" if problems else "green")
    names = ("messages", "ledger entries", "commits", "payloads", "bytes")
    columns = [Column("session", wraps=True), *(Column(name, right=True) for name in names)]
    printer.table("Checked", columns, [[row[0], *(f"{number:,}" for number in row[1:])] for row in _rows(held)])
    columns = [
        Column("session", wraps=True),
        Column("in"),
        Column("where", wraps=True),
        Column("what is wrong", wraps=True),
    ]
    found = [[problem.session or "-", problem.what, problem.where or "-", problem.sentence] for problem in problems]
    printer.table("Problems", columns, found)


def _rows(held: list[Held]) -> list[tuple[str, int, int, int, int, int]]:
    return [(row.session, row.messages, row.entries, row.commits, row.payloads, row.payload_bytes) for row in held]
