"""Needed uses by teacher forcing, and their visibility: the controls of the judge on synthetic cases."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfgc.bench.cases import Case
from selfgc.bench.judge.produced import Place
from selfgc.bench.judge.rarity import rarity_of
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.uses import Use, needed_uses, stands_in, visible
from selfgc.bench.texts import view_text

PLANTS = {
    Kind.URL: ("https://shop.test/orders/kx81?tab=2", "command", "curl {}"),
    Kind.PATH: ("/srv/shop/seats/row_plan.py", "file_path", "{}"),
    Kind.ID: ("9fceb02d0ae598e9", "command", "git show {}"),
    Kind.NUMBER: ("48213.7", "command", "set --limit {}"),
    Kind.QUOTED: ("the seat is taken twice", "command", 'grep "{}"'),
    Kind.IDENTIFIER: ("reserve_seat_twice", "command", "grep {}"),
    Kind.ERROR: ("SeatError: row seven is gone", "command", "search {}"),
    Kind.LINE: ("return seats[row] - held", "old_string", "    {}\n"),
}


def user(words):
    return {"role": "user", "content": words}


def agent(words):
    return {"role": "assistant", "content": words}


def step(arguments, output):
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "tool", "input": arguments}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": output}]},
    ]


def prefix_with(*outputs):
    """Two turns: the first prints `outputs`, the last is the protected one."""
    steps = [message for output in outputs for message in step({"command": "look"}, output)]
    return [user("look around"), *steps, agent("done"), user("and now"), agent("ready")]


def case_of(prefix, *continuation):
    return Case("a", len(prefix), prefix, [user("go on"), *continuation])


def needed(case, **options):
    return needed_uses(case, protected=case.protected, **options)


def use_of(kind, text):
    return Use(text, kind, 1, 1.0, Place.ARGUMENT, "tool.x")


@pytest.mark.parametrize("kind", list(Kind))
def test_a_planted_anchor_of_each_kind_is_found_and_can_be_lost(kind):
    """Planted fact: needed once, visible in the whole prefix (identity), lost when all but the tail is deleted."""
    anchor, key, form = PLANTS[kind]
    noise = [f"nothing in part {number}" for number in range(6)]
    noise.insert(len(anchor) % 6, f"before\n{anchor}\nafter")
    case = case_of(prefix_with(*noise), *step({key: form.format(anchor)}, "ok"))
    (use,) = [use for use in needed(case) if use.kind is kind]
    assert (use.anchor, use.kind, use.step, use.weight) == (anchor, kind, 1, 1.0)
    assert visible(use, view_text(case.prefix))
    assert not visible(use, view_text(case.protected))


def test_a_foreign_future_needs_nothing():
    """The continuation of another session uses other anchors, so nothing of this prefix is needed."""
    case = case_of(prefix_with(*(anchor for anchor, _, _ in PLANTS.values())))
    foreign = step({"command": "grep cancel_order /srv/other/cart_view.py", "old_string": "raise OrderGone"}, "ok")
    assert needed(Case("a", case.cut, case.prefix, [user("go on"), *foreign])) == []


def test_what_a_result_brings_back_is_not_needed():
    """A tool result before the use re-introduces the anchor; after the use it comes too late."""
    prefix = prefix_with("def reserve_seat")
    reading, using = step({"command": "cat it"}, "def reserve_seat"), step({"command": "grep reserve_seat"}, "ok")
    assert needed(case_of(prefix, *reading, *using)) == []
    assert [use.step for use in needed(case_of(prefix, *using, *reading))] == [1]


@pytest.mark.parametrize("words", ["show reserve_seat", "<system-reminder>reserve_seat</system-reminder>"])
def test_what_the_user_says_is_known_afterwards(words):
    """The agent need not have it from the prefix; the user's own reference is a light use of step 0."""
    prefix = prefix_with("def reserve_seat")
    case = Case("a", len(prefix), prefix, [user(words), *step({"command": "grep reserve_seat"}, "ok")])
    assert [(use.step, use.weight) for use in needed(case)] in ([], [(0, 0.3)])


def test_known_texts_are_not_needed():
    """System prompt, system messages and the protected turn hold it anyway."""
    prefix = prefix_with("def reserve_seat")
    using = step({"command": "grep reserve_seat"}, "ok")
    assert needed(case_of(prefix, *using), known_text="use reserve_seat") == []
    assert needed(case_of([{"role": "system", "content": "use reserve_seat"}, *prefix], *using)) == []
    assert needed(case_of([*prefix, agent("reserve_seat")], *using)) == []


