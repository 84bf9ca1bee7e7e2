"""The tracegc driver: blocks carried around it, edits carried back, its switches, over a stand-in for the package."""

from hypothesis import given

from peer_stand_ins import agent, conversations, installed, prefix, step, tracegc, user
from selfgc.bench.peers.drivers.exchange import Request
from selfgc.bench.peers.drivers.tracegc_driver import SWITCHES, govern, readable


def never(block, switches):
    return False


@given(conversations())
def test_conversion_there_and_back_is_exact(messages):
    """Messages in which nothing was removed are the very objects, also those with blocks that it does not know."""
    filled = [message for message in messages if message["content"]]
    with installed(tracegc(never)):
        governed = govern(Request({}, filled)).messages
    assert all(old is new for old, new in zip(filled, governed, strict=True))


@given(conversations())
def test_it_sees_known_blocks_only(messages):
    """It would drop the others without a word."""
    seen = [b["type"] for m in readable(messages) if isinstance(m["content"], list) for b in m["content"]]
    assert set(seen) <= {"text", "tool_use", "tool_result"}


def test_a_block_that_it_removed_is_gone():
    """The rest of its message stays, a message without a rest goes."""
    image = {"type": "image", "source": {"type": "base64", "data": "x"}}
    messages = [user("one"), *step("a"), *step("b"), agent("key: 1"), {"role": "user", "content": [image]}]

    def drop(block, switches):
        return block == "key: 1" if isinstance(block, str) else "b" in (block.get("id"), block.get("tool_use_id"))

    with installed(tracegc(drop)):
        governed = govern(Request({}, messages))
    text = messages[3]["content"][0]
    assert governed.messages == [*messages[:3], {"role": "assistant", "content": [text]}, None, None, messages[6]]
    assert governed.notes == (
        "defaults",
        "blocks that it does not know were carried around it",
        "3 receipts, none named in the messages",
    )
    assert governed.payloads == {}


def test_switches_are_turned_on_where_the_defaults_do_not_reach_the_rate():
    """It has no other dial."""

    def drop(block, switches):
        return switches == SWITCHES and isinstance(block, dict) and block["type"] != "text"

    with installed(tracegc(drop)):
        default, reached, turned = (govern(Request({}, prefix(4), rate=rate)) for rate in (None, 0.0, 0.4))
    assert default.messages == reached.messages == prefix(4)
    assert turned.messages[2] is None
    assert "all switches on" in turned.notes[0]
