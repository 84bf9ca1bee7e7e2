"""What the controls are given: what may be deleted, what goes together, and samples that repeat."""

import msgspec

from control_cases import NAMES, agent, body, judges, needing, prepared_of, session_of, step, user, vacuous
from selfgc.bench.cases import Case
from selfgc.bench.controls.prepared import (
    Cut,
    joined,
    levels_of,
    parts_of,
    sampled,
    share,
    units,
    with_first,
    without,
)
from selfgc.bench.judge.verbatim import Held
from selfgc.bench.session import Session


def cut_of(prefix):
    session = Session("one", "anthropic", {}, (*prefix, user("go on"), agent("ok")))
    return Cut(
        "set", session, Case("one", len(prefix), prefix, session.messages[len(prefix) :]), Held(session.messages)
    )


def test_the_tail_and_system_texts_may_not_be_deleted():
    """Everything else may; the last turn is the tail."""
    prefix = [{"role": "system", "content": "be brief"}, user("look"), agent("done"), user("and"), agent("ready")]
    assert cut_of(prefix).deletable == [1, 2]


def test_calls_go_with_their_results():
    """Also when one message answers the calls of two others."""
    asked = [part[0] for part in (step({"command": "a"}, "", 1), step({"command": "b"}, "", 2))]
    answered = [step({}, f"result {number}", number)[1]["content"][0] for number in (1, 2)]
    both = {"role": "user", "content": answered}
    prefix = [user("look"), *step({"command": "c"}, "out", 3), *asked, both, agent("done"), user("and"), agent("ready")]
    assert units(cut_of(prefix)) == [[0], [1, 2], [3, 4, 5], [6]]


def test_a_case_is_vacuous_when_nothing_strict_was_needed():
    """Its strict needs are those of both matchers."""
    assert vacuous().is_vacuous
    assert not needing().is_vacuous
    assert [type(need).__name__ for need in needing().strict] == ["Use", "Use", "Use", "Use", "Span"]


def test_samples_take_from_every_session_first():
    """One of each session before a second of any; the same seed gives the same, whatever the order."""
    one, two = needing("one"), needing("two")
    other = msgspec.structs.replace(one, cut=msgspec.structs.replace(one.cut, case=one.cut.case))
    cases = [one, other, two]
    chosen = sampled(cases, 2, 1)
    assert [case.cut.session.name for case in chosen] == ["one", "two"]
    assert sampled(reversed(cases), 2, 1) == chosen
    assert len(sampled(cases, 9, 1)) == 3
    assert sampled([], 3, 1) == []


def test_parts_joined_show_what_the_whole_shows():
    """Each message by itself and all of them together hold the same needs."""
    case = needing()
    parts = parts_of(case.cut, judges())
    assert all(joined(parts).holds(need) for need in case.strict)
    assert not any(joined(parts[:1]).holds(need) for need in case.strict)


def test_a_judgement_has_levels_by_matcher():
    """A, B, both united, and the face."""
    case = prepared_of(*session_of("one", [body(NAMES[0])], ("command", f"grep {NAMES[0]}")))
    levels = levels_of(judges().judge(case, without(case, case.cut.deletable)))
    assert {name: (found.needed, found.s0) for name, found in levels.items()} == {
        "A": (1, False),
        "B": (0, True),
        "united": (1, False),
        "face": (1, False),
    }


def test_records_tell_shares_and_the_first_fault():
    """A share of nothing is told as such."""
    assert (share(1, 4), share(0, 0)) == ("25.00 %", "none")
    assert (with_first("3 differ", ["b", "a"]), with_first("all well", [])) == ("3 differ; first: b", "all well")
