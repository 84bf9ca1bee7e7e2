"""Rehearsal: what of a plan is refused, under which rule, and what every view keeps whatever a plan holds."""

import hashlib
import json

import msgspec
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
    text_block,
    thinking_block,
    user,
)
from selfgc.errors import Finding, PlanError
from selfgc.governance.drafts import Draft
from selfgc.governance.rehearse import merged_edits, rehearse, view_tokens
from selfgc.model.message import PartKind
from selfgc.model.plan import Fold, Mask, Plan, Prune, read_plan
from selfgc.model.policy import Boundary, Policy
from selfgc.model.profile import Profile
from selfgc.model.records import Edit, Replacement
from selfgc.model.wire import elements, members
from transcripts import transcripts

DIALECTS = ["anthropic", "chat"]
LONG = "plain words of a long output that nobody has to read again\n" * 40
NO_KEPT = Policy(keep_spans=0)
STEP = Policy(keep_spans=0, boundary=Boundary.STEP)
BOUND = Profile(binds_prefix=True)
READ = ("Read", {"file_path": "/a"}, LONG)
SMALL = ("Grep", {"pattern": "x"}, "few words")
FIRST, SECOND = "function:Read:1", "function:Read:2"
TURN = "conversation:user:1"
COUNTER = WordCounter()


def world(*made, dialect="anthropic", policy=NO_KEPT, **others):
    """A turn of these calls, and another turn after it."""
    return snapshot_of(session([("do it", made, "done"), ("go on", [], "ok")], dialect), dialect, policy, **others)


def rehearsed(snapshot, *actions, fields=None, **head):
    return rehearse(snapshot, Plan(tuple(actions), **head), COUNTER, fields=fields)


def refusals(rehearsal):
    return [(item.object_id, item.rule) for item in rehearsal.refused]


def refused(snapshot, *actions, **others):
    """The rules of the refusals; whatever is refused changes nothing."""
    rehearsal = rehearsed(snapshot, *actions, **others)
    if not rehearsal.edits:
        before = rehearse(snapshot, Plan(), COUNTER)
        assert (rehearsal.view, rehearsal.tokens_after) == (before.view, before.tokens_before)
        assert (rehearsal.payloads, rehearsal.first_changed) == ((), len(snapshot.entries))
    return refusals(rehearsal)


def committed(snapshot, rehearsal):
    """The snapshot after a commit, as the engine would have it."""
    edits = merged_edits(snapshot, [Draft(rehearsal.edits, (), frozenset())])
    return msgspec.structs.replace(snapshot, edits=edits, version=snapshot.version + 1)


def decoded(rehearsal):
    return [json.loads(message) for message in rehearsal.view.messages]


# -- what is handed on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_rehearsal_tells_what_would_be_committed(dialect):
    """Edits, payloads, tokens before and after, the first message that changes, and the view."""
    snapshot = world(SMALL, READ, dialect=dialect, version=7)
    rehearsal = rehearsed(snapshot, Fold(SECOND), planner="me")
    assert (rehearsal.planner, rehearsal.version, rehearsal.digest) == ("me", 7, snapshot.digest)
    assert [edit.id for edit in rehearsal.edits] == [SECOND]
    assert [payload.data for payload in rehearsal.payloads] == [LONG.encode()]
    assert rehearsal.tokens_before == snapshot.transcript_tokens
    saved = rehearsal.edits[0].tokens_before - rehearsal.edits[0].tokens_after
    assert rehearsal.tokens_before - rehearsal.tokens_after == saved > 500
    assert rehearsal.first_changed == 4
    assert (rehearsal.refused, rehearsal.reasoning_tokens) == ((), 0)


def test_an_empty_plan_changes_nothing():
    """It is a good answer."""
    assert refused(world(READ)) == []


def test_what_a_reader_found_is_told_with_the_refusals():
    """A malformed action has no verb."""
    found = [Finding("function:Read:1", "malformed", "no action")]
    rehearsal = rehearse(world(READ), Plan(), COUNTER, findings=found)
    assert rehearsal.refused == (("function:Read:1", "", "malformed", "no action"),)


def test_one_payload_for_one_text():
    """Two results of the same bytes are kept once."""
    rehearsal = rehearsed(world(READ, READ), Fold(FIRST), Fold(SECOND))
    assert [edit.payload for edit in rehearsal.edits] == [rehearsal.payloads[0].sha256] * 2
    assert len(rehearsal.payloads) == 1


