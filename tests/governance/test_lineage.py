"""Repairs of histories that came in broken. Rows like A1 or B6 are those of the catalogue of field faults."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import (
    WordCounter,
    assistant,
    call,
    call_block,
    calls,
    chat_assistant,
    chat_call,
    chat_result,
    chat_user,
    raw,
    result,
    result_block,
    results,
    session,
    snapshot_of,
    thinking_block,
    user,
)
from selfgc.dialects.anthropic import AnthropicDialect
from selfgc.governance.lineage import Item, find_repairs, join_neighbours
from selfgc.governance.oracle import check_view
from selfgc.governance.project import NO_OUTPUT, project
from selfgc.governance.rehearse import rehearse
from selfgc.model.plan import Plan, Prune
from selfgc.model.policy import Policy

READ = {"file_path": "/a"}
LONG = "plain words of a long output that nobody has to read again\n" * 40
INTERRUPTED = {"type": "tool_result", "content": NO_OUTPUT, "is_error": True}


def repaired(messages, dialect="anthropic"):
    """The view of a history with its repairs, decoded; it passes the oracle, and the sentences of the repairs."""
    snapshot = snapshot_of(messages, dialect)
    repairs = find_repairs(snapshot)
    view = project(snapshot, {}, repairs=repairs)
    assert check_view(snapshot, view, {}) == []
    assert [entry.message.raw for entry in snapshot.entries] == [raw(message) for message in messages]
    return [json.loads(item) for item in view.messages], [repair.sentence for repair in repairs]


# -- calls without a result ------------------------------------------------------------------------------


def test_a_call_that_was_never_answered_gets_an_error_answer():
    """A1, A9: the request goes through again, in front of the user's words; the call stays visible."""
    view, sentences = repaired([user("do it"), call("a", "Bash", command="ls"), user("go on")])
    assert view[1] == call("a", "Bash", command="ls")
    assert view[2]["content"] == [INTERRUPTED | {"tool_use_id": "a"}, {"type": "text", "text": "go on"}]
    assert sentences == ["the call a never got its result"]


def test_an_unanswered_call_of_chat_gets_a_tool_message():
    """A1 in the other dialect: the answer stands right behind the call."""
    messages = [chat_user("do it"), chat_assistant(None, chat_call("a", "Bash", READ)), chat_user("go on")]
    view, sentences = repaired(messages, "chat")
    assert view == [*messages[:2], chat_result("a", NO_OUTPUT), messages[2]]
    assert sentences == ["the call a never got its result"]


def test_what_the_harness_says_of_an_interruption_stays_visible():
    """A2: the abort marker is the user's message, and it is kept."""
    marker = "[Request interrupted by user for tool use]"
    view, _ = repaired([user("x"), call("a", "Bash", command="ls"), user(marker), assistant("ok"), user("try again")])
    assert {"type": "text", "text": marker} in view[2]["content"]


def test_a_call_followed_by_an_assistant_message_is_answered_between_them():
    """In Chat the next message of another role closes the round."""
    asked = chat_assistant(None, chat_call("a", "Bash", READ))
    view, _ = repaired([chat_user("x"), asked, chat_assistant("done")], "chat")
    assert view[2] == chat_result("a", NO_OUTPUT)


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_a_call_in_flight_is_left_alone(dialect):
    """A8: what stands at the very end is going to be answered."""
    last = session([("x", [("Read", READ, "text")], "")], dialect)[:2]
    assert find_repairs(snapshot_of(last, dialect)) == []


def test_calls_in_flight_are_left_alone_while_results_come_in_one_by_one():
    """A8 in Chat, where every result is a message."""
    asked = chat_assistant(None, chat_call("a", "Read", READ), chat_call("b", "Read", READ))
    assert find_repairs(snapshot_of([chat_user("x"), asked, chat_result("a", "t")], "chat")) == []


