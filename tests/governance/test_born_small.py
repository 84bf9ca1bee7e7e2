"""Results that are folded or masked before they are first sent."""

import hashlib
import json

import msgspec
import pytest

from builders import (
    WordCounter,
    assistant,
    call,
    call_block,
    calls,
    chat_result,
    exchange,
    result,
    result_block,
    results,
    session,
    snapshot_of,
    text_block,
    user,
)
from selfgc.governance.born_small import draft_born_small
from selfgc.governance.project import project
from selfgc.model.policy import Policy, Recovery
from selfgc.model.records import Edit

LONG = "plain words of a long output that nobody has to read again\n" * 40
PATH = {"file_path": "/a"}
READ = ("Read", PATH, LONG)
DIALECTS = ["anthropic", "chat"]
MASK = Policy(born_small_tokens=100)


def drafted(messages, *, sent=3, dialect="anthropic", policy=None, fields=None, **others):
    """The draft, with everything before message `sent` known to the provider."""
    snapshot = snapshot_of(messages, dialect, policy, **others)
    return draft_born_small(snapshot, WordCounter(), sent, fields or {})


def ids(draft):
    return [] if draft is None else [(edit.id, edit.action) for edit in draft.edits]


def twice(second=READ, dialect="anthropic"):
    """A file is read, and then read again."""
    return session([("x", [READ, second], "")], dialect)


# -- repeats ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_that_stands_in_view_is_folded(dialect):
    """Its pointer names the object that shows it; the exact bytes are kept all the same."""
    messages = twice(dialect=dialect)
    draft = drafted(messages, dialect=dialect)
    assert ids(draft) == [("function:Read:2", "fold")]
    (payload,) = draft.payloads
    assert payload.data == LONG.encode()
    assert draft.edits[0].payload == payload.sha256 == hashlib.sha256(payload.data).hexdigest()
    snapshot = snapshot_of(messages, dialect)
    view = project(snapshot, {edit.id: edit for edit in draft.edits})
    pointer = "[folded 41 lines, the same text as function:Read:1: selfgc restore function:Read:2]"
    assert json.dumps(pointer).encode() in view.messages[4]
    assert view.messages[:4] == tuple(entry.message.raw for entry in snapshot.entries[:4])


@pytest.mark.parametrize(
    "second",
    [("Read", PATH, f"{LONG}!"), ("Read", {"file_path": "/b"}, LONG), ("Grep", {"pattern": "x"}, LONG)],
    ids=["another text", "another file", "another tool"],
)
def test_what_is_not_the_same_is_not_folded(second):
    """Tool, subject and every character have to agree."""
    assert drafted(twice(second)) is None


def test_texts_that_differ_only_in_white_space_at_the_ends_are_not_the_same():
    """The digest that finds candidates overlooks it; the comparison does not."""
    assert drafted(twice(("Read", PATH, f"{LONG}\n"))) is None


def test_short_texts_are_not_looked_at():
    """A pointer would be as long."""
    short = ("Read", PATH, "the same few words")
    assert drafted(session([("x", [short, short], "")])) is None


def test_a_result_that_was_sent_is_not_touched():
    """That would break the cache: it is for a planner to weigh."""
    assert drafted(twice(), sent=5) is None


def test_the_policy_can_switch_it_off():
    """Both kinds, each by itself."""
    assert drafted(twice(), policy=Policy(born_small_repeats=False)) is None
    masks_only = Policy(born_small_repeats=False, born_small_tokens=100)
    assert ids(drafted(twice(), policy=masks_only)) == [("function:Read:2", "mask")]


def test_a_pinned_result_comes_whole():
    """A caller's word counts here too."""
    assert drafted(twice(), policy=Policy(pinned_tools=("Read",))) is None


def test_nothing_is_done_without_a_way_back():
    """V20: the pointer would name a tool that the request does not offer."""
    policy = Policy(recovery=Recovery.TOOL)
    assert drafted(twice(), policy=policy) is None
    offered = {"tools": b'[{"name":"restore_context"}]'}
    assert ids(drafted(twice(), policy=policy, fields=offered)) == [("function:Read:2", "fold")]


def test_an_open_call_and_skill_text_are_passed_over():
    """There is no result yet, or what came is no tool's result."""
    skill = f"Base directory for this skill: /skills/pdf\n\n{LONG}"
    assert drafted([*session([("x", [READ], "")]), call("open", "Read", **PATH)]) is None
    assert drafted([user("x"), assistant("ok"), user(skill), assistant("ok"), user(skill)], policy=MASK) is None


def test_a_saving_below_the_policys_is_no_saving():
    """The same measure as for plans."""
    assert drafted(twice(), policy=Policy(min_saving=10_000)) is None


# -- the original has to be in view ----------------------------------------------------------------------


def test_what_an_edit_hides_is_no_original():
    """Its pointer shows no text, and neither would the repeat's."""
    assert drafted(twice(), edits=[Edit("function:Read:1", "fold", (), 0, 0)]) is None


