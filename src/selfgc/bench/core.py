"""`python -m selfgc.bench.core DIR`: govern every case of a folder of sessions, and print the core's figures.

For each case: is the view valid, does every folded payload come back byte for byte (compared with the session
file itself, not with what the store says), how much was pruned, and which needed uses are still visible.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from selfgc.bench.budgets import Budget, measure_budgets
from selfgc.bench.cases import Case, cases_of
from selfgc.bench.judge.rarity import Rarity, rarity_of
from selfgc.bench.judge.uses import Use, needed_uses, visible
from selfgc.bench.recovery import count_restored, payload_texts
from selfgc.bench.session import Session
from selfgc.bench.sessions import read_sessions
from selfgc.bench.texts import Decoded, view_text
from selfgc.economics.tokens import VocabularyCounter
from selfgc.engine.context import DIALECTS, ContextEngine, load_catalog
from selfgc.model.policy import Policy
from selfgc.sidecar.sqlite import SqliteStore

STRICT_WEIGHT = 0.5
"""Uses of less weight (mentions in prose, thinking) do not count in strict verdicts."""


class Outcome(msgspec.Struct, frozen=True):
    """What governing one case came to."""

    session: str
    cut: int
    tokens_before: int
    tokens_after: int
    is_valid: bool
    folded: int
    restored: int
    needed: int
    seen: int
    recoverable: int
    """Of the needed uses that are not visible, those that stand in a folded payload."""
    needed_strict: int
    seen_strict: int

    @property
    def prune_rate(self) -> float:
        """Share of the prefix's tokens that the view does not hold."""
        return 1 - self.tokens_after / self.tokens_before


class Figures(msgspec.Struct, frozen=True):
    """The figures of one run, as they go into the documentation."""

    sessions: int
    cases: int
    cases_with_needed_uses: int
    valid_views: int
    folded: int
    restored: int
    mean_prune: float
    pooled_prune: float
    needed: int
    seen: int
    recoverable: int
    needed_strict: int
    seen_strict: int
    cases_all_seen: int
    seconds: float
    budgets: tuple[Budget, ...]


def govern_case(session: Session, case: Case, uses: Sequence[Use], store: Path, policy: Policy) -> Outcome:
    """Govern a case's prefix through a store on disk, and look at what came of it."""
    with SqliteStore(store) as opened:
        key = f"{case.session}-{case.cut}"
        engine = ContextEngine(store=opened, session=key, dialect=session.dialect, policy=policy)
        engine.observe(case.prefix, **session.fields)
        report = engine.maintain(is_cold=True)
        view = engine.view()
        folded, restored = count_restored(engine, case.prefix)
        text = view_text(view)
        seen = [use for use in uses if visible(use, text)]
        missed = [use for use in uses if use not in seen]
        held = payload_texts(engine) if missed else []
    return Outcome(
        session=case.session,
        cut=case.cut,
        tokens_before=report.tokens_transcript,
        tokens_after=report.tokens_after,
        is_valid=_is_valid(session, [*view, case.continuation[0]]),
        folded=folded,
        restored=restored,
        needed=len(uses),
        seen=len(seen),
        recoverable=sum(any(visible(use, payload) for payload in held) for use in missed),
        needed_strict=sum(use.weight >= STRICT_WEIGHT for use in uses),
        seen_strict=sum(use.weight >= STRICT_WEIGHT for use in seen),
    )


def _is_valid(session: Session, messages: Sequence[Decoded]) -> bool:
    model = str(session.fields.get("model", ""))
    raws = [msgspec.json.encode(message) for message in messages]
    fields = {key: msgspec.json.encode(value) for key, value in session.fields.items()}
    return not DIALECTS[session.dialect]().check(raws, fields, load_catalog().row(model).profile(model))


def _run_session(session: Session, rarity: Rarity, policy: Policy) -> list[Outcome]:
    found = []
    cases = cases_of(session.name, session.messages, VocabularyCounter().count)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            uses = needed_uses(case, known_text=session.system, protected=case.protected, rarity=rarity)
            found.append(govern_case(session, case, uses, Path(folder) / f"{case.cut}.db", policy))
    return found


