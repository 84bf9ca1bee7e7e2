"""What has been committed in a session: replayed from its ledger, never stored as truth of its own."""

from collections.abc import Iterable, Sequence

import msgspec

from selfgc.errors import StoreError
from selfgc.model.ids import ObjectId
from selfgc.model.records import Edit, EntryKind, LedgerEntry


class CommitBody(msgspec.Struct, frozen=True):
    """The body of a commit entry. Strings of a payload occur in it only inside pointers and masks."""

    planner: str
    digest: str
    """Chain digest of the transcript's last message at the commit."""
    boundary: str
    tokens_before: int
    tokens_after: int
    edits: tuple[Edit, ...]
    decision: str = ""
    pins: str = ""
    """SHA-256 over the ids that were pinned at the commit."""
    order: str = ""
    """SHA-256 over planner and policy; empty for what nobody asked for (born small)."""


class CommitState:
    """The commits of one session in order, and the edits that they add up to."""

    def __init__(self, ledger: Iterable[LedgerEntry] = ()) -> None:
        self.version = 0
        self.last = ("", "")
        """Transcript and order of the last commit that was asked for; planning them again gives nothing new."""
        self._commits: list[tuple[Edit, ...]] = []
        self._ever: dict[ObjectId, Edit] = {}
        self.restored: list[ObjectId] = []
        self.repaired: set[str] = set()
        for entry in ledger:
            self._replay(entry)

    def _replay(self, entry: LedgerEntry) -> None:
        if entry.kind is EntryKind.COMMIT:
            try:
                body = msgspec.json.decode(entry.body, type=CommitBody)
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise StoreError(
                    f"ledger entry {entry.sequence} is no commit record: {error}; run `selfgc verify`"
                ) from error
            self.add(body.edits, (body.digest, body.order))
        elif entry.kind is EntryKind.ROLLBACK:
            self.roll_back()
        elif entry.kind is EntryKind.RESTORE:
            self.restored.append(ObjectId(msgspec.json.decode(entry.body)["id"]))
        elif entry.kind is EntryKind.REPAIR:
            self.repaired.add(msgspec.json.decode(entry.body)["key"])

    def add(self, edits: Sequence[Edit], made: tuple[str, str] = ("", "")) -> None:
        """Take one commit's edits in. `made` names the transcript and the order that it was made for."""
        self.version += 1
        self.last = made if made[1] else self.last
        self._commits.append(tuple(edits))
        self._ever.update((edit.id, edit) for edit in edits if edit.payload)

    def roll_back(self) -> None:
        """Take the last commit's edits out again; its payloads stay restorable."""
        self.version += 1
        self.last = ("", "")
        if self._commits:
            self._commits.pop()

    def edits(self) -> dict[ObjectId, Edit]:
        """Return the edits in force, later commits last."""
        merged: dict[ObjectId, Edit] = {}
        for edits in self._commits:
            for edit in edits:
                merged.pop(edit.id, None)
                merged[edit.id] = edit
        return merged

    def edits_on(self, chains: frozenset[str]) -> dict[ObjectId, Edit]:
        """Return the edits in force whose every message is on this lineage."""
        merged = self.edits()
        gone = {edit.id for edit in merged.values() if any(item.chain not in chains for item in edit.replacements)}
        if not gone:
            return merged
        return {key: edit for key, edit in merged.items() if key not in gone and edit.within not in gone}

    def restorable(self, object_id: ObjectId) -> Edit | None:
        """Return the newest edit that ever put a payload of this object into the store."""
        return self._ever.get(object_id)

    @property
    def restorable_ids(self) -> list[ObjectId]:
        """Every id that can be restored, in order of commit."""
        return list(self._ever)
