"""The registry: what is told of each peer, and the command that runs it."""

from pathlib import Path

import pytest

from selfgc.bench.peers.environments import PINNED
from selfgc.bench.peers.registry import DRIVERS, PEERS, peer_named
from selfgc.errors import UsageError


def test_every_peer_is_pinned_and_told():
    """Each has a family, a sentence and an exact version."""
    assert list(PEERS) == list(PINNED)
    for name, peer in PEERS.items():
        assert (peer.name, peer.family) == (name, "peer")
        assert peer.sentence.endswith(".")
        assert "==" in peer.version


def test_the_command_runs_the_drivers_with_the_peer_s_python():
    """Isolated: nothing of the caller's environment reaches it."""
    assert PEERS["headroom"].argv(Path("/env/bin/python")) == ["/env/bin/python", "-I", str(DRIVERS), "headroom"]
    assert (DRIVERS / "__main__.py").is_file()


def test_an_unknown_name_is_a_usage_error():
    """It names those that there are."""
    assert peer_named("tracegc") is PEERS["tracegc"]
    with pytest.raises(UsageError, match="langchain-context-editing, headroom, tracegc"):
        peer_named("langchain")
