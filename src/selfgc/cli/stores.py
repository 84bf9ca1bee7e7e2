"""Stores as commands use them: opened, a session picked, a session copied so that nothing is written."""

from pathlib import Path

from selfgc.errors import StoreError, UsageError
from selfgc.model.ids import SessionKey
from selfgc.model.protocols import Store
from selfgc.model.records import NewEntry
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore


def pick_session(store: Store, path: Path, wanted: str | None) -> SessionKey:
    """Return the session that is meant: the one that is named, or the only one there is.

    UsageError when several are there and none is named, StoreError when the store does not hold it.
    """
    keys = [info.key for info in store.sessions()]
    listed = ", ".join(keys[:20]) + (f" and {len(keys) - 20} more" if len(keys) > 20 else "")
    if wanted is not None and wanted not in keys:
        raise StoreError(f"{path}: expected a session {wanted!r}, but the store holds {listed or 'none'}")
    if not keys:
        raise StoreError(f"{path}: the store holds no session yet; govern one with `selfgc govern`")
    if wanted is None and len(keys) > 1:
        raise UsageError(f"{path} holds {len(keys)} sessions; name one with --session: {listed}")
    return SessionKey(keys[0] if wanted is None else wanted)


def copy_session(path: Path | None, session: SessionKey) -> MemoryStore:
    """Return a store in memory with the messages and the ledger of a session of the store at `path`, if it is there.

    Payloads are left where they are: planning does not need them.
    """
    copy = MemoryStore()
    if path is None or not path.exists():
        return copy
    with SqliteStore(path, read_only=True) as store:
        journal = store.journal(session)
        entries = [NewEntry(entry.kind, entry.time, entry.body) for entry in store.ledger(session)]
        copy.append(session, journal=journal, entries=entries)
    return copy
