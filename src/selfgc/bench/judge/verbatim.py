"""Matcher B: verbatim spans, whatever they are. It knows no pattern of an anchor.

A window is the shortest run of whole tokens from a given token on that has `WINDOW_WORDS` words or
`WINDOW_CHARACTERS` characters without blanks. Windows of one text overlap; a span is a maximal run of windows
that the agent's text shares with the prefix.

1. Texts are compared as tokens: words and single signs, NFKC, blanks and line breaks left out, and without the
   line numbers that file readers print.
2. A window is needed when it occurs in the prefix, is not yet known, and is rare in the corpus.
3. A span is needed when a window of it is. It is visible when all its needed windows are.
4. Each window is tested once, at its first use; of several uses in one message at the heaviest.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.judge.produced import Form, Place, pieces, weight_of
from selfgc.bench.judge.rarity import MAX_SHARE
from selfgc.bench.judge.typed import Kind
from selfgc.bench.texts import Decoded, Leaf, Source, compatible, leaves, searchable

WINDOW_WORDS = 5
WINDOW_CHARACTERS = 24
TELLING_CHARACTERS = 40
"""Characters without blanks. Where a harness had compacted the context, agents wrote shorter spans, and spans of any
length in bodies, as often when their source was out of sight as when it was in view (`chance.py`): such spans tell of
no need. What an edit had to match does, however short."""
CHANCE_WEIGHT = 0.3
"""What such a span weighs: it counts in the survival of weights, not in verdicts."""
LEAST_WORDS = 2
"""A window with fewer words of three letters is an ornament or a number, not text."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_GUTTER = re.compile(r"^[ \t]*\d+(?:\t|→|[:-](?=\s)|: )", re.MULTILINE)


class Span(msgspec.Struct, frozen=True):
    """One verbatim stretch that the agent took from the prefix."""

    text: str
    """The stretch, its tokens with blanks between them."""
    windows: tuple[str, ...]
    """Those windows of it that are needed."""
    step: int
    weight: float
    """What it counts in verdicts, 0 to 1."""
    face_weight: float
    """What it would count if every span that the prefix holds had come from there."""
    place: Place
    where: str


def windows(text: str) -> Iterator[str]:
    """Yield the windows of a text in order."""
    tokens = _TOKEN.findall(compatible(searchable(text)))
    end = characters = words = 0
    for start, first in enumerate(tokens):
        while end < len(tokens) and words < WINDOW_WORDS and characters < WINDOW_CHARACTERS:
            characters += len(tokens[end])
            words += _is_word(tokens[end])
            end += 1
        if words < WINDOW_WORDS and characters < WINDOW_CHARACTERS:
            return
        run = tokens[start:end]
        characters -= len(first)
        words -= _is_word(first)
        if sum(len(token) > 2 and not token.isdigit() for token in run) >= LEAST_WORDS:
            yield " ".join(run)


def message_windows(message: Decoded) -> set[str]:
    """Return the windows of every text of a message."""
    return set(chain.from_iterable(windows(_bare(leaf)) for leaf in leaves(message)))


def bare_windows(text: str) -> Iterator[str]:
    """Yield the windows of what a tool gave back, without the line numbers that a reader printed."""
    return windows(_GUTTER.sub("", text))


def used_windows(message: Decoded) -> Iterator[tuple[list[str], Place, str]]:
    """Yield the windows of what the agent produced in a message, piece by piece, with place and where.

    A path argument is left to matcher A, which knows that a path may be put together from a folder and an ending.
    """
    for piece in pieces(message):
        found = list(windows(piece.text)) if piece.form is not Form.PATH else []
        if found:
            yield found, piece.place, piece.where


class Shares(msgspec.Struct, frozen=True):
    """In how many sessions of a corpus each window occurs; only windows that were asked for are in it."""

    sessions: tuple[str, ...] = ()
    holders: Mapping[str, frozenset[str]] = {}
    """By window, the sessions that hold it."""

    def is_rare(self, window: str, session: str, ignored: AbstractSet[str] = frozenset()) -> bool:
        """Whether at most `MAX_SHARE` of the sessions other than `session` (and the ignored) hold the window."""
        away = {session, *ignored}
        others = sum(name not in away for name in self.sessions)
        return sum(name not in away for name in self.holders.get(window, ())) <= MAX_SHARE * others


