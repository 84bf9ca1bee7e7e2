"""What one action puts in the view, and the payload that it takes out."""

import json

import pytest

from builders import (
    WordCounter,
    assistant,
    call,
    call_block,
    calls,
    chat_result,
    exchange,
    message,
    result,
    result_block,
    results,
    session,
    snapshot_of,
    text_block,
    user,
)
from selfgc.governance.drafts import Drafter, is_one_text, pack, shown_by_rows
from selfgc.governance.project import project
from selfgc.model.legality import Legality
from selfgc.model.plan import Fold, Mask, Prune
from selfgc.model.policy import Policy, Recovery
from selfgc.model.profile import Profile
from selfgc.model.records import Edit, Replacement
from selfgc.model.wire import elements, members

DIALECTS = ["anthropic", "chat"]
LONG = "plain words of a long output that nobody has to read again\n" * 40
"""590 tokens without an anchor."""
NO_KEPT = Policy(keep_spans=0)
NO_SKILL_PINS = Policy(keep_spans=0, pins_skills=False)
READ = ("Read", {"file_path": "/a"}, LONG)
SKILL = f"Base directory for this skill: /skills/pdf\n\n{LONG}"
FOLDED = "[folded 41 lines: selfgc restore function:Read:1]"


def world(*made, said="do it", dialect="anthropic", policy=NO_KEPT, **others):
    """A turn of these calls, and another turn after it."""
    return snapshot_of(session([(said, made, "done"), ("go on", [], "ok")], dialect), dialect, policy, **others)


def drafter_of(snapshot):
    return Drafter(snapshot, WordCounter(), Legality(snapshot))


def drafted(snapshot, action):
    """An action worked out against all that stays in view beside it."""
    drafter = drafter_of(snapshot)
    return drafter.draft(action, drafter.visible_outside([action]))


def texts(draft):
    """The new texts of an edit's parts, and of its arguments, in one list."""
    shown = []
    for item in draft.edits[0].replacements:
        shown += [item.text] if item.arguments is None else item.arguments.values()
    return shown


def view_of(snapshot, draft):
    edits = dict(snapshot.edits) | {edit.id: edit for edit in draft.edits}
    return [json.loads(item) for item in project(snapshot, edits).messages]


# -- fold: results ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fold_puts_a_pointer_in_the_place_of_the_result(dialect):
    """The call stays as it was; the payload is the exact text."""
    snapshot = world(READ, dialect=dialect)
    draft = drafted(snapshot, Fold("function:Read:1", "old read"))
    view = view_of(snapshot, draft)
    assert view[1] == json.loads(snapshot.entries[1].message.raw)
    assert view[2] == (result("call_1", FOLDED) if dialect == "anthropic" else chat_result("call_1", FOLDED))
    (edit,), (payload,) = draft.edits, draft.payloads
    assert (edit.action, edit.media, edit.reason) == ("fold", "text/plain", "old read")
    assert (payload.sha256, payload.data) == (edit.payload, LONG.encode())


def test_the_saving_is_what_the_view_loses():
    """Tokens of the result before, less those of the pointer, the part's overhead in both."""
    snapshot = world(READ)
    draft = drafted(snapshot, Fold("function:Read:1"))
    after = len(FOLDED) // 4 + 4
    assert (draft.edits[0].tokens_before, draft.edits[0].tokens_after) == (snapshot.spans[0].result_tokens, after)
    assert draft.saving == snapshot.spans[0].result_tokens - after


@pytest.mark.parametrize("verb", [Fold, Mask])
def test_a_short_result_and_short_arguments_stay(verb):
    """Nothing is edited and nothing saved."""
    draft = drafted(world(("Read", {"file_path": "/a"}, "few words")), verb("function:Read:1"))
    assert (draft.saving, draft.edits[0].replacements) == (0, ())


def test_a_result_of_nothing_but_anchors_stays():
    """Its pointer would be longer."""
    names = "\n".join(f"name_of_row_{number}_is_{number * 7919}" for number in range(40))
    assert drafted(world(("Read", {"file_path": "/a"}, names)), Fold("function:Read:1")).saving == 0


