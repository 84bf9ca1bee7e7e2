"""Prints what the bench found: cases, rows by slice, comparisons, losses, controls and cards."""

from collections.abc import Mapping, Sequence

from selfgc.bench.explaining import Explanation
from selfgc.bench.preparing import SetOfCases
from selfgc.bench.records import Category, ControlRecord, Status
from selfgc.bench.scorecard.agreement import Agreement
from selfgc.bench.scorecard.cards import ScoreCard
from selfgc.bench.tally import Pairing, Row, Share
from selfgc.cli.output import Column, Printer, count

Losses = Mapping[tuple[str, float | None], Mapping[tuple[Category, Status], int]]


def print_cases(printer: Printer, sets: Sequence[SetOfCases]) -> None:
    """Print each set's cases."""
    columns = [
        Column("case"),
        Column("cut at"),
        *(Column(name, right=True) for name in ("tokens", "protected", "needed, A", "needed, B")),
        Column("set"),
    ]
    for found in sets:
        vacuous = sum(case.is_vacuous for case in found.cases)
        head = f"{found.name}: {count(len(found.cases), 'case')}, {vacuous} of them vacuous; digest {found.digest}"
        rows = [
            [
                f"{case.session}:{case.cut}",
                case.boundary,
                f"{case.tokens:,}",
                f"{case.protected_tokens / case.tokens:.0%}",
                f"{case.needed_a}",
                f"{case.needed_b}",
                " ".join([*(["headline"] if case.is_headline else []), *(["hard"] if case.is_hard else [])]),
            ]
            for case in found.cases
        ]
        printer.table(head, columns, rows)


def print_rows(printer: Printer, rows: Sequence[Row]) -> None:
    """Print a table for each slice."""
    names = (
        "rate",
        "prune",
        "net",
        "S0",
        "95 %",
        "S1",
        "95 %",
        "S2",
        "restores",
        "S0 if needed",
        "survival",
        "S0 face",
    )
    columns = [Column("arm"), *(Column(name, right=True) for name in names)]
    for name in dict.fromkeys(row.slice for row in rows):
        held = [row for row in rows if row.slice == name]
        head = f"{name}: {count(held[0].cases, 'case')}, {held[0].vacuous} vacuous"
        printer.table(head, columns, [_cells(row) for row in held])


def _cells(row: Row) -> list[str]:
    return [
        row.arm,
        _rate(row.rate),
        f"{row.prune:.3f}",
        f"{row.net:.3f}",
        f"{row.s0.value:.3f}",
        _interval(row.s0),
        f"{row.s1.value:.3f}",
        _interval(row.s1),
        f"{row.s2:.3f}",
        f"{row.restores:.2f}",
        f"{row.s0_needed:.3f}",
        f"{row.survival:.3f}",
        f"{row.s0_face:.3f}",
    ]


def print_pairings(printer: Printer, pairings: Sequence[Pairing]) -> None:
    """Print ours against the others at matched rates."""
    names = ("rate", "net", "ours at", "net", "theirs", "ours", "only theirs", "only ours", "p, Holm")
    columns = [Column("arm"), *(Column(name, right=True) for name in names)]
    for key in dict.fromkeys((one.slice, one.level) for one in pairings):
        held = [one for one in pairings if (one.slice, one.level) == key]
        rows = [
            [
                one.other,
                _rate(one.other_rate),
                f"{one.other_net:.3f}",
                _rate(one.ours_rate),
                f"{one.ours_net:.3f}",
                f"{one.theirs:.3f}",
                f"{one.ours:.3f}",
                f"{one.theirs_only}",
                f"{one.ours_only}",
                f"{one.p_holm:.2g}",
            ]
            for one in held
        ]
        printer.table(f"{key[0]}, {key[1].upper()}: against ours at the same prune rate or a higher one", columns, rows)


def print_losses(printer: Printer, losses: Losses) -> None:
    """Print what is out of view, by category; in brackets what of it cannot be had back."""
    columns = [Column("arm"), Column("rate", right=True), *(Column(kind.value, right=True) for kind in Category)]
    rows = [
        [arm, _rate(rate), *(_of_category(found, kind) for kind in Category)] for (arm, rate), found in losses.items()
    ]
    printer.table(
        "Needed and out of view, by category (in brackets: neither recoverable nor re-derivable)", columns, rows
    )


def _of_category(found: Mapping[tuple[Category, Status], int], kind: Category) -> str:
    total = sum(number for (category, _), number in found.items() if category is kind)
    gone = sum(found.get((kind, status), 0) for status in (Status.LOST, Status.UNROUTABLE))
    return f"{total} ({gone})" if gone else f"{total}"


def print_controls(printer: Printer, controls: Sequence[ControlRecord]) -> None:
    """Print the judge's controls."""
    columns = [Column("control"), Column("expected", wraps=True), Column("found", wraps=True), Column("holds")]
    rows = [[one.name, one.expected, one.found, "yes" if one.holds else "NO"] for one in controls]
    printer.table("Controls of the judge", columns, rows)


def print_scores(printer: Printer, cards: Sequence[ScoreCard], agreed: Agreement) -> None:
    """Print what a model said of the views, and how far the deterministic judge agrees."""
    columns = [Column("case"), Column("arm"), *(Column(name, right=True) for name in ("no impact", "overall", "votes"))]
    rows = [
        [
            f"{card.session}:{card.cut}",
            card.subject,
            {True: "yes", False: "NO", None: "no verdict"}[card.no_impact],
            "-" if card.overall is None else f"{card.overall:.1f}",
            " ".join(vote.came.value for vote in card.votes),
            card.culprit,
        ]
        for card in cards
    ]
    printer.table("Cards of the model", [*columns, Column("culprit")], rows)
    kappa = "not defined" if agreed.kappa is None else f"{agreed.kappa:.2f}"
    printer.line(
        f"Against S1: both fine {agreed.both_fine}, both impact {agreed.both_impact}, "
        f"only the model fine {agreed.only_card_fine}, only S1 fine {agreed.only_s1_fine}; kappa {kappa}; "
        f"{agreed.without_verdict} without a verdict"
    )


def print_cards(printer: Printer, found: Explanation) -> None:
    """Print the cards of one case."""
    one = found.judgement
    printer.line(
        f"{one.session}:{one.cut} under {one.subject}: {one.tokens:,} tokens, {one.prune:.1%} pruned; "
        f"{one.both.visible} of {one.both.needed} needed uses visible, "
        f"{count(one.both.restores, 'restore')} for the rest"
    )
    verdicts = {"S0": one.both.s0, "S1": one.both.s1, "S2": one.both.s2}
    printer.line(", ".join(f"{name} {'yes' if holds else 'no'}" for name, holds in verdicts.items()))
    for card in found.cards:
        loss = card.loss
        printer.line()
        printer.line(f"{loss.status.value}: {loss.text}", "bold")
        printer.line(f"used: step {loss.step}, {loss.where} ({loss.place}, weight {loss.weight})")
        printer.line(f"what: {loss.kind} of matcher {loss.matcher}, {loss.category.value}")
        printer.line(f"source: {loss.source or 'no single message'} (message {loss.source_message})")
        printer.line(f"there: {card.source_text}")
        printer.line(f"view: {card.view_text or 'nothing leads there'}")


def _rate(rate: float | None) -> str:
    return "default" if rate is None else f"{rate:.2f}"


def _interval(share: Share) -> str:
    return f"{share.low:.2f}-{share.high:.2f}"