def shares_of(sessions: Iterable[tuple[str, Sequence[Decoded]]], asked: AbstractSet[str]) -> Shares:
    """Return in which sessions of a corpus the windows that are asked for occur."""
    names: list[str] = []
    holders: dict[str, set[str]] = {}
    for name, messages in sessions:
        names.append(name)
        for text in {_bare(leaf) for message in messages for leaf in leaves(message)}:
            for window in set(windows(text)) & asked:
                holders.setdefault(window, set()).add(name)
    return Shares(tuple(names), {window: frozenset(found) for window, found in holders.items()})


class Held:
    """The windows of each message of a session, and the messages that hold a window."""

    def __init__(self, messages: Sequence[Decoded]) -> None:
        self._by_message = [frozenset(message_windows(message)) for message in messages]
        self._where: dict[str, frozenset[int]] = {}

    def between(self, start: int, end: int) -> set[str]:
        """Return the windows of the messages from one index up to another."""
        return set().union(*self._by_message[start:end])

    def messages(self, window: str) -> frozenset[int]:
        """Return the indices of the messages that hold a window."""
        if window not in self._where:
            self._where[window] = frozenset(n for n, held in enumerate(self._by_message) if window in held)
        return self._where[window]


def shared_windows(case: Case, held: Held, known: AbstractSet[str]) -> Iterator[tuple[int, Place, str, list[str]]]:
    """Yield, by teacher forcing, the runs of windows that the continuation takes from one message of the prefix.

    `known` are the windows that every view holds. Each run comes with its step, place and where.
    """
    first = len(case.prefix) - len(case.in_view)
    prefix = held.between(first, case.cut)
    seen = set(known)
    step = 0
    for message in case.continuation:
        step += message.get("role") == "assistant"
        used: set[str] = set()
        for found, place, where in used_windows(message):
            used.update(found)
            for run in _runs(found, prefix, seen):
                for piece in _by_message(run, held, range(first, case.cut)):
                    yield step, place, where, piece
        seen |= used
        seen |= message_windows(message)


def _runs(found: Sequence[str], prefix: AbstractSet[str], seen: AbstractSet[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for window in found:
        if window in prefix and window not in seen:
            run.append(window)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _by_message(run: Sequence[str], held: Held, allowed: range) -> Iterator[list[str]]:
    """Split a run where no single message holds what came before and the next window as well."""
    piece: list[str] = []
    holders: frozenset[int] = frozenset()
    for window in run:
        here = held.messages(window).intersection(allowed)
        if piece and not holders & here:
            yield piece
            piece = []
        holders = holders & here if piece else here
        piece.append(window)
    if piece:
        yield piece


def needed_spans(case: Case, held: Held, known: AbstractSet[str], shares: Shares) -> list[Span]:
    """Return the needed spans of a case in order."""
    spans = []
    tested: set[str] = set()
    found = [(step, place, where, run, _joined(run)) for step, place, where, run in shared_windows(case, held, known)]
    for step, place, where, run, text in sorted(found, key=_heaviest_first):
        needed = [window for window in run if window not in tested and shares.is_rare(window, case.session)]
        tested.update(run)
        if needed:
            spans.append(
                Span(
                    text=text,
                    windows=tuple(dict.fromkeys(needed)),
                    step=step,
                    weight=_weight(place, text),
                    face_weight=weight_of(place, Kind.QUOTED),
                    place=place,
                    where=where,
                )
            )
    return spans


def _heaviest_first(found: tuple[int, Place, str, list[str], str]) -> tuple[int, float, int, str, str, str]:
    step, place, where, _, text = found
    return step, -_weight(place, text), -len(text), text, place.value, where


def _weight(place: Place, text: str) -> float:
    """Return what a span weighs: as its place says, but no more than chance where chance writes as much."""
    weight = weight_of(place, Kind.QUOTED)
    is_telling = place is not Place.WRITTEN and len(text) - text.count(" ") >= TELLING_CHARACTERS
    return weight if is_telling or place is Place.EXACT else min(weight, CHANCE_WEIGHT)


def _joined(run: Sequence[str]) -> str:
    """Return the text that a run of overlapping windows spells: the first window, and the last token of each next."""
    text = run[0]
    for window in run[1:]:
        tokens = window.split(" ")
        overlap = next((cut for cut in range(len(tokens), 0, -1) if text.endswith(" ".join(tokens[:cut]))), 0)
        text = " ".join([text, *tokens[overlap:]])
    return text


def _is_word(token: str) -> bool:
    return token[0].isalnum() or token[0] == "_"


def _bare(leaf: Leaf) -> str:
    """Return a text without the line numbers that a reader printed before its lines."""
    return _GUTTER.sub("", leaf.text) if leaf.source is Source.RESULT else leaf.text