def test_renderings_are_kept_for_the_view_after_the_commit():
    """The caller's cache is filled by the rehearsal."""
    cache = {}
    rehearsal = rehearse(world(READ), Plan((Fold(FIRST),)), COUNTER, cache=cache)
    assert rehearsal.view.messages[2] in cache.values()


# -- 1 stale plans ---------------------------------------------------------------------------------------


def test_a_plan_of_this_very_moment_is_taken():
    """By version and digest; a plan that names neither is taken as well."""
    snapshot = world(READ, version=3)
    assert refused(snapshot, Fold(FIRST), version=3, digest=snapshot.digest) == []
    assert refused(snapshot, Fold(FIRST)) == []


def test_a_plan_of_an_earlier_moment_of_this_transcript_is_taken():
    """What came meanwhile is behind it."""
    snapshot = world(READ)
    assert refused(snapshot, Fold(FIRST), digest=snapshot.chains[3]) == []


def test_a_plan_of_another_state_is_stale():
    """J2, L7 of the field faults: another number of commits, or another transcript; each action is told."""
    snapshot = world(READ, SMALL, version=3)
    other = world(SMALL, READ).digest
    for head in ({"version": 2}, {"version": 4}, {"digest": other}, {"version": 3, "digest": "f" * 64}):
        found = refused(snapshot, Fold(FIRST), Prune("function:Nope:9"), **head)
        assert found == [(FIRST, "stale_plan"), ("function:Nope:9", "stale_plan")]


# -- 2 conflicts -----------------------------------------------------------------------------------------


def test_one_object_named_twice_is_acted_on_once():
    """The first action counts."""
    rehearsal = rehearsed(world(READ), Mask(FIRST), Fold(FIRST))
    assert refusals(rehearsal) == [(FIRST, "conflict")]
    assert [edit.action for edit in rehearsal.edits] == ["mask"]


@pytest.mark.parametrize("verb", [Fold, Mask, Prune])
def test_a_span_inside_a_turn_that_is_acted_on_is_covered(verb):
    """Whatever stands first in the plan; a spared span is not covered."""
    snapshot = world(READ, READ, READ)
    rehearsal = rehearsed(snapshot, Fold(FIRST), verb(TURN, spare=("function:Read:3",)), Mask("function:Read:3"))
    assert refusals(rehearsal) == [(FIRST, "conflict")]
    assert {TURN, "function:Read:3"} <= {edit.id for edit in rehearsal.edits}


# -- 3 legality ------------------------------------------------------------------------------------------


def test_l1_unknown_ids():
    """Invented ids, ids of another session, and pointers that look like ids."""
    ids = ("function:Read:9", "function:Bash:1", "conversation:user:7", "skill:pdf:1", "x")
    assert refused(world(READ), *map(Fold, ids)) == [(one, "unknown_id") for one in ids]


def test_l2_before_a_compaction_of_the_provider():
    """Its summary stands for all before it."""
    messages = [*session([("a", [READ], "done")]), user("b"), assistant({"type": "compaction", "content": "sum"})]
    snapshot = snapshot_of([*messages, *session([("c", [], "ok")])], policy=NO_KEPT)
    assert refused(snapshot, Fold(FIRST), Prune(TURN)) == [(FIRST, "before_compaction"), (TURN, "before_compaction")]


@pytest.mark.parametrize("policy", [NO_KEPT, STEP])
def test_l3_an_open_call(policy):
    """A4, A8 of the field faults: a call in flight is no target, nor is the turn it is in."""
    snapshot = snapshot_of([*session([("a", [READ], "done"), ("b", [], "")]), call("open", "Bash")], policy=policy)
    assert refused(snapshot, Fold("function:Bash:2")) == [("function:Bash:2", "open_call")]
    assert refused(snapshot, Prune("conversation:user:2")) == [("conversation:user:2", "last_turn")]


def test_l4_pinned():
    """Instruction files, and what the caller names."""
    rules = ("Read", {"file_path": "/CLAUDE.md"}, LONG)
    snapshot = world(rules, READ, policy=Policy(keep_spans=0, pinned_ids=(SECOND,)))
    assert refused(snapshot, Prune(FIRST), Fold(SECOND)) == [(FIRST, "pinned"), (SECOND, "pinned")]


def test_l5_the_last_turn():
    """It and its spans, at a turn boundary."""
    snapshot = snapshot_of(session([("a", [READ], "done"), ("b", [READ], "done")]), policy=NO_KEPT)
    found = refused(snapshot, Fold(SECOND), Fold("conversation:user:2"))
    assert found == [(SECOND, "last_turn"), ("conversation:user:2", "last_turn")]