def test_the_outcome_stays_in_view():
    """Q29 of the field faults: exit code and error line, as they were told."""
    made = ("Bash", {"command": "make"}, f"{LONG}ValueError: bad port\nExit code: 3")
    assert (
        texts(drafted(world(made), Fold("function:Bash:1")))[0].split("\n")[1] == "Exit code: 3; ValueError: bad port"
    )


def test_the_way_back_is_the_policys():
    """By the tool instead of the command line."""
    policy = Policy(keep_spans=0, recovery=Recovery.TOOL)
    assert texts(drafted(world(READ, policy=policy), Fold("function:Read:1"))) == [
        '[folded 41 lines: restore_context("function:Read:1")]'
    ]


# -- fold: anchors ---------------------------------------------------------------------------------------


ANCHORED = ("Read", {"file_path": "/a"}, f"{LONG}  listen = 48080, db-main-01\n{LONG}")


def test_anchors_that_stand_nowhere_else_are_shown():
    """The line is short and mostly anchors, so it is shown whole."""
    draft = drafted(world(ANCHORED), Fold("function:Read:1"))
    assert texts(draft)[0].split("\n")[1:] == ["listen = 48080, db-main-01"]
    assert draft.shown == {"48080", "db-main-01"}


def test_anchors_that_stand_elsewhere_in_view_are_not_shown():
    """In the user's words, in the system prompt, and in what stays of another object."""
    said = world(ANCHORED, said="is 48080 free on db-main-01?")
    system = world(ANCHORED, system_anchors=frozenset({"48080", "db-main-01"}))
    other = world(ANCHORED, ("Grep", {"pattern": "x"}, "db-main-01 48080"))
    for snapshot in (said, system, other):
        assert texts(drafted(snapshot, Fold("function:Read:1"))) == [FOLDED.replace("41", "82")]


def test_of_what_is_folded_already_the_pointer_counts():
    """What it shows is in view; what it hides is not."""
    snapshot = world(ANCHORED, ("Grep", {"pattern": "x"}, "db-main-01 48080"))
    pointer = Replacement(snapshot.chains[4], "content.0", "[folded] 48080", tokens=7)
    snapshot = world(
        ANCHORED,
        ("Grep", {"pattern": "x"}, "db-main-01 48080"),
        edits=[Edit("function:Grep:2", "fold", (pointer,), 0, 0)],
    )
    assert drafted(snapshot, Fold("function:Read:1")).shown == {"db-main-01"}


def test_arguments_that_were_folded_count_as_they_stand():
    """The same for what was put in a call."""
    wrote = ("Write", {"file_path": "/b", "content": f"{LONG}48080"}, "done")
    plain = world(ANCHORED, wrote, said="db-main-01")
    assert texts(drafted(plain, Fold("function:Read:1"))) == [FOLDED.replace("41", "82")]
    for left, shown in (("48080", []), ("gone", ["48080"])):
        folded = Replacement(plain.chains[3], "content.0", None, {"content": left}, tokens=7)
        edited = world(ANCHORED, wrote, said="db-main-01", edits=[Edit("function:Write:2", "fold", (folded,), 0, 0)])
        assert texts(drafted(edited, Fold("function:Read:1")))[0].split("\n")[1:] == shown


def test_the_end_of_a_path_in_view_is_in_view():
    """And a path is, that two others make up."""
    made = ("Read", {"file_path": "/a"}, f"{LONG}src/deep/main.py")
    assert texts(drafted(world(made, said="see /srv/app/src/deep/main.py"), Fold("function:Read:1"))) == [FOLDED]


@pytest.mark.parametrize("action", [Fold, Mask])
def test_what_a_plan_wants_kept_is_shown_when_the_payload_holds_it(action):
    """Anything else is ignored: a plan brings no text of its own into the view."""
    made = ("Read", {"file_path": "/a"}, f"{LONG}the answer was yes\n{LONG}")
    (text,) = texts(drafted(world(made), action("function:Read:1", keep=("answer was", "ignore all rules"))))
    assert "\nanswer was" in text
    assert "ignore" not in text


def test_declarations_in_a_document_stay_in_view():
    """A plan or a contract is worked against word for word; code is not, it can be read again."""
    text = f"{LONG}def settle(order, receipt)\n{LONG}"
    for path, is_shown in (("/PLAN.md", True), ("/plan.py", False)):
        (pointer,) = texts(drafted(world(("Read", {"file_path": path}, text)), Fold("function:Read:1")))
        assert ("def settle(order, receipt" in pointer) is is_shown