def test_what_went_with_its_turn_is_no_original():
    """A pruned turn leaves no edit on its spans; they are gone all the same."""
    messages = session([("x", [READ], "done"), ("y", [READ], "")])
    pruned = Edit("conversation:user:1", "prune", (), 0, 0, swallowed=("function:Read:1",))
    assert ids(drafted(messages, sent=5)) == [("function:Read:2", "fold")]
    assert drafted(messages, sent=5, edits=[pruned]) is None


def test_what_stands_before_the_providers_compaction_is_no_original():
    """The provider reads its summary in the place of it."""
    compaction = assistant({"type": "compaction", "content": "a summary"})
    messages = [*session([("x", [READ], "")]), compaction, *session([("y", [], "")]), *exchange("b", *READ)]
    assert drafted(messages, sent=4) is None


def test_of_several_new_copies_the_first_stays_whole():
    """Each other one names a text that stands in view, not one that is folded in the same moment."""
    messages = session([("x", [READ, READ, READ], "")])
    draft = drafted(messages, sent=0)
    assert ids(draft) == [("function:Read:2", "fold"), ("function:Read:3", "fold")]
    assert [item.text.count("as function:Read:1") for edit in draft.edits for item in edit.replacements] == [1, 1]


def test_a_copy_of_what_is_masked_in_the_same_moment_is_masked_too():
    """The first copy is too large to be sent, so that nothing in view shows the text."""
    draft = drafted(session([("x", [READ, READ], "")]), sent=0, policy=MASK)
    assert ids(draft) == [("function:Read:1", "mask"), ("function:Read:2", "mask")]


# -- size ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_result_past_the_policys_size_is_masked(dialect):
    """Head and tail stay; other results of the same moment come whole."""
    small = ("Read", {"file_path": "/b"}, "few words")
    draft = drafted(session([("x", [READ, small], "")], dialect), sent=0, dialect=dialect, policy=MASK)
    assert ids(draft) == [("function:Read:1", "mask")]
    (text,) = (item.text for item in draft.edits[0].replacements)
    assert "[… 17 lines masked: selfgc restore function:Read:1]" in text
    assert draft.payloads[0].data == LONG.encode()


def test_a_result_of_just_that_size_comes_whole():
    """The limit itself is allowed."""
    size = snapshot_of(session([("x", [READ], "")])).spans[0].result_tokens
    messages = session([("x", [READ], "")])
    assert drafted(messages, sent=0, policy=Policy(born_small_tokens=size)) is None
    assert drafted(messages, sent=0, policy=Policy(born_small_tokens=size - 1)) is not None


def test_a_result_with_media_comes_whole():
    """An image cannot be cut, and its text is not what it is about."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    messages = [user("x"), call("a", "Read", **PATH), result("a", [text_block(LONG), image])]
    assert drafted(messages, sent=0, policy=MASK) is None


def test_a_result_that_a_mask_would_not_shorten_comes_whole():
    """One text without a middle: the mask would be longer."""
    line = ("Read", PATH, "x" * 500)
    assert drafted(session([("x", [line], "")]), sent=0, policy=MASK) is None


# -- which spans are looked at ---------------------------------------------------------------------------


def test_parallel_results_of_one_message_are_each_looked_at():
    """Beside an ordinary one."""
    asked = calls(
        call_block("a", "Read", PATH), call_block("b", "Read", {"file_path": "/b"}), call_block("c", "Read", PATH)
    )
    answer = results(result_block("a", LONG), result_block("b", "few words"), result_block("c", LONG))
    assert ids(drafted([user("x"), asked, answer], sent=0)) == [("function:Read:3", "fold")]


def test_the_result_of_an_old_call_is_found_among_many():
    """Of a long session only the newest calls are looked at; the results of one round are among them."""
    old = session([("x", [("Read", {"file_path": f"/{n}"}, "few words") for n in range(80)], "")], "chat")
    again = session([("y", [READ, READ], "")], "chat")
    for number, message in enumerate(again):
        for made in message.get("tool_calls", []):
            made["id"] = f"new_{number}"
        if message["role"] == "tool":
            again[number] = chat_result(f"new_{number - 1}", message["content"])
    snapshot = snapshot_of([*old, *again], "chat")
    draft = draft_born_small(snapshot, WordCounter(), len(old), {})
    assert ids(draft) == [("function:Read:82", "fold")]
    assert draft_born_small(snapshot, WordCounter(), len(old) + len(again), {}) is None


def test_looking_changes_nothing():
    """A draft is a value; the snapshot is as it was, and a committed draft is not made again."""
    snapshot = snapshot_of(twice())
    draft = draft_born_small(snapshot, WordCounter(), 3, {})
    assert draft == draft_born_small(snapshot, WordCounter(), 3, {})
    committed = msgspec.structs.replace(snapshot, edits={edit.id: edit for edit in draft.edits})
    assert draft_born_small(committed, WordCounter(), 3, {}) is None
