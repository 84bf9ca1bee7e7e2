"""`selfgc govern`: plan, rehearse, commit, and write the request that can be sent."""

import contextlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict, Unpack

import click

from selfgc.cli import arguments
from selfgc.cli.files import OutputFile, is_same_file
from selfgc.cli.governed import print_round, round_document
from selfgc.cli.output import Printer, progress
from selfgc.cli.rounds import Order
from selfgc.cli.running import run_round
from selfgc.cli.stores import copy_session
from selfgc.errors import PlanError
from selfgc.model.ids import SessionKey
from selfgc.model.plan import parse_id, read_plan
from selfgc.model.policy import Boundary, Policy
from selfgc.model.protocols import Store
from selfgc.planners.registry import PLANNERS
from selfgc.readers.detect import read_file
from selfgc.readers.recording import Recording
from selfgc.sidecar.sqlite import SqliteStore

_EPILOG = """
A plan is a JSON object with a list of actions over ids that `selfgc inspect` shows:

\b
{"actions": [
  {"action": "fold", "id": "function:Read:12", "reason": "read again later"},
  {"action": "mask", "id": "function:Bash:14", "keep": ["exit code 3"]},
  {"action": "prune", "id": "function:Grep:15"},
  {"action": "fold", "id": "conversation:user:2", "spare": ["function:Read:9"]}]}

fold keeps a pointer in view, mask head and tail, and both can be restored; prune takes the object out for good.
`keep` names exact strings that the pointer must show, `spare` calls of a turn that stay as they are. "version" and
"digest", when they are given, bind the plan to one state of the session.
"""


class Given(TypedDict):
    """What the command line gives."""

    file: Path
    out: Path | None
    store: Path | None
    session: str | None
    planner: str
    keep_spans: int
    target_prune: float | None
    budget: int | None
    boundary: str
    cache: str
    pin: tuple[str, ...]
    pin_tool: tuple[str, ...]
    pin_path: tuple[str, ...]
    dry_run: bool
    show_all: bool
    skip_bad: bool
    as_json: bool


def _share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and 0 <= value <= 1):
        raise click.BadParameter(f"expected a share from 0 to 1, got {value}", ctx, param)
    return value