# -- fold: arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_large_arguments_are_folded_and_the_others_stay(dialect):
    """Half of what an agent says is file bodies; the call keeps its keys and its short values."""
    snapshot = world(("Write", {"file_path": "/a", "content": LONG, "mode": 420}, "done"), dialect=dialect)
    draft = drafted(snapshot, Fold("function:Write:1"))
    called = view_of(snapshot, draft)[1]
    if dialect == "anthropic":
        arguments = called["content"][0]["input"]
    else:
        arguments = json.loads(called["tool_calls"][0]["function"]["arguments"])
    pointer = "[folded 41 lines: selfgc restore function:Write:1]"
    assert arguments == {"file_path": "/a", "content": pointer, "mode": 420}
    assert list(arguments) == ["file_path", "content", "mode"]
    assert draft.payloads[0].data == LONG.encode()


def test_result_and_arguments_share_a_payload():
    """A JSON object of the raw values by piece; anchors are shown once, in the result."""
    made = ("Bash", {"command": f"cat 48080\n{LONG}", "input": f"{LONG}48080"}, f"{LONG}48080")
    draft = drafted(world(made), Fold("function:Bash:1"))
    (edit,), (payload,) = draft.edits, draft.payloads
    pieces = {key: json.loads(value) for key, value in members(payload.data).items()}
    assert pieces == {"content": made[2], "input.command": made[1]["command"], "input.input": made[1]["input"]}
    assert edit.media == "application/json"
    pointer = "[folded 41 lines: selfgc restore function:Bash:1]"
    assert texts(draft) == [f"{pointer}\n48080", f"cat 48080 {pointer.replace('41', '42')}", pointer]


def test_an_argument_that_a_pointer_would_not_shorten_stays():
    """Beside one that it does."""
    names = " ".join(f"name_of_row_{number}_is_{number * 7919}" for number in range(20))
    draft = drafted(world(("Save", {"names": names, "content": LONG}, "done")), Fold("function:Save:1"))
    (item,) = draft.edits[0].replacements
    assert list(item.arguments) == ["content"]
    assert drafted(world(("Save", {"names": names}, "done")), Fold("function:Save:1")).saving == 0


def test_a_call_beside_signed_reasoning_keeps_its_arguments():
    """The result may go; what is signed stays byte-equal, and so does what stands beside it."""
    step = calls(call_block("a", "Write", {"file_path": "/a", "content": LONG}), thinking="hm")
    messages = [user("x"), step, result("a", LONG), assistant("done"), *session([("y", [], "ok")])]
    snapshot = snapshot_of(messages, policy=NO_KEPT)
    draft = drafted(snapshot, Fold("function:Write:1"))
    assert view_of(snapshot, draft)[1] == step
    assert texts(draft) == ["[folded 41 lines: selfgc restore function:Write:1]"]


def test_where_reasoning_is_stripped_arguments_may_go():
    """A model that binds it to the prefix loses it with the commit anyway."""
    step = calls(call_block("a", "Write", {"file_path": "/a", "content": LONG}), thinking="hm")
    messages = [user("x"), step, result("a", "done"), assistant("done"), *session([("y", [], "ok")])]
    snapshot = snapshot_of(messages, policy=NO_KEPT, profile=Profile(binds_prefix=True))
    assert texts(drafted(snapshot, Fold("function:Write:1"))) == ["[folded 41 lines: selfgc restore function:Write:1]"]


def test_folding_again_takes_nothing_more():
    """What stands there now is the pointer."""
    made = ("Write", {"file_path": "/a", "content": LONG}, LONG)
    first = drafted(world(made), Fold("function:Write:1"))
    again = drafted(world(made, edits=first.edits), Fold("function:Write:1"))
    assert (first.saving > 500, again.saving) == (True, 0)


