"""`selfgc restore`: the exact payload of a folded object."""

import base64
import hashlib
from pathlib import Path

import click

from selfgc.cli import arguments
from selfgc.cli.files import OutputFile, is_same_file
from selfgc.cli.output import Printer, warn
from selfgc.cli.running import collected_warnings
from selfgc.cli.stores import pick_session
from selfgc.engine.context import ContextEngine
from selfgc.engine.state import CommitState
from selfgc.model.plan import parse_id
from selfgc.sidecar.sqlite import SqliteStore


@click.command("restore")
@click.argument("object_id", metavar="ID")
@arguments.store_option
@arguments.session_option
@click.option("--part", metavar="NAME", help="One piece of a payload that has several, such as `content`.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the payload to FILE.")
@arguments.output_options
def command(
    object_id: str, store: Path, session: str | None, part: str | None, out: Path | None, *, as_json: bool
) -> None:
    """Give back what was folded or masked under ID, byte for byte.

    ID is an object's id as pointers show it: function:Read:12, or Read:12 for short. The payload goes to standard
    output as it is, without a line end added. A payload that is missing or damaged is not written; the exit code
    is 1 then.
    """
    if out is not None and is_same_file(out, store):
        raise click.UsageError("--out and --store name one file, and the store would be lost; give another --out")
    with collected_warnings() as warnings, SqliteStore(store, create=False) as opened:
        key = pick_session(opened, store, session)
        payload = ContextEngine(store=opened, session=key).restore(object_id, part)
        edit = CommitState(opened.ledger(key)).restorable(parse_id(object_id))
    for sentence in warnings:
        warn(sentence)
    if out is not None or not as_json:
        with OutputFile(out or Path("-")) as file:
            file.write(payload)
    if as_json:
        media = edit.media if edit is not None and part is None else "text/plain"
        about = {"id": parse_id(object_id), "session": key, "part": part, "media": media, "bytes": len(payload)}
        sha256 = hashlib.sha256(payload).hexdigest()
        Printer(as_json=True).document(about | {"sha256": sha256} | _content(payload))


def _content(payload: bytes) -> dict[str, str]:
    """Return the payload as text where it is text, else as base64."""
    try:
        return {"text": payload.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(payload).decode()}
