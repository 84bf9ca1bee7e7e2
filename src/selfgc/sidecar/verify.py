"""Whether all that a store promises is there: what is checked, and how a fault is told.

1. File: the container finds no fault with itself.
2. Ledger: the hash chain of each session holds from its first entry to the recorded head.
3. Journal: each message is what was stored, its parent came before it, none stands twice, none is missing.
4. Payloads: each has the SHA-256 that it is stored under.
5. Pointers: each committed edit's payload is whole in its session, and each edited message stands in the journal.

A store in use may be verified: what others append meanwhile is no fault.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from selfgc.errors import StoreError
from selfgc.model.ids import SessionKey
from selfgc.model.protocols import Store
from selfgc.model.records import Edit, EntryKind, JournalEntry, LedgerEntry, SessionInfo
from selfgc.sidecar.ledger import Break, Head, first_break


class Area(StrEnum):
    """The part of a store that a problem is in."""

    FILE = "file"
    LEDGER = "ledger"
    JOURNAL = "journal"
    PAYLOAD = "payload"
    POINTER = "pointer"


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong in a store."""

    session: str
    """The session's key; empty when the file as a whole is meant."""
    what: Area
    where: str
    """Ledger entry number, message position, SHA-256 of the payload, or object id."""
    sentence: str


class VerifiableStore(Store, Protocol):
    """A store that also tells what it holds, so that everything in it can be visited."""

    def payload_ids(self, session: SessionKey) -> list[str]:
        """Return the SHA-256 of each payload of the session."""
        ...

    def ledger_head(self, session: SessionKey) -> Head:
        """Return the end of the session's ledger, as recorded beside the chain."""
        ...

    def damage(self) -> list[str]:
        """Return what is wrong with the container itself, a sentence each."""
        ...


class _CommitBody(msgspec.Struct):
    edits: tuple[Edit, ...] = ()


_COMMIT = msgspec.json.Decoder(_CommitBody)


def verify_store(store: VerifiableStore, progress: Callable[[int, int], None] | None = None) -> list[Problem]:
    """Check everything in the store and return what is wrong, session by session; empty when all is well.

    `progress` is told, after each payload and each session, how many of them are done and how many there are.
    """
    problems: list[Problem] = []
    try:
        problems += (Problem("", Area.FILE, "", sentence) for sentence in store.damage())
        held = store.sessions()
        steps = _Steps(len(held) + sum(len(store.payload_ids(SessionKey(info.key))) for info in held), progress)
        checks = [_SessionCheck(store, info, steps) for info in held]
        for check in checks:
            check.run()
        now = {info.key: info for info in store.sessions()}
    except StoreError as error:
        return [*problems, Problem("", Area.FILE, "", str(error))]
    for check in checks:
        check.compare_counts(now.get(check.before.key, check.before))
        problems += check.problems
    return problems


