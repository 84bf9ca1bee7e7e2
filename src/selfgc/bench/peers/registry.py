"""The peers by name: what each is, which version runs, whether it can be turned, and the command that runs it."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from selfgc.bench.peers.environments import PINNED
from selfgc.errors import UsageError

DRIVERS = Path(__file__).parent / "drivers"
"""The program that is run with a peer's own python."""


class Peer(msgspec.Struct, frozen=True):
    """A package of others that governs context."""

    name: str
    sentence: str
    has_knob: bool
    """Whether it can be told how much to remove; if not, it is measured at its defaults only."""
    family: str = "peer"

    @property
    def version(self) -> str:
        """The package and its version, as pip writes it."""
        return PINNED[self.name][0]

    def argv(self, python: Path) -> list[str]:
        """Return the command that serves this peer: a request a line on its input, an answer a line on its output."""
        return [str(python), "-I", str(DRIVERS), self.name]


_ALL = (
    Peer(
        "langchain-context-editing",
        "LangChain's ContextEditingMiddleware: old tool results become `[cleared]`; nothing comes back.",
        has_knob=True,
    ),
    Peer(
        "headroom",
        "headroom-ai's compress(): stale reads and structured results shrink; originals by hash.",
        has_knob=True,
    ),
    Peer(
        "tracegc",
        "tracegc's compact(): duplicate calls and superseded settings go; receipts stay outside the view.",
        has_knob=False,
    ),
)
PEERS: Mapping[str, Peer] = MappingProxyType({peer.name: peer for peer in _ALL})
"""Every peer by its name, in the order of the tables."""


def peer_named(name: str) -> Peer:
    """Return the peer of that name. UsageError when there is none."""
    if name not in PEERS:
        raise UsageError(f"expected the name of a peer ({', '.join(PEERS)}), got {name!r}")
    return PEERS[name]
