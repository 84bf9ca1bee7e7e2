"""The table of what may be done to which object, rule by rule (L1 to L10), and the order of the rules."""

import pytest

from builders import (
    assistant,
    call,
    call_block,
    calls,
    chat_user,
    result,
    result_block,
    results,
    session,
    snapshot_of,
    text_block,
    thinking_block,
    user,
)
from selfgc.model.ids import ObjectId
from selfgc.model.legality import RESTORE_TOOL, Legality, offers_restore
from selfgc.model.policy import Boundary, Policy, Recovery
from selfgc.model.profile import Profile
from selfgc.model.records import Edit

READ = ("Read", {"file_path": "/src/app.py"}, "text")
RULES = ("Read", {"file_path": "/AGENTS.md"}, "be brief")
TWO_TURNS = session([("one", [READ, READ], "done"), ("two", [READ], "done")])
NO_KEPT = Policy(keep_spans=0)
STEP = Policy(keep_spans=0, boundary=Boundary.STEP)
BOUND = Profile(binds_prefix=True)
COMPACTION = {"type": "compaction", "content": "a summary"}


def table(messages, policy=NO_KEPT, **others):
    return Legality(snapshot_of(messages, policy=policy, **others))


def rule(messages, object_id, verb="fold", *, policy=NO_KEPT, spare=(), **others):
    """The rule that forbids an action; None when it is allowed."""
    refusal = table(messages, policy, **others).refusal(ObjectId(object_id), verb, spare)
    return refusal.rule if refusal else None


def edit(object_id, action, swallowed=()):
    return Edit(ObjectId(object_id), action, (), 100, 10, swallowed=tuple(swallowed))


def signed(asked="one"):
    """A turn whose first call stands beside signed reasoning, and a turn after it."""
    step = [calls(call_block("s", "Read", {"file_path": "/a"}), thinking="hm"), result("s", "text")]
    return [user(asked), *step, assistant("done"), user("two"), assistant("done")]


# -- what is allowed -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["fold", "mask", "prune"])
@pytest.mark.parametrize("object_id", ["function:Read:1", "function:Read:2", "conversation:user:1"])
@pytest.mark.parametrize("policy", [NO_KEPT, STEP])
def test_an_old_span_and_an_old_turn_may_be_touched(object_id, verb, policy):
    """Nothing speaks against it, at either boundary."""
    assert rule(TWO_TURNS, object_id, verb, policy=policy) is None


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_the_table_is_the_same_in_both_dialects(dialect):
    """Legality knows no wire format."""
    messages = session([("one", [READ], "done"), ("two", [READ], "done")], dialect)
    assert rule(messages, "function:Read:1", dialect=dialect) is None
    assert rule(messages, "function:Read:2", dialect=dialect) == "last_turn"


# -- L1 to L4 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("object_id", ["function:Read:9", "function:Bash:1", "conversation:user:7", "skill:pdf:1"])
def test_l1_an_id_that_the_session_does_not_have_is_unknown(object_id):
    """Ids of other sessions and invented ones are answered alike; the sentence says where to look."""
    refusal = table(TWO_TURNS).refusal(ObjectId(object_id), "fold")
    assert (refusal.rule, object_id in refusal.sentence) == ("unknown_id", True)


@pytest.mark.parametrize("object_id", ["function:Read:1", "conversation:user:1"])
def test_l2_nothing_before_a_compaction_of_the_provider_is_edited(object_id):
    """The provider reads its own summary instead; an edit would save nothing."""
    messages = [*TWO_TURNS, user("three"), assistant(COMPACTION, "done"), *session([("four", [READ], "done")])]
    assert rule(messages, object_id) == "before_compaction"


def test_l2_what_comes_after_the_last_compaction_may_be_edited():
    """Of several blocks the last counts."""
    later = session([("a", [READ], "done"), ("b", [], "done")])
    messages = [user("x"), assistant(COMPACTION), user("y"), assistant(COMPACTION), *later]
    assert table(messages).first_editable == 3
    assert rule(messages, "function:Read:1") is None


