"""Foreign futures: needs of a prefix that the continuation never followed are false."""

import pytest

from control_cases import NAMES, body, judges, noise, prepared_of, session_of
from selfgc.bench.controls.foreign import foreign_future, foreign_pairs, foreign_windows
from selfgc.bench.judge.needs import Corpus
from selfgc.bench.judge.rarity import rarity_of
from selfgc.bench.judge.verbatim import shares_of
from selfgc.errors import UsageError


def case(name, outputs, *uses, day=0):
    """A case of a session on one day; on day 0 nobody knows when it was."""
    session, cut = session_of(name, outputs, *uses)
    moments = tuple(f"2026-03-{day:02}T10:00:{n:02}Z" for n in range(len(session.messages))) if day else ()
    return prepared_of(type(session)(name, "anthropic", {}, session.messages, moments), cut)


def corpus_of(cases, asked):
    named = [(case.cut.session.name, case.cut.session.messages) for case in cases]
    return Corpus(rarity_of(named), shares_of(named, asked))


def run(cases, size=9):
    pairs = foreign_pairs([case.cut for case in cases], size=size, seed=1)
    corpus = corpus_of(cases, foreign_windows(pairs))
    return pairs, foreign_future(pairs, cases, corpus, judges())


def test_continuations_of_other_work_need_nothing():
    """Each uses its own names: no need of the foreign prefix, several of its own."""
    cases = [case(name, [body(name), noise(name)], ("command", f"grep {name}")) for name in NAMES[:3]]
    pairs, (far, near) = run(cases)
    assert [(pair.is_near, pair.prefix.place != pair.future.place) for pair in pairs] == [(False, True)] * 3
    assert far.holds
    assert far.found == ("0 false needs, where the same futures have 3 of their own prefixes: 0.00 %; in 0 of 3 pairs")
    assert "in 0 of 0 pairs" in near.found


def test_a_use_that_the_foreign_prefix_happens_to_hold_is_false():
    """The other session itself is ignored in the filter, or its own text would make every use common."""
    cases = [case(name, [body("row_plan"), noise(name)], ("command", "grep row_plan")) for name in ("one", "two")]
    _, (far, _) = run(cases)
    assert not far.holds
    assert far.found.endswith("first: one after two: row_plan")


def test_within_a_repository_what_both_had_read_is_not_false():
    """The continuation had it from its own prefix; only the older prefix is tried."""
    file = noise("file")
    read = [file, body("row_plan")]
    cases = [
        case("one", [*read, noise(1)], ("command", "grep row_plan"), day=1),
        case("two", [*read, noise(2)], ("command", "grep row_plan"), day=2),
    ]
    pairs, (_, near) = run(cases)
    assert [(pair.prefix.session.name, pair.future.session.name, pair.is_near) for pair in pairs] == [
        ("one", "two", True)
    ]
    assert near.holds
    assert near.found.endswith("; 1 more stood in both prefixes")


def test_within_a_repository_what_was_never_read_is_false():
    """The agent wrote it although its own prefix did not hold it."""
    file = noise("file")
    cases = [
        case("one", [file, body("row_plan"), noise(1)], ("command", "look"), day=1),
        case("two", [file, noise(2)], ("command", "grep row_plan"), day=2),
    ]
    _, (_, near) = run(cases)
    assert not near.holds
    assert near.found.endswith("first: two after one: row_plan")


def test_without_moments_nobody_knows_which_is_older():
    """No pairs within the repository then."""
    file = noise("file")
    cases = [case(name, [file, noise(name)], ("command", "look")) for name in ("one", "two")]
    assert foreign_pairs([case.cut for case in cases], size=9, seed=1) == []


def test_moments_without_a_zone_are_read_as_utc():
    """Files of one harness tell the zone, those of another do not."""
    file = noise("file")
    one, two = (case(name, [file, noise(name)], ("command", "look"), day=day) for name, day in (("one", 1), ("two", 2)))
    plain = tuple(moment.removesuffix("Z") for moment in one.cut.session.timestamps)
    session = type(one.cut.session)("one", "anthropic", {}, one.cut.session.messages, plain)
    pairs = foreign_pairs([prepared_of(session, one.cut.case.cut).cut, two.cut], size=9, seed=1)
    assert [pair.is_near for pair in pairs] == [True]


def test_a_corpus_that_was_not_asked_is_refused():
    """Windows that nobody asked about would all look rare."""
    line = "the reservation of seat twelve was released by the night porter before dawn"
    cases = [case(name, [line, noise(name)], ("old_string", line)) for name in ("one", "two")]
    pairs = foreign_pairs([case.cut for case in cases], size=9, seed=1)
    with pytest.raises(UsageError, match="foreign_windows"):
        foreign_future(pairs, cases, corpus_of(cases, set()), judges())
    far, _ = foreign_future(pairs, cases, corpus_of(cases, foreign_windows(pairs)), judges())
    assert "first: one after two: return" not in far.found
    assert not far.holds


def test_pairs_repeat_with_their_seed():
    """Whatever the order of the cases."""
    cuts = [case(name, [noise(name)], ("command", "look")).cut for name in NAMES]
    names = [(pair.prefix.place, pair.future.place) for pair in foreign_pairs(cuts, size=3, seed=5)]
    again = [(pair.prefix.place, pair.future.place) for pair in foreign_pairs(cuts[::-1], size=3, seed=5)]
    assert names == again
    assert len(names) == 3
