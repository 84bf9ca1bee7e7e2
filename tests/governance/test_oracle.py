"""The oracle: each kind of break is found in a view that was broken on purpose."""

import json

import msgspec
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
    text_block,
    thinking_block,
    user,
)
from selfgc.governance.oracle import check_view, input_violations
from selfgc.model.outcome import View
from selfgc.model.policy import Policy
from selfgc.model.profile import Profile

READ = ("Read", {"file_path": "/a"}, "the text of a file")
TWO = [("one", [READ], "done"), ("two", [READ], "done"), ("three", [], "ok")]
SKILL = "Base directory for this skill: /skills/pdf\n\nhow to read a pdf"


def whole(snapshot):
    """The view that changes nothing, and lists as edited what a test is going to break."""
    raws = tuple(entry.message.raw for entry in snapshot.entries)
    return View(raws, tuple(range(len(raws))), frozenset(range(len(raws))))


def broken(snapshot, place, message=None):
    """The whole view with one message put in the place of another, or left out."""
    view = whole(snapshot)
    new = () if message is None else (raw(message),)
    origins = (*view.origins[:place], *([place] if new else []), *view.origins[place + 1 :])
    messages = (*view.messages[:place], *new, *view.messages[place + 1 :])
    return View(messages, origins, view.edited)


def rules(snapshot, view, fields=None, **others):
    return [violation.rule for violation in check_view(snapshot, view, fields or {}, **others)]


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_a_whole_view_passes(dialect):
    """Nothing is found where nothing is broken, though every message is looked at."""
    snapshot = snapshot_of(session(TWO, dialect), dialect)
    assert rules(snapshot, whole(snapshot)) == []


# -- the dialect's own check -----------------------------------------------------------------------------


def test_v1_a_call_without_its_result_is_found():
    """In both dialects, under the dialect's rule."""
    for dialect, rule in (("anthropic", "A5"), ("chat", "C1")):
        snapshot = snapshot_of(session(TWO, dialect), dialect)
        assert rules(snapshot, broken(snapshot, 2)) == [rule]


def test_v2_a_result_without_its_call_is_found():
    """The other half of the pair."""
    for dialect, rule in (("anthropic", "A6"), ("chat", "C2")):
        snapshot = snapshot_of(session(TWO, dialect), dialect)
        assert rule in rules(snapshot, broken(snapshot, 1))


def test_v3_one_id_on_two_calls_is_found():
    """Ids of calls are unique."""
    snapshot = snapshot_of(session(TWO))
    twice = View((*whole(snapshot).messages[:4], *whole(snapshot).messages), (0, 1, 2, 3, *range(9)))
    assert rules(snapshot, twice) == ["A8"]


def test_v5_empty_content_is_found():
    """A message that lost everything has to leave."""
    snapshot = snapshot_of(session(TWO))
    assert "A29" in rules(snapshot, broken(snapshot, 3, {"role": "assistant", "content": []}))


def test_v6_a_fifth_cache_marker_is_found():
    """Four are accepted."""
    marked = [text_block("x") | {"cache_control": {"type": "ephemeral"}}] * 5
    snapshot = snapshot_of([user(*marked), assistant("ok")])
    assert rules(snapshot, whole(snapshot)) == ["A30"]


def test_v7_bytes_that_are_no_strict_json_are_found():
    """A lone surrogate makes the whole request unreadable for a provider."""
    snapshot = snapshot_of(session(TWO))
    view = whole(snapshot)
    messages = (*view.messages[:3], b'{"role":"assistant","content":"\\ud83d"}', *view.messages[4:])
    assert rules(snapshot, View(messages, view.origins)) == ["A33"]


def test_v8_a_first_message_of_the_assistant_is_found():
    """The conversation has to begin with the user."""
    snapshot = snapshot_of(session(TWO))
    assert "A1" in rules(snapshot, broken(snapshot, 0))


def test_v17_a_body_over_the_providers_size_is_found():
    """With the other members of the request."""
    profile = Profile(max_body_bytes=2000)
    snapshot = snapshot_of(session(TWO), profile=profile)
    assert rules(snapshot, whole(snapshot)) == []
    assert rules(snapshot, whole(snapshot), {"system": raw({"text": "x" * 2000})}) == ["A32"]


def test_what_the_input_had_already_is_not_blamed_on_the_view():
    """Known are rule and call id together; a new break of the same rule is found."""
    asked = calls(call_block("b", "Read", {}), call_block("c", "Read", {}))
    snapshot = snapshot_of(
        [
            user("x"),
            assistant("ok"),
            result("ghost", "t"),
            asked,
            results(result_block("b", "t"), result_block("c", "t")),
        ]
    )
    known = input_violations(snapshot, whole(snapshot).messages, {})
    assert known == {("A6", "ghost")}
    assert rules(snapshot, whole(snapshot), known=known) == []
    assert rules(snapshot, broken(snapshot, 4, result("b", "t")), known=known) == ["A5"]


# -- V4: signed blocks -----------------------------------------------------------------------------------


