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
        self._kept = _Kept(snapshot.version, rewinds, snapshot.policy.carrier, tuple(raws), view)
        return view

    def _grown(self, snapshot: Snapshot, raws: Sequence[bytes], rewinds: int) -> View | None:
        """Return the view before with the new messages behind it, or None when it has to be made anew.

        New messages are never edited: an edit comes with a commit, and that makes another version.
        """
        kept = self._kept
        now = (snapshot.version, rewinds, snapshot.policy.carrier)
        if kept is None or (kept.version, kept.rewinds, kept.carrier) != now:
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
