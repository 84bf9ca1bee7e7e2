"""The needs of a case: both matchers, the user's rules, and what the agent names at each step."""

import bench_world as world
from selfgc.bench.cases import Case
from selfgc.bench.judge.needs import STRICT_WEIGHT, Corpus, asked_windows, needs_of
from selfgc.bench.judge.verbatim import Held, windows


def made(cut=world.CUT, known=""):
    wire = world.messages()
    case = Case("one", cut, tuple(wire[:cut]), tuple(wire[cut:]))
    return needs_of(case, known_text=known, held=Held(wire), corpus=Corpus())


def test_what_an_edit_must_match_and_a_command_repeats_is_needed():
    """The line stands in the first turn's read, the call in its output; both are out of the last turn."""
    needs = made()
    assert {use.anchor for use in needs.strict_uses} >= {world.OLD_LINE.strip(), "reserve_seat_twice"}
    assert {span.place.value for span in needs.strict_spans} == {"exact", "argument"}
    assert all(need.weight >= STRICT_WEIGHT for need in (*needs.strict_uses, *needs.strict_spans))
    assert needs.every == (*needs.uses, *needs.spans)


def test_what_every_view_holds_is_not_needed():
    """The system prompt says it already."""
    assert "reserve_seat_twice" not in {use.anchor for use in made(known=world.ONCE_SHOWN).strict_uses}


def test_the_users_rules_are_contracts():
    """A sentence with a prohibition; the question is none."""
    assert made().contracts == ("Never touch the ledger file.",)


def test_the_names_of_each_step_are_known_at_its_place():
    """The file's name, as the agent writes it in its call."""
    assert made().sites[1] == ("row_plan.py",)
    assert made().sites[3] == ()


def test_windows_that_decide_something_are_asked_about():
    """They are in the prefix, in no view by itself, and in the agent's text."""
    wire = world.messages()
    case = Case("one", world.CUT, tuple(wire[: world.CUT]), tuple(wire[world.CUT :]))
    asked = asked_windows(case, known_text="", held=Held(wire))
    assert set(windows(world.OLD_LINE)) <= asked
    assert asked_windows(case, known_text=world.OLD_LINE, held=Held(wire)).isdisjoint(windows(world.OLD_LINE))


def test_system_messages_are_known():
    """No method removes them."""
    wire = [{"role": "system", "content": world.OLD_LINE}, *world.messages()]
    case = Case("one", world.CUT + 1, tuple(wire[: world.CUT + 1]), tuple(wire[world.CUT + 1 :]))
    needs = needs_of(case, known_text="", held=Held(wire), corpus=Corpus())
    assert {span.place.value for span in needs.strict_spans} == {"argument"}
