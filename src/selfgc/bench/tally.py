"""From judgements to figures: shares with their intervals, and paired comparisons at matched prune rates.

Wilson intervals for one cut a session; where several cuts of a session count, a bootstrap that draws whole sessions.
A comparison pairs two arms on the same cases: of ours the point is taken that prunes at least as much as the other's.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import NormalDist, fmean

import msgspec

from selfgc.bench.records import CaseRecord, Category, Judgement, Status

Place = tuple[str, str, int]
"""Set, session and cut."""
DRAWS = 1_000
_Z = NormalDist().inv_cdf(0.975)


class Share(msgspec.Struct, frozen=True):
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float


class Row(msgspec.Struct, frozen=True):
    """One arm at one rate over one slice of cases."""

    slice: str
    arm: str
    rate: float | None
    cases: int
    vacuous: int
    """Cases in which nothing was needed."""
    prune: float
    net: float
    s0: Share
    s1: Share
    s2: float
    kept: float
    """Share of cases in which nothing is lost, however many restores."""
    restores: float
    s0_needed: float
    s1_needed: float
    """S0 and S1 over the cases in which something was needed."""
    s0_a: float
    s0_b: float
    s0_face: float
    s1_face: float
    uses_visible: float
    """Of all needed uses of matcher A, the share that is visible."""
    survival: float
    contracts: float
    pointers: float
    """Share of the prefix's tokens in messages that were changed."""
    seconds: float
    faults: int
    invalid: int


class Pairing(msgspec.Struct, frozen=True):
    """Ours against another arm on the same cases."""

    slice: str
    other: str
    other_rate: float | None
    other_net: float
    ours_rate: float | None
    ours_net: float
    level: str
    """`s0` or `s1`."""
    ours: float
    theirs: float
    ours_only: int
    theirs_only: int
    p: float
    p_holm: float = 1.0
    """Corrected for the number of comparisons of this slice and level."""


def wilson(hits: int, cases: int) -> Share:
    """Return a share with its Wilson interval; of no cases 0 with the interval 0 to 1."""
    if cases == 0:
        return Share(0.0, 0.0, 1.0)
    value = hits / cases
    middle = (value + _Z**2 / (2 * cases)) / (1 + _Z**2 / cases)
    half = _Z / (1 + _Z**2 / cases) * math.sqrt(value * (1 - value) / cases + _Z**2 / (4 * cases**2))
    return Share(value, max(0.0, middle - half), min(1.0, middle + half))


def clustered(values: Mapping[str, Sequence[float]]) -> Share:
    """Return the mean of all values with the interval of a bootstrap over their groups; the same for the same input."""
    groups = [values[name] for name in sorted(values)]
    every = [value for group in groups for value in group]
    if not every:
        return Share(0.0, 0.0, 1.0)
    dice = random.Random(f"{len(groups)} {len(every)}")  # noqa: S311 - the interval must repeat
    sums = [(sum(group), len(group)) for group in groups]
    means = []
    for _ in range(DRAWS):
        drawn = dice.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(size for _, size in drawn))
    means.sort()
    return Share(fmean(every), means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1])


def mcnemar(ours_only: int, theirs_only: int) -> float:
    """Return the two-sided exact p of so many discordant pairs; 1 when there are none."""
    total = ours_only + theirs_only
    if total == 0:
        return 1.0
    tail = sum(math.comb(total, k) for k in range(min(ours_only, theirs_only) + 1))
    return min(1.0, float(tail) / float(2 ** (total - 1)))


def holm(values: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm's step-down rule, in the order given."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    corrected = [1.0] * len(values)
    highest = 0.0
    for step, place in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - step) * values[place]))
        corrected[place] = highest
    return corrected


def slices_of(cases: Sequence[CaseRecord]) -> dict[str, list[Place]]:
    """Return the places of each slice by its name: each set at its turns, at its steps, its headline, hard and long."""
    found: dict[str, list[Place]] = {}
    for case in cases:
        place = (case.set, case.session, case.cut)
        names = [f"{case.set}, {case.boundary} cuts"]
        names += [f"{case.set}, one cut a session"] if case.is_headline else []
        names += [f"{case.set}, hard"] if case.is_hard else []
        names += [f"{case.set}, 20k tokens and more"] if case.tokens >= LONG else []
        names += [f"{case.set}: {case.kind}"] if case.kind else []
        for name in names:
            found.setdefault(name, []).append(place)
    return found


LONG = 20_000
"""Tokens of a prefix that make a case a long one."""


def rows_of(cases: Sequence[CaseRecord], judgements: Sequence[Judgement]) -> list[Row]:
    """Return a row for each slice, arm and rate."""
    vacuous = {(case.set, case.session, case.cut) for case in cases if case.is_vacuous}
    by_point = by_points(judgements)
    return [
        _row(name, arm, rate, [found[place] for place in places if place in found], vacuous)
        for name, places in slices_of(cases).items()
        for (arm, rate), found in by_point.items()
        if any(place in found for place in places)
    ]


def by_points(judgements: Iterable[Judgement]) -> dict[tuple[str, float | None], dict[Place, Judgement]]:
    """Return the judgements by arm and rate, and by case; of two of one case the later one counts."""
    found: dict[tuple[str, float | None], dict[Place, Judgement]] = {}
    for one in judgements:
        found.setdefault((one.subject, one.rate), {})[one.set, one.session, one.cut] = one
    return found


