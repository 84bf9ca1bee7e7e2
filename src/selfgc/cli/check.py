"""`selfgc check`: whether the provider would take a request as it is."""

from pathlib import Path

import click
import msgspec

from selfgc.cli import arguments
from selfgc.cli.output import Column, Printer, count
from selfgc.engine.context import DIALECTS, load_catalog
from selfgc.model.profile import Violation
from selfgc.model.wire import decode, split_body
from selfgc.readers.detect import read_file


@click.command("check")
@arguments.file_argument
@arguments.skip_bad_option
@arguments.output_options
@click.pass_context
def command(ctx: click.Context, file: Path, *, skip_bad: bool, as_json: bool) -> None:
    """Check the request in FILE by the rules of its provider and model.

    FILE is a request body, a recorded session, or `-` for standard input. The exit code is 1 when a rule is broken.
    """
    recording = read_file(file, skip_bad=skip_bad)
    body = split_body(recording.body)
    named = decode(body.fields.get("model", b'""'))
    model = named if isinstance(named, str) else ""
    profile = load_catalog().row(model).profile(model)
    found = DIALECTS[recording.dialect]().check(body.messages, body.fields, profile)
    printer = Printer(as_json=as_json)
    if as_json:
        printer.document(
            {
                "file": str(file),
                "dialect": recording.dialect,
                "model": model,
                "messages": len(body.messages),
                "valid": not found,
                "violations": [msgspec.structs.asdict(violation) for violation in found],
            }
        )
    else:
        what = f"{recording.dialect}, {model or 'no model named'}, {count(len(body.messages), 'message')}"
        printer.line(f"{file}: {what}: {count(len(found), 'violation') if found else 'valid'}")
        columns = [
            Column("message", right=True),
            Column("path", wraps=True),
            Column("rule"),
            Column("what is wrong", wraps=True),
        ]
        printer.table("Violations", columns, [_row(violation) for violation in found])
    if found:
        ctx.exit(1)


def _row(violation: Violation) -> list[str]:
    number = str(violation.message) if violation.message >= 0 else "-"
    return [number, violation.path, violation.rule, violation.sentence]