def test_a_user_message_that_answers_only_one_of_two_calls_is_completed():
    """Anthropic sends all results of a round in one turn; when it ends the history, the other never comes."""
    asked = calls(call_block("a", "Read", READ), call_block("b", "Read", READ))
    view, sentences = repaired([user("x"), asked, result("a", "text")])
    assert view[2]["content"] == [INTERRUPTED | {"tool_use_id": "b"}, result_block("a", "text")]
    assert sentences == ["the call b never got its result"]


def test_results_that_come_in_two_user_messages_are_both_kept():
    """The provider reads the two as one turn; only the real fault of the history is repaired."""
    asked = calls(call_block("a", "Read", READ), call_block("b", "Read", READ))
    messages = [user("x"), asked, result("a", "first"), result("b", "second"), assistant("ok"), result("ghost", "t")]
    view, sentences = repaired([*messages, user("go on")])
    assert view[:5] == messages[:5]
    assert sentences == ["a result for ghost, which was not asked for right before it"]


# -- results without a call ------------------------------------------------------------------------------


def test_a_result_that_nobody_asked_for_leaves_the_view_and_is_told():
    """A12, A13: no exception, and no trace lost: the repair is a value with its sentence."""
    messages = [
        user("hi"),
        assistant("hello"),
        result("ghost", "boo"),
        *session([("x", [("Read", READ, "t")], "done")]),
    ]
    view, sentences = repaired(messages)
    assert view == [messages[0], messages[1], *messages[3:]]
    assert sentences == ["a result for ghost, which was not asked for right before it"]


def test_a_ghost_at_the_very_beginning_is_no_error():
    """A12: the orphan may stand first."""
    view, sentences = repaired([result("ghost", "boo"), user("hi"), assistant("hello")])
    assert view == [user("hi"), assistant("hello")]
    assert len(sentences) == 1


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_half_a_pair_cannot_be_pruned(dialect):
    """B1: an id names call and result together, and no action names one of them."""
    messages = session(
        [("x", [("Read", READ, LONG), ("Grep", {"pattern": "y"}, "t")], "done"), ("y", [], "ok")], dialect
    )
    snapshot = snapshot_of(messages, dialect, Policy(keep_spans=0))
    rehearsal = rehearse(snapshot, Plan((Prune("function:Read:1"),)), WordCounter())
    assert [json.loads(item) for item in rehearsal.view.messages] == [messages[0], *messages[3:]]


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_a_view_without_a_pair_needs_no_repair(dialect):
    """B2: after an edit the pairs are whole, as looking again shows."""
    messages = session(
        [("x", [("Read", READ, LONG), ("Grep", {"pattern": "y"}, "t")], "done"), ("y", [], "ok")], dialect
    )
    snapshot = snapshot_of(messages, dialect, Policy(keep_spans=0))
    view = rehearse(snapshot, Plan((Prune("function:Read:1"),)), WordCounter()).view
    assert find_repairs(snapshot_of(view.messages, dialect)) == []


def test_an_orphan_leaves_no_empty_message():
    """B6: what stands beside it stays; a message with nothing else goes."""
    mixed = results(result_block("gone", "old"), {"type": "text", "text": "and now this"})
    view, _ = repaired([user("hi"), assistant("hello"), mixed, assistant("ok"), user("more")])
    assert view[2] == {"role": "user", "content": [{"type": "text", "text": "and now this"}]}
    view, _ = repaired([user("hi"), assistant("hello"), result("gone", "old"), user("more")])
    assert view == [user("hi"), assistant("hello"), user("more")]