def signed():
    step = calls(call_block("a", "Read", {"file_path": "/a"}), thinking="hm")
    return snapshot_of([user("x"), step, result("a", "t"), assistant("done")])


@pytest.mark.parametrize("thinking", ["another thought", "hm "])
def test_v4_a_changed_signed_block_is_found(thinking):
    """Even by a blank: the signature covers the bytes."""
    snapshot = signed()
    view = broken(snapshot, 1, calls(call_block("a", "Read", {"file_path": "/a"}), thinking=thinking))
    (violation,) = check_view(snapshot, view, {})
    assert (violation.rule, violation.message) == ("V4", 1)


def test_v4_a_moved_signed_block_is_found():
    """Its place counts too."""
    snapshot = signed()
    moved = calls("words", thinking_block("hm"), call_block("a", "Read", {"file_path": "/a"}))
    assert rules(snapshot, broken(snapshot, 1, moved)) == ["V4"]


def test_v4_one_of_two_signed_blocks_is_not_left_alone():
    """They stay or go together."""
    snapshot = snapshot_of([user("x"), assistant(thinking_block("a"), thinking_block("b"), "done"), user("y")])
    assert rules(snapshot, broken(snapshot, 1, assistant(thinking_block("a"), "done"))) == ["V4"]


def test_v4_signed_blocks_may_all_be_gone():
    """A message without its reasoning is one that the provider takes."""
    snapshot = signed()
    assert rules(snapshot, broken(snapshot, 1, calls(call_block("a", "Read", {"file_path": "/a"})))) == []


def test_v4_a_signature_on_a_call_of_chat_is_guarded_too():
    """C9 of the field faults: some gateways hand signatures out in `extra_content` of the call."""
    made = chat_call("a", "Read", {"file_path": "/a"}) | {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    snapshot = snapshot_of([chat_user("x"), chat_assistant(None, made), chat_result("a", "t")], "chat")
    other = made | {"function": {"name": "Read", "arguments": '{"file_path": "/b"}'}}
    assert rules(snapshot, whole(snapshot)) == []
    assert rules(snapshot, broken(snapshot, 1, chat_assistant(None, other))) == ["V4"]


def test_only_edited_messages_are_compared():
    """The others are the client's own bytes, by projection."""
    snapshot = signed()
    view = broken(snapshot, 1, calls(call_block("a", "Read", {"file_path": "/a"}), thinking="other"))
    assert rules(snapshot, msgspec.structs.replace(view, edited=frozenset())) == []


# -- V9: the user's words --------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_v9_changed_words_are_found(dialect):
    """By a single character."""
    snapshot = snapshot_of(session(TWO, dialect), dialect)
    (violation,) = check_view(snapshot, broken(snapshot, 4, {"role": "user", "content": "tw0"}), {})
    assert (violation.rule, violation.path, violation.message) == ("V9", "messages.4", 4)


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
@pytest.mark.parametrize("place", [4, 8])
def test_v9_words_that_are_gone_with_their_message_are_found(dialect, place):
    """In the middle and at the end, where no message follows."""
    messages = [*session(TWO[:2], dialect), {"role": "user", "content": "three"}]
    snapshot = snapshot_of(messages, dialect)
    assert rules(snapshot, broken(snapshot, place)) == ["V9"]


def test_v9_words_beside_a_result_are_words_too():
    """A text block behind the results of a round."""
    last = results(result_block("call_1", "t"), text_block("and be quick"))
    snapshot = snapshot_of([*session(TWO[:1])[:2], last, assistant("done")])
    assert rules(snapshot, broken(snapshot, 2, result("call_1", "t"))) == ["V9"]


def test_v9_words_that_were_merged_into_the_next_message_are_whole():
    """Anthropic keeps the blocks apart; Chat joins the texts."""
    parts = [{"role": "user", "content": text} for text in ("first", "second")]
    for dialect, both in (("anthropic", user("first", "second")), ("chat", chat_user("first\n\nsecond"))):
        snapshot = snapshot_of([parts[0], {"role": "assistant", "content": "x"}, parts[1]], dialect)
        assert rules(snapshot, View((raw(both),), (2,), frozenset({0}))) == []
        assert rules(snapshot, View((raw(parts[1]),), (2,), frozenset({0}))) == ["V9"]


def test_v9_skill_text_that_a_harness_put_in_is_not_the_users():
    """It may be folded when skills are not pinned."""
    snapshot = snapshot_of([user("x", SKILL), assistant("ok")])
    assert rules(snapshot, broken(snapshot, 0, user("x", "[folded]"))) == []
    assert rules(snapshot, broken(snapshot, 0, user("y", SKILL))) == ["V9"]


def test_v9_a_policy_may_let_words_go():
    """Only baselines ask for that."""
    snapshot = snapshot_of(session(TWO), policy=Policy(may_remove_user_text=True))
    assert rules(snapshot, broken(snapshot, 4)) == []


def test_results_may_change():
    """That is what folding does."""
    snapshot = snapshot_of(session(TWO))
    folded = json.loads(whole(snapshot).messages[2])
    folded["content"][0]["content"] = "[folded]"
    assert rules(snapshot, broken(snapshot, 2, folded)) == []
