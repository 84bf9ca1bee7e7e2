"""Rules that clear old results in place."""

import pytest

from bench_world import agent, exchange, user
from selfgc.bench.arms.clearing import ANTHROPIC_PLACEHOLDER, clear
from selfgc.bench.arms.protocol import Ask
from selfgc.errors import UsageError

LARGE = "x" * 30_000


def ask(results, rate=None, tail=1, turns=1):
    wire = [user("go")]
    for number, text in enumerate(results):
        wire += exchange(number, "Bash", {"command": "make"}, text)
    wire += [agent("ok"), *[message for n in range(turns) for message in (user(f"next {n}"), agent("ok"))]]
    return Ask("anthropic", {"messages": wire}, rate, protected=tail)


def cleared(governed):
    """The numbers of the calls whose result is gone."""
    return [
        number
        for number, message in enumerate(message for message in governed.messages if "tool_use_id" in str(message))
        if ANTHROPIC_PLACEHOLDER in str(message)
    ]


def test_below_the_trigger_nothing_is_cleared():
    """100,000 tokens, counted as characters here."""
    assert cleared(clear("anthropic-clear", ask(["small"] * 6), len)) == []


def test_above_it_all_but_three_are_cleared():
    """The calls' inputs stay."""
    governed = clear("anthropic-clear", ask([LARGE] * 6), len)
    assert cleared(governed) == [0, 1, 2]
    assert "make" in str(governed.messages[1])


def test_opencode_keeps_forty_thousand_tokens_and_two_turns():
    """What is older goes when that is at least twenty thousand."""
    assert cleared(clear("opencode-prune", ask([LARGE] * 6, turns=2), len)) == [0, 1, 2, 3, 4]
    assert cleared(clear("opencode-prune", ask(["small"] * 6, turns=2), len)) == []
    assert cleared(clear("opencode-prune", ask([LARGE, "y" * 25_000, "z" * 18_000], turns=2), len)) == [0, 1]


def test_with_a_rate_the_oldest_go_until_it_is_met():
    """Whatever the trigger says."""
    assert cleared(clear("anthropic-clear", ask(["w" * 1000] * 10, rate=0.25), len)) == [0, 1, 2]


def test_results_in_blocks_are_counted_by_their_text():
    """A result may be a list of blocks, or hold nothing."""
    asked = ask([LARGE] * 5)
    for message in asked.messages:
        for block in message["content"]:
            if block.get("type") == "tool_result":
                block["content"] = [{"type": "text", "text": block["content"]}]
    assert cleared(clear("anthropic-clear", asked, len)) == [0, 1]


def test_other_dialects_and_names_are_refused():
    """These rules edit Anthropic Messages."""
    with pytest.raises(UsageError, match="works on Anthropic Messages"):
        clear("anthropic-clear", Ask("chat", {"messages": []}), len)
    with pytest.raises(UsageError, match="expected anthropic-clear or opencode-prune"):
        clear("magic", ask([]), len)