def test_l3_an_open_call_is_not_touched():
    """Its result has yet to be put beside it."""
    assert rule([*TWO_TURNS, user("three"), call("open", "Bash", command="ls")], "function:Bash:4") == "open_call"


def test_l4_a_pinned_span_is_not_touched():
    """The sentence says why it is pinned."""
    refusal = table(session([("a", [RULES], "x"), ("b", [], "y")])).refusal(ObjectId("function:Read:1"), "fold")
    assert refusal == ("pinned", "it is pinned: instruction file")


def test_l4_a_turn_may_be_folded_around_its_pinned_spans():
    """They stay as they are."""
    legality = table(session([("a", [RULES, READ], "x"), ("b", [], "y")]))
    assert legality.refusal(ObjectId("conversation:user:1"), "fold") is None
    assert [span.id for span in legality.swallowable(legality.snapshot.turns[0])] == ["function:Read:2"]


# -- L5 and L6 -------------------------------------------------------------------------------------------


def test_l5_the_last_answered_turn_stays_at_turn_boundaries():
    """Its spans and itself; the turn that waits for its answer is after it."""
    waiting = [*TWO_TURNS, user("three")]
    assert rule(waiting, "function:Read:3") == "last_turn"
    assert rule(waiting, "conversation:user:2") == "last_turn"
    assert rule(waiting, "conversation:user:3") == "last_turn"
    assert rule(waiting, "function:Read:1") is None


def test_l5_at_step_boundaries_the_open_turn_may_lose_old_spans():
    """A long turn is governed while it runs; the turn itself stays."""
    messages = session([("one", [READ, READ, READ], "")])
    assert rule(messages, "function:Read:1", policy=STEP) is None
    assert rule(messages, "conversation:user:1", policy=STEP) == "last_turn"
    assert rule(messages, "function:Read:1") == "last_turn"


def test_l5_at_step_boundaries_the_turn_before_the_open_one_may_be_folded():
    """It is answered, and the user has gone on."""
    assert rule([*TWO_TURNS, user("three")], "conversation:user:2", policy=STEP) is None


def test_l5_without_an_answer_everything_stays():
    """User messages alone are input that is still to be answered."""
    assert table([user("one"), user("two")]).frozen_from == 0
    assert rule([user("one"), user("two")], "conversation:user:1") == "last_turn"


def test_l5_without_a_user_message_only_steps_may_be_edited():
    """A history that begins with calls has no turn boundary."""
    messages = [call("a", "Read", path="/a"), result("a", "x"), call("b", "Read", path="/b"), result("b", "y")]
    assert rule(messages, "function:Read:1") == "last_turn"
    assert rule(messages, "function:Read:1", policy=STEP) is None


def test_l6_the_newest_spans_stay():
    """As many as the policy says; the sentence tells the number."""
    messages = session([("one", [READ] * 4, "done"), ("two", [], "done")])
    kept = [rule(messages, f"function:Read:{n}", policy=Policy(keep_spans=2)) for n in range(1, 5)]
    assert kept == [None, None, "last_spans", "last_spans"]
    refusal = table(messages, Policy(keep_spans=2)).refusal(ObjectId("function:Read:4"), "fold")
    assert "newest 2 spans" in refusal.sentence


def test_l6_more_kept_spans_than_there_are_keep_all():
    """The count never goes below none."""
    assert table(TWO_TURNS, Policy(keep_spans=99)).first_kept_span == 0


def test_l6_the_latest_assistant_message_stays():
    """Even when no span is kept: the provider may still be bound to it."""
    messages = session([("one", [READ, READ], "")])
    assert rule(messages, "function:Read:2", policy=STEP) == "last_spans"


# -- L7 and L8 -------------------------------------------------------------------------------------------


def test_l7_a_turn_without_spans_has_nothing_to_edit():
    """The user's words and the answer are kept."""
    assert rule(session([("one", [], "done"), ("two", [], "done")]), "conversation:user:1") == "no_target"


