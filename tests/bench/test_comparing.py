"""Running arms over cases: judgements, faults, and going on where a run ended."""

import sys

import pytest

import bench_world as world
from selfgc.bench.arms.registry import arms_named
from selfgc.bench.comparing import Order, _works, close_arms, compare, is_valid, key_of, orders_of, run_work
from selfgc.bench.preparing import prepare
from selfgc.bench.sessions import read_session


@pytest.fixture
def found(tmp_path):
    world.write_session(tmp_path / "mine")
    (made,) = prepare([tmp_path / "mine"], [], workers=1, store=None, step=lambda _: None)
    yield made
    close_arms()


def judged(found, orders, done=frozenset()):
    return [one for work in _works(found, orders, done) for one in run_work(work)]


def test_every_arm_is_judged_at_its_default_and_at_each_rate(found):
    """Where it has a knob."""
    orders = orders_of(arms_named("none,reachability"), [0.3], None)
    points = [(one.subject, one.rate) for one in judged(found, orders) if one.cut == world.CUT]
    assert points == [("none", None), ("reachability", None), ("reachability", 0.3)]


def test_identity_loses_nothing_and_deletion_does(found):
    """The two ends of every table."""
    one = {
        one.subject: one
        for one in judged(found, orders_of(arms_named("none,delete-all"), [], None))
        if one.cut == world.CUT
    }
    assert one["none"].both.s0
    assert one["none"].prune == 0
    assert not one["delete-all"].both.s0
    assert one["delete-all"].is_valid
    assert one["delete-all"].seconds > 0


def test_an_arm_that_fails_is_judged_as_if_it_had_done_nothing(found):
    """Its fault is in the record."""
    broken = Order("broken", (sys.executable, "-c", "raise SystemExit('no idea')"), (None,))
    (one,) = [one for one in judged(found, [broken]) if one.cut == world.CUT]
    assert "no idea" in one.fault
    assert one.prune == 0


def test_what_was_judged_is_not_judged_again(found):
    """A run that was cut off goes on."""
    orders = orders_of(arms_named("none,delete-all"), [], None)
    first = judged(found, orders)
    done = frozenset(key_of(one) for one in first if one.subject == "none")
    assert {one.subject for one in judged(found, orders, done)} == {"delete-all"}


def test_workers_give_the_same(found):
    """One list a session."""
    orders = orders_of(arms_named("none"), [], None)
    (batch,) = compare([found], orders, frozenset(), workers=1)
    assert [key_of(one) for one in batch] == [key_of(one) for one in judged(found, orders)]


def test_a_view_is_checked_by_the_providers_rules(found, tmp_path):
    """A result without its call is refused."""
    session = read_session(tmp_path / "mine" / "one.json")
    assert is_valid(session, world.messages())
    assert not is_valid(session, world.messages()[2:])
