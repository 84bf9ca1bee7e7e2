"""Born small: results that are folded or masked before they are first sent.

That breaks no cache and loses no reasoning, because no provider has seen them. Two kinds qualify: a body
that stands in view already, and an output past the policy's size.
"""

from collections.abc import Mapping

from selfgc.governance.drafts import Draft, Drafter
from selfgc.model.ids import ObjectId
from selfgc.model.legality import Legality, offers_restore
from selfgc.model.message import PartKind
from selfgc.model.objects import Span
from selfgc.model.plan import Fold, Mask
from selfgc.model.protocols import TokenCounter
from selfgc.model.snapshot import Snapshot


def draft_born_small(snapshot: Snapshot, counter: TokenCounter, sent: int, fields: Mapping[str, bytes]) -> Draft | None:
    """Return the edits for results in messages from index `sent` on, or None when there is nothing to do."""
    policy = snapshot.policy
    if not (policy.born_small_repeats or policy.born_small_tokens) or not offers_restore(snapshot, fields):
        return None
    fresh = [span for span in _newest(snapshot, sent) if _is_fresh(snapshot, span, sent)]
    if not fresh:
        return None
    legality = Legality(snapshot)
    drafter = Drafter(snapshot, counter, legality)
    hidden = {*snapshot.edits, *(inner for edit in snapshot.edits.values() for inner in edit.swallowed)}
    kept: list[Draft] = []
    for span in fresh:
        draft = None if span.id in legality.pins else _draft(drafter, span, hidden)
        if draft is not None and draft.saving >= policy.min_saving:
            kept.append(draft)
            hidden.add(span.id)
    if not kept:
        return None
    edits = tuple(edit for draft in kept for edit in draft.edits)
    return Draft(edits, tuple(payload for draft in kept for payload in draft.payloads), frozenset())


def _newest(snapshot: Snapshot, sent: int) -> list[Span]:
    """Return the spans whose result may have come since message `sent`: from the first open one then, on."""
    newest: list[Span] = []
    for span in reversed(snapshot.spans):
        if (
            span.call.message < sent
            and (span.result is None or span.result.message < sent)
            and len(newest) > _LOOK_BACK
        ):
            break
        newest.append(span)
    return newest[::-1]


_LOOK_BACK = 64
"""A result comes at most so many spans after its call: more calls are never open at once."""


def _is_fresh(snapshot: Snapshot, span: Span, sent: int) -> bool:
    if span.result is None or span.result.message < sent or span.id in snapshot.edits:
        return False
    part = snapshot.entries[span.result.message].message.parts[span.result.part]
    return part.kind is PartKind.TOOL_RESULT and part.media_tokens == 0


def _draft(drafter: Drafter, span: Span, hidden: set[ObjectId]) -> Draft | None:
    policy = drafter.snapshot.policy
    original = _original(drafter, span, hidden) if policy.born_small_repeats else None
    if original is not None:
        action = Fold(span.id, f"the same text as {original.id}, which is in view")
        return drafter.draft_result(span, action, set(), original.id)
    if policy.born_small_tokens is not None and span.result_tokens > policy.born_small_tokens:
        mask = Mask(span.id, f"more than {policy.born_small_tokens} tokens at once")
        return drafter.draft_result(span, mask, drafter.visible_outside([mask]))
    return None


def _original(drafter: Drafter, span: Span, hidden: set[ObjectId]) -> Span | None:
    """Return the newest earlier span of the same tool and subject that shows the very same text in view.

    What is edited, now or before, shows it no more, nor does what stands before the provider's own compaction.
    """
    if not span.body or span.result is None:
        return None
    snapshot = drafter.snapshot
    text = snapshot.text(span.result)
    same = (
        other
        for other in reversed(snapshot.spans)
        if other.result is not None
        and other.result < span.result
        and (other.tool, other.facts.target, other.body) == (span.tool, span.facts.target, span.body)
        and other.id not in hidden
        and other.call.message >= drafter.legality.first_editable
    )
    return next((other for other in same if other.result is not None and snapshot.text(other.result) == text), None)