def test_a_history_that_a_client_cut_in_two_is_mended():
    """B13: after the client's own compaction a result stands behind a summary."""
    view, sentences = repaired([user("a summary"), result("gone", "old"), user("go on")])
    assert view == [
        {"role": "user", "content": [*user("a summary", "x")["content"][:1], *user("go on", "x")["content"][:1]]}
    ]
    assert len(sentences) == 1


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_a_plan_for_two_spans_leaves_the_other_two_as_they_are(dialect):
    """B15: nothing outside of the plan changes by a byte."""
    made = [("Read", {"file_path": f"/a/{n}"}, LONG) for n in range(4)]
    messages = session([("x", made, "done"), ("y", [], "ok")], dialect)
    snapshot = snapshot_of(messages, dialect, Policy(keep_spans=0))
    view = rehearse(snapshot, Plan((Prune("function:Read:1"), Prune("function:Read:3"))), WordCounter()).view
    kept = [*messages[:1], *messages[3:5], *messages[7:]]
    assert list(view.messages) == [raw(message) for message in kept]


def test_an_action_that_cannot_be_does_not_stop_the_plan():
    """B16: the rest of the plan still counts."""
    made = [("Read", {"file_path": "/a"}, LONG), ("Read", {"file_path": "/AGENTS.md"}, LONG)]
    snapshot = snapshot_of(session([("x", made, "done"), ("y", [], "ok")]), policy=Policy(keep_spans=0))
    rehearsal = rehearse(snapshot, Plan((Prune("function:Read:2"), Prune("function:Read:1"))), WordCounter())
    assert [edit.id for edit in rehearsal.edits] == ["function:Read:1"]
    assert [(item.object_id, item.rule) for item in rehearsal.refused] == [("function:Read:2", "pinned")]


# -- doubled ids -----------------------------------------------------------------------------------------


def test_an_id_on_two_calls_of_one_message_is_made_unique():
    """J11: a done and a failed part under one id; each result goes to its own call, in order."""
    asked = calls(call_block("a", "Bash", READ), call_block("a", "Bash", READ))
    view, sentences = repaired([user("x"), asked, results(result_block("a", "one"), result_block("a", "two"))])
    assert [block["id"] for block in view[1]["content"]] == ["a", "a-2"]
    assert view[2]["content"] == [result_block("a", "one"), result_block("a-2", "two")]
    assert sentences[0] == "the id a stands on two calls; the later one is a-2 in the view"
    assert sentences[1] == "the result belongs to a-2"


def test_an_id_that_comes_again_later_is_made_unique_there():
    """Anthropic takes each id once in a request; the first pair stays as it is, as Chat has it anyway (its rule C9)."""
    once = session([("x", [("Read", READ, "text")], "ok")])
    view, _ = repaired([*once, *once, user("go on")])
    assert view[:4] == once
    assert [block["id"] for block in view[5]["content"]] == ["call_1-2"]
    assert [block["tool_use_id"] for block in view[6]["content"]] == ["call_1-2"]


def test_three_calls_under_one_id_get_three_ids():
    """Each waits for an answer of its own."""
    asked = chat_assistant(None, *[chat_call("a", "Bash", READ)] * 3)
    view, _ = repaired([chat_user("x"), asked, chat_result("a", "one"), chat_user("y")], "chat")
    assert [call["id"] for call in view[1]["tool_calls"]] == ["a", "a-2", "a-3"]
    assert {message["tool_call_id"]: message["content"] for message in view[2:5]} == {
        "a": "one",
        "a-2": NO_OUTPUT,
        "a-3": NO_OUTPUT,
    }


def test_a_new_id_is_one_that_no_call_has():
    """Counting goes on past an id that looks like a repaired one; ids stay within Chat's 40 characters."""
    asked = calls(call_block("a", "Bash", READ), call_block("a-2", "Bash", READ), call_block("a", "Bash", READ))
    view, _ = repaired([user("x"), asked, user("go on")])
    assert [block["id"] for block in view[1]["content"]] == ["a", "a-2", "a-3"]
    long = "x" * 40
    view, _ = repaired(
        [chat_user("x"), chat_assistant(None, *[chat_call(long, "Bash", READ)] * 2), chat_user("y")], "chat"
    )
    assert [call["id"] for call in view[1]["tool_calls"]] == [long, "x" * 32 + "-2"]


