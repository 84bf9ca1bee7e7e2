"""Text in blocks, and a digest of it of a given size: what matters to the other side is kept, the rest is marked."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

PIECE = 400
"""Characters of one piece, which is shown or left out as a whole: some short lines, or a part of a long one."""
_MARK = len("[1,000,000 characters left out]") + 1
_WORD = re.compile(r"\w[\w./:@-]{3,}")


class Block(NamedTuple):
    """Lines under one heading. Those of a higher rank are shown before all of a lower one."""

    head: str
    lines: tuple[str, ...]
    rank: int = 0


class _Place(NamedTuple):
    """Where a piece stands, ordered by how much it is wanted: rank, shared rare words, then the newest."""

    rank: int
    score: float
    block: int
    piece: int


def words_of(blocks: Iterable[Block]) -> frozenset[str]:
    """Return the words of four characters and more."""
    return frozenset(word for block in blocks for line in block.lines for word in _WORD.findall(line))


def digest(blocks: Sequence[Block], most: int, words: frozenset[str]) -> str:
    """Return the blocks as text of at most `most` characters, and one mark; whole when they fit.

    Otherwise the pieces of the highest rank come first, among them those that share words with `words`, each word
    counting the less the more pieces have it, and then the newest.
    """
    pieces = [tuple(_pieces(block)) for block in blocks]
    chosen: list[set[int]] = [set() for _ in blocks]
    fits = sum(_size(block.head) + sum(map(_size, block.lines)) for block in blocks) <= most
    left = most
    for _, _, number, piece in sorted(_places(blocks, pieces, words), reverse=True):
        cost = _size(pieces[number][piece]) + _MARK + (0 if chosen[number] else _size(blocks[number].head))
        if fits or cost <= left:
            chosen[number].add(piece)
            left -= cost
    return "\n".join(_told(_rows(blocks, pieces, chosen)))


def _size(row: str) -> int:
    return len(row) + 1


def _pieces(block: Block) -> Iterator[str]:
    run = ""
    for line in block.lines:
        if run and len(run) + len(line) >= PIECE:
            yield run
            run = ""
        run = f"{run}\n{line}" if run else line
        while len(run) > PIECE:
            yield run[:PIECE]
            run = run[PIECE:]
    if run:
        yield run


def _places(blocks: Sequence[Block], pieces: Sequence[Sequence[str]], words: frozenset[str]) -> Iterator[_Place]:
    shared = [[words.intersection(_WORD.findall(piece)) for piece in block] for block in pieces]
    often = Counter(word for block in shared for found in block for word in found)
    for number, block in enumerate(shared):
        for piece, found in enumerate(block):
            yield _Place(blocks[number].rank, sum(1 / often[word] for word in sorted(found)), number, piece)


def _rows(blocks: Sequence[Block], pieces: Sequence[Sequence[str]], chosen: Sequence[set[int]]) -> Iterator[str | int]:
    """Yield what is shown, and for each piece that is not its length."""
    for number, block in enumerate(blocks):
        if chosen[number]:
            yield block.head
        yield from (row if place in chosen[number] else len(row) for place, row in enumerate(pieces[number]))


def _told(rows: Iterable[str | int]) -> Iterator[str]:
    for is_shown, run in groupby(rows, key=lambda row: isinstance(row, str)):
        if is_shown:
            yield from map(str, run)
        else:
            yield f"[{sum(map(int, run)):,} characters left out]"
