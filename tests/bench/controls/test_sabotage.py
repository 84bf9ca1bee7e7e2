"""Sabotage is caught, and a judge that overlooks it fails the control."""

import hashlib

from control_cases import NAMES, judges, needing
from selfgc.bench.controls.sabotage import sabotage, wording
from selfgc.bench.governed import Restorable

CASES = [needing("one"), needing("two", NAMES[3:])]


class _Trusting:
    """Believes every digest: it makes them right before it judges."""

    def __init__(self):
        self._judges = judges()

    def judge(self, case, messages, payloads=()):
        return self._judges.judge(case, messages, [_promised(item) for item in payloads])

    def seen(self, cut, messages):
        return self._judges.seen(cut, messages)


class _Literal(_Trusting):
    """Reads pointers in one wording only."""

    def judge(self, case, messages, payloads=()):
        read = any(str(message.get("content")).startswith("[folded") for message in messages)
        return self._judges.judge(case, messages, payloads if read else ())


def _promised(item):
    return Restorable(item.id, item.payload, hashlib.sha256(item.payload).hexdigest())


def test_every_damage_is_caught():
    """Flipped byte, lost payload, pointer without id or words, swapped bytes and payloads."""
    record = sabotage(CASES, judges(), size=9, seed=1)
    assert record.holds, record.found
    assert record.found.startswith(
        "2 of 2 folds recoverable before; caught of 2: flipped byte 2, lost payload 2, dropped pointer 2, id only 2, "
        "swapped bytes 2, swapped payloads 2; "
    )


def test_a_judge_that_believes_digests_fails():
    """A flipped byte away from the need is overlooked then."""
    record = sabotage(CASES, _Trusting(), size=9, seed=1)
    assert not record.holds
    assert "first: flipped byte in" in record.found


def test_wording_changes_nothing():
    """Other words with the same facts lead to the same payload."""
    assert wording(CASES, judges(), size=9, seed=1).holds


def test_a_judge_that_reads_one_wording_fails():
    """The other wording leads nowhere for it."""
    record = wording(CASES, _Literal(), size=9, seed=1)
    assert not record.holds
    assert record.found.startswith("2 of 2 verdicts differ")


def test_without_folds_nothing_is_shown():
    """Neither control holds over nothing."""
    assert not sabotage([], judges(), size=9, seed=1).holds
    assert not wording([], judges(), size=9, seed=1).holds