def test_a_second_result_for_one_call_leaves_the_view():
    """The first one counts."""
    messages = session([("x", [("Read", READ, "first")], "")])
    view, sentences = repaired(
        [*messages[:2], results(result_block("call_1", "first"), result_block("call_1", "again"))]
    )
    assert view == messages
    assert sentences == ["a result for call_1, which was answered already"]


# -- any broken history ----------------------------------------------------------------------------------


STEPS = st.lists(
    st.tuples(st.sampled_from(["call", "answer", "say"]), st.lists(st.sampled_from("abc"), max_size=3)), max_size=6
)


def anthropic_step(kind, ids):
    if kind == "call":
        return [calls(*(call_block(name, "Read", READ) for name in ids))] if ids else [assistant("words")]
    words = [] if kind == "answer" and ids else ["words"]
    return [results(*(result_block(name, "text") for name in ids), *words)]


def chat_step(kind, ids):
    if kind == "call":
        return [chat_assistant(None if ids else "words", *(chat_call(name, "Read", READ) for name in ids))]
    return [chat_result(name, "text") for name in ids] if kind == "answer" else [chat_user("words")]


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_any_history_of_anthropic_is_valid_after_its_repair(steps):
    """Whatever stands on no call, twice, or without an answer."""
    repaired([user("first"), *(message for step in steps for message in anthropic_step(*step)), user("last")])


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_any_history_of_chat_is_valid_after_its_repair(steps):
    """As above; here each result is a message."""
    messages = [chat_user("first"), *(message for step in steps for message in chat_step(*step)), chat_user("last")]
    repaired(messages, "chat")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=4), st.sampled_from(["anthropic", "chat"]))
def test_a_whole_history_needs_no_repair(rounds, dialect):
    """Nothing is done to what is not broken."""
    made = [("x", [("Read", READ, "text")] * calls_made, "ok" if answered else "") for calls_made, answered in rounds]
    assert find_repairs(snapshot_of(session(made, dialect), dialect)) == []


# -- neighbours ------------------------------------------------------------------------------------------


def item(message, origin, *, is_signed=False):
    return Item(raw(message), origin, message["role"], is_signed)


def joined(*items):
    return [(json.loads(one.raw), one.origin) for one in join_neighbours(AnthropicDialect(), items)]


def test_neighbours_that_an_edit_brought_together_become_one_message():
    """It counts as the later one."""
    both = assistant({"type": "text", "text": "a"}, {"type": "text", "text": "b"})
    assert joined(item(assistant("a"), 1), item(assistant("b"), 4)) == [(both, 4)]


@pytest.mark.parametrize(
    "pair",
    [
        [item(user("a"), 1), item(user("b"), 2)],
        [item(user("a"), 1), item(assistant("b"), 4)],
        [item(assistant("a"), 1, is_signed=True), item(assistant("b"), 4)],
        [item(assistant("a"), 1), item(assistant("b"), 4, is_signed=True)],
        [item(chat_result("a", "t"), 1), item(chat_result("b", "t"), 4)],
    ],
    ids=["neighbours before", "two roles", "first signed", "second signed", "tool messages"],
)
def test_others_stay_apart(pair):
    """What the client sent apart, what is signed, and the results of Chat."""
    assert len(joined(*pair)) == 2


def test_signed_reasoning_stays_in_its_own_message():
    """Nothing is put beside it, though its neighbour was left alone by a prune."""
    thinks = assistant(thinking_block("hm"), "the answer")
    pair = session([("x", [("Read", READ, LONG)], "")])
    messages = [pair[0], assistant("first words"), *pair[1:3], thinks, user("y"), assistant("ok")]
    snapshot = snapshot_of(messages, policy=Policy(keep_spans=0))
    view = rehearse(snapshot, Plan((Prune("function:Read:1"),)), WordCounter()).view
    assert [json.loads(one) for one in view.messages] == [pair[0], assistant("first words"), thinks, *messages[-2:]]
