"""What an agent produced in one message, and what it weighs."""

import pytest

from selfgc.bench.judge.produced import Place, produced, weight_of
from selfgc.bench.judge.typed import Kind


def call(name, arguments):
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": name, "input": arguments}]}


def found(message):
    return {(item.anchor.text, item.place) for item in produced(message)}


def test_lines_of_an_edit_are_exact():
    """Each line that an edit must match is a use of exact text; its new text is a written body."""
    message = call("Edit", {"old_string": "  total = seats\n)\n", "new_string": "total = free_seats"})
    assert found(message) == {("total = seats", Place.EXACT), ("free_seats", Place.WRITTEN)}


def test_a_patch_is_taken_apart():
    """Context and removed lines are exact, file names are arguments, added lines are written."""
    patch = """*** Begin Patch
*** Update File: shop/seat_plan.py
*** Move to: shop/row_plan.py
@@
 def reserve(row):
-    return seats[row]
+    return free_seats
*** End Patch"""
    assert found(call("apply_patch", {"input": patch})) == {
        ("shop/seat_plan.py", Place.ARGUMENT),
        ("shop/row_plan.py", Place.ARGUMENT),
        ("def reserve(row):", Place.EXACT),
        ("return seats[row]", Place.EXACT),
        ("free_seats", Place.WRITTEN),
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"file_path": "shop/seat plan.py"}, {("shop/seat plan.py", Place.ARGUMENT)}),
        ({"file_path": "README.md"}, set()),
        ({"command": "grep reserve_seat"}, {("reserve_seat", Place.ARGUMENT)}),
        ({"content": "reserve_seat"}, {("reserve_seat", Place.WRITTEN)}),
        ({"description": "find reserve_seat"}, {("reserve_seat", Place.PROSE)}),
        ({"offset": 1733}, set()),
        ({"issue": 1733}, {("1733", Place.ARGUMENT)}),
    ],
)
def test_arguments_are_told_apart(arguments, expected):
    """Paths, commands, bodies, notes and positions are arguments of different worth."""
    assert found(call("tool", arguments)) == expected


def test_a_script_is_a_body_between_its_ends():
    """Of a command with many lines the first and last are the argument, the rest is written."""
    script = "cat > shop/seat_plan.py <<X\na\nb\nc\nreserve_seat()\nX\npytest shop/test_seats.py"
    assert found(call("Bash", {"command": script})) == {
        ("shop/seat_plan.py", Place.ARGUMENT),
        ("shop/test_seats.py", Place.ARGUMENT),
        ("reserve_seat", Place.WRITTEN),
    }


def test_prose_without_a_call_is_an_answer():
    """Prose beside a call is a remark; prose alone is what the user is told; thinking is neither."""
    remark = call("tool", {})
    remark["content"].insert(0, {"type": "text", "text": "now reserve_seat"})
    thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "reserve_seat?"}]}
    assert found(remark) == {("reserve_seat", Place.PROSE)}
    assert found({"role": "assistant", "content": "done: reserve_seat"}) == {("reserve_seat", Place.ANSWER)}
    assert found(thinking) == {("reserve_seat", Place.THINKING)}


def test_a_users_words_count_without_the_harness():
    """References of the user are uses; reminders, notifications and carried summaries are not."""
    words = "<system-reminder>row_view</system-reminder> fix reserve_seat [Request interrupted by user]"
    summary = "This session is being continued from a previous conversation that ran out. row_view"
    assert found({"role": "user", "content": words}) == {("reserve_seat", Place.USER)}
    assert found({"role": "user", "content": summary}) == set()


def test_results_and_system_texts_are_no_uses():
    """What a tool or the operator says is not produced by the agent."""
    assert found({"role": "tool", "content": "reserve_seat"}) == set()
    assert found({"role": "system", "content": "reserve_seat"}) == set()


@pytest.mark.parametrize(
    ("place", "kind", "weight"),
    [
        (Place.EXACT, Kind.LINE, 1.0),
        (Place.ARGUMENT, Kind.PATH, 1.0),
        (Place.WRITTEN, Kind.ID, 1.0),
        (Place.ANSWER, Kind.NUMBER, 0.8),
        (Place.WRITTEN, Kind.IDENTIFIER, 0.5),
        (Place.PROSE, Kind.PATH, 0.3),
        (Place.THINKING, Kind.PATH, 0.2),
    ],
)
def test_weights(place, kind, weight):
    """Exact uses weigh 1, figures in an answer 0.8, written code 0.5, mentions 0.3, thinking 0.2."""
    assert weight_of(place, kind) == weight
