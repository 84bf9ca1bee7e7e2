"""Reading: texts and windows of messages and payloads, each worked out once."""

import hashlib

import bench_world as world
from selfgc.bench.governed import Restorable
from selfgc.bench.judge.produced import Place
from selfgc.bench.judge.reading import Reading, message_key
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.uses import Use
from selfgc.bench.judge.verbatim import Span, windows


class Words:
    """Counts words, and how often it was asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, text):
        self.asked += 1
        return len(text.split())


def use(anchor, kind=Kind.IDENTIFIER):
    return Use(anchor, kind, 1, 1.0, Place.ARGUMENT, "Bash.command")


def span(text):
    return Span(text, tuple(windows(text)), 1, 1.0, 1.0, Place.EXACT, "Edit.old_string")


def payload(text, sha256=None):
    data = text.encode()
    return Restorable("function:Read:1", data, sha256 or hashlib.sha256(data).hexdigest())


def test_a_view_shows_anchors_and_spans():
    """Both matchers look in the same messages."""
    seen = Reading(Words()).view(world.messages())
    assert seen.holds(use("reserve_seat_twice"))
    assert seen.holds(span(world.OLD_LINE))
    assert not seen.holds(use("reserve_seat_thrice"))
    assert seen.missing(span("a stretch of words that nobody has ever written in this session"))


def test_a_message_is_counted_once():
    """However often it stands in a view."""
    count = Words()
    reading = Reading(count)
    assert reading.tokens(world.messages()) == reading.tokens(world.messages())
    assert count.asked == len({message_key(message) for message in world.messages()})


def test_the_order_of_members_does_not_name_another_message():
    """A rendering may write them in another order."""
    assert message_key({"role": "user", "content": "x"}) == message_key({"content": "x", "role": "user"})


def test_a_payload_is_read_as_it_was_promised():
    """Line numbers are left out; a payload with another hash holds nothing."""
    reading = Reading(Words())
    assert reading.payload(payload(f"  1\t{world.OLD_LINE}")).holds(span(world.OLD_LINE))
    assert not reading.payload(payload(world.OLD_LINE, "0" * 64)).holds(span(world.OLD_LINE))
    assert reading.size(payload("three words here")) == reading.size(payload("three words here")) == 3


def test_the_windows_of_one_message_can_be_had():
    """As matcher B sees them."""
    assert set(windows(world.ONCE_SHOWN)) <= Reading(Words()).windows(world.agent(world.ONCE_SHOWN))