def test_l6_the_newest_spans():
    """So many as the policy keeps."""
    snapshot = world(READ, READ, READ, policy=Policy(keep_spans=2))
    assert refused(snapshot, *map(Fold, (FIRST, SECOND, "function:Read:3"))) == [
        (SECOND, "last_spans"),
        ("function:Read:3", "last_spans"),
    ]


def test_l7_a_turn_without_anything_to_take():
    """Words alone are kept."""
    snapshot = snapshot_of(session([("a", [], "done"), ("b", [], "ok")]), policy=NO_KEPT)
    assert refused(snapshot, Fold(TURN)) == [(TURN, "no_target")]


def test_l7_skill_text_that_a_harness_put_in_is_not_taken_out():
    """It may be shortened where skills are not pinned."""
    said = user("use it", f"Base directory for this skill: /skills/pdf\n\n{LONG}")
    policy = Policy(keep_spans=0, pins_skills=False)
    snapshot = snapshot_of([said, assistant("done"), *session([("y", [], "ok")])], policy=policy)
    assert refused(snapshot, Prune("skill:pdf:1")) == [("skill:pdf:1", "no_target")]
    assert refused(snapshot, Mask("skill:pdf:1")) == []


@pytest.mark.parametrize("verb", [Fold, Mask, Prune])
def test_l8_the_same_action_again(verb):
    """Of a span and of a turn; D5 of the field faults."""
    for object_id in (FIRST, TURN):
        snapshot = world(READ, READ)
        after = committed(snapshot, rehearsed(snapshot, verb(object_id)))
        assert refused(after, verb(object_id)) == [(object_id, "already")]


def test_l8_a_span_inside_a_folded_turn():
    """It went with its turn."""
    snapshot = world(READ, READ)
    after = committed(snapshot, rehearsed(snapshot, Fold(TURN)))
    assert refused(after, Fold(FIRST), Prune(SECOND)) == [(FIRST, "already"), (SECOND, "already")]


def test_l9_signed_reasoning():
    """A call beside it is not pruned; its result may be folded, and the thinking stays to the byte."""
    step = calls(call_block("a", "Read", {"file_path": "/a"}), thinking="hm")
    snapshot = snapshot_of([user("x"), step, result("a", LONG), *session([("y", [], "ok")])], policy=NO_KEPT)
    assert refused(snapshot, Prune(FIRST)) == [(FIRST, "signed")]
    rehearsal = rehearsed(snapshot, Fold(FIRST))
    assert rehearsal.view.messages[1] == raw(step)
    assert "folded" in json.dumps(decoded(rehearsal)[2])


def test_l10_a_model_that_binds_its_prefix_waits_for_a_turn_end():
    """Between two steps nothing may change before its reasoning; where there is none, nothing is bound."""
    later = calls("thought over", call_block("later", "Grep", {}), thinking="so it is")
    messages = [
        *session([("do it", [READ], "done"), ("go on", [], "ok")]),
        user("and now"),
        later,
        result("later", "x"),
    ]
    bound = snapshot_of(messages, policy=STEP, profile=BOUND)
    assert refused(bound, Fold(FIRST)) == [(FIRST, "prefix_bound")]
    assert refused(bound, Fold(TURN)) == [(TURN, "prefix_bound")]
    assert refused(world(READ, policy=STEP, profile=BOUND), Fold(FIRST)) == []


def test_a_plan_takes_nothing_that_came_into_a_turn_after_it_was_made():
    """V19: the turn's later calls stay as they are, though the turn is acted on whole."""
    snapshot = world(READ, READ)
    early = rehearsed(snapshot, Fold(TURN), digest=snapshot.chains[2])
    assert early.edits[0].swallowed == (FIRST,)
    assert rehearsed(snapshot, Fold(TURN)).edits[0].swallowed == (FIRST, SECOND)


# -- 4 and 5 ---------------------------------------------------------------------------------------------


def test_a_plan_may_not_touch_more_than_its_share():
    """Two turns and two spans are four objects; what is refused anyway takes no place."""
    snapshot = world(READ, READ, policy=Policy(keep_spans=0, max_share=0.25))
    rehearsal = rehearsed(snapshot, Fold("function:Nope:1"), Fold(FIRST), Fold(SECOND))
    assert refusals(rehearsal) == [("function:Nope:1", "unknown_id"), (SECOND, "too_many")]
    assert rehearsal.refused[1].sentence == "a plan may touch 25% of the objects"


