"""`selfgc bench`: cases from recorded sessions, arms judged on them, and the card of one verdict."""

import importlib
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TypedDict, Unpack

import click

from selfgc.bench.arms.registry import arms_named
from selfgc.bench.comparing import Key, Order, compare, key_of, orders_of
from selfgc.bench.controlled import control_records
from selfgc.bench.explaining import explain
from selfgc.bench.lines import read_lines, write_lines
from selfgc.bench.preparing import SetOfCases, prepare
from selfgc.bench.records import CaseRecord, ControlRecord, Judgement, Record
from selfgc.bench.scorecard.settings import JudgeSettings, Wire
from selfgc.bench.tally import losses_of, pairings_of, rows_of
from selfgc.cli import arguments
from selfgc.cli.benched import (
    print_cards,
    print_cases,
    print_controls,
    print_losses,
    print_pairings,
    print_rows,
    print_scores,
)
from selfgc.cli.output import Printer, progress, warn
from selfgc.errors import UsageError

OURS = "reachability"
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_others = click.option(
    "--others",
    type=_FOLDER,
    multiple=True,
    metavar="DIR",
    help="Sessions that only tell what is common. May be repeated.",
)
_workers = click.option(
    "--workers", type=click.IntRange(1), default=os.cpu_count() or 1, metavar="N", help="Worker processes. [all cores]"
)


class RunGiven(TypedDict):
    """The options of `bench run`."""

    folders: tuple[Path, ...]
    others: tuple[Path, ...]
    subjects: str
    rates: str
    out: Path
    peers: Path | None
    controls: bool
    fresh: bool
    workers: int
    as_json: bool


class ScoreGiven(TypedDict):
    """The options of `bench score`."""

    folder: Path
    others: tuple[Path, ...]
    subjects: str
    model: str
    dialect: str
    base_url: str
    key_env: str
    sample: int
    votes: int
    max_cost: float
    offline: bool
    out: Path
    workers: int
    as_json: bool


class ExplainGiven(TypedDict):
    """The options of `bench explain`."""

    folder: Path
    others: tuple[Path, ...]
    subject: str
    rate: float | None
    workers: int
    as_json: bool


@click.group("bench")
def command() -> None:
    """Measure on recorded sessions: what is pruned, and what later work would have missed.

    A case is a session cut at a user turn (where there is but one, at a step). Whoever governs is given the prefix
    in a process of its own; the judge alone sees what really followed.
    """


@command.command("cases")
@click.argument("folders", type=_FOLDER, nargs=-1, required=True, metavar="DIR...")
@_others
@_workers
@arguments.output_options
def cases_command(folders: tuple[Path, ...], others: tuple[Path, ...], workers: int, *, as_json: bool) -> None:
    """Show the cases of folders of sessions, and what each needed of its prefix."""
    sets = _prepared(folders, others, workers, None)
    printer = Printer(as_json=as_json)
    if as_json:
        printer.document([{"set": found.name, "digest": found.digest, "cases": found.cases} for found in sets])
    else:
        print_cases(printer, sets)


@command.command("run")
@click.option(
    "--suite", "folders", type=_FOLDER, multiple=True, required=True, metavar="DIR", help="Sessions. May be repeated."
)
@_others
@click.option(
    "--subjects", default="own", metavar="NAMES", help="Arms with commas between them, families, own, or all. [own]"
)
@click.option(
    "--rates",
    default="0.44",
    metavar="R,...",
    help="Prune rates that are asked of arms with a knob, beside their defaults.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Where the report goes.",
)
@click.option(
    "--peers",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the peers' environments are.",
)
@click.option("--controls/--no-controls", default=True, help="Run the controls of the judge. [on]")
@click.option("--fresh", is_flag=True, help="Begin anew instead of going on with what stands in --out.")
@_workers
@arguments.output_options
@click.pass_context
def run_command(ctx: click.Context, **given: Unpack[RunGiven]) -> None:
    """Run arms over all cases, judge them, and write the report: report.html, with records.jsonl beside it.

    A run that was cut off goes on where it was. The exit code is 1 when a control of the judge does not hold.
    """
    orders = orders_of(arms_named(given["subjects"]), _rates(given["rates"]), given["peers"])
    sets = _prepared(given["folders"], given["others"], given["workers"], given["out"] / "cache")
    path = given["out"] / "records.jsonl"
    known = [] if given["fresh"] else read_lines(path)
    cases = [record for found in sets for record in found.cases]
    write_lines(path, [*cases, *(one for one in known if not isinstance(one, CaseRecord))])
    done = frozenset(key_of(one) for one in known if isinstance(one, Judgement))
    if given["controls"] and not any(isinstance(one, ControlRecord) for one in known):
        with progress("controls") as stages:
            write_lines(path, control_records(sets, given["others"], stages.stage), append=True)
    _compare(sets, orders, done, path, given["workers"])
    records = read_lines(path)
    _write_page(records, given["out"] / "report.html")
    _show(records, as_json=given["as_json"])
    if any(isinstance(one, ControlRecord) and not one.holds for one in records):
        ctx.exit(1)


@command.command("report")
@click.argument("out", type=_FOLDER, metavar="DIR")
@arguments.output_options
def report_command(out: Path, *, as_json: bool) -> None:
    """Write report.html and show the tables of a run once more, from its records."""
    records = read_lines(out / "records.jsonl")
    _write_page(records, out / "report.html")
    _show(records, as_json=as_json)


