"""Digests: everything when it fits, else what matters, and marks for the rest."""

import pytest

from selfgc.bench.scorecard.digest import PIECE, Block, digest, words_of

ROWS = tuple(
    f"row {number} is about nothing in particular, and goes on for some more words than that" for number in range(60)
)


def test_what_fits_is_shown_whole():
    """Heads and lines in order, no mark."""
    assert digest([Block("one", ("a", "b")), Block("two", ("c",))], 100, frozenset()) == "one\na\nb\ntwo\nc"
    assert digest([], 100, frozenset()) == ""


def test_lines_that_share_rare_words_come_first():
    """A word that few lines have counts more than one that all have."""
    lines = (*ROWS, "the port is zx-9431 here", *ROWS)
    text = digest([Block("log", lines)], 1_000, words_of([Block("", ("zx-9431 particular",))]))
    assert "zx-9431" in text
    assert "characters left out]" in text


def test_without_shared_words_the_newest_come_first():
    """The end of the last block is kept."""
    text = digest([Block("old", ROWS), Block("new", ROWS)], 1_500, frozenset())
    assert text.endswith("\n".join(ROWS[-8:]))
    assert text.count("nothing in particular") < 20


def test_a_higher_rank_comes_before_everything():
    """Even before lines with shared words."""
    blocks = [Block("pointer", ("[folded, see 1]",), 2), Block("log", ROWS), Block("last", ("zx-9431",))]
    assert "[folded, see 1]" in digest(blocks, 60, frozenset({"zx-9431"}))


@pytest.mark.parametrize("most", [0, 50, 1_000, 5_000])
def test_the_size_is_kept(most):
    """But for one mark, a digest is no longer than it may be, and tells how much is missing."""
    blocks = [Block(f"block {number}", (*ROWS, "x" * 5 * PIECE)) for number in range(5)]
    text = digest(blocks, most, frozenset({"particular"}))
    assert len(text) <= most + 40
    assert "characters left out]" in text


def test_a_long_line_is_taken_in_pieces():
    """So that the part that matters is shown without the rest."""
    line = "a" * 3 * PIECE + " needle-77 " + "b" * 3 * PIECE
    text = digest([Block("one", (line,))], 2 * PIECE, frozenset({"needle-77"}))
    assert "needle-77" in text
    assert len(text) < len(line) / 2