@pytest.mark.parametrize("verb", [Fold, Mask])
@pytest.mark.parametrize("min_saving", [0, 24])
def test_an_action_that_saves_nothing_is_refused(verb, min_saving):
    """Also under a policy that asks for nothing: an edit that changes nothing is none."""
    snapshot = world(SMALL, READ, policy=Policy(keep_spans=0, min_saving=min_saving))
    rehearsal = rehearsed(snapshot, verb("function:Grep:1"), verb(SECOND))
    assert refusals(rehearsal) == [("function:Grep:1", "no_saving")]
    assert [edit.id for edit in rehearsal.edits] == [SECOND]


def test_a_mask_of_a_turn_of_small_spans_is_refused():
    """There is no span in it to be masked."""
    assert refused(world(SMALL, SMALL), Mask(TURN)) == [(TURN, "no_saving")]


def test_an_action_below_the_least_saving_is_refused_with_its_number():
    """The sentence tells both."""
    rehearsal = rehearsed(world(READ, policy=Policy(keep_spans=0, min_saving=5000)), Fold(FIRST))
    (item,) = rehearsal.refused
    assert item.rule == "no_saving"
    assert "at least 5000 are asked for" in item.sentence


def test_anchors_of_a_refused_action_stay_in_view():
    """Another object's pointer need not show them."""
    rows = " ".join(f"anchor_{number * 7919}" for number in range(60))
    snapshot = world(("Read", {"file_path": "/a"}, f"{LONG}anchor_7919"), ("Read", {"file_path": "/b"}, rows))
    rehearsal = rehearsed(snapshot, Fold(FIRST), Fold(SECOND))
    assert refusals(rehearsal) == [(SECOND, "no_saving")]
    assert "anchor" not in json.dumps(decoded(rehearsal)[2])


def test_an_anchor_goes_to_the_newest_pointer():
    """The one that is read last, and that stays longest."""
    made = [("Read", {"file_path": f"/{name}"}, f"{LONG}port 48080\n") for name in "ab"]
    shown = [
        json.dumps(message).count("48080") for message in decoded(rehearsed(world(*made), Fold(FIRST), Fold(SECOND)))
    ]
    assert shown == [0, 0, 0, 0, 1, 0, 0, 0]


def test_a_commit_that_would_not_shrink_the_view_is_refused():
    """V11, whatever the reason: here an earlier edit hides more than its own object, and would be replaced."""
    snapshot = world(READ, READ)
    more = tuple(Replacement(snapshot.chains[n], "content.0", "[gone]", tokens=6) for n in (2, 4))
    odd = world(READ, READ, edits=[Edit(FIRST, "mask", (msgspec.structs.replace(more[0], tokens=90), more[1]), 0, 0)])
    assert refused(odd, Fold(FIRST)) == [(FIRST, "no_saving")]


# -- 6 the oracle ----------------------------------------------------------------------------------------


def google_call(call_id, text):
    signature = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    return chat_call(call_id, "Write", {"path": "/a", "content": text}) | {"extra_content": signature}


def test_v4_what_would_change_a_signed_call_is_refused_and_the_rest_counts():
    """C9 of the field faults: the signature of a call in Chat is bound to its bytes, and cannot be stripped."""
    pairs = [chat_assistant(None, google_call("a", LONG)), chat_result("a", "done")]
    filler = session([("y", [SMALL, SMALL], "ok"), ("x", [READ], "ok"), ("z", [], "ok")], "chat")
    snapshot = snapshot_of([chat_user("x"), *pairs, chat_assistant("ok"), *filler], "chat", NO_KEPT, BOUND)
    rehearsal = rehearsed(snapshot, Fold("function:Write:1"), Fold("function:Read:4"))
    assert refusals(rehearsal) == [("function:Write:1", "V4")]
    assert [edit.id for edit in rehearsal.edits] == ["function:Read:4"]
    assert rehearsal.view.messages[1] == raw(pairs[0])


def test_c9_a_signed_call_of_chat_keeps_its_bytes_beside_a_folded_result():
    """The signature stays with its part."""
    pairs = [chat_assistant("I write.", google_call("a", LONG)), chat_result("a", LONG)]
    messages = [chat_user("x"), *pairs, *session([("y", [], "ok")], "chat")]
    rehearsal = rehearsed(snapshot_of(messages, "chat", NO_KEPT), Fold("function:Write:1"))
    assert rehearsal.view.messages[1] == raw(pairs[0])
    assert "folded" in decoded(rehearsal)[2]["content"]


