"""The prefix cache: what is read, written and uncached of each request."""

import pytest

from selfgc.testing import CacheRules
from selfgc.testing.prefix_cache import LIFETIME, LONG_LIFETIME, PrefixCache, Segment, Usage, quarter


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def cache(clock=None, **rules):
    """Ten tokens a segment, whatever it says."""
    return PrefixCache(CacheRules(**rules), lambda _text: 10, clock or Clock())


def row(words, *marked, lifetime=LIFETIME):
    """Segments of single letters; those in `marked` carry a mark."""
    return [Segment(word, lifetime if word in marked else 0.0) for word in words]


def test_a_marked_prefix_is_written_and_then_read():
    """The second request reads what the first wrote, writes up to its own mark, and pays the rest in full."""
    held = cache()
    assert held.use("m", row("abc", "b")) == Usage(0, 20, 0, 10)
    assert held.use("m", row("abcde", "b", "d")) == Usage(20, 20, 0, 10)
    assert held.use("m", row("abcde", "d")) == Usage(40, 0, 0, 10)


def test_without_a_mark_nothing_is_cached():
    """A request that marks nothing reads nothing, though its prefix is known."""
    held = cache()
    held.use("m", row("abc", "c"))
    assert held.use("m", row("abc")) == Usage(0, 0, 0, 30)


def test_a_change_breaks_the_prefix_from_there():
    """What was written before the change is still read."""
    held = cache()
    held.use("m", row("abcd", "b", "d"))
    assert held.use("m", row("abXd", "b", "d")) == Usage(20, 20, 0, 0)
    assert held.use("m", row("Xbcd", "b", "d")) == Usage(0, 40, 0, 0)


def test_models_have_caches_of_their_own():
    """The same prefix under another model is a new one."""
    held = cache()
    held.use("m", row("ab", "b"))
    assert held.use("n", row("ab", "b")).read == 0


@pytest.mark.parametrize(("lookback", "read"), [(3, 10), (2, 0)])
def test_a_mark_looks_back_so_many_segments_and_no_further(lookback, read):
    """A mark that has moved too far ahead misses what was written before."""
    held = cache(lookback=lookback)
    held.use("m", row("a", "a"))
    assert held.use("m", row("abc", "c")).read == read


def test_below_the_minimum_nothing_is_kept_and_nothing_read():
    """No error either: the provider says nothing about it."""
    held = cache(minimum=30)
    assert held.use("m", row("ab", "b")) == Usage(0, 0, 0, 20)
    assert held.use("m", row("abc", "b", "c")) == Usage(0, 30, 0, 0)
    assert held.use("m", row("abc", "b", "c")) == Usage(30, 0, 0, 0)


def test_entries_live_for_their_lifetime_and_a_read_renews_it():
    """Counted from the start of the request that last wrote or read them."""
    clock = Clock()
    held = cache(clock)
    held.use("m", row("a", "a"))
    clock.now += LIFETIME - 1
    assert held.use("m", row("ab", "b")).read == 10
    clock.now += LIFETIME - 1
    assert held.use("m", row("aX", "X")).read == 10
    clock.now += LIFETIME
    assert held.use("m", row("aX", "X")).read == 0


def test_the_long_lifetime_is_counted_apart():
    """And it lasts longer, also when a request reads it through another mark."""
    clock = Clock()
    held = cache(clock)
    segments = [*row("a", "a", lifetime=LONG_LIFETIME), *row("b", "b")]
    assert held.use("m", segments) == Usage(0, 10, 10, 0)
    clock.now += LIFETIME
    assert held.use("m", segments) == Usage(10, 10, 0, 0)
    clock.now += LIFETIME
    assert held.use("m", row("ac", "c")) == Usage(10, 10, 0, 0)
    clock.now += LONG_LIFETIME - 1
    assert held.use("m", row("ad", "d")).read == 10


def test_an_automatic_cache_reads_the_longest_prefix_in_steps():
    """No look-back, and the tokens that are read are a multiple of the step; nothing is billed as written."""
    held = cache(lookback=1, step=16)
    segments = row("abcdefgh", *"abcdefgh")
    assert held.use("m", segments, is_automatic=True) == Usage(0, 0, 0, 80)
    longer = row("abcdeXYZUVW", *"abcdeXYZUVW")
    assert held.use("m", longer, is_automatic=True) == Usage(48, 0, 0, 62)
    assert held.use("m", longer, is_automatic=True).total == 110


def test_segments_are_told_apart_where_they_end():
    """The same text cut elsewhere is another prefix."""
    held = cache()
    held.use("m", [Segment("ab"), Segment("c", LIFETIME)])
    assert held.use("m", [Segment("a"), Segment("bc", LIFETIME)]).read == 0


def test_an_empty_request_costs_nothing():
    """No segment, no token."""
    assert cache().use("m", []) == Usage(0, 0, 0, 0)
    assert quarter("four" * 3) == 3
