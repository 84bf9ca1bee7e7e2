"""All controls over one set of prepared cases, in one call."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from selfgc.bench.controls.bounds import anti_oracle, oracle
from selfgc.bench.controls.deletion import delete_all, identity, placebo, random_deletion
from selfgc.bench.controls.determinism import determinism
from selfgc.bench.controls.foreign import Pair, foreign_future
from selfgc.bench.controls.judging import SessionJudges
from selfgc.bench.controls.perturbation import Plan, future_perturbation
from selfgc.bench.controls.planted import planted_facts
from selfgc.bench.controls.prepared import Prepared
from selfgc.bench.controls.rendering import re_rendered_future, re_rendering
from selfgc.bench.controls.sabotage import sabotage, wording
from selfgc.bench.governed import Counter
from selfgc.bench.judge.needs import Corpus
from selfgc.bench.records import ControlRecord


class Samples(msgspec.Struct, frozen=True):
    """How many cases each control looks at. Identity and deletion of everything look at all."""

    bounds: int = 48
    random: int = 24
    placebo: int = 30
    planted: int = 8
    folds: int = 24
    determinism: int = 2
    perturbation: int = 4
    seed: int = 1


def run_controls(
    prepared: Sequence[Prepared],
    pairs: Sequence[Pair],
    corpus: Corpus,
    *,
    count: Counter,
    plans: Mapping[str, Plan] | None = None,
    samples: Samples | None = None,
) -> list[ControlRecord]:
    """Return every control of the judge over a set of cases; the order of the cases changes nothing.

    `pairs` are the foreign futures, from `foreign_pairs`, whose windows the corpus was asked about. `plans` are the
    subjects of the future-perturbation test.
    """
    return list(
        _controls(
            sorted(prepared, key=lambda case: case.cut.place), pairs, corpus, count, plans or {}, samples or Samples()
        )
    )


def _controls(
    cases: Sequence[Prepared],
    pairs: Sequence[Pair],
    corpus: Corpus,
    count: Counter,
    plans: Mapping[str, Plan],
    n: Samples,
) -> Iterator[ControlRecord]:
    judges = SessionJudges(count)
    yield identity(cases, judges)
    yield delete_all(cases, judges)
    yield random_deletion(cases, judges, size=n.random, seed=n.seed)
    yield anti_oracle(cases, judges, size=n.bounds, seed=n.seed)
    yield oracle(cases, judges, size=n.bounds, seed=n.seed)
    yield from foreign_future(pairs, cases, corpus, judges)
    yield planted_facts(cases, corpus, lambda: SessionJudges(count), size=n.planted, seed=n.seed)
    yield sabotage(cases, judges, size=n.folds, seed=n.seed)
    yield wording(cases, judges, size=n.folds, seed=n.seed)
    yield from re_rendering(cases, judges, size=n.folds, seed=n.seed)
    yield re_rendered_future(cases, corpus, size=n.folds, seed=n.seed)
    yield determinism(cases, SessionJudges, size=n.determinism, seed=n.seed)
    yield placebo(cases, judges, size=n.placebo, seed=n.seed)
    yield from future_perturbation(cases, plans, size=n.perturbation, seed=n.seed)
