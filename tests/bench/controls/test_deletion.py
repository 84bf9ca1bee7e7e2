"""Controls by deletion hold for a right judge, and fail for one with a fault."""

import msgspec
import pytest

from control_cases import NAMES, judges, needing, prepared_of, session_of, vacuous
from selfgc.bench.controls.deletion import delete_all, identity, placebo, random_deletion
from selfgc.bench.controls.prepared import Prepared
from selfgc.bench.judge.produced import Place
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.uses import Use
from selfgc.bench.judge.verbatim import Span


@pytest.fixture
def cases():
    return [needing("one"), needing("two", NAMES[3:]), vacuous()]


def with_need(case, need):
    key = "spans" if isinstance(need, Span) else "uses"
    return Prepared(case.cut, msgspec.structs.replace(case.needs, **{key: (need,)}))


def use(text, kind=Kind.IDENTIFIER):
    return Use(text, kind, 1, 1.0, Place.ARGUMENT, "tool.x")


def test_identity_is_whole(cases):
    """Nothing deleted: every case, by each matcher."""
    record = identity(cases, judges())
    assert record.holds
    assert record.found == "S0 A 100.00 %, B 100.00 %, united 100.00 %, face 100.00 % of 3 cases"


def test_identity_catches_a_need_that_the_prefix_never_held(cases):
    """A single miss fails it, and is told."""
    record = identity([*cases, with_need(cases[0], use("never_there"))], judges())
    assert not record.holds
    assert "first: one at" in record.found


def test_deleting_everything_loses_every_case(cases):
    """Vacuous cases do not count; a case whose need stands in the tail fails the control."""
    record = delete_all(cases, judges())
    assert record.holds
    assert record.found.startswith("A 0.00 % of 2, B 0.00 % of 2")
    in_tail = with_need(cases[0], use("ready"))
    assert not delete_all([in_tail], judges()).holds


def test_random_deletion_falls_as_it_must(cases):
    """Each single-source need survives in exactly the share of draws that keeps its message."""
    record = random_deletion(cases, judges(), size=9, seed=3)
    assert record.holds
    assert "single-source survival 0.90 0.80 0.70 0.60 0.50 0.40 0.30 0.20 0.10" in record.found
    assert "2 non-vacuous cases" in record.found


def test_random_deletion_catches_needs_that_outlive_their_source():
    """Plain text of one message that another shows in another spelling is no single source: survival tells."""
    outputs = ["due are 48213.7 lanterns", "due are 48,213.70 lanterns"]
    case = prepared_of(*session_of("one", outputs, ("command", "pay 48213.7")))
    record = random_deletion([case], judges(), size=9, seed=5)
    assert not record.holds
    assert "1 single-source needs" in record.found


def test_random_deletion_needs_something_to_follow():
    """With vacuous cases alone nothing was shown, so the control does not hold."""
    assert not random_deletion([vacuous()], judges(), size=9, seed=3).holds


def test_paths_are_no_single_sources(cases):
    """They may be put together from two places, so their survival says nothing."""
    with_path = with_need(cases[0], use("/srv/shop/one.py", Kind.PATH))
    spans_gone = Prepared(with_path.cut, msgspec.structs.replace(with_path.needs, spans=()))
    assert "0 single-source needs" in random_deletion([spans_gone], judges(), size=1, seed=3).found


def test_many_needs_are_sampled(cases, monkeypatch):
    """Of a case with more needs than are followed, some are drawn."""
    monkeypatch.setattr("selfgc.bench.controls.deletion.MOST_NEEDS", 2)
    record = random_deletion(cases, judges(), size=1, seed=3)
    assert record.holds
    assert "2 single-source needs" in record.found or "1 single-source needs" in record.found


def test_a_placebo_is_as_bad_as_deletion(cases):
    """Text of the same length that says nothing changes no verdict."""
    record = placebo(cases, judges(), size=9, seed=3)
    assert record.holds
    assert record.found.startswith("0 of 2 verdicts differ")


def test_a_placebo_that_helps_is_caught(cases, monkeypatch):
    """A filler with a needed name in it makes another verdict."""
    monkeypatch.setattr("selfgc.bench.controls.deletion._FILLER", " ".join(NAMES))
    record = placebo(cases, judges(), size=9, seed=3)
    assert not record.holds
    assert "first: " in record.found