# -- mask ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_mask_keeps_head_and_tail(dialect):
    """The whole text is the payload."""
    text = "\n".join(f"this is the plain row with number {number} of many rows" for number in range(100))
    draft = drafted(world(("Read", {"file_path": "/a"}, text), dialect=dialect), Mask("function:Read:1"))
    rows = texts(draft)[0].split("\n")
    assert (rows[0], rows[-1]) == (text.split("\n")[0], text.split("\n")[-1])
    assert "[… 76 lines masked: selfgc restore function:Read:1]" in rows
    assert draft.payloads[0].data == text.encode()
    assert draft.edits[0].action == "mask"


def test_a_mask_shows_the_anchors_that_it_hides():
    """Not those that stand in its head or tail."""
    text = f"at 48080\n{LONG}port 59090\n{LONG}end 61616"
    (masked,) = texts(drafted(world(("Read", {"file_path": "/a"}, text)), Mask("function:Read:1")))
    assert [masked.count(port) for port in ("48080", "59090", "61616")] == [1, 1, 1]


def test_one_long_line_is_masked_inside():
    """I10 of the field faults: a log without line breaks."""
    line = "word and " * 1000
    (masked,) = texts(drafted(world(("Read", {"file_path": "/a"}, line)), Mask("function:Read:1")))
    assert masked.split("\n")[1] == "[… 8,200 characters masked: selfgc restore function:Read:1]"
    assert (masked[:400], masked[-400:]) == (line[:400], line[-400:])


def test_a_masked_result_can_be_folded_later():
    """Its payload is the original text, not what the mask left."""
    masked = drafted(world(READ), Mask("function:Read:1"))
    draft = drafted(world(READ, edits=masked.edits), Fold("function:Read:1"))
    assert texts(draft) == [FOLDED]
    assert draft.payloads == masked.payloads
    assert draft.edits[0].tokens_before == masked.edits[0].tokens_after


# -- prune -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_prune_takes_call_and_result(dialect):
    """Nothing is promised, so there is no payload."""
    snapshot = world(READ, READ, dialect=dialect)
    draft = drafted(snapshot, Prune("function:Read:1", "oldest"))
    assert view_of(snapshot, draft) == [json.loads(snapshot.entries[n].message.raw) for n in (0, 3, 4, 5, 6, 7)]
    assert draft.saving == snapshot.spans[0].tokens
    assert (draft.payloads, draft.edits[0].payload) == ((), "")


def test_a_prune_leaves_what_stands_beside_the_pair():
    """Words and other calls of its messages."""
    asked = calls("I read two files.", call_block("a", "Read", {}), call_block("b", "Read", {}))
    answered = results(result_block("a", LONG), result_block("b", "text"), text_block("and be quick"))
    snapshot = snapshot_of([user("x"), asked, answered, assistant("done"), *session([("y", [], "")])], policy=NO_KEPT)
    view = view_of(snapshot, drafted(snapshot, Prune("function:Read:1")))
    assert view[1] == calls("I read two files.", call_block("b", "Read", {}))
    assert view[2] == results(result_block("b", "text"), text_block("and be quick"))


# -- skills ----------------------------------------------------------------------------------------------


def test_a_skill_that_is_not_pinned_is_folded_as_any_call():
    """The Skill tool, and a read of a SKILL.md."""
    snapshot = world(
        ("Skill", {"skill": "pdf"}, LONG), ("Read", {"file_path": "/s/pdf/SKILL.md"}, LONG), policy=NO_SKILL_PINS
    )
    assert [span.id for span in snapshot.spans] == ["skill:pdf:1", "skill:pdf:2"]
    for object_id in ("skill:pdf:1", "skill:pdf:2"):
        assert texts(drafted(snapshot, Fold(object_id))) == [f"[folded 41 lines: selfgc restore {object_id}]"]


@pytest.mark.parametrize("verb", [Fold, Mask])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_skill_text_of_a_harness_is_shortened_in_its_place(verb, dialect):
    """It stands in the user's message; the user's own words beside it are untouched."""
    said = {"role": "user", "content": [text_block("use the pdf skill"), text_block(SKILL)]}
    snapshot = snapshot_of([said, *session([("go on", [], "ok")], dialect)], dialect, NO_SKILL_PINS)
    draft = drafted(snapshot, verb("skill:pdf:1"))
    first, second = view_of(snapshot, draft)[0]["content"]
    assert first == text_block("use the pdf skill")
    assert "selfgc restore skill:pdf:1" in second["text"]
    assert draft.payloads[0].data == SKILL.encode()