@pytest.mark.parametrize(
    ("policy", "spare"), [(Policy(keep_spans=9), ()), (NO_KEPT, ("function:Read:1", "function:Read:2"))]
)
def test_l7_a_turn_whose_spans_are_all_kept_has_nothing_to_edit(policy, spare):
    """Kept by the policy, or spared by the plan."""
    assert rule(TWO_TURNS, "conversation:user:1", policy=policy, spare=spare) == "no_target"


def test_l7_a_turn_with_an_open_call_is_taken_without_it():
    """A call that was never answered stays."""
    messages = [
        user("one"),
        calls(call_block("a", "Read", {"path": "/a"}), call_block("b", "Read", {"path": "/b"})),
        results(result_block("a", "x")),
        assistant("done"),
        *session([("two", [], "done")]),
    ]
    legality = table(messages)
    assert [span.id for span in legality.swallowable(legality.snapshot.turns[0])] == ["function:Read:1"]


def test_l7_skill_text_of_the_harness_is_not_pruned():
    """It stands in a user message; it may be folded or masked when skills are not pinned."""
    skill = text_block('<skill name="pdf">long text</skill>')
    messages = [user("one", skill), assistant("done"), user("two"), assistant("done")]
    policy = Policy(keep_spans=0, pins_skills=False)
    assert rule(messages, "skill:pdf:1", "prune", policy=policy) == "no_target"
    assert rule(messages, "skill:pdf:1", "fold", policy=policy) is None
    assert rule(messages, "skill:pdf:1", "mask", policy=policy) is None


@pytest.mark.parametrize(
    ("state", "verb", "expected"),
    [
        ("fold", "fold", "already"),
        ("fold", "mask", "already"),
        ("fold", "prune", None),
        ("mask", "mask", "already"),
        ("mask", "fold", None),
        ("mask", "prune", None),
        ("prune", "fold", "already"),
        ("prune", "mask", "already"),
        ("prune", "prune", "already"),
    ],
)
def test_l8_an_object_only_goes_further(state, verb, expected):
    """From masked to folded to pruned; never back, and pruned objects stay pruned."""
    assert rule(TWO_TURNS, "function:Read:1", verb, edits=[edit("function:Read:1", state)]) == expected


def test_l8_the_sentence_tells_the_state():
    """In a word that a person uses."""
    refusal = table(TWO_TURNS, edits=[edit("function:Read:1", "prune")]).refusal(ObjectId("function:Read:1"), "fold")
    assert refusal.sentence == "it is pruned already"


def test_l8_a_span_inside_a_folded_turn_is_folded_with_it():
    """The sentence names the turn."""
    edits = [edit("conversation:user:1", "fold", ["function:Read:1"])]
    refusal = table(TWO_TURNS, edits=edits).refusal(ObjectId("function:Read:1"), "prune")
    assert refusal == ("already", "it is inside conversation:user:1, which is folded")
    assert rule(TWO_TURNS, "function:Read:2", edits=edits) is None


@pytest.mark.parametrize(
    ("swallowed", "verb", "expected"),
    [
        (["function:Read:1"], "fold", None),
        (["function:Read:1", "function:Read:2"], "fold", "already"),
        (["function:Read:1"], "mask", "already"),
        (["function:Read:1"], "prune", None),
    ],
)
def test_l8_a_folded_turn_may_be_folded_again_when_more_of_it_may_go(swallowed, verb, expected):
    """What was kept as one of the newest spans at the first time is free later."""
    edits = [edit("conversation:user:1", "fold", swallowed)]
    assert rule(TWO_TURNS, "conversation:user:1", verb, edits=edits) == expected


# -- L9 and L10 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verb", "expected"), [("prune", "signed"), ("fold", None), ("mask", None)])
def test_l9_a_call_beside_signed_reasoning_is_not_taken_out(verb, expected):
    """Signed reasoning may not be left half; the call's result can still go."""
    assert rule(signed(), "function:Read:1", verb) == expected


