"""The lineage a session is on: which messages, in which order, with their ids and facts.

A client sends its whole history at every call. Messages are recognised by hash; only what is new is split,
counted and indexed. When the history differs from the one before (rewind, fork, compaction by the client),
the lineage goes on from the last common message, and objects keep the ids they had on it.
"""

import hashlib
from collections.abc import Sequence

from selfgc.model.dialect import Dialect
from selfgc.model.ids import Allocator, ObjectId
from selfgc.model.index import Index, read_entry
from selfgc.model.objects import Entry
from selfgc.model.protocols import TokenCounter
from selfgc.model.records import JournalEntry


def next_chain(parent: bytes, digest: bytes) -> bytes:
    """Return the chain digest of a message under its parent: position, lineage and content in one."""
    return hashlib.sha256(parent + digest).digest()


class Lineage:
    """The current lineage of one session, grown by `advance`."""

    def __init__(self, dialect: Dialect, counter: TokenCounter, journal: Sequence[JournalEntry] = ()) -> None:
        self._dialect = dialect
        self._counter = counter
        self._by_raw: dict[bytes, Entry] = {}
        self._by_digest: dict[bytes, Entry] = {}
        self._anchors: dict[str, str] = {}
        self.ids: dict[bytes, tuple[ObjectId, ...]] = {entry.chain: entry.ids for entry in journal}
        self._allocator = Allocator()
        for entry in journal:
            for taken in entry.ids:
                self._allocator = self._allocator.past(taken)
        self.index = Index(self._allocator)
        self.chains: list[bytes] = []
        self.hex_chains: list[str] = []
        """The chain digests in hex, as records name them."""
        self.rewinds = 0
        """How often the client's history went back behind what was known."""
        self.raws: list[bytes] = []
        """The messages as they came this time."""

    def advance(self, raws: Sequence[bytes]) -> list[JournalEntry]:
        """Take the client's present history in and return the messages that the journal does not hold yet."""
        same = self._same(raws)
        entries = [*self.index.entries[:same], *map(self._entry, raws[same:])]
        common = self._common(entries, same)
        if common < len(self.index.entries):
            self._rewind(common)
        fresh = zip(entries[same:], raws[same:], strict=True)
        self.raws[same:] = [entry.message.raw if entry.message.raw == raw else raw for entry, raw in fresh]
        return [new for entry in entries[common:] if (new := self._grow(entry)) is not None]

    def _same(self, raws: Sequence[bytes]) -> int:
        """Return how many messages came in the very bytes of the call before."""
        pairs = zip(raws, self.raws, strict=False)
        return next((n for n, (raw, before) in enumerate(pairs) if raw != before), min(len(raws), len(self.raws)))

    def _entry(self, raw: bytes) -> Entry:
        key = hashlib.sha256(raw).digest()
        known = self._by_raw.get(key)
        if known is None:
            message = self._dialect.split(raw)
            known = self._by_digest.get(message.digest)
            if known is None:
                known = read_entry(message, self._dialect, self._counter, self._anchors)
                self._by_digest[message.digest] = known
            self._by_raw[key] = known
        return known

    def _common(self, entries: Sequence[Entry], same: int) -> int:
        mine = self.index.entries
        length = min(len(mine), len(entries))
        return next((n for n in range(same, length) if mine[n] is not entries[n]), length)

    def _rewind(self, length: int) -> None:
        kept = self.index.entries[:length]
        self._allocator = self.index.allocator
        self.index = Index(self._allocator)
        del self.chains[length:]
        del self.hex_chains[length:]
        self.rewinds += 1
        for entry, chain in zip(kept, self.chains, strict=True):
            self.index.add(entry, self.ids[chain])

    def _grow(self, entry: Entry) -> JournalEntry | None:
        parent = self.chains[-1] if self.chains else b""
        chain = next_chain(parent, entry.message.digest)
        known = self.ids.get(chain)
        began = self.index.add(entry, known)
        self.chains.append(chain)
        self.hex_chains.append(chain.hex())
        self.ids[chain] = began
        return None if known is not None else JournalEntry(chain, parent, entry.message.raw, began)