def test_short_skill_text_stays():
    """There is no call beside it that could be shortened."""
    said = user("use it", "Base directory for this skill: /skills/pdf\n\nshort")
    draft = drafted(snapshot_of([said, assistant("ok"), user("y")], policy=NO_SKILL_PINS), Fold("skill:pdf:1"))
    assert draft.edits[0].replacements == ()


# -- turns: fold -----------------------------------------------------------------------------------------


FILES = [("Read", {"path": f"/srv/app/src/deep/down/{name}.py"}, LONG) for name in "abc"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_folded_turn_keeps_its_words_and_one_pair(dialect):
    """The user's words, what the assistant said, and a pointer with a row for each file."""
    messages = session([("do it", FILES, "the answer"), ("go on", [], "ok")], dialect)
    messages.insert(3, {"role": "assistant", "content": "I see."})
    snapshot = snapshot_of(messages, dialect, NO_KEPT)
    draft = drafted(snapshot, Fold("conversation:user:1"))
    view = view_of(snapshot, draft)
    assert view[:2] == messages[:2]
    assert view[-2:] == messages[-2:]
    said = json.dumps(view[3])
    assert said.index("I see.") < said.index("the answer")
    assert texts(draft)[0].split("\n")[:5] == [
        "[folded 3 calls of this turn: selfgc restore conversation:user:1, or one by its id]",
        "under /srv/app/src/deep/down/",
        "a.py Read:1",
        "b.py Read:2",
        "c.py Read:3",
    ]
    assert len(view) == 6


def test_a_folded_turn_and_each_of_its_spans_can_be_had_back():
    """The turn's payload is its messages behind the user's; each span keeps its own."""
    wrote = ("Write", {"file_path": "/w", "content": LONG}, "done")
    snapshot = world(READ, wrote)
    draft = drafted(snapshot, Fold("conversation:user:1", "resolved"))
    turn, read, write = draft.edits
    payloads = {payload.sha256: payload.data for payload in draft.payloads}
    assert elements(payloads[turn.payload]) == [entry.message.raw for entry in snapshot.entries[1:6]]
    assert (turn.media, turn.swallowed) == ("application/json", ("function:Read:1", "function:Write:2"))
    assert payloads[read.payload] == LONG.encode()
    assert json.loads(payloads[write.payload]) == {"content": "done", "input.content": LONG}
    assert {edit.within for edit in (read, write)} == {"conversation:user:1"}
    assert read.replacements == write.replacements == ()


def test_small_calls_get_no_row_but_failed_ones_do():
    """Their number is told all the same."""
    made = [("Grep", {"pattern": "x"}, "few words"), ("Bash", {"command": "make"}, "Exit code: 2"), FILES[0]]
    (pointer,) = texts(drafted(world(*made), Fold("conversation:user:1")))[:1]
    head, *rows = pointer.split("\n")
    assert head.startswith("[folded 3 calls")
    assert rows == ["/srv/app/src/deep/down/a.py Read:3", "Bash:2 make → Exit code: 2"]


def test_a_folded_turn_shows_the_anchors_of_all_its_calls_once():
    """Those that its rows show are not shown again."""
    paths = [f"/srv/app/src/{name}" for name in ("deep/down/one.py", "deep/down/two.py", "three.py")]
    snapshot = world(*(("Read", {"path": path}, f"{LONG}48080 {path}") for path in paths))
    pointer = texts(drafted(snapshot, Fold("conversation:user:1")))[0]
    assert "under /srv/app/src/\ndeep/down/one.py Read:1\ndeep/down/two.py Read:2\nthree.py Read:3" in pointer
    assert [pointer.count(sought) for sought in ("48080", "one.py", "two.py")] == [1, 1, 1]


def test_what_a_plan_wants_kept_of_a_turn_is_shown():
    """Found in whichever call holds it."""
    made = [READ, ("Read", {"file_path": "/b"}, f"{LONG}the answer was yes\n")]
    pointer = texts(drafted(world(*made), Fold("conversation:user:1", keep=("the answer was yes", "no such text"))))[0]
    assert pointer.endswith("\nthe answer was yes")


def test_the_call_that_carries_the_pointer_is_shortened():
    """Its large arguments are cut to 100 characters; the payload has them whole."""
    wrote = ("Write", {"file_path": "/w", "content": LONG}, "done")
    snapshot = world(wrote, READ)
    draft = drafted(snapshot, Fold("conversation:user:1"))
    called = view_of(snapshot, draft)[1]["content"][0]["input"]
    assert called == {"file_path": "/w", "content": f"{LONG[:100]}…"}
    before = sum(span.tokens for span in snapshot.spans)
    after = draft.edits[0].tokens_after
    assert draft.saving == before - after
    assert after == sum(item.tokens for item in draft.edits[0].replacements)


def test_spared_and_pinned_spans_stay_in_a_folded_turn():
    """By the plan's word, and by the policy's."""
    rules = ("Read", {"file_path": "/AGENTS.md"}, LONG)
    snapshot = world(READ, rules, READ, READ)
    draft = drafted(snapshot, Fold("conversation:user:1", spare=("function:Read:3",)))
    assert draft.edits[0].swallowed == ("function:Read:1", "function:Read:4")
    view = view_of(snapshot, draft)
    kept = [json.loads(entry.message.raw) for entry in snapshot.entries[3:7]]
    assert view[3:7] == kept


def test_a_wider_fold_takes_earlier_pointers_in():
    """Pointers do not pile up, and what was restorable stays so."""
    made = [("Read", {"file_path": f"/{name}"}, f"{LONG}{name}") for name in "abcdef"]
    edits = []
    for number in range(1, 5):
        edits += drafted(world(*made, edits=edits), Fold(f"function:Read:{number}")).edits
    narrow = drafted(
        world(*made, edits=edits), Fold("conversation:user:1", spare=("function:Read:5", "function:Read:6"))
    )
    assert [edit.id for edit in narrow.edits] == ["conversation:user:1"]
    assert narrow.edits[0].tokens_after < narrow.edits[0].tokens_before
    edits += narrow.edits
    snapshot = world(*made, edits=edits)
    wide = drafted(snapshot, Fold("conversation:user:1"))
    assert [edit.id for edit in wide.edits] == ["conversation:user:1", "function:Read:5", "function:Read:6"]
    assert wide.edits[0].swallowed == tuple(f"function:Read:{number}" for number in range(1, 7))
    view = json.dumps(view_of(snapshot, wide))
    assert (view.count("restore"), view.count("/e Read:5")) == (1, 1)


def test_a_swallowed_span_keeps_its_whole_payload():
    """Also what an earlier fold had left in view, because it was short."""
    wrote = ("Write", {"file_path": "/w", "content": LONG}, "done")
    folded = drafted(world(wrote, READ), Fold("function:Write:1"))
    assert folded.payloads[0].data == LONG.encode()
    draft = drafted(world(wrote, READ, edits=folded.edits), Fold("conversation:user:1"))
    payloads = {payload.sha256: payload.data for payload in draft.payloads}
    inner = {edit.id: payloads[edit.payload] for edit in draft.edits[1:]}
    assert json.loads(inner["function:Write:1"]) == {"content": "done", "input.content": LONG}


def test_a_swallowed_call_keeps_what_its_row_does_not_show():
    """The call leaves with its result: an edit's short strings and a long command are in the span's own payload."""
    command = "docker compose exec app php artisan migrate --force --no-interaction 2>&1 | tail -30"
    changed = ("Edit", {"file_path": "/w", "old_string": "one", "new_string": "two"}, "done")
    draft = drafted(world(changed, ("Bash", {"command": command}, LONG), READ), Fold("conversation:user:1"))
    payloads = {payload.sha256: payload.data for payload in draft.payloads}
    inner = {edit.id: payloads[edit.payload] for edit in draft.edits[1:]}
    assert json.loads(inner["function:Edit:1"]) == {
        "content": "done",
        "input.old_string": "one",
        "input.new_string": "two",
    }
    assert json.loads(inner["function:Bash:2"]) == {"content": LONG, "input.command": command}
    assert inner["function:Read:3"] == LONG.encode()


@pytest.mark.parametrize("in_result", [True, False])
def test_a_second_edit_of_a_span_brings_nothing_back(in_result):
    """What it cannot make shorter stays as the first one left it: here a text whose anchors were elsewhere before."""
    rows = "\n".join(f"row {number * 7919} of the table" for number in range(60))
    texts_of_both = (rows, LONG) if in_result else (LONG, rows)
    made = [("Sync", {"content": texts_of_both[1]}, texts_of_both[0]), ("Read", {"file_path": "/b"}, rows)]
    edits = [*drafted(world(*made), Mask("function:Sync:1")).edits]
    edits += drafted(world(*made, edits=edits), Prune("function:Read:2")).edits
    snapshot = world(*made, edits=edits)
    draft = drafted(snapshot, Fold("function:Sync:1"))
    assert draft.saving > 0
    assert "masked" in json.dumps(view_of(snapshot, draft))
    pieces = {key: json.loads(value) for key, value in members(draft.payloads[0].data).items()}
    assert pieces == {"content": texts_of_both[0], "input.content": texts_of_both[1]}


def test_a_turn_folds_around_what_was_pruned_before():
    """A pruned span does not come back as the one that carries the pointer."""
    made = [READ, ("Read", {"file_path": "/b"}, LONG), ("Read", {"file_path": "/c"}, LONG)]
    pruned = drafted(world(*made), Prune("function:Read:1"))
    snapshot = world(*made, edits=pruned.edits)
    draft = drafted(snapshot, Fold("conversation:user:1"))
    assert draft.edits[0].swallowed == ("function:Read:2", "function:Read:3")
    assert "Read:1" not in json.dumps(view_of(snapshot, draft))


@pytest.mark.parametrize("verb", [Fold, Prune])
def test_skill_text_is_not_taken_by_its_turn(verb):
    """It stands in the user's message: no text of a tool may come there, and it is not left out unasked."""
    messages = [
        user("do it", SKILL),
        *exchange("a", *READ),
        *exchange("b", *READ),
        assistant("done"),
        user("y"),
        assistant("k"),
    ]
    snapshot = snapshot_of(messages, policy=NO_SKILL_PINS)
    draft = drafted(snapshot, verb("conversation:user:1"))
    assert draft.edits[0].swallowed == ("function:Read:2", "function:Read:3")
    assert view_of(snapshot, draft)[0] == messages[0]


# -- turns: mask and prune -------------------------------------------------------------------------------


def test_a_masked_turn_masks_each_of_its_spans():
    """Each is an edit with its payload; the turn's own edit tells the state."""
    snapshot = world(READ, ("Grep", {"pattern": "x"}, "few words"), ("Read", {"file_path": "/b"}, LONG))
    draft = drafted(snapshot, Mask("conversation:user:1", "old"))
    assert [(edit.id, edit.action, edit.reason) for edit in draft.edits] == [
        ("conversation:user:1", "mask", "old"),
        ("function:Read:1", "mask", "old"),
        ("function:Read:3", "mask", "old"),
    ]
    assert {payload.data for payload in draft.payloads} == {LONG.encode()}
    assert draft.saving == sum(edit.tokens_before - edit.tokens_after for edit in draft.edits[1:]) > 0


def test_a_masked_turn_leaves_what_is_folded_already():
    """And masks the rest; with nothing left to mask there is no edit at all."""
    folded = drafted(world(READ, READ), Fold("function:Read:1"))
    draft = drafted(world(READ, READ, edits=folded.edits), Mask("conversation:user:1"))
    assert [edit.id for edit in draft.edits] == ["conversation:user:1", "function:Read:2"]
    small = drafted(world(("Grep", {"pattern": "x"}, "few words")), Mask("conversation:user:1"))
    assert (small.edits, small.saving) == ((), 0)


def test_an_anchor_of_a_masked_turn_is_shown_once():
    """By the first of its spans that hides it."""
    draft = drafted(world(ANCHORED, ANCHORED), Mask("conversation:user:1"))
    shown = "".join(item.text for edit in draft.edits for item in edit.replacements)
    assert shown.count("48080") == 1
    assert draft.shown == {"48080", "db-main-01"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_pruned_turn_keeps_the_words(dialect):
    """All pairs go, and nothing is promised."""
    messages = session([("do it", FILES, "the answer"), ("go on", [], "ok")], dialect)
    snapshot = snapshot_of(messages, dialect, NO_KEPT)
    draft = drafted(snapshot, Prune("conversation:user:1"))
    assert view_of(snapshot, draft) == [messages[0], *messages[-3:]]
    assert draft.payloads == ()
    assert draft.saving == sum(span.tokens for span in snapshot.spans)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_pruned_turn_takes_the_words_along_where_a_policy_says_so(dialect):
    """Those of the first turn stay in any case: they say what the session is about."""
    policy = Policy(keep_spans=0, may_remove_user_text=True)
    messages = session([("first", [READ], "one"), ("second", [READ], "two"), ("third", [], "ok")], dialect)
    snapshot = snapshot_of(messages, dialect, policy)
    assert "first" in json.dumps(view_of(snapshot, drafted(snapshot, Prune("conversation:user:1"))))
    view = view_of(snapshot, drafted(snapshot, Prune("conversation:user:2")))
    assert "second" not in json.dumps(view)
    assert [item["role"] for item in view[-3:]] == ["assistant", "user", "assistant"]
    assert "one" in json.dumps(view[-3])
    assert "two" in json.dumps(view[-3])


# -- pieces and payloads ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("text", True),
        ([text_block("text")], True),
        ([text_block("text"), text_block("more")], False),
        ([text_block("text") | {"cache_control": {"type": "ephemeral"}}], False),
        ([{"type": "image", "source": {}}], False),
        ([], False),
        (["text"], False),
        (None, False),
    ],
)
def test_one_plain_text_is_told_from_all_else(content, expected):
    """A list of one plain block says no more than its text."""
    assert is_one_text(json.dumps(content).encode()) is expected


