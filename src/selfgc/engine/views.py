"""Views between commits: what was projected once is kept, and only new messages are added to it."""

from collections.abc import Sequence

import msgspec

from selfgc.governance.project import Cache, project
from selfgc.model.outcome import View
from selfgc.model.policy import Carrier
from selfgc.model.snapshot import Snapshot


class _Kept(msgspec.Struct, frozen=True):
    version: int
    rewinds: int
    carrier: Carrier
    edits: int
    """How many edits were in force: as long as a lineage only grows, none of them goes."""
    raws: tuple[bytes, ...]
    view: View


class ViewKeeper:
    """Projects snapshots of one session, each time from the view before as far as that still holds."""

    def __init__(self) -> None:
        self.cache: Cache = {}
        """Renderings of edited messages."""
        self._kept: _Kept | None = None

    def view(self, snapshot: Snapshot, raws: Sequence[bytes], rewinds: int) -> View:
        """Return the view of a snapshot for the messages as they came this time."""
        grown = self._grown(snapshot, raws, rewinds)
        view = project(snapshot, snapshot.edits, raws, (), self.cache) if grown is None else grown
        self._kept = _Kept(*self._now(snapshot, rewinds), tuple(raws), view)
        return view

    def _grown(self, snapshot: Snapshot, raws: Sequence[bytes], rewinds: int) -> View | None:
        """Return the view before with the new messages behind it, or None when it has to be made anew.

        New messages are not edited, but for those that the client took back and sends again: then more edits are
        in force than before.
        """
        kept = self._kept
        if kept is None or (kept.version, kept.rewinds, kept.carrier, kept.edits) != self._now(snapshot, rewinds):
            return None
        length = len(kept.raws)
        whole = bool(kept.view.origins) and kept.view.origins[-1] == length - 1
        if snapshot.policy.carrier is Carrier.TAGS or not whole or list(kept.raws) != raws[:length]:
            return None
        return View(
            (*kept.view.messages, *raws[length:]),
            (*kept.view.origins, *range(length, len(raws))),
            kept.view.edited,
        )

    @staticmethod
    def _now(snapshot: Snapshot, rewinds: int) -> tuple[int, int, Carrier, int]:
        return snapshot.version, rewinds, snapshot.policy.carrier, len(snapshot.edits)
