"""Plans from outside: what is read, what becomes a finding, what is refused as a whole."""

import json

import msgspec
import pytest

from selfgc.errors import PlanError, UsageError
from selfgc.model.ids import ObjectId
from selfgc.model.plan import MAX_ACTIONS, Fold, Mask, Plan, Prune, parse_id, plan_schema, read_plan


def plan_text(*actions, **head):
    return json.dumps({**head, "actions": list(actions)}).encode()


def fold(object_id="function:Read:1", **fields):
    return {"action": "fold", "id": object_id, **fields}


@pytest.mark.parametrize(("kind", "verb"), [(Fold, "fold"), (Mask, "mask"), (Prune, "prune")])
def test_an_action_knows_its_verb(kind, verb):
    """The verb is the word of the JSON form."""
    action = kind(ObjectId("function:Read:1"))
    assert action.verb == verb
    assert msgspec.json.decode(msgspec.json.encode(action))["action"] == verb


def test_a_plan_is_read_with_its_actions_in_order():
    """Each verb becomes its own type, with reason, kept strings and spared spans."""
    raw = plan_text(
        fold("function:Read:1", reason="old", keep=["src/app.py"]),
        {"action": "mask", "id": "function:Bash:2"},
        {"action": "prune", "id": "conversation:user:1", "spare": ["function:Read:1"]},
    )
    read = read_plan(raw)
    assert read.findings == ()
    assert read.plan.actions == (
        Fold(ObjectId("function:Read:1"), "old", ("src/app.py",)),
        Mask(ObjectId("function:Bash:2")),
        Prune(ObjectId("conversation:user:1"), spare=(ObjectId("function:Read:1"),)),
    )


def test_a_plan_keeps_its_header():
    """Planner, snapshot and summary come through; actions may be none."""
    read = read_plan(plan_text(planner="mine", version=3, digest="ab", summary="nothing to do"))
    assert read.plan == Plan((), "mine", 3, "ab", "nothing to do")


def test_a_plan_without_a_header_is_bound_to_no_snapshot():
    """An empty digest and no version mean: unbound."""
    assert read_plan(b'{"actions":[]}').plan == Plan()


def test_a_plan_reads_back_what_was_written():
    """The published form and the reader are one."""
    plan = Plan((Fold(ObjectId("skill:pdf:2"), keep=("a",)), Prune(ObjectId("function:Bash:3"))), "p", 1, "d", "s")
    assert read_plan(msgspec.json.encode(plan)).plan == plan


def test_unknown_keys_do_no_harm():
    """Models add thoughts of their own."""
    read = read_plan(plan_text(fold(confidence=0.9), thoughts="hm"))
    assert (len(read.plan.actions), read.findings) == (1, ())


@pytest.mark.parametrize(
    ("action", "named"),
    [
        ({"action": "delete", "id": "function:Read:1"}, "function:Read:1"),
        ({"id": "function:Read:1"}, "function:Read:1"),
        ({"action": "fold"}, ""),
        ({"action": "fold", "id": 7}, ""),
        ({"action": "fold", "id": "function:Read:0"}, "function:Read:0"),
        ({"action": "fold", "id": "x" * 200}, "x" * 80),
        ({"action": "fold", "id": "function:Read:1", "keep": "all"}, "function:Read:1"),
        ("fold function:Read:1", ""),
        (None, ""),
    ],
)
def test_an_action_that_cannot_be_used_is_a_finding_and_the_others_count(action, named):
    """One bad line does not cost the plan; the finding tells its place."""
    read = read_plan(plan_text(action, fold("function:Read:2")))
    assert read.plan.actions == (Fold(ObjectId("function:Read:2")),)
    assert [(found.object_id, found.rule) for found in read.findings] == [(named, "malformed")]
    assert read.findings[0].sentence.startswith("actions.0: ")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"Here is my plan:",
        b'{"actions":[}',
        b'{"actions":"\xff"}',
        b"[" * 5000,
        b"[]",
        b"{}",
        b'{"actions":{}}',
        b'{"actions":null}',
        b'{"actions":[],"version":"three"}',
        b'{"actions":[],"planner":3}',
    ],
)
def test_what_is_no_plan_is_refused_as_a_whole(raw):
    """Broken output is never guessed at."""
    with pytest.raises(PlanError):
        read_plan(raw)


def test_a_plan_of_too_many_actions_is_refused_as_a_whole():
    """The limit is told in the message."""
    raw = b'{"actions":[' + b"0," * MAX_ACTIONS + b"0]}"
    with pytest.raises(PlanError, match=f"{MAX_ACTIONS + 1} actions in one plan; at most {MAX_ACTIONS} are read"):
        read_plan(raw)


def test_the_published_schema_names_the_three_verbs():
    """An outside planner learns the form from the schema alone."""
    schema = json.dumps(plan_schema())
    assert all(f'"{verb}"' in schema for verb in ("fold", "mask", "prune"))
    assert '"actions"' in schema


@pytest.mark.parametrize(
    ("text", "object_id"),
    [
        ("function:Read:12", "function:Read:12"),
        ("Read:12", "function:Read:12"),
        ("conversation:user:3", "conversation:user:3"),
        ("skill:pdf:1", "skill:pdf:1"),
    ],
)
def test_an_id_may_be_given_as_rows_of_pointers_have_it(text, object_id):
    """A tool and a number are enough for a tool span."""
    assert parse_id(text) == object_id


@pytest.mark.parametrize(
    "text", ["", "Read", "12", "Read:0", "Read:", ":1", "function:Read:x", "a:b:c:1", "turn:user:1"]
)
def test_what_is_no_id_is_told_with_an_example(text):
    """The message shows what an id looks like."""
    with pytest.raises(UsageError, match="expected for example function:Read:12"):
        parse_id(text)


def test_too_many_strings_to_keep_are_malformed():
    """An action may want 200 strings kept."""
    raw = msgspec.json.encode({"actions": [{"action": "fold", "id": "Read:1", "keep": ["x"] * 201}]})
    found = read_plan(raw)
    assert found.plan.actions == ()
    assert "201 strings to keep; at most 200" in found.findings[0].sentence


def test_short_ids_stand_for_functions():
    """`Read:1` in a plan is `function:Read:1`, as in pointers' rows."""
    assert read_plan(b'{"actions":[{"action":"fold","id":"Read:1"}]}').plan.actions[0].id == "function:Read:1"
