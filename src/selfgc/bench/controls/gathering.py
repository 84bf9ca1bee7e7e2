"""From sessions to what the controls are run over: cases with needs, foreign pairs, and a corpus asked about both."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from selfgc.bench.cases import all_cases_of
from selfgc.bench.controls.foreign import Pair, foreign_pairs, foreign_windows
from selfgc.bench.controls.prepared import Cut, Prepared
from selfgc.bench.governed import Counter
from selfgc.bench.judge.needs import Corpus, asked_windows, needs_of
from selfgc.bench.judge.rarity import rarity_of
from selfgc.bench.judge.verbatim import Held, shares_of
from selfgc.bench.session import Session
from selfgc.bench.texts import Decoded


class Gathered(msgspec.Struct, frozen=True):
    """What the controls are run over."""

    prepared: tuple[Prepared, ...]
    pairs: tuple[Pair, ...]
    corpus: Corpus


def gather(
    sets: Mapping[str, Sequence[Session]],
    others: Iterable[tuple[str, Sequence[Decoded]]] = (),
    *,
    count: Counter,
    pairs: int,
    seed: int,
) -> Gathered:
    """Return the cases of the sets with their needs, and `pairs` foreign futures of each kind.

    `others` are named sessions that only tell what is common. `count` counts the tokens of a text.
    """
    cuts = [cut for name, sessions in sets.items() for session in sessions for cut in _cuts(name, session, count)]
    foreign = foreign_pairs(cuts, size=pairs, seed=seed)
    asked = foreign_windows(foreign).union(*map(_asked, cuts))
    own = [(_name(name, session), session.messages) for name, sessions in sets.items() for session in sessions]
    named = [*own, *((f"other {name}", messages) for name, messages in others)]
    corpus = Corpus(rarity_of(named), shares_of(named, asked))
    return Gathered(tuple(_prepared(cut, corpus) for cut in cuts), tuple(foreign), corpus)


def _cuts(set_name: str, session: Session, count: Counter) -> list[Cut]:
    held = Held(session.messages)
    cases = all_cases_of(_name(set_name, session), session.messages, count)
    return [Cut(set_name, session, case, held) for case in cases]


def _name(set_name: str, session: Session) -> str:
    return f"{set_name}/{session.name}"


def _asked(cut: Cut) -> set[str]:
    return asked_windows(cut.case, known_text=cut.session.system, held=cut.held)


def _prepared(cut: Cut, corpus: Corpus) -> Prepared:
    return Prepared(cut, needs_of(cut.case, known_text=cut.session.system, held=cut.held, corpus=corpus))
