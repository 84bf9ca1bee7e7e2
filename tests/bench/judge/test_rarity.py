"""The rarity filter over a corpus of sessions."""

from selfgc.bench.judge.rarity import Rarity, rarity_of


def said(words):
    return [{"role": "user", "content": words}]


def printed(words):
    return [{"role": "tool", "content": words}]


def test_an_anchor_of_another_session_is_common():
    """What a second session holds as well is no sign of this one; what only this one holds is rare."""
    rarity = rarity_of([("a", said("reserve_seat row_view")), ("b", said("reserve_seat"))])
    assert not rarity.is_rare("reserve_seat", "a")
    assert rarity.is_rare("row_view", "a")
    assert not rarity.is_rare("row_view", "b")
    assert rarity.is_rare("never_seen", "a")


def test_in_a_large_corpus_one_percent_may_hold_it():
    """With 200 other sessions an anchor may stand in two of them, not in three."""
    corpus = [(f"s{number}", said("row_view" if number < 3 else "nothing")) for number in range(201)]
    rarity = rarity_of(corpus)
    assert rarity.is_rare("row_view", "s0")
    assert not rarity.is_rare("row_view", "s9")


def test_ignored_sessions_do_not_count():
    """A foreign continuation is judged as if its session were not in the corpus; unknown names change nothing."""
    rarity = rarity_of([("a", said("nothing")), ("b", said("reserve_seat"))])
    assert rarity.ignoring("b", "unknown").is_rare("reserve_seat", "a")
    assert not rarity.is_rare("reserve_seat", "a")


def test_lines_are_compared_without_the_readers_line_numbers():
    """A file's line is the same with and without the number that a tool prints before it."""
    rarity = rarity_of([("a", said("x")), ("b", printed("  12\treturn seats\n7: raise full\n2024 seats sold"))])
    assert not rarity.is_rare("return seats", "a")
    assert not rarity.is_rare("raise full", "a")
    assert not rarity.is_rare("2024 seats sold", "a")


def test_a_path_is_common_under_any_root():
    """The endings of another session's paths are common too; names within a path count as seen."""
    rarity = rarity_of([("a", said("x")), ("b", said("/srv/shop/seats/row_view.py"))])
    assert not rarity.is_rare("seats/row_view.py", "a")
    assert not rarity.is_rare("row_view", "a")
    assert rarity.is_rare("/home/shop/seats/row_view.py", "a")


def test_without_a_corpus_everything_is_rare():
    """The empty filter lets every anchor pass."""
    assert Rarity().is_rare("reserve_seat", "a")


def test_the_order_of_the_corpus_changes_nothing():
    """The same sessions in another order give the same answers."""
    corpus = [("a", said("reserve_seat")), ("b", said("reserve_seat row_view")), ("c", said("seat_plan"))]
    one, other = rarity_of(corpus), rarity_of(reversed(corpus))
    for anchor in ("reserve_seat", "row_view", "seat_plan"):
        for name in "abc":
            assert one.is_rare(anchor, name) == other.is_rare(anchor, name)
