"""The snapshot: one state of a session, with everything that can be asked of it."""

import pytest

from builders import call, result, session, snapshot_of, user
from selfgc.model.ids import ObjectId
from selfgc.model.message import PartRef
from selfgc.model.plan import Plan
from selfgc.model.records import Edit, Replacement
from selfgc.model.snapshot import Planner

READ = ("Read", {"file_path": "/src/app/main.py"}, "import asyncio_runner")
TURNS = session([("please look", [READ], "done"), ("thanks", [], "")])


def test_a_snapshot_is_named_by_its_last_message():
    """The digest covers position, lineage and content; no message, no name."""
    snapshot = snapshot_of(TURNS)
    assert (snapshot.digest, len(snapshot.digest)) == (snapshot.chains[-1], 64)
    assert snapshot_of([]).digest == ""


@pytest.mark.parametrize("changed", [TURNS[:-1], [user("other"), *TURNS[1:]], [*TURNS[:4], user("other")]])
def test_another_transcript_has_another_name(changed):
    """Whatever changes, wherever it stands."""
    assert snapshot_of(changed).digest != snapshot_of(TURNS).digest


def test_spans_and_turns_are_found_by_id():
    """Planners speak in ids."""
    snapshot = snapshot_of(TURNS)
    assert snapshot.spans_by_id == {ObjectId("function:Read:1"): snapshot.spans[0]}
    assert list(snapshot.turns_by_id) == ["conversation:user:1", "conversation:user:2"]
    assert snapshot.turns_by_id[ObjectId("conversation:user:2")].start == 4


def test_a_later_commit_wins_where_two_edits_meet():
    """What stands at a part is what was committed last."""
    first = Edit(ObjectId("function:Read:1"), "fold", (Replacement("ab", "content.0", "[a]"),), 90, 9)
    second = Edit(
        ObjectId("conversation:user:1"),
        "fold",
        (Replacement("ab", "content.0", "[b]"), Replacement("cd", "content.0", "[c]")),
        90,
        9,
    )
    snapshot = snapshot_of(TURNS, edits=[first, second])
    assert {place: item.text for place, item in snapshot.replacements.items()} == {
        ("ab", "content.0"): "[b]",
        ("cd", "content.0"): "[c]",
    }
    assert snapshot_of(TURNS).replacements == {}


def test_the_transcript_has_the_tokens_of_system_prompt_and_messages():
    """As the ungoverned request is billed."""
    snapshot = snapshot_of(TURNS, system_tokens=1000)
    assert snapshot.transcript_tokens == 1000 + sum(entry.tokens for entry in snapshot.entries)


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_the_text_and_tokens_of_a_part_are_read_by_its_address(dialect):
    """Texts are not held; the dialect reads them from the bytes."""
    snapshot = snapshot_of(session([("please look", [READ], "")], dialect), dialect)
    ref = snapshot.spans[0].result
    assert snapshot.text(ref) == "import asyncio_runner"
    assert snapshot.part_tokens(ref) == snapshot.spans[0].result_tokens == len("import asyncio_runner") // 4 + 4
    assert snapshot.text(PartRef(0, 0)) == "please look"


def test_the_anchors_of_a_span_are_those_of_call_and_result():
    """The path from the call, the name from the result."""
    snapshot = snapshot_of(TURNS)
    assert snapshot.span_anchors(snapshot.spans[0]) >= {"/src/app/main.py", "asyncio_runner"}


def test_an_open_span_has_the_anchors_of_its_call():
    """There is nothing else of it yet."""
    snapshot = snapshot_of([user("go"), call("a", "Read", file_path="/src/app/main.py")])
    assert "/src/app/main.py" in snapshot.span_anchors(snapshot.spans[0])


def test_a_snapshot_does_not_change_when_more_is_observed():
    """It is a value: the same prefix gives the same objects."""
    before, after = snapshot_of(TURNS[:3]), snapshot_of([*TURNS[:3], result("x", "orphan")])
    assert after.spans == before.spans
    assert after.chains[:3] == before.chains


def test_whatever_has_a_name_and_plans_is_a_planner():
    """A planner of one's own needs no base class."""

    class Nothing:
        name = "nothing"

        def plan(self, snapshot):
            return Plan(planner=self.name, digest=snapshot.digest)

    planner: Planner = Nothing()
    assert planner.plan(snapshot_of(TURNS)).actions == ()


def test_part_savings():
    """What committed edits took out of parts; nothing without edits."""
    messages = session([("one", [("Read", {"file_path": "/a"}, "text " * 100)], "done")])
    plain = snapshot_of(messages)
    assert plain.part_savings == 0
    held = Replacement(plain.chains[2], "content.0", "[folded]", tokens=5)
    edited = snapshot_of(messages, edits=[Edit("function:Read:1", "fold", (held,), 0, 0)])
    assert edited.part_savings == plain.entries[2].parts[0].tokens - 5