def _row(name: str, arm: str, rate: float | None, found: Sequence[Judgement], vacuous: set[Place]) -> Row:
    needed = [one for one in found if (one.set, one.session, one.cut) not in vacuous]
    uses = sum(one.a.needed for one in found)
    rules = sum(one.contracts for one in found)

    def mean(figure: Callable[[Judgement], float], of: Sequence[Judgement] = found) -> float:
        return fmean(float(figure(one)) for one in of) if of else 1.0

    return Row(
        slice=name,
        arm=arm,
        rate=rate,
        cases=len(found),
        vacuous=len(found) - len(needed),
        prune=mean(lambda one: one.prune),
        net=mean(lambda one: one.net_prune),
        s0=_interval(found, lambda one: one.both.s0),
        s1=_interval(found, lambda one: one.both.s1),
        s2=mean(lambda one: one.both.s2),
        kept=mean(lambda one: one.both.kept),
        restores=mean(lambda one: one.both.restores),
        s0_needed=mean(lambda one: one.both.s0, needed),
        s1_needed=mean(lambda one: one.both.s1, needed),
        s0_a=mean(lambda one: one.a.s0),
        s0_b=mean(lambda one: one.b.s0),
        s0_face=mean(lambda one: one.face.s0),
        s1_face=mean(lambda one: one.face.s1),
        uses_visible=sum(one.a.visible for one in found) / uses if uses else 1.0,
        survival=mean(lambda one: one.survival),
        contracts=sum(one.contracts_kept for one in found) / rules if rules else 1.0,
        pointers=mean(lambda one: one.pointer_tokens / one.tokens),
        seconds=mean(lambda one: one.seconds),
        faults=sum(bool(one.fault) for one in found),
        invalid=sum(not one.is_valid for one in found),
    )


def _interval(found: Sequence[Judgement], claim: Callable[[Judgement], bool]) -> Share:
    by_session: dict[str, list[float]] = {}
    for one in found:
        by_session.setdefault(f"{one.set}/{one.session}", []).append(float(claim(one)))
    if all(len(values) == 1 for values in by_session.values()):
        return wilson(sum(map(claim, found)), len(found))
    return clustered(by_session)


def pairings_of(cases: Sequence[CaseRecord], judgements: Sequence[Judgement], ours: str) -> list[Pairing]:
    """Return ours against every other point of every other arm, on the slices that hold whole sets."""
    points = by_points(judgements)
    mine = {rate: found for (arm, rate), found in points.items() if arm == ours}
    wanted = [name for name in slices_of(cases) if name.endswith((" cuts", ", hard"))]
    places = slices_of(cases)
    return [
        pairing
        for name in wanted
        for level in ("s0", "s1")
        for pairing in _corrected(
            [
                _paired(name, places[name], level, (arm, rate), found, mine)
                for (arm, rate), found in points.items()
                if arm != ours and any(place in found for place in places[name])
            ]
            if mine
            else []
        )
    ]


def _corrected(found: Sequence[Pairing]) -> list[Pairing]:
    corrected = holm([one.p for one in found])
    return [msgspec.structs.replace(one, p_holm=p) for one, p in zip(found, corrected, strict=True)]


def _paired(
    name: str,
    places: Sequence[Place],
    level: str,
    other: tuple[str, float | None],
    theirs: Mapping[Place, Judgement],
    mine: Mapping[float | None, Mapping[Place, Judgement]],
) -> Pairing:
    def net(found: Mapping[Place, Judgement]) -> float:
        return fmean([found[place].net_prune for place in places if place in found and place in theirs] or [0.0])

    other_net = net(theirs)
    enough = [rate for rate in mine if net(mine[rate]) >= other_net]
    rate = min(enough, key=lambda rate: net(mine[rate])) if enough else max(mine, key=lambda rate: net(mine[rate]))
    both = [(mine[rate][place], theirs[place]) for place in places if place in theirs and place in mine[rate]]
    claims = [(getattr(one.both, level), getattr(two.both, level)) for one, two in both]
    ours_only = sum(one and not two for one, two in claims)
    theirs_only = sum(two and not one for one, two in claims)
    return Pairing(
        slice=name,
        other=other[0],
        other_rate=other[1],
        other_net=other_net,
        ours_rate=rate,
        ours_net=net(mine[rate]),
        level=level,
        ours=sum(one for one, _ in claims) / max(1, len(claims)),
        theirs=sum(two for _, two in claims) / max(1, len(claims)),
        ours_only=ours_only,
        theirs_only=theirs_only,
        p=mcnemar(ours_only, theirs_only),
    )


def losses_of(judgements: Sequence[Judgement]) -> dict[tuple[str, float | None], dict[tuple[Category, Status], int]]:
    """Return, by arm and rate, how many needs of verdict weight are out of view, by category and status."""
    found: dict[tuple[str, float | None], dict[tuple[Category, Status], int]] = {}
    for one in judgements:
        held = found.setdefault((one.subject, one.rate), {})
        for loss in one.losses:
            if loss.weight >= STRICT:
                held[loss.category, loss.status] = held.get((loss.category, loss.status), 0) + 1
    return found


STRICT = 0.5
"""Needs of less weight decide no verdict."""
