"""`python -m selfgc.bench.judge.chance DIR`: how often agents write, by chance, what stands in their session.

A natural experiment. Where a harness compacted the context, what stands only before the compaction is out of the
agent's sight: what it writes of that later, it did not copy. What stands only in view, but before the last two turns,
it could have copied. When both are written equally often, by what there is of each, such spans tell of no need.

1. A window or anchor is out of sight when it stands before the last compaction and nowhere after it.
2. It is in view when it stands after the last compaction, before the turn before this one, and nowhere else.
3. A span is a maximal run of windows of one of the two in one piece of the agent's text; it counts when one of its
   windows is rare in the corpus. An anchor counts when it is rare; each once a message.
4. A rate is what was written over what was there to be written: held windows (anchors), added up over the agent's
   messages after the first compaction of the session.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table

from selfgc.bench.cases import is_user_turn
from selfgc.bench.judge.needs import STRICT_WEIGHT
from selfgc.bench.judge.produced import Place, Produced, produced, weight_of
from selfgc.bench.judge.rarity import Rarity, rarity_of
from selfgc.bench.judge.verbatim import message_windows, shares_of, used_windows
from selfgc.bench.sessions import read_sessions
from selfgc.bench.texts import Decoded, Source, leaves

COMPACTED = "This session is being continued from a previous conversation"
"""How the message begins that a harness puts in the place of everything before it."""
PLACES = (Place.EXACT, Place.ARGUMENT, Place.WRITTEN, Place.ANSWER)
"""Where the agent commits itself; remarks between calls and thinking are left out."""
BIN = 20
"""Characters without blanks, the width of a row of the table."""
LONGEST_BIN = 160
"""Spans from this length on share one row."""

Corpus = Sequence[tuple[str, Sequence[Decoded]]]
"""Named sessions."""


class Sight(StrEnum):
    """Where the agent could have had something from."""

    OLD = "out of sight"
    VIEW = "in view"


class Written(NamedTuple):
    """A span or an anchor that an agent wrote."""

    sight: Sight
    place: Place
    kind: str
    """Of an anchor its kind; of a span the row of its length."""


class Count(msgspec.Struct, frozen=True):
    """One row of a table: what was written, and what was there to be written."""

    place: Place
    kind: str
    old: int
    view: int
    held_old: int
    held_view: int

    @property
    def ratio(self) -> float | None:
        """The rate out of sight over the rate in view; None when nothing was written from the view, or held."""
        if not (self.view and self.held_old and self.held_view):
            return None
        return (self.old / self.held_old) / (self.view / self.held_view)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the ratio, by its logarithm's normal approximation; None when a count is 0."""
        if self.ratio is None or not self.old:
            return None
        width = math.exp(1.96 * math.sqrt(1 / self.old + 1 / self.view))
        return self.ratio / width, self.ratio * width


class Chance(msgspec.Struct, frozen=True):
    """What the experiment gave."""

    sessions: int
    """Sessions with a compaction."""
    compactions: int
    spans: tuple[Count, ...]
    anchors: tuple[Count, ...]


class Field:
    """What an agent holds in view while its session goes on, and what it lost sight of."""

    def __init__(self) -> None:
        self.old: set[str] = set()
        self.view: set[str] = set()
        self._last: set[str] = set()
        self._turn: set[str] = set()

    def begin(self, message: Decoded) -> None:
        """Take note of what begins with a message: a new context, or a new turn."""
        if is_compaction(message):
            self.old |= self.view | self._last | self._turn
            self.view, self._last, self._turn = set(), set(), set()
        elif is_user_turn(message):
            self.view |= self._last
            self._last, self._turn = self._turn, set()

    def add(self, items: Iterable[str]) -> None:
        """Put the windows or anchors of a message into the turn that goes on."""
        self._turn.update(items)

    def sight(self, item: str) -> Sight | None:
        """Return where alone something stands; None when it is new, in both, or in the last two turns."""
        if item in self._last or item in self._turn:
            return None
        is_old, is_view = item in self.old, item in self.view
        if is_old == is_view:
            return None
        return Sight.OLD if is_old else Sight.VIEW


def is_compaction(message: Decoded) -> bool:
    """Whether a harness put this message in the place of everything before it.

    It may share a message with the result of the call that the compaction interrupted.
    """
    spoken = (leaf.text for leaf in leaves(message) if leaf.source is Source.USER)
    return any(text.lstrip().startswith(COMPACTED) for text in spoken)


def experiment(sessions: Corpus, others: Corpus = ()) -> Chance:
    """Return what agents wrote from out of sight and from view. `others` only tell what is common."""
    compacted = [(name, messages) for name, messages in sessions if any(map(is_compaction, messages))]
    corpus = [*sessions, *((f"other {name}", messages) for name, messages in others)]
    return Chance(
        sessions=len(compacted),
        compactions=sum(map(is_compaction, (message for _, messages in compacted for message in messages))),
        spans=tuple(_span_counts(compacted, corpus)),
        anchors=tuple(_anchor_counts(compacted, rarity_of(corpus))),
    )


class _Run(NamedTuple):
    """A run of windows that were had from one side, and the session that wrote it."""

    sight: Sight
    place: Place
    windows: tuple[str, ...]
    session: str