def test_a_new_anchor_is_no_dependency():
    """What the prefix never held cannot be lost."""
    assert needed(case_of(prefix_with("nothing"), *step({"command": "grep reserve_seat"}, "ok"))) == []


def test_a_common_anchor_is_not_needed():
    """What another session of the corpus holds does not pass the filter."""
    case = case_of(prefix_with("def reserve_seat"), *step({"command": "grep reserve_seat"}, "ok"))
    corpus = [("a", case.prefix), ("b", [user("reserve_seat")])]
    assert needed(case, rarity=rarity_of(corpus)) == []
    assert len(needed(case, rarity=rarity_of(corpus[:1]))) == 1


def test_one_message_counts_an_anchor_at_its_heaviest_place():
    """Named in a remark and used in an argument of one message: one use with the argument's weight."""
    calling, result = step({"command": "grep reserve_seat", "description": "find row_view and reserve_seat"}, "ok")
    calling["content"].insert(0, {"type": "text", "text": "now reserve_seat"})
    case = case_of(prefix_with("def reserve_seat row_view"), calling, result, agent("reserve_seat"))
    assert [(use.anchor, use.weight, use.where) for use in needed(case)] == [
        ("reserve_seat", 1.0, "tool.command"),
        ("row_view", 0.3, "tool.description"),
    ]


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("id_12", True),
        ("(id_12)", True),
        ("valid_12 id_123", False),
        ("xid_12 then id_12.", True),
        ("a\\nid_12\\n", True),
        ("nid_12", False),
        ("属id_12性", True),
        ("", False),
    ],
)
def test_anchors_stand_as_whole_words(text, stands):
    """A longer word is another word; escaped line breaks and other scripts are borders."""
    assert stands_in("id_12", text) is stands


def test_an_anchor_that_ends_in_a_sign_needs_no_border():
    """Signs are borders themselves."""
    assert stands_in("(row)", "seats(row)x")


@pytest.mark.parametrize(
    ("kind", "anchor", "view"),
    [
        (Kind.NUMBER, "1234.5", "due: 1,234.50"),
        (Kind.ID, "9FCEB02D", "commit 9fceb02d"),
        (Kind.PATH, "C:/shop/seats/row.py", r"at C:\shop\seats\row.py"),
        (Kind.LINE, 'say("x y")', r"{\"code\": \"say(\"x y\")\"}"),
        (Kind.PATH, "/srv/shop/seats/row.py", "cd /srv/shop and edit seats/row.py"),
        (Kind.PATH, "C:/shop/seats/row.py", "cd C:/shop and edit seats/row.py"),
        (Kind.PATH, "/srv/shop/README.md", "cd /srv/shop"),
        (Kind.PATH, "/srv/shop/tests", "cd /srv/shop"),
    ],
)
def test_other_spellings_are_visible(kind, anchor, view):
    """Number formats, case of hex, separators, JSON escapes, and paths in two halves."""
    assert visible(use_of(kind, anchor), view)


@pytest.mark.parametrize(
    ("kind", "anchor", "view"),
    [
        (Kind.PATH, "/srv/shop/seats/row.py", "cd /srv/shop and edit row.py"),
        (Kind.PATH, "/srv/shop/seats/row.py", "edit seats/row.py"),
        (Kind.PATH, "seats/plan/row.py", "seats and plan/row.py"),
        (Kind.IDENTIFIER, "reserve_seat", "Reserve_seat"),
    ],
)
def test_halves_and_case_are_not_enough(kind, anchor, view):
    """A bare file name, an ending without its folder, or another case do not give the anchor."""
    assert not visible(use_of(kind, anchor), view)


names = st.lists(st.sampled_from(["row_view", "seat_plan", "/srv/a/b/c.py", "https://x.test/9", "48213"]), max_size=5)


@settings(max_examples=60, deadline=None)
@given(names, names, names)
def test_controls_hold_on_any_session(old, last, future):
    """Identity shows every needed use, the protected tail alone shows none, and the prefix holds them all."""
    prefix = [*prefix_with(" ".join(old)), *step({"command": "look"}, " ".join(last))]
    case = case_of(prefix, *(message for name in future for message in step({"command": f"use {name}"}, name)))
    uses = needed(case)
    assert all(visible(use, view_text(prefix)) for use in uses)
    assert not any(visible(use, view_text(case.protected)) for use in uses)
    assert {use.anchor for use in uses} == set(future) & (set(old) - set(last))
