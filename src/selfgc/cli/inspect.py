"""`selfgc inspect`: what a recorded session consists of, and what could be reclaimed."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from selfgc.cli import arguments
from selfgc.cli.governed import headline, print_skipped
from selfgc.cli.inspection import Inspection, Object, inspection_of
from selfgc.cli.output import Column, Printer, progress, share, warn
from selfgc.cli.rounds import Order, Round
from selfgc.cli.running import run_round
from selfgc.model.ids import SessionKey
from selfgc.model.policy import Boundary, Policy
from selfgc.readers.detect import read_file
from selfgc.readers.recording import Notes, Recording
from selfgc.sidecar.memory import MemoryStore


@click.command("inspect")
@arguments.file_argument
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="List so many of the largest calls and turns.",
)
@arguments.skip_bad_option
@arguments.output_options
def command(file: Path, top: int, *, skip_bad: bool, as_json: bool) -> None:
    """Show what the session in FILE consists of, and what could be reclaimed.

    FILE is a recorded session or a request body (`-` for standard input). Nothing is written. The ids are those
    that a first `selfgc govern` gives; with --json every object is listed.
    """
    rounds = _rounds(file, skip_bad=skip_bad)
    found = inspection_of(rounds)
    printer = Printer(as_json=as_json)
    if as_json:
        printer.document({"file": str(file), **msgspec.structs.asdict(found)})
    else:
        printer.line(f"{file}: {headline(rounds[0])}")
        _print(printer, found, top)
        print_skipped(printer, found.skipped)
        for sentence in found.faults:
            warn(sentence)


def _rounds(file: Path, *, skip_bad: bool) -> list[Round]:
    """Run a round in memory at a turn's end and, when that commits nothing, one between two steps."""
    with progress("reading") as stages:
        recording: Recording = read_file(file, skip_bad=skip_bad)
        rounds: list[Round] = []
        for boundary in (Boundary.TURN, Boundary.STEP):
            stages.stage("planning")
            order = Order(Policy(boundary=boundary))
            rounds.append(run_round(recording, MemoryStore(), SessionKey(recording.name or "inspected"), order))
            if rounds[-1].report.committed:
                break
        return rounds


def _print(printer: Printer, found: Inspection, top: int) -> None:
    whole, tokens, part = found.tokens, Column("tokens", right=True), Column("share", right=True)
    rows = [[kind, f"{number:,}", share(number, whole)] for kind, number in found.tokens_by_kind.items()]
    printer.table(f"Tokens by kind, counted offline: {whole:,}", [Column("part"), tokens, part], rows)
    rows = [[use.tool, f"{use.calls:,}", f"{use.tokens:,}", share(use.tokens, whole)] for use in found.tokens_by_tool]
    printer.table(
        f"Tools: {len(rows)}", [Column("tool"), Column("calls", right=True), tokens, part], _first(rows, max(top, 10))
    )
    columns = [Column("id"), tokens, Column("note"), Column("subject", cuts=True)]
    printer.table(f"Largest of {len(found.spans)} calls", columns, _largest(found.spans, top))
    columns = [Column("id"), tokens, Column("calls", right=True), Column("asked", cuts=True)]
    largest = sorted(found.turns, key=lambda turn: -turn.tokens)[:top]
    rows = [[turn.id, f"{turn.tokens:,}", f"{turn.calls:,}", turn.subject] for turn in largest]
    printer.table(f"Largest of {len(found.turns)} turns", columns, rows)
    pinned = [[span.id, span.pinned, span.subject] for span in found.spans if span.pinned]
    printer.table(
        f"Pinned: {len(pinned)}", [Column("id"), Column("why"), Column("subject", cuts=True)], _first(pinned, top)
    )
    _print_reclaimable(printer, found)
    rows = [[f"message {repair.message}", repair.sentence] for repair in found.repairs]
    printer.table(f"Repairs that a view needs: {len(rows)}", [Column(), Column(wraps=True)], _first(rows, max(top, 10)))
    printer.table("In the file", [Column(right=True), Column(wraps=True)], _note_rows(found.notes))


def _largest(spans: Sequence[Object], top: int) -> list[list[str]]:
    return [
        [span.id, f"{span.tokens:,}", _note(span), span.subject]
        for span in sorted(spans, key=lambda span: -span.tokens)[:top]
    ]


def _note(span: Object) -> str:
    notes = ["open"] * span.is_open + ["failed"] * span.has_failed + ["pinned"] * bool(span.pinned)
    return ", ".join(notes)


def _first(rows: list[list[str]], most: int) -> list[list[str]]:
    """Return the first rows, and a last one that says how many are left out."""
    if len(rows) <= most:
        return rows
    rest = [f"and {len(rows) - most} more", *[""] * (len(rows[0]) - 1)]
    return [*rows[:most], rest]


def _print_reclaimable(printer: Printer, found: Inspection) -> None:
    columns = [Column("boundary"), Column("view", right=True), Column("saved", right=True), Column("now", wraps=True)]
    rows = [
        [
            str(each.boundary),
            f"{each.tokens_after:,}",
            f"{each.share:.1%}",
            ("could be committed: " if each.would_commit else "would not be committed: ") + each.reason,
        ]
        for each in found.reclaimable
    ]
    printer.table("Reclaimable with the default planner", columns, rows)


_NOTES = {
    "sidechains": "conversations of subagents, no part of the request",
    "compactions": "compactions",
    "compacted_lines": "message lines before the last compaction",
    "microcompactions": "places where the harness cleared old results; the file has them in full",
    "abandoned_branches": "branches that a rewind or a retry left behind",
    "api_errors": "lines that tell of a failed request",
    "duplicate_lines": "lines that had been there already",
    "broken_links": "lines whose parent is not in the file",
    "blank_texts": "blank texts, left out",
    "empty_results": "results without content",
    "open_calls": "calls without a result",
    "orphan_results": "results without a call, left out",
    "repeated_results": "second results of a call, left out",
}


def _note_rows(notes: Notes) -> list[list[str]]:
    numbers = msgspec.structs.asdict(notes)
    rows = [[f"{numbers[name]:,}", sentence] for name, sentence in _NOTES.items() if numbers[name]]
    others = sum(notes.other_lines.values())
    return [*rows, [f"{others:,}", "lines that are no messages"]] if others else rows