@command.command("explain")
@click.argument("case", metavar="SESSION:CUT")
@click.option("--suite", "folder", type=_FOLDER, required=True, metavar="DIR", help="The folder of the session.")
@_others
@click.option("--subject", default=OURS, metavar="NAME", help="The arm. [reachability]")
@click.option("--rate", type=click.FloatRange(0, 1), metavar="R", help="The prune rate that is asked of it.")
@_workers
@arguments.output_options
def explain_command(case: str, **given: Unpack[ExplainGiven]) -> None:
    """Show a card for each needed use of a case: where it was used, where it came from, and what became of it."""
    session, _, cut = case.rpartition(":")
    if not session or not cut.isdigit():
        raise UsageError(f"expected SESSION:CUT, such as s01:376, got {case!r}; `selfgc bench cases` lists them")
    (found,) = _prepared((given["folder"],), given["others"], given["workers"], None)
    order = orders_of(arms_named(given["subject"]), (), None)[0]
    card = explain(found, session, int(cut), order, given["rate"])
    printer = Printer(as_json=given["as_json"])
    if given["as_json"]:
        printer.document(card)
    else:
        print_cards(printer, card)


@command.command("score")
@click.option("--suite", "folder", type=_FOLDER, required=True, metavar="DIR", help="Sessions.")
@_others
@click.option("--subjects", default=OURS, metavar="NAMES", help="Arms with commas between them. [reachability]")
@click.option("--model", required=True, metavar="NAME", help="The model that judges; another one than any planner's.")
@click.option(
    "--dialect", type=click.Choice(["openai", "anthropic"]), default="openai", help="What the endpoint speaks. [openai]"
)
@click.option("--base-url", default="", metavar="URL", help="The endpoint. [the provider's own]")
@click.option("--key-env", default="", metavar="NAME", help="The environment variable that holds the key. [no key]")
@click.option("--sample", type=click.IntRange(1), default=20, metavar="N", help="So many cases with needs. [20]")
@click.option("--votes", type=click.IntRange(1), default=3, metavar="N", help="Answers for each card. [3]")
@click.option("--max-cost", type=click.FloatRange(0), default=10.0, metavar="DOLLARS", help="Spend no more. [10]")
@click.option("--offline", is_flag=True, help="Ask nobody: use the answers that are kept in --out.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR", help="For answers."
)
@_workers
@arguments.output_options
def score_command(**given: Unpack[ScoreGiven]) -> None:
    """Let a model judge governed views of a sample of cases, and compare it with the deterministic judge.

    Needs `pip install 'selfgc[llm]'`. Methods are blind, answers are kept on disk: asked once, a question costs
    nothing any more.
    """
    orders = orders_of(arms_named(given["subjects"]), (), None)
    (found,) = _prepared((given["folder"],), given["others"], given["workers"], given["out"] / "cache")
    settings = JudgeSettings(
        model=given["model"],
        cache_folder=str(given["out"] / "answers"),
        dialect=Wire(given["dialect"]),
        base_url=given["base_url"],
        api_key_env=given["key_env"],
        offline=given["offline"],
        votes=given["votes"],
        max_cost=given["max_cost"],
    )
    scoring = importlib.import_module("selfgc.bench.scoring")  # loads both client libraries
    with progress("scoring") as stages:
        scored = scoring.score(found, orders, settings, sample=given["sample"], step=stages.stage)
    printer = Printer(as_json=given["as_json"])
    if given["as_json"]:
        printer.document(scored)
    else:
        print_scores(printer, scored.cards, scored.agreement)


def _rates(text: str) -> list[float]:
    try:
        rates = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise UsageError(f"expected rates such as 0.3,0.44, got {text!r}") from None
    if any(not 0 < rate < 1 for rate in rates):
        raise UsageError(f"expected rates over 0 and below 1, got {text!r}")
    return rates


def _prepared(folders: Sequence[Path], others: Sequence[Path], workers: int, store: Path | None) -> list[SetOfCases]:
    with progress("preparing") as stages:
        return prepare(folders, others, workers=workers, store=store, step=stages.stage)


def _compare(
    sets: Sequence[SetOfCases], orders: Sequence[Order], done: frozenset[Key], path: Path, workers: int
) -> None:
    total = sum(len({case.session for case in found.cases}) for found in sets)
    with progress("judging sessions") as stages:
        for number, judged in enumerate(compare(sets, orders, done, workers=workers), 1):
            write_lines(path, judged, append=True)
            stages.step(number, total)


def _write_page(records: Sequence[Record], path: Path) -> None:
    """Write the page of a run; without the library that draws it, say what is missing."""
    try:
        page = importlib.import_module("selfgc.bench.page")
    except ModuleNotFoundError as error:
        warn(f"no {path.name}: {error.name} is not installed; `pip install 'selfgc[bench]'` brings it")
        return
    dated = datetime.now(tz=timezone.utc).date().isoformat()
    path.write_text(page.page_of(records, dated=dated), "utf-8")


def _show(records: Sequence[Record], *, as_json: bool) -> None:
    cases = [one for one in records if isinstance(one, CaseRecord)]
    judgements = [one for one in records if isinstance(one, Judgement)]
    controls = [one for one in records if isinstance(one, ControlRecord)]
    rows, pairings = rows_of(cases, judgements), pairings_of(cases, judgements, OURS)
    printer = Printer(as_json=as_json)
    if as_json:
        printer.document({"rows": rows, "pairings": pairings, "controls": controls})
        return
    print_rows(printer, rows)
    print_pairings(printer, pairings)
    print_losses(printer, losses_of(judgements))
    print_controls(printer, controls)
