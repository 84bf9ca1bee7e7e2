"""The two bounds: exactly the sources of the needs deleted, and everything but those."""

from collections.abc import Iterable, Sequence

from selfgc.bench.controls.folding import Sources
from selfgc.bench.controls.prepared import Judges, Prepared, sampled, share, told, without
from selfgc.bench.records import ControlRecord, Judgement
from selfgc.bench.texts import Decoded


def anti_oracle(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> ControlRecord:
    """Exactly the sources of the needs are deleted: no need of any case is left."""
    chosen = sampled((case for case in cases if not case.is_vacuous), size, seed)
    seen, views = 0, []
    for case in chosen:
        views.append(judges.judge(case, without(case, Sources(case, judges).to_delete())))
        seen += views[-1].both.visible
    found = f"S0 {share(sum(view.both.s0 for view in views), len(views))}, {seen} needs left; {told(chosen, seed)}"
    return ControlRecord("anti-oracle", "S0 0 % of non-vacuous cases, no need left", found, not seen)


def oracle(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> ControlRecord:
    """Only messages with needs stay: every case is whole, and what was pruned bounds what whole messages allow."""
    chosen = sampled(cases, size, seed)
    everything, fewest = [], []
    for case in chosen:
        sources = Sources(case, judges)
        everything.append(judges.judge(case, _only(case, sources.everything())))
        fewest.append(judges.judge(case, _only(case, sources.fewest())))
    views = everything + fewest
    found = (
        f"S0 {share(sum(view.both.s0 for view in views), len(views))}; pruned {_mean_prune(everything)} with every "
        f"message that holds a need, {_mean_prune(fewest)} with one for each; {told(chosen, seed)}"
    )
    return ControlRecord("oracle", "S0 100 %; the prune rate is the upper bound", found, all(v.both.s0 for v in views))


def _only(case: Prepared, kept: Iterable[int]) -> list[Decoded]:
    return without(case, set(case.cut.deletable) - set(kept))


def _mean_prune(judged: Sequence[Judgement]) -> str:
    return f"{sum(judgement.prune for judgement in judged) / len(judged):.3f}" if judged else "nothing"
