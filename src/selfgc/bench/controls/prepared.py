"""What every control is given: cases with their needs, whoever judges them, and dice that fall the same way."""

import random
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Protocol

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.governed import Restorable
from selfgc.bench.judge.needs import Need, Needs
from selfgc.bench.judge.reading import Seen
from selfgc.bench.judge.sources import calls_of
from selfgc.bench.judge.verbatim import Held
from selfgc.bench.records import Judgement, Levels
from selfgc.bench.session import Session
from selfgc.bench.texts import Decoded, Source, leaves

Place = tuple[str, str, int]
"""Set, session and cut."""


class Cut(msgspec.Struct, frozen=True):
    """A case, and the session that it is cut from."""

    set: str
    session: Session
    case: Case
    """Its `session` is the name by which the corpus knows the session."""
    held: Held
    """The windows of the session's messages."""

    @property
    def place(self) -> Place:
        """Set, session and cut: the order of cases."""
        return self.set, self.session.name, self.case.cut

    @property
    def deletable(self) -> list[int]:
        """The indices of the prefix's messages that a method may remove: outside the protected tail, no system text."""
        end = len(self.case.prefix) - len(self.case.protected)
        return [
            number
            for number, message in enumerate(self.case.prefix[:end])
            if not any(leaf.source is Source.SYSTEM for leaf in leaves(message))
        ]


class Prepared(msgspec.Struct, frozen=True):
    """A case with its needs."""

    cut: Cut
    needs: Needs

    @property
    def strict(self) -> list[Need]:
        """The needs that count in the verdict of the united matchers."""
        return [*self.needs.strict_uses, *self.needs.strict_spans]

    @property
    def is_vacuous(self) -> bool:
        """Whether nothing was needed, so that nothing can be lost."""
        return not self.strict


class Judges(Protocol):
    """Judges views of cases; a protocol, for controls also judge what they made up."""

    def judge(self, case: Prepared, messages: Iterable[Decoded], payloads: Sequence[Restorable] = ()) -> Judgement:
        """Return the judgement of a view of a case."""
        ...

    def seen(self, cut: Cut, messages: Iterable[Decoded]) -> Seen:
        """Return what messages of a case's session show."""
        ...


def parts_of(cut: Cut, judges: Judges) -> list[Seen]:
    """Return what each message of the prefix shows."""
    return [judges.seen(cut, [message]) for message in cut.case.prefix]


def joined(parts: Iterable[Seen]) -> Seen:
    """Return what several messages show together."""
    found = list(parts)
    return Seen("\n".join(part.text for part in found), tuple(windows for part in found for windows in part.windows))


def levels_of(judgement: Judgement) -> dict[str, Levels]:
    """Return the levels of a judgement by the name of their matcher."""
    return {"A": judgement.a, "B": judgement.b, "united": judgement.both, "face": judgement.face}


def units(cut: Cut) -> list[list[int]]:
    """Return the deletable messages in groups that go together: calls with their results, others alone."""
    leader = {number: number for number in cut.deletable}
    for call in calls_of(cut.case.prefix):
        if call.asked in leader and call.answered in leader:
            old, new = leader[call.answered], leader[call.asked]
            leader.update({number: new for number, first in leader.items() if first == old})
    grouped = groupby(sorted(leader, key=lambda number: (leader[number], number)), leader.__getitem__)
    return [list(group) for _, group in grouped]


def dice(*seeds: object) -> random.Random:
    """Return a source of chance that gives the same for the same seeds, on every machine."""
    return random.Random(repr(seeds))  # noqa: S311 -- samples must repeat, not be hard to guess


def sampled(cases: Iterable[Prepared], size: int, seed: int) -> list[Prepared]:
    """Return a sample of cases: of each session in turn one more, until there are enough."""
    chance = dice("sample", seed)
    by_session = []
    for _, group in groupby(sorted(cases, key=lambda case: case.cut.place), lambda case: case.cut.place[:2]):
        found = list(group)
        chance.shuffle(found)
        by_session.append(found)
    chance.shuffle(by_session)
    rounds = max(map(len, by_session), default=0)
    chosen = [found[turn] for turn in range(rounds) for found in by_session if turn < len(found)]
    return sorted(chosen[:size], key=lambda case: case.cut.place)


def share(part: float, whole: float) -> str:
    """Return a share as per cent, for a record."""
    return f"{100 * part / whole:.2f} %" if whole else "none"


def without(case: Prepared, gone: Iterable[int]) -> list[Decoded]:
    """Return the prefix of a case without some of its messages."""
    away = set(gone)
    return [message for number, message in enumerate(case.cut.case.prefix) if number not in away]


def told(chosen: Sequence[Prepared], seed: int) -> str:
    """Return how a sample was drawn, for a record."""
    return f"{len(chosen)} cases, seed {seed}"


def with_first(found: str, wrong: Sequence[str]) -> str:
    """Return what was found, with the first case in which it was wrong."""
    return f"{found}; first: {wrong[0]}" if wrong else found
