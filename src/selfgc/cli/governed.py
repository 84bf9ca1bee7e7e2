"""The report of a round: for people, and as a document."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from selfgc.cli.output import Column, Printer, count, share, warn
from selfgc.cli.rounds import Round
from selfgc.engine.context import load_catalog
from selfgc.engine.report import ActionRow
from selfgc.readers.recording import Skipped

LONGEST = 40
"""More rows than this are grouped, unless all are asked for."""
_MILLION = 1_000_000
_FIGURES = (Column("before", right=True), Column("after", right=True), Column("saved", right=True))


def round_document(done: Round) -> dict[str, object]:
    """Return the round as a document for `--json`."""
    report = done.report
    return {
        "session": done.session,
        "source": done.recording.source,
        "dialect": done.recording.dialect,
        "model": done.snapshot.profile.name,
        "planner": report.planner,
        "committed": report.committed,
        "reason": done.verdict,
        "advice": done.advice,
        "tokens_transcript": report.tokens_transcript,
        "tokens_before": report.tokens_before,
        "tokens_after": done.tokens,
        "tokens_planned": report.tokens_planned,
        "prune_rate": done.prune_rate,
        "view_bytes": len(done.view),
        "actions": report.actions,
        "unsent": done.unsent,
        "refused": report.refused,
        "pinned": report.pinned,
        "decision": report.decision,
        "violations": done.violations,
        "idle_pins": done.idle_pins,
        "faults": done.faults,
        "skipped": done.recording.skipped,
    }


def print_round(printer: Printer, done: Round, *, is_dry: bool, shows_all: bool) -> None:
    """Print what a round did, or in a dry run would do; what went wrong goes to standard error."""
    printer.line(f"{done.session}: {headline(done)}")
    printer.line(_verdict(done, is_dry=is_dry), "bold green" if done.report.committed else "bold")
    if done.advice:
        printer.line(done.advice)
    if done.violations:
        first = done.violations[0]
        printer.line(
            f"to be sent, the request needs a change, as the recorded one does: {first.rule}, {first.sentence}"
        )
    _print_tokens(printer, done, is_dry=is_dry)
    _print_actions(printer, done, shows_all=shows_all)
    _print_refused(printer, done.report.refused, shows_all=shows_all)
    _print_pinned(printer, done.report.pinned)
    print_skipped(printer, done.recording.skipped)
    for pin in done.idle_pins:
        warn(f"--pin {pin} protects nothing: no tool call of this session has that id")
    for sentence in done.faults:
        warn(sentence)


def headline(done: Round) -> str:
    """Return what was read, in a line."""
    snapshot, recording = done.snapshot, done.recording
    parts = [recording.source, snapshot.profile.name if snapshot.profile.name != "unknown" else "no model named"]
    counts = [
        count(len(snapshot.entries), "message"),
        count(len(snapshot.turns), "turn"),
        count(len(snapshot.spans), "tool call"),
    ]
    return f"{', '.join(parts)}; {', '.join(counts)}"


def print_skipped(printer: Printer, skipped: Sequence[Skipped]) -> None:
    """Print what of the file was left out."""
    rows = [[f"line {item.line}" if item.line else "-", item.reason] for item in skipped[:LONGEST]]
    if len(skipped) > LONGEST:
        rows.append(["...", f"and {len(skipped) - LONGEST} more"])
    printer.table(f"Left out of the file: {len(skipped)}", [Column(), Column(wraps=True)], rows)


def _verdict(done: Round, *, is_dry: bool) -> str:
    planner = done.report.planner or "the plan"
    if done.report.committed:
        return f"{planner}: {'would be committed' if is_dry else 'committed'}, {done.verdict}"
    return f"{planner}: {'nothing would be' if is_dry else 'nothing'} committed, {done.verdict}"


def _print_tokens(printer: Printer, done: Round, *, is_dry: bool) -> None:
    report = done.report
    rows = [("transcript", report.tokens_transcript), ("view before", report.tokens_before)]
    rows.append(("view then" if is_dry else "view now", done.tokens))
    if report.tokens_before == report.tokens_transcript:
        del rows[1]
    catalog = load_catalog()
    sheet = catalog.row(done.snapshot.profile.name)
    columns = [Column(), Column("tokens", right=True), Column("share", right=True), Column("saved", right=True)]
    title = "Tokens, counted offline"
    if sheet.pattern != "*":
        columns += [Column("a call, cached", right=True), Column("a call, written anew", right=True)]
        title += f"; input prices of {sheet.pattern}, {catalog.dated}"
    whole = report.tokens_transcript
    cells = [
        [
            name,
            f"{tokens:,}",
            share(tokens, whole),
            share(whole - tokens, whole),
            *(f"${tokens * price / _MILLION:.4f}" for price in (sheet.read, sheet.write)),
        ][: len(columns)]
        for name, tokens in rows
    ]
    printer.table(title, columns, cells)


def _print_pinned(printer: Printer, pinned: Mapping[str, str]) -> None:
    if pinned:
        reasons = ", ".join(f"{reason} {number}" for reason, number in Counter(pinned.values()).most_common())
        printer.line()
        printer.line(f"Pinned, never touched: {len(pinned)} ({reasons})")


def _print_actions(printer: Printer, done: Round, *, shows_all: bool) -> None:
    title = "Actions" if done.report.committed else "Planned, but not committed"
    for heading, found in ((title, done.report.actions), ("Made small before it is first sent", done.unsent)):
        actions = sorted(found, key=lambda row: row.tokens_after - row.tokens_before)
        if shows_all or len(actions) <= LONGEST:
            columns = [Column("id"), Column("action"), Column("reason", cuts=True), *_FIGURES]
            rows = [[row.id, row.action, row.reason, *_figures([row])] for row in actions]
            printer.table(f"{heading}: {len(actions)}", columns, rows)
        else:
            _print_grouped(printer, f"{heading}: {len(actions)}, grouped (--all lists them)", actions)


def _print_grouped(printer: Printer, title: str, actions: Sequence[ActionRow]) -> None:
    groups: defaultdict[tuple[str, str, str], list[ActionRow]] = defaultdict(list)
    for row in actions:
        groups[row.id.rpartition(":")[0], row.action, row.reason.partition(":")[0]].append(row)
    columns = [Column("objects"), Column("count", right=True), Column("action"), Column("reason", cuts=True), *_FIGURES]
    rows = [
        [name, f"{len(group):,}", action, reason, *_figures(group)]
        for (name, action, reason), group in sorted(groups.items(), key=lambda item: -_saved(item[1]))
    ]
    printer.table(title, columns, rows)


def _saved(rows: Sequence[ActionRow]) -> int:
    return sum(row.tokens_before - row.tokens_after for row in rows)


def _figures(rows: Sequence[ActionRow]) -> list[str]:
    before, after = sum(row.tokens_before for row in rows), sum(row.tokens_after for row in rows)
    return [f"{before:,}", f"{after:,}", f"{before - after:,}"]


def _print_refused(printer: Printer, refused: Sequence[ActionRow], *, shows_all: bool) -> None:
    title = f"Refused: {len(refused)}"
    if shows_all or len(refused) <= LONGEST // 4:
        columns = [Column("id"), Column("action"), Column("rule"), Column("why", wraps=True)]
        printer.table(title, columns, [[row.id or "-", row.action or "-", row.refused, row.reason] for row in refused])
        return
    groups: defaultdict[str, list[ActionRow]] = defaultdict(list)
    for row in refused:
        groups[row.refused].append(row)
    columns = [Column("rule"), Column("count", right=True), Column("for example", wraps=True)]
    rows = [[rule, f"{len(group):,}", f"{group[0].id}: {group[0].reason}"] for rule, group in groups.items()]
    printer.table(f"{title}, by rule (--all lists them)", columns, rows)
