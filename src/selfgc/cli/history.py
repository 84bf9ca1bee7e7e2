"""`selfgc history`: the ledger of a store, entry by entry."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path

import click

from selfgc.cli import arguments
from selfgc.cli.output import Column, Printer, count, share
from selfgc.cli.stores import pick_session
from selfgc.errors import WireError
from selfgc.model.ids import SessionKey
from selfgc.model.records import EntryKind, LedgerEntry
from selfgc.model.wire import decode
from selfgc.sidecar.sqlite import SqliteStore

_Body = Mapping[str, object]


@click.command("history")
@arguments.store_option
@click.option("--session", metavar="S", help="One session of the store; all of them by default.")
@arguments.output_options
def command(store: Path, session: str | None, *, as_json: bool) -> None:
    """Show the ledger in STORE: what was planned, refused, committed, deferred, repaired and restored.

    Nothing is written. With --json each entry has its whole body.
    """
    with SqliteStore(store, read_only=True) as opened:
        if session is None:
            keys = [SessionKey(info.key) for info in opened.sessions()]
        else:
            keys = [pick_session(opened, store, session)]
        ledgers = {key: opened.ledger(key) for key in keys}
    printer = Printer(as_json=as_json)
    if as_json:
        sessions = [{"session": key, "entries": [_document(e) for e in ledger]} for key, ledger in ledgers.items()]
        printer.document({"store": str(store), "sessions": sessions})
        return
    printer.line(f"{store}: {count(len(ledgers), 'session')}")
    columns = [Column("#", right=True), Column("time (UTC)"), Column("entry"), Column("what happened", wraps=True)]
    for key, ledger in ledgers.items():
        printer.table(key, columns, [[str(e.sequence), _time(e.time), e.kind, sentence_of(e)] for e in ledger])


def sentence_of(entry: LedgerEntry) -> str:
    """Return what a ledger entry tells, in one sentence."""
    body = _body(entry)
    return _SENTENCES[entry.kind](body) if isinstance(body, dict) else f"its body cannot be read: {body}"


def _document(entry: LedgerEntry) -> dict[str, object]:
    head = {"sequence": entry.sequence, "kind": entry.kind, "time": entry.time, "at": _time(entry.time)}
    return head | {"hash": entry.hash, "body": _body(entry)}


def _body(entry: LedgerEntry) -> object:
    """Return the decoded body, or as text what of it there is: a damaged ledger is shown as it stands."""
    try:
        return decode(entry.body)
    except WireError:
        return entry.body.decode("utf-8", "replace")


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat(" ", "seconds").removesuffix("+00:00")
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _planned(body: _Body) -> str:
    by = body.get("planner") or "a plan"
    return f"{by}: {body.get('accepted')} edits passed rehearsal, {body.get('refused')} refused"


def _refused(body: _Body) -> str:
    rows = _rows(body, "refused")
    rules = Counter(str(row.get("rule")) for row in rows)
    told = ", ".join(f"{rule} {number}" for rule, number in rules.most_common())
    return f"{count(len(rows), 'action')} refused: {told}"


def _committed(body: _Body) -> str:
    before, after = _number(body, "tokens_before"), _number(body, "tokens_after")
    actions = Counter(str(row.get("action")) for row in _rows(body, "edits") if not row.get("within"))
    told = ", ".join(f"{number} {action}" for action, number in actions.items())
    saved = f"{before:,} -> {after:,} tokens, {share(before - after, before)} less"
    return f"{saved}; {told} by {body.get('planner') or 'a plan'}; {body.get('decision')}"


def _restored(body: _Body) -> str:
    part = f", piece {body['part']}" if body.get("part") else ""
    return f"{body.get('id')}{part}: {count(_number(body, 'bytes'), 'byte')}"


def _repaired(body: _Body) -> str:
    return f"message {body.get('message')}: {body.get('sentence')}"


_SENTENCES: Mapping[EntryKind, Callable[[_Body], str]] = {
    EntryKind.PLAN: _planned,
    EntryKind.REFUSAL: _refused,
    EntryKind.COMMIT: _committed,
    EntryKind.DEFER: lambda body: str(body.get("reason")),
    EntryKind.RESTORE: _restored,
    EntryKind.REPAIR: _repaired,
    EntryKind.ROLLBACK: lambda _: "the last commit was taken back",
    EntryKind.FAULT: lambda body: str(body.get("error")),
}


def _number(body: _Body, key: str) -> int:
    value = body.get(key)
    return value if isinstance(value, int) else 0


def _rows(body: _Body, key: str) -> list[_Body]:
    value = body.get(key)
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
