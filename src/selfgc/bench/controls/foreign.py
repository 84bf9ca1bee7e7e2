"""Foreign futures: what the continuation of another session needs of a prefix is a false positive.

The other session itself is left out of the rarity filter: its own text would else mark everything it says as common.
The figure is set against what the same continuations need of their own prefixes.

Continuations from the same repository are the harder half, and are told apart. Both sessions read the same files there,
so that a continuation uses what its own prefix held and the foreign one holds too: those uses would be needs of either
prefix. False is there what the other agent wrote although its own prefix did not hold it; and the prefix must be the
older one, for a session that came later has read what this one wrote.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timezone

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.controls.prepared import Cut, Judges, Place, Prepared, dice, share, with_first
from selfgc.bench.controls.repositories import repositories_of
from selfgc.bench.judge.needs import Corpus, Need, Needs, asked_windows, needs_of
from selfgc.bench.judge.uses import Use
from selfgc.bench.judge.verbatim import Shares
from selfgc.bench.records import ControlRecord
from selfgc.errors import UsageError

MOST_FALSE = 0.02
"""Of what the same futures need of their own prefixes."""
MOST_FALSE_NEAR = 0.1
"""The same, within one repository."""


class Pair(msgspec.Struct, frozen=True):
    """A prefix, and a continuation that did not follow it."""

    prefix: Cut
    future: Cut
    is_near: bool
    """Whether both sessions worked on one repository."""

    @property
    def case(self) -> Case:
        """The pair as a case of the prefix's session."""
        return msgspec.structs.replace(self.prefix.case, continuation=self.future.case.continuation)


def foreign_pairs(cuts: Sequence[Cut], *, size: int, seed: int) -> list[Pair]:
    """Return up to `size` pairs from different repositories and as many from one, drawn with the seed.

    Each continuation stands in one pair of a kind at most, unless there are fewer than `size` of them.
    """
    chance = dice("foreign", seed)
    ordered = sorted(cuts, key=lambda cut: cut.place)
    group = repositories_of({_key(cut): (cut.held, len(cut.session.messages)) for cut in ordered})
    pairs = []
    for is_near in (False, True):
        futures = chance.sample(ordered, len(ordered))
        fitting = [(future, _prefixes(future, ordered, group, is_near=is_near)) for future in futures]
        pairs += [Pair(chance.choice(found), future, is_near) for future, found in fitting if found][:size]
    return pairs


def foreign_windows(pairs: Iterable[Pair]) -> set[str]:
    """Return the windows whose rarity decides something in these pairs: the corpus must be asked about them as well."""
    return {window for pair in pairs for window in _asked(pair)}


def foreign_future(
    pairs: Sequence[Pair], own: Sequence[Prepared], corpus: Corpus, judges: Judges
) -> list[ControlRecord]:
    """Return what continuations need of prefixes that they did not follow, from afar and from the same repository.

    `own` are the cases whose continuations these are. UsageError when the corpus was not asked about the pairs.
    """
    strict = {case.cut.place: len(case.strict) for case in own}
    far = [_found(pair, corpus, judges) for pair in pairs if not pair.is_near]
    near = [_found(pair, corpus, judges) for pair in pairs if pair.is_near]
    return [
        _record("foreign future", MOST_FALSE, far, strict),
        _record("foreign future, same repository", MOST_FALSE_NEAR, near, strict),
    ]


class _Found(msgspec.Struct, frozen=True):
    """What the continuation of a pair needed of the prefix."""

    pair: Pair
    needs: list[Need]
    false: list[Need]
    """Of these, what is false: within one repository, what the continuation's own prefix did not hold."""


def _found(pair: Pair, corpus: Corpus, judges: Judges) -> _Found:
    needs = _foreign_needs(pair, corpus)
    strict: list[Need] = [*needs.strict_uses, *needs.strict_spans]
    if not (pair.is_near and strict):
        return _Found(pair, strict, strict)
    own = judges.seen(pair.future, pair.future.case.prefix)
    return _Found(pair, strict, [need for need in strict if not own.holds(need)])


def _record(name: str, most: float, found: Sequence[_Found], strict: Mapping[Place, int]) -> ControlRecord:
    theirs = sum(strict[one.pair.future.place] for one in found)
    wrong = sum(len(one.false) for one in found)
    both = sum(len(one.needs) for one in found) - wrong
    told = (
        f"{wrong} false needs, where the same futures have {theirs} of their own prefixes: {share(wrong, theirs)}; in "
        f"{sum(bool(one.false) for one in found)} of {len(found)} pairs"
    )
    if both:
        told += f"; {both} more stood in both prefixes"
    first = [
        f"{one.pair.future.session.name} after {one.pair.prefix.session.name}: {_text(one.false[0])}"
        for one in found
        if one.false
    ]
    expected = f"at most {100 * most:.0f} % of what the futures need of their own prefixes"
    return ControlRecord(name, expected, with_first(told, first), wrong <= most * theirs)


def _key(cut: Cut) -> str:
    return f"{cut.set} {cut.session.name}"


def _prefixes(future: Cut, cuts: Sequence[Cut], group: dict[str, str], *, is_near: bool) -> list[Cut]:
    own = _key(future)
    others = [cut for cut in cuts if _key(cut) != own and (group[_key(cut)] == group[own]) is is_near]
    return [cut for cut in others if _is_older(cut, future)] if is_near else others


def _is_older(prefix: Cut, future: Cut) -> bool:
    """Whether a prefix is known to have ended before a continuation began."""
    ended = max(_moments(prefix.session.timestamps[: prefix.case.cut]), default=None)
    began = min(_moments(future.session.timestamps[future.case.cut :]), default=None)
    return ended is not None and began is not None and ended < began


def _moments(timestamps: Iterable[str | None]) -> Iterator[datetime]:
    for timestamp in timestamps:
        if timestamp:
            moment = datetime.fromisoformat(timestamp)
            yield moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _asked(pair: Pair) -> set[str]:
    return asked_windows(pair.case, known_text=pair.prefix.session.system, held=pair.prefix.held)


def _foreign_needs(pair: Pair, corpus: Corpus) -> Needs:
    away = pair.future.case.session
    shares = _SharesWithout(corpus.shares.sessions, corpus.shares.holders, away)
    return needs_of(
        pair.case,
        known_text=pair.prefix.session.system,
        held=pair.prefix.held,
        corpus=Corpus(corpus.rarity.ignoring(away), shares),
    )


class _SharesWithout(Shares, frozen=True):
    """The shares of a corpus from which one session is left out."""

    away: str = ""

    def is_rare(self, window: str, session: str, ignored: AbstractSet[str] = frozenset()) -> bool:
        """Whether at most a small share of the other sessions hold the window. UsageError when nobody asked for it."""
        if window not in self.holders:
            raise UsageError(
                f"The corpus must know the windows of foreign futures, and does not know {window!r}: "
                "give foreign_windows(pairs) to shares_of together with the windows of the cases."
            )
        return super().is_rare(window, session, {self.away, *ignored})


def _text(need: Need) -> str:
    return need.anchor if isinstance(need, Use) else need.text
