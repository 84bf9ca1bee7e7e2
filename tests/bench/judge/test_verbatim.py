"""Matcher B: windows of text, and the spans that a continuation takes from its prefix."""

from bench_world import agent, exchange, user
from selfgc.bench.cases import Case
from selfgc.bench.judge.produced import Place
from selfgc.bench.judge.verbatim import (
    CHANCE_WEIGHT,
    Held,
    Shares,
    bare_windows,
    message_windows,
    needed_spans,
    shared_windows,
    shares_of,
    windows,
)

SPAN = "the keeper of the northern tower counts every seat twice before the doors are opened at noon"


def case_of(prefix, continuation):
    return Case("s", len(prefix), tuple(prefix), tuple(continuation))


def spans_of(prefix, continuation, shares=None, known=frozenset()):
    case = case_of(prefix, continuation)
    return needed_spans(case, Held([*prefix, *continuation]), known, shares or Shares())


def test_a_window_has_five_words_or_twenty_four_characters():
    """It begins at every token, and ends where there is enough."""
    found = list(windows("one two three four five six"))
    assert found == ["one two three four five", "two three four five six"]
    assert next(windows("the averyveryverylongwordofthirty letters")) == "the averyveryverylongwordofthirty"


def test_ornaments_and_bare_numbers_are_no_windows():
    """A window needs two words of three letters."""
    assert list(windows("== -- ** -- == -- ** -- == -- ** -- == --")) == []
    assert list(windows("1 2 3 4 5 6 7 8 9")) == []


def test_blanks_and_line_breaks_make_no_difference():
    """Only tokens are compared."""
    assert set(windows("def total_of(rows):\n    return sum(rows)")) == set(
        windows("def total_of( rows ): return sum(rows)")
    )


def test_line_numbers_of_a_reader_are_left_out():
    """What was read with numbers is written without them."""
    numbered = "   12\treturn the number of seats\n   13\tin every row of the house"
    assert set(bare_windows(numbered)) == set(windows("return the number of seats\nin every row of the house"))


def test_very_long_lines_are_searched_when_somebody_may_read_them():
    """JSON and prose are; minified and encoded text is not."""
    assert list(windows("lamp;bell;" * 300)) == []
    assert list(windows('["lamp","bell"]' * 300))
    assert list(windows("lamp bell " * 300))
    assert len(list(windows("lamp;bell;" * 300 + "\none two three four five"))) == 1


def test_a_message_holds_the_windows_of_all_its_texts():
    """Arguments and results alike."""
    call, result = exchange(1, "Bash", {"command": SPAN}, "and the lamp stays lit until the morning bell")
    assert set(windows(SPAN)) <= message_windows(call)
    assert set(windows("and the lamp stays lit until the morning bell")) <= message_windows(result)


def test_a_long_span_of_an_answer_is_needed():
    """It stands in the prefix alone, and the agent gives it word for word."""
    (span,) = spans_of(
        [user("x"), *exchange(1, "Read", {"file_path": "/a"}, SPAN)], [user("and?"), agent(f"So: {SPAN}.")]
    )
    assert (span.text, span.place, span.weight, span.step) == (SPAN, Place.ANSWER, 0.8, 1)


def test_a_short_span_weighs_as_much_as_chance():
    """Agents write such spans without having seen them."""
    (span,) = spans_of(
        [user("x"), *exchange(1, "Read", {"file_path": "/a"}, SPAN)],
        [user("and?"), agent("counts every seat twice before")],
    )
    assert (span.weight, span.face_weight) == (CHANCE_WEIGHT, 0.8)


def test_a_span_in_a_written_body_weighs_as_much_as_chance():
    """However long it is; what an edit had to match weighs in full."""
    prefix = [user("x"), *exchange(1, "Read", {"file_path": "/a"}, SPAN)]
    wrote = exchange(2, "Write", {"file_path": "/b", "content": SPAN}, "ok")
    edited = exchange(2, "Edit", {"file_path": "/b", "old_string": SPAN, "new_string": "x"}, "ok")
    assert [(span.weight, span.face_weight) for span in spans_of(prefix, [user("y"), *wrote])] == [(CHANCE_WEIGHT, 0.5)]
    assert [span.weight for span in spans_of(prefix, [user("y"), *edited])] == [1.0]


def test_what_is_known_or_common_is_not_needed():
    """Known windows every view holds; common ones other sessions hold too."""
    prefix, future = [user("x"), *exchange(1, "Read", {"file_path": "/a"}, SPAN)], [user("and?"), agent(SPAN)]
    assert spans_of(prefix, future, known=frozenset(windows(SPAN))) == []
    shares = shares_of([("s", prefix), ("t", prefix), ("u", [])], frozenset(windows(SPAN)))
    assert spans_of(prefix, future, shares) == []
    assert shares.is_rare(next(windows(SPAN)), "s", {"t"})


def test_a_path_argument_is_left_to_matcher_a():
    """It knows that a path can be put together."""
    path = "/srv/shop/prices/of/the/northern/tower/row_plan.py"
    prefix = [user("x"), *exchange(1, "Bash", {"command": "find"}, path)]
    assert spans_of(prefix, [user("y"), *exchange(2, "Read", {"file_path": path}, "ok")]) == []


def test_what_was_shown_again_meanwhile_is_not_needed():
    """A result of the continuation makes it known."""
    prefix = [user("x"), *exchange(1, "Read", {"file_path": "/a"}, SPAN)]
    again = exchange(2, "Read", {"file_path": "/a"}, SPAN)
    assert spans_of(prefix, [user("y"), *again, agent(SPAN)]) == []


def test_a_run_is_split_where_no_message_holds_both_halves():
    """Two neighbours in the agent's text may come from two places."""
    first, second = SPAN, "while the ferry waits below the bridge for the last of the passengers to come aboard"
    prefix = [
        user("x"),
        *exchange(1, "Read", {"file_path": "/a"}, first),
        *exchange(2, "Read", {"file_path": "/b"}, second),
    ]
    future = [user("y"), agent(f"{first} {second}")]
    runs = [run for _, _, _, run in shared_windows(case_of(prefix, future), Held([*prefix, *future]), set())]
    assert len(runs) == 2
    assert not set(runs[0]) & set(runs[1])


def test_what_the_harness_had_summed_up_is_no_source():
    """The agent was not sent what stands before a compaction, so it cannot have needed it from there."""
    compacted = user("This session is being continued from a previous conversation that ran out of context.")
    prefix = [user("x"), *exchange(1, "Read", {"file_path": "/a"}, SPAN), compacted]
    assert spans_of(prefix, [user("y"), agent(SPAN)]) == []