def run(
    folder: Path, others: Path | None, workers: int, progress: Progress, policy: Policy | None = None
) -> list[Outcome]:
    """Govern every case of the folder's sessions. `others` are sessions that only tell what is common."""
    sessions = list(read_sessions(folder))
    corpus = [(session.name, session.messages) for session in sessions]
    if others is not None:
        corpus += [(f"other {session.name}", session.messages) for session in read_sessions(others)]
    rarity = rarity_of(corpus)
    task = progress.add_task("sessions", total=len(sessions))
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(workers) as pool:
        longest_first = sorted(sessions, key=lambda session: -len(session.messages))
        for found in pool.map(_run_session, longest_first, repeat(rarity), repeat(policy or Policy())):
            outcomes += found
            progress.advance(task)
    return sorted(outcomes, key=lambda outcome: (outcome.session, outcome.cut))


def figures_of(outcomes: Sequence[Outcome], seconds: float, budgets: Sequence[Budget]) -> Figures:
    """Add the outcomes up."""
    before = sum(outcome.tokens_before for outcome in outcomes)
    return Figures(
        sessions=len({outcome.session for outcome in outcomes}),
        cases=len(outcomes),
        cases_with_needed_uses=sum(outcome.needed > 0 for outcome in outcomes),
        valid_views=sum(outcome.is_valid for outcome in outcomes),
        folded=sum(outcome.folded for outcome in outcomes),
        restored=sum(outcome.restored for outcome in outcomes),
        mean_prune=sum(outcome.prune_rate for outcome in outcomes) / len(outcomes),
        pooled_prune=1 - sum(outcome.tokens_after for outcome in outcomes) / before,
        needed=sum(outcome.needed for outcome in outcomes),
        seen=sum(outcome.seen for outcome in outcomes),
        recoverable=sum(outcome.recoverable for outcome in outcomes),
        needed_strict=sum(outcome.needed_strict for outcome in outcomes),
        seen_strict=sum(outcome.seen_strict for outcome in outcomes),
        cases_all_seen=sum(outcome.seen == outcome.needed for outcome in outcomes),
        seconds=round(seconds, 1),
        budgets=tuple(budgets),
    )


def table_of(figures: Figures) -> Table:
    """Return the figures as a table for a terminal."""
    hidden = figures.needed - figures.seen
    table = Table(title=f"{figures.cases} cases of {figures.sessions} sessions, {figures.seconds:.0f} s")
    table.add_column("figure")
    table.add_column("measured", justify="right")
    table.add_column("asked for", justify="right")
    table.add_row("views that pass the validity check", f"{figures.valid_views} of {figures.cases}", "all")
    table.add_row("payloads restored byte for byte", f"{figures.restored:,} of {figures.folded:,}", "all")
    table.add_row("mean prune rate", f"{figures.mean_prune:.3f}", "0.55")
    table.add_row("prune rate, all tokens pooled", f"{figures.pooled_prune:.3f}", "")
    table.add_row("needed uses still visible (matcher A)", _share(figures.seen, figures.needed), "0.985")
    table.add_row("  of the rest, in a payload that can be restored", _share(figures.recoverable, hidden), "")
    table.add_row("  of weight 0.5 and more", _share(figures.seen_strict, figures.needed_strict), "")
    table.add_row("cases with every needed use visible", _share(figures.cases_all_seen, figures.cases), "")
    for budget in figures.budgets:
        table.add_row(budget.what, budget.shown, budget.asked)
    return table


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "none"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; exit 1 when a view is invalid or a payload does not come back."""
    parser = argparse.ArgumentParser(prog="python -m selfgc.bench.core", description=__doc__)
    parser.add_argument("folder", type=Path, help="sessions to govern, one file each")
    parser.add_argument("--others", type=Path, help="further sessions, to tell which anchors are common")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--target-prune", type=float, help="stop at this share, for points of the frontier")
    parser.add_argument("--out", type=Path, help="write the figures here as JSON")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is no folder of sessions")
    console = Console()
    start = time.perf_counter()
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        policy = Policy(target_prune=options.target_prune)
        outcomes = run(options.folder, options.others, options.workers, progress, policy)
    longest = max(read_sessions(options.folder), key=lambda session: len(session.messages))
    budgets = measure_budgets(longest.dialect, longest.fields, longest.messages)
    figures = figures_of(outcomes, time.perf_counter() - start, budgets)
    console.print(table_of(figures))
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_bytes(msgspec.json.format(msgspec.json.encode(figures)) + b"\n")
    whole = figures.valid_views == figures.cases and figures.restored == figures.folded
    return 0 if whole else 1


if __name__ == "__main__":
    raise SystemExit(main())