def test_what_breaks_the_view_far_from_every_action_refuses_all_of_them():
    """Stripping the reasoning of a running loop would break a rule of manual thinking."""
    step = calls(call_block("a", "Grep", {"pattern": "x"}), thinking="hm")
    messages = [*session([("x", [READ], "done"), ("y", [], "ok"), ("z", [], "")]), step, result("a", "text")]
    snapshot = snapshot_of(messages, policy=NO_KEPT, profile=BOUND)
    fields = {"thinking": b'{"type":"enabled","budget_tokens":1024}'}
    assert refused(snapshot, Fold(FIRST), fields=fields) == [(FIRST, "A24")]
    assert refused(snapshot, Fold(FIRST)) == []


def test_a_history_that_came_in_broken_can_be_governed():
    """A1 of the field faults: an unanswered call in the middle is not blamed on the plan."""
    messages = [
        *session([("x", [READ], "done")]),
        user("y"),
        call("a", "Bash"),
        user("go on"),
        assistant("ok"),
        user("z"),
    ]
    rehearsal = rehearsed(snapshot_of([*messages, assistant("ok")], policy=NO_KEPT), Fold(FIRST))
    assert (refusals(rehearsal), len(rehearsal.edits)) == ([], 1)


# -- reasoning -------------------------------------------------------------------------------------------


def thinking_session(*, loop=False):
    """Three turns, each with a step that thinks; the last one unanswered with `loop`."""
    messages = []
    for name in "abc":
        step = calls(call_block(name, "Read", {"file_path": f"/{name}"}), thinking=f"I think of {name}")
        messages += [user(name), step, result(name, LONG), assistant(thinking_block(f"done {name}"), "done")]
    return messages[:-1] if loop else messages


def test_reasoning_stays_where_the_model_does_not_bind_it():
    """Byte for byte, also in the turn that is folded around it."""
    snapshot = snapshot_of(thinking_session(), policy=NO_KEPT)
    rehearsal = rehearsed(snapshot, Fold(FIRST), Fold(SECOND))
    thoughts = [n for n, message in enumerate(thinking_session()) if message["role"] == "assistant"]
    assert [rehearsal.view.messages[n] for n in thoughts] == [snapshot.entries[n].message.raw for n in thoughts]
    assert rehearsal.reasoning_tokens == 0
    assert refused(snapshot, Fold(TURN)) == [(TURN, "no_target")]


def test_reasoning_that_is_bound_to_the_prefix_goes_with_the_commit():
    """All of it at once, at a turn's end; what it weighed is told, for it has to be thought again."""
    snapshot = snapshot_of(thinking_session(), policy=NO_KEPT, profile=BOUND, version=2)
    rehearsal = rehearsed(snapshot, Fold(TURN))
    assert "thinking" not in json.dumps(decoded(rehearsal))
    stripped = rehearsal.edits[0]
    assert (stripped.id, stripped.action, stripped.payload) == ("reasoning:stripped:3", "prune", "")
    weight = sum(
        facts.tokens
        for entry in snapshot.entries
        for part, facts in zip(entry.message.parts, entry.parts, strict=True)
        if part.kind is PartKind.THINKING
    )
    assert rehearsal.reasoning_tokens == stripped.tokens_before == weight
    again = rehearsed(committed(snapshot, rehearsal), Fold(SECOND))
    assert [edit.id for edit in again.edits] == [SECOND]


def test_no_reasoning_goes_without_an_edit():
    """A plan that is refused as a whole strips nothing."""
    snapshot = snapshot_of(thinking_session(), policy=NO_KEPT, profile=BOUND)
    assert refused(snapshot, Fold("function:Nope:1")) == [("function:Nope:1", "unknown_id")]


def test_the_latest_assistant_message_is_not_edited():
    """A14 of the wire rules: its thinking is checked, so that its calls are no target even between steps."""
    messages = session([("x", [READ], "")])
    step = calls(
        call_block("a", "Read", {"file_path": "/b"}), call_block("b", "Read", {"file_path": "/c"}), thinking="hm"
    )
    snapshot = snapshot_of([*messages, step, results(result_block("a", LONG), result_block("b", LONG))], policy=STEP)
    rehearsal = rehearsed(snapshot, Fold(FIRST), Fold(SECOND), Prune("function:Read:3"))
    assert refusals(rehearsal) == [(SECOND, "last_spans"), ("function:Read:3", "last_spans")]
    assert rehearsal.view.messages[3:] == tuple(entry.message.raw for entry in snapshot.entries[3:])


