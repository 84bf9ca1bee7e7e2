"""Pure re-rendering: the same view in another JSON form gets the same verdict."""

import json
from collections.abc import Callable, Mapping, Sequence

import msgspec

from selfgc.bench.controls.folding import foldable, named
from selfgc.bench.controls.prepared import Judges, Prepared, dice, levels_of, sampled, told, units, with_first, without
from selfgc.bench.judge.needs import Corpus, Needs, needs_of
from selfgc.bench.records import ControlRecord, Judgement
from selfgc.bench.texts import Decoded

Rendering = Callable[[Decoded], Decoded]
"""Writes one message in another form."""
_ARGUMENTS = ("tool_calls", "function", "arguments")
"""Where a JSON text stands that is no text of anybody: the arguments of a call in Chat form."""


def re_rendering(cases: Sequence[Prepared], judges: Judges, *, size: int, seed: int) -> list[ControlRecord]:
    """Return, for each other form, whether a verdict changes: of views with pointers, and of views with gaps."""
    _, folds = foldable(cases, judges, size=size, seed=seed)
    views = [(fold.case, fold.view(named), fold.items) for fold in folds]
    views += [(fold.case, _with_gaps(fold.case, seed), []) for fold in folds]
    records = []
    for name, render in (("keys in another order", reordered), ("texts as blocks", blocked)):
        wrong = []
        for case, messages, items in views:
            before = judges.judge(case, messages, items)
            after = judges.judge(case, map(render, messages), items)
            if _verdict(before) != _verdict(after):
                wrong.append(f"{before.session} at {before.cut}")
        found = f"{len(wrong)} of {len(views)} verdicts differ; {told([fold.case for fold in folds], seed)}"
        holds = bool(views) and not wrong
        records.append(ControlRecord(f"re-rendering, {name}", "verdict unchanged", with_first(found, wrong), holds))
    return records


def re_rendered_future(cases: Sequence[Prepared], corpus: Corpus, *, size: int, seed: int) -> ControlRecord:
    """Return whether a continuation with its members in another order needs the same."""
    chosen = sampled((case for case in cases if not case.is_vacuous), size, seed)
    wrong = []
    for case in chosen:
        cut = case.cut
        turned = msgspec.structs.replace(
            cut.case, continuation=[reordered(message) for message in cut.case.continuation]
        )
        needs = needs_of(turned, known_text=cut.session.system, held=cut.held, corpus=corpus)
        differing = _strict(case.needs) ^ _strict(needs)
        if differing:
            wrong.append(f"{cut.session.name} at {cut.case.cut}: {min(differing)}")
    found = f"{len(wrong)} of {len(chosen)} differ; {told(chosen, seed)}"
    holds = bool(chosen) and not wrong
    return ControlRecord("re-rendering of the continuation", "the same needs", with_first(found, wrong), holds)


def reordered(message: Decoded) -> Decoded:
    """Return a message with the members of every object the other way round, in arguments texts too."""
    return {key: _turned(value, (key,)) for key, value in reversed(list(message.items()))}


def blocked(message: Decoded) -> Decoded:
    """Return a message whose text, if it is a plain string, stands in a block of its own."""
    content = message.get("content")
    if message.get("role") == "tool" or not isinstance(content, str):
        return message
    return {**message, "content": [{"type": "text", "text": content}]}


def _turned(value: object, path: tuple[str, ...] = ()) -> object:
    """Return a value with its objects turned; `path` are the names of the members that lead to it."""
    if isinstance(value, Mapping):
        return {name: _turned(inner, (*path, name)) for name, inner in reversed(list(value.items()))}
    if isinstance(value, list | tuple):
        return [_turned(inner, path) for inner in value]
    return _turned_text(value) if path == _ARGUMENTS and isinstance(value, str) else value


def _turned_text(arguments: str) -> str:
    try:
        return json.dumps(_turned(json.loads(arguments)), ensure_ascii=True)
    except ValueError:
        return arguments


def _with_gaps(case: Prepared, seed: int) -> list[Decoded]:
    chance = dice("gaps", seed, case.cut.place)
    return without(case, [number for unit in units(case.cut) if chance.random() < 1 / 2 for number in unit])


def _strict(needs: Needs) -> set[str]:
    """Return what is needed strictly, as texts: the anchors, and the windows of spans."""
    return {use.anchor for use in needs.strict_uses} | {
        window for span in needs.strict_spans for window in span.windows
    }


def _verdict(judgement: Judgement) -> object:
    statuses = [(loss.matcher, loss.text, loss.step, loss.status, loss.category) for loss in judgement.losses]
    return levels_of(judgement), statuses, judgement.survival, judgement.contracts_kept