@click.command("govern", epilog=_EPILOG)
@arguments.file_argument
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="VIEW",
    help="Where to write the request body; `-` is standard output, and the report goes to standard error then.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    metavar="STORE",
    help="The store, one SQLite file; made when there is none.",
)
@click.option(
    "--session",
    metavar="S",
    help="The session's name in the store. By default the one that FILE says, or the name of FILE.",
)
@click.option(
    "--planner",
    default=next(iter(PLANNERS)),
    show_default=True,
    metavar="NAME|PLAN",
    help=f"{', '.join(PLANNERS)}, or a file with a plan as JSON (`-` for standard input).",
)
@click.option(
    "--keep-spans",
    type=click.IntRange(min=0),
    default=Policy().keep_spans,
    show_default=True,
    metavar="N",
    help="So many of the newest tool calls are never touched.",
)
@click.option(
    "--target-prune",
    type=float,
    callback=_share,
    metavar="R",
    help="Stop when this share of the tokens is saved, from 0 to 1.",
)
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Stop when the view has at most so many tokens."
)
@click.option(
    "--boundary",
    type=click.Choice([str(item) for item in Boundary]),
    default=str(Policy().boundary),
    show_default=True,
    help="Where a commit is safe: between user turns, or between two steps of one.",
)
@click.option(
    "--cache",
    type=click.Choice(["cold", "warm"]),
    default="cold",
    show_default=True,
    help="Whether the provider's prompt cache still holds the session: a commit on a warm one must pay.",
)
@click.option(
    "--pin", multiple=True, metavar="ID", help="An object that is never touched. May be repeated, as the next two."
)
@click.option(
    "--pin-tool", multiple=True, metavar="PATTERN", help="A tool whose calls are never touched; * and ? match."
)
@click.option(
    "--pin-path", multiple=True, metavar="PATTERN", help="A file whose newest read is never touched; * and ? match."
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; nothing is written anywhere.")
@click.option("--all", "show_all", is_flag=True, help="List every action and refusal, however many.")
@arguments.skip_bad_option
@arguments.output_options
@click.pass_context
def command(ctx: click.Context, **given: Unpack[Given]) -> None:
    """Govern the session in FILE: plan, rehearse, commit into STORE, and write VIEW.

    FILE is a recorded session or a request body (`-` for standard input). VIEW is a request body in the same
    dialect that can be sent as it is. Run again on the grown session with the same store, ids and committed edits
    stay. When nothing is committed, VIEW is written all the same, and the reason is shown.
    """
    _check_paths(given)
    with progress("reading") as stages:
        order = _order(given)
        recording = read_file(given["file"], skip_bad=given["skip_bad"])
        session = SessionKey(given["session"] or _name(recording, given["file"]))
        with _output(given) as file:
            stages.stage("governing")
            with _store(given, session) as store:
                done = run_round(recording, store, session, order)
            if file is not None:
                file.write(done.view)
    printer = Printer(as_json=given["as_json"], to_stderr=str(given["out"]) == "-" and not given["dry_run"])
    if given["as_json"]:
        printer.document({"dry_run": given["dry_run"], **round_document(done)})
    else:
        print_round(printer, done, is_dry=given["dry_run"], shows_all=given["show_all"])
    if done.faults:
        ctx.exit(1)


def _check_paths(given: Given) -> None:
    """Refuse command lines that would write over what is read, or read standard input twice."""
    out, store, file = given["out"], given["store"], given["file"]
    if not given["dry_run"] and (out is None or store is None):
        raise click.UsageError("--out and --store are needed; only a --dry-run can do without")
    if str(file) == "-" and given["planner"] == "-":
        raise click.UsageError("FILE and --planner cannot both be standard input")
    if given["target_prune"] is not None and given["budget"] is not None:
        raise click.UsageError("--target-prune and --budget exclude each other")
    named = {"FILE": file, "--store": store, "--planner": Path(given["planner"])}
    for name, path in named.items():
        if out is not None and path is not None and str(out) != "-" and is_same_file(out, path):
            raise click.UsageError(f"--out would write over {name}; give another path")


def _order(given: Given) -> Order:
    policy = Policy(
        boundary=Boundary(given["boundary"]),
        keep_spans=given["keep_spans"],
        target_prune=given["target_prune"],
        budget=given["budget"],
        pinned_ids=tuple(parse_id(text) for text in given["pin"]),
        pinned_tools=given["pin_tool"],
        pinned_paths=given["pin_path"],
    )
    is_cold = given["cache"] == "cold"
    name = given["planner"]
    if name in PLANNERS:
        return Order(policy, PLANNERS[name](), is_cold=is_cold)
    found = read_plan(_plan_bytes(name))
    return Order(policy, plan=found.plan, findings=found.findings, is_cold=is_cold)


def _plan_bytes(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        there_are = ", ".join(PLANNERS)
        raise PlanError(
            f"expected a planner ({there_are}) or a file with a plan, but {name}: {error.strerror or error}"
        ) from error


def _name(recording: Recording, file: Path) -> str:
    return recording.name or ("" if str(file) == "-" else file.stem) or "default"


def _output(given: Given) -> contextlib.AbstractContextManager[OutputFile | None]:
    """Open VIEW before anything is committed, so that a place that cannot be written to is found out first."""
    if given["dry_run"] or given["out"] is None:
        return contextlib.nullcontext()
    return OutputFile(given["out"])


@contextlib.contextmanager
def _store(given: Given, session: SessionKey) -> Iterator[Store]:
    """Open the store; for a dry run a copy of the session in memory takes its place."""
    path = given["store"]
    if path is None or given["dry_run"]:
        yield copy_session(path, session)
        return
    with SqliteStore(path) as store:
        yield store
