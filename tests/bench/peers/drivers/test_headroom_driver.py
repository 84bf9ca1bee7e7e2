"""The headroom driver: what stays the same, its dial, and its store, over a stand-in for the package."""

import pytest

from peer_stand_ins import headroom, installed, prefix
from selfgc.bench.peers.drivers.exchange import Request
from selfgc.bench.peers.drivers.headroom_driver import MODEL, OFFLINE, govern, pair_up, prepare_environment
from selfgc.bench.peers.drivers.prefix import share_removed

LONG = "ok " * 40


def edited(request, governed):
    return [n for n, (old, new) in enumerate(zip(request.messages, governed.messages, strict=True)) if old is not new]


def test_unchanged_messages_are_the_very_objects():
    """The package copies everything; a copy that says the same is no edit."""
    messages = prefix(1)
    assert all(old is new for old, new in zip(messages, pair_up(messages, prefix(1)), strict=True))


def test_the_defaults_give_what_the_view_names():
    """Every payload is the original of a marker before the protected end; a hash that the store has not is left out.

    Tokens are counted as for its default model, whatever the request names.
    """
    request = Request({"model": "qwen"}, [*prefix(3), {"role": "user", "content": f"hash={'0' * 24}"}])
    seen = []
    with installed(headroom(seen=seen)):
        governed = govern(request)
    assert edited(request, governed) == [2, 4, 6, 10]
    ((key, original),) = governed.payloads.items()
    assert key in str(governed.messages[2])
    assert original == LONG
    assert seen == [{"model": MODEL}]


def test_the_dial_leaves_as_many_messages_at_the_front_as_it_can():
    """Where the defaults reach the rate, more is frozen until they just do."""
    request = Request({}, prefix(6), rate=0.2)
    with installed(headroom()):
        governed = govern(request)
    assert edited(request, governed)[0] > 2
    assert share_removed(request, governed.messages) >= 0.2
    assert governed.notes[1] == f"frozen_message_count={edited(request, governed)[0]}, else defaults"


def test_further_settings_are_tried_where_the_defaults_do_not_reach_the_rate():
    """They too are turned down to the rate."""
    messages = prefix(6)
    for n in range(2, 12, 2):
        messages[n]["content"][0]["content"] = "short text with no end" * 4
    request = Request({}, messages, rate=0.2)
    with installed(headroom()):
        governed = govern(request)
    assert edited(request, governed)[0] > 2
    assert share_removed(request, governed.messages) >= 0.2
    assert "all further settings on" in governed.notes[1]


def test_its_silent_failure_is_told():
    """The package gives the messages back as they were, with no tokens counted."""
    with installed(headroom(fails=True)), pytest.raises(RuntimeError, match="its log says why"):
        govern(Request({}, prefix(1)))


def test_the_environment_is_set_to_offline():
    """Before the package is imported; ranks of the tokenizer that somebody has put elsewhere are left there."""
    environment = {"TIKTOKEN_CACHE_DIR": "/mine"}
    prepare_environment(environment)
    assert environment == {"TIKTOKEN_CACHE_DIR": "/mine", **OFFLINE}
