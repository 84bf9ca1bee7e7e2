"""Projection: transcript and edits to a view."""

import json

import pytest

from builders import (
    assistant,
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
from selfgc.governance.lineage import find_repairs
from selfgc.governance.project import changes_by_message, project, reasoning_changes
from selfgc.model.dialect import Change
from selfgc.model.ids import ObjectId
from selfgc.model.outcome import Repair
from selfgc.model.policy import Carrier, Policy
from selfgc.model.records import Edit, Replacement

READ = ("Read", {"file_path": "/a"}, "the text of a file")
TWO = [("one", [READ, READ], "done"), ("two", [], "ok")]
DIALECTS = ["anthropic", "chat"]


def edit_of(snapshot, *places, object_id="function:Read:1"):
    """An edit of the parts at (message, part), each with its new text; None takes it out."""
    made = []
    for message, part, text in places:
        path = snapshot.entries[message].message.parts[part].path
        made.append(Replacement(snapshot.chains[message], path, text))
    return Edit(ObjectId(object_id), "fold", tuple(made), 0, 0)


def view_of(snapshot, *edits, **others):
    return project(snapshot, {edit.id: edit for edit in edits}, **others)


def decoded(view):
    return [json.loads(message) for message in view.messages]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_edits_the_view_is_the_transcript(dialect):
    """The very bytes that came in, white space and all."""
    messages = session(TWO, dialect)
    spaced = [json.dumps(message, indent=2).encode() for message in messages]
    view = view_of(snapshot_of(spaced, dialect))
    assert view.messages == tuple(spaced)
    assert view.origins == tuple(range(len(messages)))
    assert view.edited == frozenset()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_edit_changes_its_part_and_nothing_else(dialect):
    """The other messages keep their bytes."""
    snapshot = snapshot_of(session(TWO, dialect), dialect)
    view = view_of(snapshot, edit_of(snapshot, (2, 0, "[gone]")))
    before = [entry.message.raw for entry in snapshot.entries]
    assert view.messages[2] == before[2].replace(b"the text of a file", b"[gone]")
    assert [*view.messages[:2], *view.messages[3:]] == [*before[:2], *before[3:]]
    assert view.edited == {2}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_pair_that_is_taken_out_leaves_no_empty_message(dialect):
    """The origins tell which messages are left."""
    snapshot = snapshot_of(session(TWO, dialect), dialect)
    view = view_of(snapshot, edit_of(snapshot, (1, 0, None), (2, 0, None)))
    assert view.origins == (0, 3, 4, 5, 6, 7)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_neighbours_of_one_role_merge_when_what_stood_between_them_leaves(dialect):
    """Two answers become one message."""
    messages = session([("one", [READ], "done")], dialect)
    messages.insert(1, {"role": "assistant", "content": "first"})
    snapshot = snapshot_of(messages, dialect)
    view = view_of(snapshot, edit_of(snapshot, (2, 0, None), (3, 0, None)))
    (_, merged) = decoded(view)
    assert "first" in json.dumps(merged)
    assert "done" in json.dumps(merged)
    assert view.origins == (0, 4)


def test_of_two_renderings_of_one_part_the_later_counts():
    """An object can be folded again, within its turn."""
    snapshot = snapshot_of(session(TWO))
    first = edit_of(snapshot, (2, 0, "first"))
    second = edit_of(snapshot, (2, 0, "second"), object_id="conversation:user:1")
    assert b'"second"' in view_of(snapshot, first, second).messages[2]
    assert changes_by_message([*first.replacements, *second.replacements]) == {
        snapshot.chains[2]: {"content.0": Change("second")}
    }


def test_an_edit_of_another_lineage_changes_nothing():
    """A rewound message has another chain, and its edit waits for it to come back."""
    snapshot = snapshot_of(session(TWO))
    strange = Edit(ObjectId("function:Read:1"), "fold", (Replacement("f" * 64, "content.0", "x"),), 0, 0)
    assert view_of(snapshot, strange).messages == tuple(entry.message.raw for entry in snapshot.entries)


def test_what_the_client_sends_this_time_is_what_is_rewritten():
    """Moved cache markers come through."""
    messages = session(TWO)
    snapshot = snapshot_of(messages)
    messages[4]["content"][0]["cache_control"] = {"type": "ephemeral"}
    sent = [raw(message) for message in messages]
    view = view_of(snapshot, edit_of(snapshot, (2, 0, "[gone]")), raws=sent)
    assert view.messages[4] == sent[4]


def test_the_cache_marker_of_a_message_that_leaves_moves_back():
    """Onto the message before it; without one it is gone with its message."""
    messages = session(TWO)
    messages[2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    snapshot = snapshot_of(messages)
    view = view_of(snapshot, edit_of(snapshot, (1, 0, None), (2, 0, None)))
    assert decoded(view)[0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    orphan = result_block("ghost", "x") | {"cache_control": {"type": "ephemeral"}}
    broken = snapshot_of([results(orphan), *session(TWO)])
    assert view_of(broken, repairs=find_repairs(broken)).messages == tuple(raw(message) for message in session(TWO))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_rendering_is_made_once_when_the_caller_keeps_a_cache(dialect):
    """The second view takes its bytes from it, also what is left out."""
    snapshot = snapshot_of(session(TWO, dialect), dialect)
    edit = edit_of(snapshot, (1, 0, None), (2, 0, None), (4, 0, "[gone]"))
    cache = {}
    first = view_of(snapshot, edit, cache=cache)
    assert len(cache) == 3
    assert view_of(snapshot, edit, cache=cache) == first == view_of(snapshot, edit)
    assert len(cache) == 3


def test_another_rendering_of_a_message_is_made_anew():
    """A cache never answers with the bytes of other changes."""
    snapshot = snapshot_of(session(TWO))
    cache = {}
    for text in ("first", "second"):
        assert json.dumps(text).encode() in view_of(snapshot, edit_of(snapshot, (2, 0, text)), cache=cache).messages[2]


# -- repairs and edits together --------------------------------------------------------------------------


def test_a_repair_and_an_edit_of_one_part_both_count():
    """The folded result is renamed with its call."""
    once = session([("one", [READ], "done")])
    snapshot = snapshot_of([*once, *once])
    view = view_of(snapshot, edit_of(snapshot, (6, 0, "[gone]")), repairs=find_repairs(snapshot))
    assert decoded(view)[6]["content"] == [result_block("call_1-2", "[gone]")]


def test_an_orphan_leaves_also_when_an_edit_names_it():
    """A result without a call is refused by every provider."""
    snapshot = snapshot_of([user("x"), assistant("hi"), result("ghost", "text"), user("y")])
    view = view_of(snapshot, edit_of(snapshot, (2, 0, "[gone]")), repairs=find_repairs(snapshot))
    assert decoded(view) == [user("x"), assistant("hi"), user("y")]


def test_what_an_edit_took_out_is_not_brought_back_by_a_repair():
    """A pruned pair under a doubled id is gone, whatever its id would have been."""
    once = session([("one", [READ], "done")])
    snapshot = snapshot_of([*once, *once])
    view = view_of(snapshot, edit_of(snapshot, (5, 0, None), (6, 0, None)), repairs=find_repairs(snapshot))
    assert b"call_1-2" not in b"".join(view.messages)


def test_only_the_calls_named_get_answers():
    """Each behind its own message."""
    snapshot = snapshot_of(session(TWO)[:2])
    view = view_of(snapshot, repairs=[Repair(1, "", None, "call_1", "it never came")])
    assert view.origins == (0, 1, 1)
    assert decoded(view)[2]["content"][0]["tool_use_id"] == "call_1"


# -- tags and reasoning ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_with_the_tags_carrier_ids_stand_in_the_view(dialect):
    """Also when nothing is edited."""
    snapshot = snapshot_of(session(TWO, dialect), dialect, Policy(carrier=Carrier.TAGS))
    shown = b"".join(view_of(snapshot).messages)
    assert shown.count(b"function:Read:") == 2
    assert shown.count(b"conversation:user:") == 2


def test_reasoning_before_an_index_can_be_taken_out():
    """Signed or not, in both dialects; the messages from the index on are left alone."""
    thinks = calls(thinking_block("hm"), call_block("a", "Read", {"file_path": "/a"}))
    snapshot = snapshot_of([user("x"), thinks, result("a", "t"), assistant(thinking_block("so"), "done")])
    assert reasoning_changes(snapshot, 3) == (Replacement(snapshot.chains[1], "content.0"),)
    made = chat_assistant(None, chat_call("a", "Read", {"file_path": "/a"}), reasoning="hm")
    snapshot = snapshot_of([chat_user("x"), made, chat_result("a", "t")], "chat")
    assert reasoning_changes(snapshot, 3) == (Replacement(snapshot.chains[1], "reasoning_content"),)