def _span_counts(compacted: Corpus, corpus: Corpus) -> list[Count]:
    runs: list[_Run] = []
    held = dict.fromkeys(Sight, 0)
    for name, messages in compacted:
        for message, field in _watched(messages, message_windows, held):
            for windows, place, _ in used_windows(message):
                if place in PLACES:
                    runs += (_Run(sight, place, run, name) for sight, run in _runs(windows, field))
    shares = shares_of(corpus, {window for run in runs for window in run.windows})
    rare = [run for run in runs if any(shares.is_rare(window, run.session) for window in run.windows)]
    return _counted((Written(run.sight, run.place, _row(run.windows)) for run in rare), held)


def _anchor_counts(compacted: Corpus, rarity: Rarity) -> list[Count]:
    written: list[Written] = []
    held = dict.fromkeys(Sight, 0)
    for name, messages in compacted:
        for message, field in _watched(messages, _anchors_in, held):
            used = {found.anchor.text: found for found in reversed(list(produced(message))) if _is_strict(found)}
            for text, found in used.items():
                sight = field.sight(text)
                if sight is not None and rarity.is_rare(text, name):
                    written.append(Written(sight, found.place, found.anchor.kind.value))
    return _counted(written, held)


def _watched(
    messages: Iterable[Decoded], holds: Callable[[Decoded], AbstractSet[str]], held: dict[Sight, int]
) -> Iterator[tuple[Decoded, Field]]:
    """Yield the agent's messages after the first compaction, each with what stood before it.

    Adds up in `held` what there was to be written at each of them. `holds` gives a message's windows or anchors.
    """
    field = Field()
    for message in messages:
        field.begin(message)
        if message.get("role") == "assistant" and field.old:
            held[Sight.OLD] += len(field.old)
            held[Sight.VIEW] += len(field.view)
            yield message, field
        field.add(holds(message))


def _runs(windows: Sequence[str], field: Field) -> Iterator[tuple[Sight, tuple[str, ...]]]:
    for sight, run in groupby(windows, field.sight):
        if sight is not None:
            yield sight, tuple(run)


def _anchors_in(message: Decoded) -> AbstractSet[str]:
    return rarity_of([("", [message])]).holders.keys()


def _is_strict(found: Produced) -> bool:
    return found.place in PLACES and weight_of(found.place, found.anchor.kind) >= STRICT_WEIGHT


def _row(run: Sequence[str]) -> str:
    least = min(_length(run), LONGEST_BIN) // BIN * BIN
    return f"{least:3d}-{least + BIN - 1}" if least < LONGEST_BIN else f"{LONGEST_BIN} and more"


def _length(run: Sequence[str]) -> int:
    """Return the characters without blanks that a run of overlapping windows spells."""
    tokens = run[0].split(" ")
    for before, window in pairwise(run):
        added = window.split(" ")
        overlap = next((cut for cut in range(len(added), 0, -1) if before.endswith(" ".join(added[:cut]))), 0)
        tokens += added[overlap:]
    return sum(map(len, tokens))


def _counted(written: Iterable[Written], held: Mapping[Sight, int]) -> list[Count]:
    found = Counter(written)
    rows = sorted({(PLACES.index(one.place), one.kind) for one in found})
    return [
        Count(
            place=PLACES[place],
            kind=kind,
            old=found[Written(Sight.OLD, PLACES[place], kind)],
            view=found[Written(Sight.VIEW, PLACES[place], kind)],
            held_old=held[Sight.OLD],
            held_view=held[Sight.VIEW],
        )
        for place, kind in rows
    ]


def table_of(title: str, kind: str, counts: Sequence[Count]) -> Table:
    """Return the rows of one matcher as a table for a terminal; the ratio is that of the rates of rule 4."""
    held = [f"{count.held_old:,} held out of sight, {count.held_view:,} in view" for count in counts[:1]]
    table = Table(title=title, caption="".join(held))
    table.add_column("place")
    table.add_column(kind)
    for name in (Sight.OLD.value, Sight.VIEW.value, "ratio", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for count in counts:
        ratio = "" if count.ratio is None else f"{count.ratio:.2f}"
        interval = "" if count.interval is None else "{:.2f} to {:.2f}".format(*count.interval)
        table.add_row(count.place.value, count.kind, str(count.old), str(count.view), ratio, interval)
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables for a folder of sessions; exit 1 when no session in it was compacted."""
    parser = argparse.ArgumentParser(prog="python -m selfgc.bench.judge.chance", description=__doc__)
    parser.add_argument("folder", type=Path, help="sessions, some of them compacted by their harness")
    parser.add_argument("--others", type=Path, help="further sessions, to tell what is common")
    options = parser.parse_args(arguments)
    folders = [folder for folder in (options.folder, options.others) if folder is not None]
    for folder in folders:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder of sessions")
    corpora = [[(session.name, session.messages) for session in read_sessions(folder)] for folder in folders]
    chance = experiment(*corpora)
    console = Console()
    if not chance.compactions:
        console.print(f"No session in {options.folder} was compacted by its harness: there is nothing to compare.")
        return 1
    console.print(f"{chance.compactions} compactions in {chance.sessions} sessions")
    console.print(table_of("Matcher B: rare spans", "characters", chance.spans))
    console.print(table_of("Matcher A: rare anchors of weight 0.5 and more", "kind", chance.anchors))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
