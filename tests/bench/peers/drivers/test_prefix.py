"""What holds for every peer: the protected end, the share removed, the search for a setting."""

from hypothesis import given
from hypothesis import strategies as st

from peer_stand_ins import agent, conversations, prefix, step, user
from selfgc.bench.cases import last_turn
from selfgc.bench.peers.drivers.exchange import Request
from selfgc.bench.peers.drivers.prefix import blocks, least, protected_from, put_back, share_removed, tokens


def test_the_last_turn_is_protected():
    """It begins at the last user message with text and without a result."""
    messages = [user("one"), *step("a"), user("two"), *step("b"), user("  "), agent("c")]
    assert protected_from(Request({}, messages)) == 3


def test_a_prefix_without_a_turn_is_protected_as_a_whole():
    """Nothing tells what is old in it."""
    assert protected_from(Request({}, step("a"))) == 0


def test_the_request_can_say_how_many_messages_are_protected():
    """That is for cuts at steps, where the last turn would be nearly everything."""
    messages = [user("one"), *step("a"), *step("b")]
    assert protected_from(Request({}, messages, protected=2)) == 3
    assert protected_from(Request({}, messages, protected=9)) == 0


@given(conversations())
def test_the_protected_end_is_the_bench_s(messages):
    """The drivers cannot import the bench, yet agree with it."""
    assert messages[protected_from(Request({}, messages)) :] == list(last_turn(messages))


def test_changed_messages_of_the_protected_end_are_put_back():
    """They are counted, and what was taken out before them stays out."""
    messages = [user("one"), agent("a"), user("two"), agent("b")]
    view, changed = put_back(Request({}, messages), [None, messages[1], messages[2], agent("!")])
    assert view == messages[1:]
    assert changed == 1


def test_tokens_are_a_quarter_of_the_texts():
    """Types, ids and media are no text."""
    image = {"type": "image", "source": {"type": "base64", "data": "x" * 100}}
    result = {"type": "tool_result", "tool_use_id": "x" * 100, "content": [{"type": "text", "text": "y" * 8}, image]}
    assert tokens([{"role": "user", "content": [result]}]) == 2


def test_the_share_counts_system_and_tools():
    """They are part of the request that is paid for."""
    messages = [agent("x" * 40), user("y" * 40)]
    taken = [None, messages[1]]
    assert share_removed(Request({}, messages), taken) == 0.5
    assert share_removed(Request({"system": "z" * 78, "model": "m"}, messages), taken) == 0.25


def test_nothing_of_nothing_is_removed():
    """A request without texts has no share."""
    assert share_removed(Request({}, []), []) == 0.0


@given(st.integers(0, 40), st.floats(0, 1.2))
def test_the_least_setting_that_reaches_the_rate_is_found(most, rate):
    """Where none does, it is the strongest."""
    found = least(most, lambda n: n / 40, rate)
    assert found == min((n for n in range(most + 1) if n / 40 >= rate), default=most)


def test_messages_of_any_shape_have_blocks():
    """A text is one block; what is neither text nor list has none."""
    assert blocks(agent("a")) == [{"type": "text", "text": "a"}]
    assert blocks({"role": "user", "content": None}) == []
    assert len(prefix(2)) == 10