def test_l9_a_turn_fold_leaves_calls_beside_signed_reasoning():
    """They cannot be taken out, so the turn has nothing to edit."""
    assert rule(signed(), "conversation:user:1") == "no_target"


@pytest.mark.parametrize("object_id", ["function:Read:1", "conversation:user:1"])
def test_l9_a_model_that_binds_its_reasoning_lets_it_be_stripped(object_id):
    """There a commit takes the reasoning out anyway, so what stood beside it is free."""
    assert rule(signed(), object_id, "prune", profile=BOUND) is None
    assert table(signed(), profile=BOUND).may_strip


@pytest.mark.parametrize("object_id", ["function:Read:1", "conversation:user:1"])
def test_l10_a_model_that_binds_its_reasoning_is_not_edited_between_steps(object_id):
    """An edit would make the reasoning of the running turn invalid; where there is none, nothing is bound."""
    thinking = [*TWO_TURNS, user("three"), calls(call_block("later", "Grep", {}), thinking="so it is")]
    assert rule(thinking, object_id, policy=STEP, profile=BOUND) == "prefix_bound"
    assert rule(TWO_TURNS, object_id, policy=STEP, profile=BOUND) is None
    assert rule(TWO_TURNS, object_id, profile=BOUND) is None
    assert not table(TWO_TURNS, STEP, profile=BOUND).may_strip


def test_a_turn_that_the_caller_named_is_pinned():
    """An action on it is refused, with the reason."""
    named = Policy(keep_spans=0, pinned_ids=("conversation:user:1",))
    assert rule(TWO_TURNS, "conversation:user:1", policy=named) == "pinned"
    assert table(TWO_TURNS, named).pins == {"conversation:user:1": "named by the caller"}


# -- the order of the rules ------------------------------------------------------------------------------


def test_the_first_rule_that_does_not_hold_is_the_reason():
    """An object with everything against it: each rule that falls away uncovers the next."""
    pinned = Policy(keep_spans=9, boundary=Boundary.STEP, pinned_tools=("Read",))
    opened = [user("one"), call("a", "Read", path="/a")]
    closed = [*opened, result("a", "x")]
    edits = [edit("function:Read:1", "prune")]
    others = {"profile": BOUND, "edits": edits}
    compacted = [*opened, user("two"), assistant(COMPACTION)]
    turn_pinned, kept = Policy(keep_spans=9, pinned_tools=("Read",)), Policy(keep_spans=9)
    longer = [*closed, assistant("done"), user("two"), assistant(thinking_block("so it is"), text_block("done"))]
    assert [
        rule(compacted, "function:Read:1", policy=pinned, **others),
        rule(opened, "function:Read:1", policy=pinned, **others),
        rule(closed, "function:Read:1", policy=turn_pinned, **others),
        rule(closed, "function:Read:1", policy=kept, **others),
        rule(longer, "function:Read:1", policy=kept, **others),
        rule(longer, "function:Read:1", policy=STEP, **others),
        rule(longer, "function:Read:1", policy=NO_KEPT, **others),
    ] == ["before_compaction", "open_call", "pinned", "last_turn", "last_spans", "prefix_bound", "already"]


# -- pointers --------------------------------------------------------------------------------------------


def test_a_pointer_that_names_the_command_may_stand_in_any_request():
    """The command line needs no tool."""
    assert offers_restore(snapshot_of([chat_user("x")], "chat"), {})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"tools": b'[{"name":"Read"}]'}, False),
        ({"tools": f'[{{"name":"{RESTORE_TOOL}"}}]'.encode()}, True),
        ({"system": f'"{RESTORE_TOOL}"'.encode()}, False),
    ],
)
def test_a_pointer_that_names_the_tool_needs_the_tool(fields, expected):
    """V20: the request declares it, or no pointer may stand there."""
    snapshot = snapshot_of([user("x")], policy=Policy(recovery=Recovery.TOOL))
    assert offers_restore(snapshot, fields) is expected