@pytest.mark.parametrize("key", ["reasoning_details", "thinking_blocks"])
def test_signed_reasoning_of_chat_is_kept_or_stripped_in_the_same_way(key):
    """Gateways hand it out in members of their own."""
    step = chat_assistant(None, chat_call("a", "Read", {"file_path": "/a"})) | {key: [{"type": "x", "data": "c2ln"}]}
    messages = [chat_user("x"), step, chat_result("a", LONG), *session([("y", [], "ok")], "chat")]
    kept = rehearsed(snapshot_of(messages, "chat", NO_KEPT), Fold(FIRST))
    assert kept.view.messages[1] == raw(step)
    stripped = rehearsed(snapshot_of(messages, "chat", NO_KEPT, BOUND), Fold(FIRST))
    assert key not in decoded(stripped)[1]


# -- view and tokens -------------------------------------------------------------------------------------


def test_tokens_of_a_view_count_its_edits_as_they_stand():
    """Edits of messages that are not in this lineage count nothing."""
    snapshot = world(READ, system_tokens=100)
    here = Replacement(snapshot.chains[2], "content.0", "[gone]", tokens=6)
    elsewhere = Replacement("f" * 64, "content.0", "[gone]", tokens=6)
    edit = Edit(FIRST, "fold", (here, elsewhere), 0, 0)
    weight = snapshot.entries[2].parts[0].tokens
    assert view_tokens(snapshot, {}) == snapshot.transcript_tokens
    assert view_tokens(snapshot, {FIRST: edit}) == snapshot.transcript_tokens - weight + 6


def test_a_later_edit_of_an_object_takes_the_place_of_the_earlier():
    """It also comes last, so that of two renderings of a part the newer one counts."""
    first, second = (Edit(one, "mask", (), 0, 0) for one in (FIRST, SECOND))
    snapshot = world(READ, READ, edits=[first, second])
    newer = Edit(FIRST, "fold", (), 0, 0)
    merged = merged_edits(snapshot, [Draft((newer,), (), frozenset())])
    assert list(merged.values()) == [second, newer]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_message_that_a_later_one_is_merged_into_changes_too(dialect):
    """The user's words and what follows the pruned pair become one message, so the cache breaks before the pair."""
    messages = session([("do it", [READ], ""), ("and be quick", [], "ok"), ("go on", [], "ok")], dialect)
    rehearsal = rehearsed(snapshot_of(messages, dialect, NO_KEPT), Prune(FIRST))
    assert (rehearsal.first_changed, len(rehearsal.view.messages)) == (0, 4)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_pair_that_ends_the_history_changes_only_the_end(dialect):
    """The shorter view is the beginning of the longer one."""
    messages = [*session([("do it", [SMALL, READ], "")], dialect), {"role": "assistant", "content": ""}][:-1]
    policy = Policy(keep_spans=0, boundary=Boundary.STEP)
    tail = [{"role": "assistant", "content": "done"}]
    rehearsal = rehearsed(snapshot_of([*messages, *tail], dialect, policy), Prune(SECOND))
    assert rehearsal.first_changed == 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_view_before_the_first_change_is_as_it_was(dialect):
    """V10: the cache of everything before it stays good."""
    snapshot = world(READ, SMALL, READ, READ, dialect=dialect)
    first = rehearsed(snapshot, Fold("function:Read:3"))
    after = rehearsed(committed(snapshot, first), Fold("function:Read:4"))
    assert (first.first_changed, after.first_changed) == (6, 8)
    assert after.view.messages[:8] == first.view.messages[:8]


# -- taint -----------------------------------------------------------------------------------------------


def tainted(dialect):
    """Sessions whose results hold marks that stand nowhere else: as anchors, in errors, in list content, in skills."""
    skill = "Base directory for this skill: /skills/pdf\n\n" + LONG
    made = [
        ("Read", {"file_path": "/srv/app/src/a.py"}, f"{LONG}taint_one_48080 and `taint two`\n{LONG}"),
        ("Bash", {"command": f"make\n{LONG}"}, f"{LONG}Error: taint_three failed\nExit code: 3"),
        ("Write", {"file_path": "/srv/app/src/b.py", "content": LONG}, f"{LONG}/srv/taint/four.py"),
        ("Read", {"file_path": "/srv/app/src/a.py"}, "taint_five of few words"),
    ]
    messages = session([("do it", made, "done"), ("and more", made[:2], "done"), ("go on", [], "ok")], dialect)
    messages[0]["content"] = [text_block("do it"), text_block(skill)]
    return messages


def outside_of_results(view, dialect):
    """All text of a view that does not stand in results."""
    found = []
    for message in map(json.loads, view):
        if dialect == "chat" and message["role"] == "tool":
            continue
        blocks = message["content"] if isinstance(message["content"], list) else [message]
        found += [json.dumps(block) for block in blocks if block.get("type") != "tool_result"]
        found.append(json.dumps(message.get("tool_calls")))
    return "\n".join(found)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("verb", [Fold, Mask, Prune])
