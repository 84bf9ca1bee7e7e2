"""Whoever judges the views of controls: the judge of each session, made when it is first asked for."""

from collections.abc import Iterable, Sequence

from selfgc.bench.controls.prepared import Cut, Prepared
from selfgc.bench.governed import Counter, Governed, Restorable
from selfgc.bench.judge.reading import Reading, Seen
from selfgc.bench.judge.verdict import Judge
from selfgc.bench.records import Judgement
from selfgc.bench.texts import Decoded


class SessionJudges:
    """The judges of several sessions."""

    def __init__(self, count: Counter) -> None:
        """`count` counts the tokens of a text."""
        self._count = count
        self._judges: dict[tuple[str, str], Judge] = {}

    def judge(self, case: Prepared, messages: Iterable[Decoded], payloads: Sequence[Restorable] = ()) -> Judgement:
        """Return the judgement of a view of a case."""
        governed = Governed(tuple(map(dict, messages)), tuple(payloads))
        return self._of(case.cut).judge(case.needs, governed, subject="control")

    def seen(self, cut: Cut, messages: Iterable[Decoded]) -> Seen:
        """Return what messages of a case's session show."""
        return self._of(cut).reading.view(messages)

    def _of(self, cut: Cut) -> Judge:
        key = cut.set, cut.session.name
        if key not in self._judges:
            self._judges[key] = Judge(cut.set, cut.session, Reading(self._count))
        return self._judges[key]
