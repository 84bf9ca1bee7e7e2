"""Another JSON form of the same view, or of the continuation, changes nothing."""

import json

from control_cases import LINE, NAMES, body, judges, needing, prepared_of, session_of
from selfgc.bench.controls.rendering import blocked, re_rendered_future, re_rendering, reordered
from selfgc.bench.judge.needs import Corpus

CASES = [needing("one"), needing("two", NAMES[3:])]


def test_verdicts_stay():
    """Members in another order, and texts as blocks: of views with pointers and of views with gaps."""
    records = re_rendering(CASES, judges(), size=9, seed=1)
    assert [(record.holds, record.found) for record in records] == [
        (True, "0 of 4 verdicts differ; 2 cases, seed 1")
    ] * 2


def test_a_judge_that_reads_plain_strings_only_fails():
    """It sees nothing of a text in a block."""
    asked = judges()
    plain = asked.judge
    asked.judge = lambda case, messages, payloads=(): plain(
        case, [message for message in messages if not _is_block(message)], payloads
    )
    ordered, in_blocks = re_rendering(CASES, asked, size=9, seed=1)
    assert ordered.holds
    assert not in_blocks.holds


def _is_block(message):
    content = message["content"]
    return isinstance(content, list) and content[0].get("type") == "text"


def test_members_are_turned_in_argument_texts_too():
    """A text that is no JSON stays."""
    called = [{"id": "1", "function": {"name": "f", "arguments": text}} for text in ('{"a": 1, "b": [2]}', "plain")]
    turned = reordered({"role": "assistant", "tool_calls": called, "content": None})
    assert list(turned) == ["content", "tool_calls", "role"]
    texts = [call["function"]["arguments"] for call in turned["tool_calls"]]
    assert (list(json.loads(texts[0]).items()), texts[1]) == ([("b", [2]), ("a", 1)], "plain")


def test_only_plain_texts_become_blocks():
    """Results of Chat form and lists stay as they are."""
    assert blocked({"role": "user", "content": "x"})["content"] == [{"type": "text", "text": "x"}]
    for message in ({"role": "tool", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "x"}]}):
        assert blocked(message) is message


def test_the_continuation_needs_the_same():
    """Whatever the order of a call's arguments."""
    record = re_rendered_future(CASES, Corpus(), size=9, seed=1)
    assert record.holds
    assert record.found == "0 of 2 differ; 2 cases, seed 1"


def test_other_needs_are_told():
    """A filter that answers otherwise the second time is one way to differ."""
    case = prepared_of(*session_of("one", [body(NAMES[0]), LINE], ("command", f"grep {NAMES[0]}")), Corpus())
    other = prepared_of(*session_of("one", [body(NAMES[0]), LINE], ("old_string", LINE)), Corpus())
    mixed = type(case)(case.cut, other.needs)
    record = re_rendered_future([mixed], Corpus(), size=9, seed=1)
    assert not record.holds
    assert record.found.startswith("1 of 1 differ; 1 cases, seed 1; first: one at")