class _Steps:
    """Counts what is done of a total that may grow meanwhile, and tells it."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._done = 0
        self._total = total
        self._progress = progress

    def step(self) -> None:
        """Count one more, and tell it."""
        self._done += 1
        self._total = max(self._done, self._total)
        if self._progress is not None:
            self._progress(self._done, self._total)


class _SessionCheck:
    """The checks of one session. What lies deeper is read later: others may append between two reads."""

    def __init__(self, store: VerifiableStore, before: SessionInfo, steps: _Steps) -> None:
        self.before = before
        self.problems: list[Problem] = []
        self._store = store
        self._key = SessionKey(before.key)
        self._steps = steps
        self._ledger: list[LedgerEntry] = []
        self._journal: list[JournalEntry] | None = None
        """None: it could not be read."""
        self._sizes: dict[str, int | None] = {}
        """Size of each payload by SHA-256; None: it is not whole."""

    def run(self) -> None:
        """Visit everything that the session holds, and note what is wrong."""
        self._check_ledger()
        self._check_journal()
        self._check_payloads()
        chains = None if self._journal is None else {message.chain.hex() for message in self._journal}
        for entry in self._ledger:
            if entry.kind is EntryKind.COMMIT:
                self._check_commit(entry, chains)
        self._steps.step()

    def compare_counts(self, after: SessionInfo) -> None:
        """Note when fewer messages or payload bytes were found than were on record before, or more than after."""
        if self._journal is not None:
            self._compare(Area.JOURNAL, "messages", len(self._journal), (self.before.messages, after.messages))
        sizes = [size for size in self._sizes.values() if size is not None]
        if len(sizes) == len(self._sizes):
            recorded = self.before.payload_bytes, after.payload_bytes
            self._compare(Area.PAYLOAD, "payload bytes", sum(sizes), recorded)

    def _note(self, what: Area, where: str, sentence: str) -> None:
        self.problems.append(Problem(self.before.key, what, where, sentence))

    def _compare(self, what: Area, unit: str, found: int, recorded: tuple[int, int]) -> None:
        least, most = recorded
        if not least <= found <= most:
            on_record = least if found < least else most
            self._note(what, "", f"expected {on_record} {unit}, found {found}: some were deleted or inserted")

    def _check_ledger(self) -> None:
        try:
            before = self._store.ledger_head(self._key)
            self._ledger = self._store.ledger(self._key)
            after = self._store.ledger_head(self._key)
        except StoreError as error:
            self._note(Area.LEDGER, "", str(error))
            return
        broken = first_break(self._key, self._ledger) or _head_break(self._ledger, before, after)
        if broken is not None:
            self._note(Area.LEDGER, str(broken.sequence), broken.sentence)

    def _check_journal(self) -> None:
        try:
            self._journal = self._store.journal(self._key)
        except StoreError as error:
            self._note(Area.JOURNAL, "", str(error))
            return
        seen = {b""}
        for position, message in enumerate(self._journal):
            if message.chain in seen:
                self._note(Area.JOURNAL, str(position), f"message {position} stands in the journal twice")
            if message.parent not in seen:
                self._note(
                    Area.JOURNAL, str(position), f"message {position} has a parent that does not stand before it"
                )
            seen.add(message.chain)

    def _check_payloads(self) -> None:
        for sha256 in self._store.payload_ids(self._key):
            try:
                self._sizes[sha256] = len(self._store.payload(self._key, sha256))
            except StoreError as error:
                self._sizes[sha256] = None
                self._note(Area.PAYLOAD, sha256, str(error))
            self._steps.step()

    def _check_commit(self, entry: LedgerEntry, chains: set[str] | None) -> None:
        try:
            edits = _COMMIT.decode(entry.body).edits
        except msgspec.MsgspecError as error:
            self._note(Area.LEDGER, str(entry.sequence), f"commit entry {entry.sequence} cannot be read: {error}")
            return
        for edit in edits:
            name = f"{edit.id}, edited by ledger entry {entry.sequence}"
            if edit.payload and self._sizes.get(edit.payload) is None:
                state = "damaged" if edit.payload in self._sizes else "missing"
                self._note(Area.POINTER, edit.id, f"{name}: its payload {edit.payload[:16]}… is {state}")
            for chain in dict.fromkeys(replacement.chain for replacement in edit.replacements):
                if chains is not None and chain not in chains:
                    self._note(Area.POINTER, edit.id, f"{name}: message {chain[:16]}… does not stand in the journal")


def _head_break(entries: Sequence[LedgerEntry], before: Head, after: Head) -> Break | None:
    """Return where the ledger's end is not the recorded one, or None when it is."""
    if len(entries) < before.sequence:
        number = len(entries) + 1
        return Break(number, f"entry {number} and all after it are missing; {before.sequence} are on record")
    if before.sequence and entries[before.sequence - 1].hash != before.hash:
        return Break(before.sequence, f"entry {before.sequence} is not the one on record: the end was written anew")
    if len(entries) > after.sequence:
        number = after.sequence + 1
        return Break(number, f"entry {number} was inserted: only {after.sequence} are on record")
    return None
