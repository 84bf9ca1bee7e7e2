"""Cases: where sessions are cut, and what belongs to prefix, protected turn and continuation."""

import json
from pathlib import Path

import pytest

from selfgc.bench.cases import (
    MAX_STEPS,
    Boundary,
    all_cases_of,
    cases_of,
    is_user_turn,
    last_turn,
    step_cases_of,
)

SESSIONS = Path(__file__).resolve().parents[3] / "shared" / "sessions"


def user(words):
    return {"role": "user", "content": [{"type": "text", "text": words}]}


def agent(words):
    return {"role": "assistant", "content": words}


def step(number):
    name = f"c{number}"
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "run", "input": {"cmd": "ls"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "ok"}]},
    ]


def words(text):
    return len(text.split())


LONG = "word " * 8_000


def test_every_user_turn_with_a_long_prefix_is_a_case():
    """A turn is cut where enough tokens stand before it; the first turn has no prefix at all."""
    messages = [user(LONG), agent("a"), user("two"), *step(1), agent("b"), user("three"), agent("c")]
    cases = cases_of("s", messages, words)
    assert [(case.session, case.cut) for case in cases] == [("s", 2), ("s", 6)]
    assert list(cases[0].prefix) == messages[:2]
    assert list(cases[0].continuation) == messages[2:6]
    assert list(cases[1].continuation) == messages[6:]


def test_a_short_prefix_is_no_case():
    """Below 8,000 tokens there is nothing to govern; a session that never gets there has no case."""
    assert cases_of("s", [user("word " * 7_999), agent(""), user("two"), agent("b")], words) == []
    assert cases_of("s", [], words) == []


def test_a_turn_without_an_answer_is_no_case():
    """A user message that nothing follows cannot show an impact."""
    assert cases_of("s", [user(LONG), agent("a"), user("two"), user("three")], words) == []


def test_the_continuation_ends_after_forty_steps_with_their_results():
    """The results of the fortieth step still belong to the continuation; the next call does not."""
    steps = [message for number in range(MAX_STEPS + 5) for message in step(number)]
    (case,) = cases_of("s", [user(LONG), agent("a"), user("go"), *steps], words)
    assert len(case.continuation) == 1 + 2 * MAX_STEPS
    assert case.continuation[-1]["role"] == "user"


def test_text_beside_a_tool_result_opens_no_turn():
    """A user message with a result belongs to the turn it stands in; a harness's text alone opens one."""
    interrupted = {"role": "user", "content": [*step(1)[1]["content"], {"type": "text", "text": "stop"}]}
    assert not is_user_turn(interrupted)
    assert is_user_turn(user("<local-command-stdout>x</local-command-stdout>"))
    assert not is_user_turn(agent("x"))


def test_the_protected_turn_is_the_last_complete_one():
    """It runs from the last user turn of the prefix to the cut."""
    messages = [user(LONG), agent("a"), user("two"), *step(1), agent("b"), user("three"), agent("c")]
    assert list(cases_of("s", messages, words)[1].protected) == messages[2:6]


def test_without_a_turn_everything_is_the_last_turn():
    """Messages in which no turn begins are kept whole."""
    assert list(last_turn([agent("a")])) == [agent("a")]


def test_chat_form_is_cut_the_same_way():
    """Tool messages open no turn, user messages do."""
    messages = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": LONG},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "run", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": "b"},
    ]
    assert [case.cut for case in cases_of("s", messages, words)] == [5]


@pytest.mark.shared
@pytest.mark.skipif(not SESSIONS.is_dir(), reason="no shared sessions here")
def test_real_sessions_give_cases():
    """A real session is cut at several turns, and each continuation opens with the user."""
    messages = json.loads(max(SESSIONS.glob("*.json")).read_bytes())["request"]["messages"]
    cases = cases_of("last", messages, lambda text: len(text) // 4)
    assert cases
    assert all(is_user_turn(case.continuation[0]) for case in cases)


def one_turn(steps):
    return [user(LONG), *[message for number in range(steps) for message in step(number)], agent("done")]


def test_a_session_with_one_turn_is_cut_at_steps():
    """At three of them, evenly apart; each begins with an assistant message, and five or more follow."""
    messages = one_turn(20)
    cases = step_cases_of("s", messages, words)
    assert [case.cut for case in cases] == [5, 17, 29]
    assert {case.boundary for case in cases} == {Boundary.STEP}
    assert all(messages[case.cut]["role"] == "assistant" for case in cases)
    assert all_cases_of("s", messages, words) == cases


def test_a_session_with_several_turns_is_cut_at_those():
    """Steps are for those that have none."""
    messages = [*one_turn(10), user("two"), agent("b")]
    assert all_cases_of("s", messages, words) == cases_of("s", messages, words)


def test_too_few_steps_give_no_case():
    """Nothing could be seen to follow."""
    assert step_cases_of("s", one_turn(3), words) == []


def test_at_a_step_the_newest_three_calls_are_protected():
    """With their results; of fewer calls all that is there."""
    case = step_cases_of("s", one_turn(20), words)[1]
    assert list(case.protected) == one_turn(20)[case.cut - 6 : case.cut]
    few = step_cases_of("s", one_turn(8), words)[0]
    assert list(few.protected) == list(few.prefix)


def test_what_stands_before_a_compaction_was_not_in_view():
    """From the harness's last summary on; of a session without one, everything."""
    summed = user("This session is being continued from a previous conversation that ran out of context.")
    messages = [user(LONG), agent("a"), summed, agent("b"), user("three"), agent("c")]
    case = cases_of("s", messages, words)[-1]
    assert list(case.in_view) == messages[2:4]
    assert list(cases_of("s", messages, words)[0].in_view) == messages[:2]