@pytest.mark.parametrize("whole", [True, False])
def test_text_of_a_tool_stays_in_the_place_of_a_tool(dialect, verb, whole):
    """E16, invariant 15: no pointer carries it into what the user or the assistant said, keep and skills included."""
    policy = Policy(keep_spans=0, pins_skills=False)
    snapshot = snapshot_of(tainted(dialect), dialect, policy)
    ids = [turn.id for turn in snapshot.turns] if whole else [span.id for span in snapshot.spans]
    kept = ("taint_one_48080", "taint two", "taint_three failed")
    rehearsal = rehearsed(snapshot, *(verb(one, keep=kept) for one in ids))
    assert rehearsal.edits
    assert "taint" not in outside_of_results(rehearsal.view.messages, dialect)
    if verb is Fold:
        shown = b"\n".join(rehearsal.view.messages)
        assert all(mark in shown for mark in (b"taint_one_48080", b"taint two", b"taint_three", b"/srv/taint/four.py"))


# -- plans from outside ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('{"actions":[]}', []),
        ('{"actions":[{"action":"fold","id":"function:Read:1"}]}', []),
        ('{"actions":[{"action":"burn","id":"function:Read:1"},{"action":"fold"},7,null,[]]}', ["malformed"] * 5),
        ('{"actions":[{"action":"fold","id":"../../etc"},{"action":"fold","id":"function:Read:1"}]}', ["malformed"]),
        ('{"actions":[{"action":"fold","id":"function:Read:-1"}]}', ["malformed"]),
        ('{"actions":[{"action":"fold","id":"function:Read:1","text":"do as I say"}]}', []),
        ('{"actions":[{"action":"fold","id":"function:Read:1","keep":["rm -rf /"],"spare":["x"]}]}', []),
        ('{"actions":[{"action":"prune","id":"function:Read:9"}],"summary":"s"}', ["unknown_id"]),
    ],
)
def test_a_plan_read_from_outside_is_taken_action_by_action(text, rules):
    """M7 of the field faults: what cannot be used is told, and nothing of it reaches the view."""
    read = read_plan(text.encode())
    rehearsal = rehearse(world(READ), read.plan, COUNTER, findings=read.findings)
    assert [item.rule for item in rehearsal.refused] == rules
    shown = b"".join(rehearsal.view.messages)
    assert b"do as I say" not in shown
    assert b"rm -rf" not in shown


@pytest.mark.parametrize(
    "text", ["", "I folded everything.", "[]", '{"actions":{}}', '{"actions":[]', '{"actions":[],"version":"x"}']
)
def test_what_is_no_plan_never_comes_to_rehearsal(text):
    """M5, M6 of the field faults: prose, cut JSON, another shape."""
    with pytest.raises(PlanError):
        read_plan(text.encode())


# -- any plan over any transcript ------------------------------------------------------------------------


HOSTILE = (
    "function:Read:999",
    "conversation:user:0",
    "skill:x:1",
    "reasoning:stripped:1",
    "",
    "function:Read:1 ",
    "\ud83d",
)
POLICIES = st.builds(
    Policy,
    boundary=st.sampled_from(Boundary),
    keep_spans=st.integers(0, 2),
    min_saving=st.sampled_from((0, 24)),
    pinned_tools=st.sampled_from(((), ("Bash",), ("Gr?p", "W*"))),
    max_share=st.sampled_from((1.0, 1.0, 0.3)),
)
PROFILES = st.sampled_from((Profile(), Profile(), BOUND))


@st.composite
def worlds(draw):
    """A snapshot of a generated transcript."""
    dialect = draw(st.sampled_from(DIALECTS))
    transcript = draw(transcripts(dialect))
    return snapshot_of(transcript.messages, dialect, draw(POLICIES), draw(PROFILES))


@st.composite
def plans(draw, snapshot, *, unique=False):
    """Actions on ids of the snapshot and on others, any of them twice, with strings to keep and spans to spare."""
    ids = [*(span.id for span in snapshot.spans), *(turn.id for turn in snapshot.turns)]
    some = st.sampled_from(ids if unique else [*ids, *ids, *HOSTILE])
    named = draw(st.lists(some, max_size=8, unique=unique))
    kept = st.lists(st.sampled_from(("exit code 1", "def step_1_0", "no such text")), max_size=1).map(tuple)
    spared = st.lists(some, max_size=2).map(tuple)
    return [draw(st.sampled_from((Fold, Mask, Prune)))(one, keep=draw(kept), spare=draw(spared)) for one in named]


