"""Controls by deletion: nothing deleted, everything, some at random, and text of the same length in its place."""

from collections.abc import Iterable, Sequence

from selfgc.bench.controls.prepared import (
    Judges,
    Prepared,
    dice,
    joined,
    levels_of,
    parts_of,
    sampled,
    share,
    told,
    units,
    with_first,
    without,
)
from selfgc.bench.judge.needs import Need
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.uses import Use
from selfgc.bench.records import ControlRecord, Judgement
from selfgc.bench.texts import Decoded

RATES = tuple(tenth / 10 for tenth in range(1, 10))
DRAWS = 10
MOST_NEEDS = 25
"""Of a case with more needs, so many are followed through the random deletions."""
MOST_SURVIVING = 0.05
"""Share of non-vacuous cases that may come out whole when all but the protected tail is gone."""
TOLERANCE = 0.01
"""By so much the survival of single-source needs may differ from the share that is kept."""
_FILLER = "some other words that nobody here ever needs stand now in this place instead and they say nothing at all "


def identity(cases: Sequence[Prepared], judges: Judges) -> ControlRecord:
    """No governance: every need of every case is visible, by each matcher."""
    judged = [judges.judge(case, case.cut.case.prefix) for case in cases]
    missed = [
        f"{judgement.session} at {judgement.cut} by {name}"
        for judgement in judged
        for name, levels in levels_of(judgement).items()
        if not levels.s0
    ]
    found = f"S0 {_s0_shares(judged)} of {len(cases)} cases"
    return ControlRecord("identity", "S0 100 % of all cases, exactly", with_first(found, missed), not missed)


def delete_all(cases: Sequence[Prepared], judges: Judges) -> ControlRecord:
    """Only the protected tail and system texts stay: hardly any case in which something was needed is whole."""
    judged = [judges.judge(case, without(case, case.cut.deletable)) for case in cases]
    whole = {}
    for name in ("A", "B", "united", "face"):
        levels = [found for found in (levels_of(judgement)[name] for judgement in judged) if found.needed]
        whole[name] = sum(found.s0 for found in levels), len(levels)
    found = ", ".join(f"{name} {share(*counts)} of {counts[1]}" for name, counts in whole.items())
    holds = all(part <= MOST_SURVIVING * of for part, of in whole.values())
    return ControlRecord("delete all but the protected tail", "S0 at most 5 % of non-vacuous cases", found, holds)


def random_deletion(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> ControlRecord:
    """Whole messages and pairs are deleted at random: S0 falls with the rate, single-source needs survive as 1 - rate.

    Each unit draws one number a case, and each of the draws turns it by a tenth: at a rate of 30 % every unit is
    deleted in exactly three of ten draws, so that survival is exact and not a matter of luck. Within a draw a higher
    rate deletes more and gives nothing back, so that no case may come back whole.
    """
    chosen = sampled((case for case in cases if not case.is_vacuous), size, seed)
    whole, kept, single, returned = dict.fromkeys(RATES, 0), dict.fromkeys(RATES, 0), 0, 0
    for case in chosen:
        followed = _Followed(case, judges, seed)
        single += followed.single * DRAWS
        for draw in range(DRAWS):
            before = True
            for rate in RATES:
                is_whole, survived = followed.after(draw, rate)
                returned += is_whole and not before
                before = is_whole
                whole[rate] += is_whole
                kept[rate] += survived
    views = len(chosen) * DRAWS
    apart = max((abs(kept[rate] / single - (1 - rate)) for rate in RATES), default=1.0) if single else 1.0
    found = (
        f"S0 {' '.join(f'{whole[rate] / views:.2f}' if views else '-' for rate in RATES)}; single-source survival "
        f"{' '.join(f'{kept[rate] / single:.2f}' if single else '-' for rate in RATES)}; "
        f"{single // DRAWS} single-source needs, {len(chosen)} non-vacuous cases, {DRAWS} draws, seed {seed}"
    )
    expected = f"falls at 10 ... 90 %; single-source survival within {TOLERANCE} of 1 - rate"
    return ControlRecord("random deletion", expected, found, not returned and bool(single) and apart <= TOLERANCE)


def placebo(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> ControlRecord:
    """Text of the same length in the place of what was deleted gives the verdict of the deletion."""
    chosen = sampled((case for case in cases if not case.is_vacuous), size, seed)
    differ, broken = [], 0
    for case in chosen:
        chance = dice("placebo", seed, case.cut.place)
        gone = {number for unit in units(case.cut) if chance.random() < 1 / 2 for number in unit}
        prefix = case.cut.case.prefix
        filled = [_filled(message) if number in gone else message for number, message in enumerate(prefix)]
        deleted, replaced = judges.judge(case, without(case, gone)), judges.judge(case, filled)
        broken += not deleted.both.s0
        if levels_of(deleted) != levels_of(replaced):
            differ.append(f"{deleted.session} at {deleted.cut}")
    found = f"{len(differ)} of {len(chosen)} verdicts differ, {broken} not whole at 50 %; {told(chosen, seed)}"
    expected = "the verdict of deletion, by each matcher"
    return ControlRecord("length-matched placebo", expected, with_first(found, differ), not differ)


class _Followed:
    """One case under random deletion: its units with their numbers, and the needs that are followed."""

    def __init__(self, case: Prepared, judges: Judges, seed: int) -> None:
        chance = dice("random deletion", seed, case.cut.place)
        self._parts = parts_of(case.cut, judges)
        self._units = [(unit, chance.random()) for unit in units(case.cut)]
        needs = case.strict
        self._needs = needs if len(needs) <= MOST_NEEDS else chance.sample(needs, MOST_NEEDS)
        self._single = [need for need in self._needs if self._is_single(need, case)]
        self.single = len(self._single)

    def after(self, draw: int, rate: float) -> tuple[bool, int]:
        """Return whether all needs are visible after a deletion, and how many single-source ones are."""
        gone = {n for unit, number in self._units if (number + draw / DRAWS) % 1 < rate for n in unit}
        seen = joined(part for n, part in enumerate(self._parts) if n not in gone)
        visible = {id(need) for need in self._needs if seen.holds(need)}
        return len(visible) == len(self._needs), sum(id(need) in visible for need in self._single)

    def _is_single(self, need: Need, case: Prepared) -> bool:
        """Whether the plain text of one unit alone holds a need: without the judge's other spellings and borders.

        Paths are left out, for they may be put together from two places.
        """
        if isinstance(need, Use):
            if need.kind is Kind.PATH:
                return False
            bearing = [n for n, part in enumerate(self._parts) if need.anchor in part.text]
        else:
            bearing = [n for n in range(len(self._parts)) if any(n in case.cut.held.messages(w) for w in need.windows)]
        return sum(any(n in unit for n in bearing) for unit, _ in self._units) == 1


def _filled(message: Decoded) -> Decoded:
    """Return a message of the same speaker and length that says nothing."""
    length = sum(len(text) for text in _texts(message))
    return {"role": message.get("role"), "content": (_FILLER * (length // len(_FILLER) + 1))[:length]}


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _s0_shares(judged: Sequence[Judgement]) -> str:
    whole = [levels_of(judgement) for judgement in judged]
    return ", ".join(
        f"{name} {share(sum(levels[name].s0 for levels in whole), len(whole))}" for name in ("A", "B", "united", "face")
    )
