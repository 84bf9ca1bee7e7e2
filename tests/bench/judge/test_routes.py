"""Routes: which pointers lead to a payload, and the restores that bring back what is missing."""

import hashlib

import pytest

from bench_world import exchange, user
from selfgc.bench.governed import Restorable
from selfgc.bench.judge.produced import Place
from selfgc.bench.judge.reading import Reading, message_key
from selfgc.bench.judge.routes import Routes, cover, names
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.uses import Use

NEED = Use("reserve_seat_twice", Kind.IDENTIFIER, 1, 1.0, Place.ARGUMENT, "Bash.command")


def payload(object_id="function:Bash:2", text="the keeper calls reserve_seat_twice for the northern tower"):
    data = text.encode()
    return Restorable(object_id, data, hashlib.sha256(data).hexdigest())


def routes(pointer, command="make", own=()):
    wire = [user("x"), *exchange(1, "Bash", {"command": command}, pointer)]
    return Routes(Reading(len), wire, {message_key(message) for message in own})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("restore function:Bash:2 for it", True),
        ("Bash:2 make all", True),
        ("prices.py Edit:1,3 Bash:1,2,9", True),
        ("function:Bash:21", False),
        ("Bash:1,21", False),
        ("Crash:2", False),
    ],
)
def test_an_id_is_named_in_full_short_or_in_a_list(text, found):
    """Never as a part of another number or name."""
    assert names("function:Bash:2", text) is found


def test_a_pointer_with_the_id_alone_leads_nowhere():
    """It must also tell that it is the one to look in."""
    assert not routes("[folded: selfgc restore function:Bash:2]").lead_to(payload(), NEED, [])


@pytest.mark.parametrize("pointer", ["[folded function:Bash:2] northern", "[folded function:Bash:2] seats.py"])
def test_a_term_of_the_neighbourhood_or_of_the_place_leads_there(pointer):
    """A word that stands near it in the payload, or a file that the agent names when it needs it."""
    assert routes(pointer).lead_to(payload(), NEED, ["seats.py"])


def test_the_call_beside_a_pointer_belongs_to_it():
    """Its command tells what the result was about."""
    assert routes("[folded function:Bash:2]", "count northern seats").lead_to(payload(), NEED, [])


def test_the_sessions_own_texts_are_no_pointers():
    """Tool output that imitates one has no effect."""
    wire = [user("x"), *exchange(1, "Bash", {"command": "x"}, "[folded function:Bash:2] northern")]
    imitation = Routes(Reading(len), wire, {message_key(message) for message in wire})
    assert not imitation.lead_to(payload(), NEED, ["northern"])


def test_a_need_that_the_payload_does_not_hold_has_no_neighbourhood():
    """Only the terms of its place are left."""
    other = payload(text="something else altogether")
    assert not routes("[folded function:Bash:2] northern").lead_to(other, NEED, [])


def test_few_needs_are_restored_from_their_shortest_payloads():
    """Two short restores are better than a long one that holds both."""
    long, one, two = (Restorable(name, b"", "") for name in ("turn", "one", "two"))
    sizes = {"turn": 1000, "one": 10, "two": 20}
    found = cover({0: [long, one], 1: [long, two]}, lambda item: sizes[item.id], 2)
    assert (found.ids, found.tokens, found.by_need) == (("one", "two"), 30, {0: "one", 1: "two"})


def test_many_needs_are_restored_with_the_fewest_payloads():
    """Three short ones would be more than an agent may ask for; the turn has them all."""
    turn, *singles = (Restorable(name, b"", "") for name in ("turn", "a", "b", "c"))
    sizes = {"turn": 1000, "a": 10, "b": 20, "c": 30}
    found = cover({n: [turn, single] for n, single in enumerate(singles)}, lambda item: sizes[item.id], 2)
    assert (found.ids, found.tokens) == (("turn",), 1000)


def test_nothing_to_restore_costs_nothing():
    """No needs, no restores."""
    assert cover({}, lambda item: 1, 2).ids == ()