def said_by_user(raws, snapshot):
    """The user's words in order; Chat joins those of merged messages with an empty line."""
    found = []
    for one in map(snapshot.dialect.split, raws):
        both = zip(one.parts, snapshot.dialect.texts(one), strict=True)
        found += [text for part, text in both if part.kind is PartKind.USER_TEXT]
    return "\n\n".join(found)


def check_pieces(snapshot, edit, data):
    """A payload is the very bytes of what it stands for."""
    turn = snapshot.turns_by_id.get(edit.id)
    if turn is not None:
        assert elements(data) == [entry.message.raw for entry in snapshot.entries[turn.start + 1 : turn.end]]
        return
    span = snapshot.spans_by_id[edit.id]
    message = snapshot.entries[span.call.message].message
    arguments = snapshot.dialect.arguments(message, span.call.part)
    text = snapshot.text(span.result)
    if edit.media == "text/plain":
        assert data.decode("utf-8", "surrogatepass") in {text, *arguments.values()}
        return
    for name, piece in members(data).items():
        kind, _, path = name.partition(".")
        if kind == "content":
            assert piece == snapshot.dialect.content(snapshot.entries[span.result.message].message, span.result.part)
        else:
            assert json.loads(piece) == arguments[path]


def check(snapshot, rehearsal):
    """What holds for every rehearsal, whatever the plan."""
    before = [entry.message.raw for entry in snapshot.entries]
    shown = rehearsal.view.messages
    assert snapshot.dialect.check(shown, {}, snapshot.profile) == snapshot.dialect.check(before, {}, snapshot.profile)
    assert said_by_user(shown, snapshot) == said_by_user(before, snapshot)
    assert rehearsal.tokens_before == view_tokens(snapshot, snapshot.edits)
    assert rehearsal.tokens_after == view_tokens(committed(snapshot, rehearsal), committed(snapshot, rehearsal).edits)
    assert rehearsal.tokens_after < rehearsal.tokens_before or not rehearsal.edits
    present = rehearse(snapshot, Plan(), COUNTER).view
    same = sum(origin < rehearsal.first_changed for origin in present.origins)
    assert shown[:same] == present.messages[:same]
    assert shown[same : same + 1] != present.messages[same : same + 1] or not rehearsal.edits
    touched = {item.chain for edit in rehearsal.edits for item in edit.replacements}
    if len(shown) == len(before) and not snapshot.edits:
        changed = {n for n, (new, old) in enumerate(zip(shown, before, strict=True)) if new != old}
        assert changed <= {n for n, chain in enumerate(snapshot.chains) if chain in touched}
    payloads = {payload.sha256: payload.data for payload in rehearsal.payloads}
    assert {hashlib.sha256(data).hexdigest() for data in payloads.values()} == set(payloads)
    for edit in rehearsal.edits:
        if edit.payload:
            check_pieces(snapshot, edit, payloads[edit.payload])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_plan_breaks_a_view(data):
    """Two plans one after the other: the view is valid, the user's words are whole, and every payload is exact."""
    snapshot = data.draw(worlds())
    for _ in range(2):
        plan = Plan(tuple(data.draw(plans(snapshot))))
        rehearsal = rehearse(snapshot, plan, COUNTER)
        check(snapshot, rehearsal)
        assert rehearse(snapshot, plan, COUNTER) == rehearsal
        named = [action.id for action in plan.actions]
        told = [item.object_id for item in rehearsal.refused]
        assert all(one in told or one in {edit.id for edit in rehearsal.edits} for one in named)
        snapshot = committed(snapshot, rehearsal)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_plan_that_was_committed_changes_nothing_more(data):
    """Invariant 13: each action that was carried out is refused as done already."""
    snapshot = data.draw(worlds())
    snapshot = msgspec.structs.replace(snapshot, policy=msgspec.structs.replace(snapshot.policy, max_share=1.0))
    plan = Plan(tuple(data.draw(plans(snapshot, unique=True))))
    rehearsal = rehearse(snapshot, plan, COUNTER)
    after = committed(snapshot, rehearsal)
    done = {edit.id for edit in rehearsal.edits} - {item.object_id for item in rehearsal.refused}
    again = rehearse(after, Plan(tuple(action for action in plan.actions if action.id in done)), COUNTER)
    assert {item.rule for item in again.refused} <= {"already"}
    assert again.edits == ()
    assert again.view == rehearsal.view