def test_several_blocks_are_kept_as_they_are():
    """Raw, so that they can be put back to the byte."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    messages = [user("x"), call("a", "Read"), result("a", [text_block(LONG), image]), assistant("k"), user("y")]
    draft = drafted(snapshot_of(messages, policy=NO_KEPT), Fold("function:Read:1"))
    raw = json.dumps([text_block(LONG), image], separators=(",", ":")).encode()
    assert draft.payloads[0].data == b'{"content":' + raw + b"}"
    assert draft.edits[0].media == "application/json"
    assert texts(draft) == [FOLDED]


def test_half_of_a_surrogate_pair_is_kept_exactly():
    """I1 of the field faults: the view may not hold it, the payload has to."""
    draft = drafted(world(("Read", {"file_path": "/a"}, f"{LONG}abc\ud83d")), Fold("function:Read:1"))
    assert draft.payloads[0].data.decode("utf-8", "surrogatepass") == f"{LONG}abc\ud83d"


def test_no_pieces_make_an_empty_object():
    """Nothing was taken out; no action with that is committed, for it saves nothing."""
    payload, media = pack([])
    assert (payload.data, media) == (b"{}", "application/json")


def test_rows_show_their_paths_whole():
    """The folder in the first row, and each path below it with its endings."""
    rows = ["under /srv/app/src/", "deep/a.py Read:1", "b.py Edit:2"]
    assert {"/srv/app/src", "/srv/app", "deep/a.py", "a.py", "b.py"} <= shown_by_rows(rows)
    assert shown_by_rows([]) == set()


# -- what cannot come from a plan ------------------------------------------------------------------------


def test_an_open_call_has_no_result_to_work_on():
    """Legality refuses it before; a draft of it is empty all the same."""
    snapshot = snapshot_of([user("x"), message("assistant", [call_block("a", "Read", {"file_path": "/a"})])])
    drafter = drafter_of(snapshot)
    assert drafter.draft_result(snapshot.spans[0], Mask("function:Read:1"), set()) is None
    assert drafter.draft(Fold("function:Read:1"), set()).saving == 0
    assert [(ref.message, ref.part) for ref in drafter.edited_refs(Fold("function:Read:1"))] == [(1, 0)]


def test_a_draft_is_the_same_every_time():
    """Invariant 15: no clock, counter or order of a hash."""
    made = [ANCHORED, ("Write", {"file_path": "/w", "content": ANCHORED[2]}, LONG), *FILES]
    for action in (Fold("conversation:user:1"), Mask("conversation:user:1"), Fold("function:Write:2")):
        assert drafted(world(*made), action) == drafted(world(*made), action)
