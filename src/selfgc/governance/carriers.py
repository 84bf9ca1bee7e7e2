"""How ids are made visible to a planner: as tags in the live view, or as an index for its fork alone.

Tags are control metadata: a JSON header before each user input, and an XML tag behind each tool result. Their
text comes from the structure alone, and nothing in a transcript that looks like one has any effect.
"""

from collections.abc import Iterable, Iterator

import msgspec

from selfgc.governance.lineage import Item
from selfgc.model.objects import Span
from selfgc.model.protocols import TokenCounter
from selfgc.model.snapshot import Snapshot
from selfgc.model.wire import encode


def result_tag(span: Span) -> str:
    """Return the tag behind a span's result."""
    return f'<turn id="{span.id}" />'


def input_header(turn_id: str) -> str:
    """Return the header before a user input."""
    return encode({"label": turn_id, "turn_id": int(turn_id.rpartition(":")[2])}).decode()


def tagged(snapshot: Snapshot, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the messages of a view with the ids of their objects in them."""
    headers = {turn.start: input_header(turn.id) for turn in snapshot.turns}
    tags: dict[int, dict[str, str]] = {}
    for span in snapshot.spans:
        if span.result is not None and span.result != span.call:
            part = snapshot.entries[span.result.message].message.parts[span.result.part]
            tags.setdefault(span.result.message, {})[part.call_id] = result_tag(span)
    for item in items:
        header, found = headers.get(item.origin, ""), tags.get(item.origin, {})
        if header or found:
            yield msgspec.structs.replace(item, raw=snapshot.dialect.tag(item.raw, header, found))
        else:
            yield item


def tag_tokens(snapshot: Snapshot, counter: TokenCounter) -> int:
    """Return what tags cost in the live view, in tokens, when every object is in it."""
    texts = [*map(result_tag, snapshot.spans), *(input_header(turn.id) for turn in snapshot.turns)]
    return sum(map(counter.count, texts))


def index_text(snapshot: Snapshot) -> str:
    """Return the index that is appended to a planner's fork: a line an object, oldest first."""
    state = {edit.id: _STATES[edit.action] for edit in snapshot.edits.values()}
    state |= {inner: f"in {edit.id}" for edit in snapshot.edits.values() for inner in edit.swallowed}
    lines = [
        f"{span.id} | {state.get(span.id, 'live')} | {span.tokens} tokens | {_about(span)}" for span in snapshot.spans
    ]
    turns = [
        f"{turn.id} | {state.get(turn.id, 'live')} | {turn.past_span - turn.first_span} calls"
        for turn in snapshot.turns
    ]
    return "\n".join(["object | state | size | subject", *turns, *lines])


_STATES = {"fold": "folded", "mask": "masked", "prune": "pruned"}


def _about(span: Span) -> str:
    ended = " (failed)" if span.facts.has_failed else " (open)" if span.is_open else ""
    return f"{span.facts.effect} {span.facts.target[:80]}{ended}"
