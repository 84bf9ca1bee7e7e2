"""What may be done to which object, when: one table that planners and governance both read.

Rules, in the order in which they are tried; the first that does not hold is the reason of a refusal:

L1  unknown_id      the id exists in this session's snapshot
L2  before_compaction  nothing before a provider's own compaction block is edited
L3  open_call       the span has its result
L4  pinned          the object is not pinned; an action on a turn leaves the pinned spans in it as they are
L5  last_turn       the object is not of the last answered turn or after it (boundary `turn`), nor user input
                    that is still to be answered
L6  last_spans      the span is not one of the newest `keep_spans`, nor in the latest assistant message
L7  no_target       the object has something to edit: a turn has spans, a span is no opaque block
L8  already         the object is not in that state already; pruned objects stay pruned
L9  signed          what stands beside signed reasoning is not edited, unless reasoning may be stripped
L10 prefix_bound    where the model binds reasoning to its prefix and there is some, turn boundaries only
"""

from collections.abc import Container, Mapping
from functools import cached_property
from typing import NamedTuple

import msgspec

from selfgc.model.ids import ObjectId, ObjectKind
from selfgc.model.message import COMPACTION, PartKind
from selfgc.model.objects import Span, Turn
from selfgc.model.pins import pinned_spans
from selfgc.model.policy import Boundary, Recovery
from selfgc.model.records import Edit
from selfgc.model.snapshot import Snapshot


class Refusal(NamedTuple):
    """Why an action cannot be: the rule's short name, and a sentence for a person."""

    rule: str
    sentence: str


class Legality(msgspec.Struct, frozen=True, dict=True):
    """The table for one snapshot. Everything that is the same for all objects is found out once."""

    snapshot: Snapshot

    @cached_property
    def pins(self) -> dict[str, str]:
        """Pinned ids with their reasons."""
        named = self.snapshot.policy.pinned_ids
        turns = {str(turn.id): "named by the caller" for turn in self.snapshot.turns if turn.id in named}
        return turns | pinned_spans(self.snapshot.spans, self.snapshot.policy)

    @cached_property
    def first_editable(self) -> int:
        """Index of the first message after the last compaction block of the provider; 0 without one."""
        entries = self.snapshot.entries
        marked = (
            number
            for number in range(len(entries) - 1, -1, -1)
            if any(part.tool == COMPACTION and part.kind is PartKind.OPAQUE for part in entries[number].message.parts)
        )
        return next(marked, 0)

    @cached_property
    def frozen_from(self) -> int:
        """Index of the first message that may not be edited any more at this boundary."""
        turns = self.snapshot.turns
        if not turns:
            return len(self.snapshot.entries) if self.snapshot.policy.boundary is Boundary.STEP else 0
        answered = [turn for turn in turns if turn.end - turn.start > 1]
        if self.snapshot.policy.boundary is Boundary.TURN:
            return answered[-1].start if answered else turns[0].start
        return len(self.snapshot.entries)

    @cached_property
    def first_kept_span(self) -> int:
        """Index of the first of the newest spans that are kept as they are."""
        return max(0, len(self.snapshot.spans) - self.snapshot.policy.keep_spans)

    @cached_property
    def last_assistant(self) -> int:
        """Index of the latest assistant message, which is never edited; -1 without one."""
        entries = self.snapshot.entries
        return next((n for n in range(len(entries) - 1, -1, -1) if entries[n].message.role == "assistant"), -1)

    @cached_property
    def _swallowers(self) -> dict[ObjectId, Edit]:
        return {swallowed: edit for edit in self.snapshot.edits.values() for swallowed in edit.swallowed}

    @cached_property
    def _number(self) -> dict[ObjectId, int]:
        return {span.id: number for number, span in enumerate(self.snapshot.spans)}

    def swallowable(self, turn: Turn, spare: Container[str] = ()) -> list[Span]:
        """Return the spans of a turn that an action on it takes: all but the spared and the protected."""
        spans = self.snapshot.spans[turn.first_span : turn.past_span]
        return [span for span in spans if span.id not in spare and self._refuse_inside(span) is None]

    def refusal(self, object_id: ObjectId, verb: str, spare: Container[str] = ()) -> Refusal | None:
        """Return why this action cannot be, or None when it can."""
        span = self.snapshot.spans_by_id.get(object_id)
        if span is not None:
            return self._refuse_span(span, verb)
        turn = self.snapshot.turns_by_id.get(object_id)
        if turn is not None:
            return self._refuse_turn(turn, verb, spare)
        return Refusal("unknown_id", f"no object {object_id} in this session; `selfgc inspect` lists them")

    def _refuse_span(self, span: Span, verb: str) -> Refusal | None:
        if span.call.message < self.first_editable:
            return Refusal("before_compaction", "it stands before the provider's own compaction block")
        if span.result is None:
            return Refusal("open_call", "its result has not come yet")
        if span.id in self.pins:
            return Refusal("pinned", f"it is pinned: {self.pins[span.id]}")
        if span.result.message >= self.frozen_from:
            return Refusal("last_turn", "the last turn stays as it is at this boundary")
        if self._number[span.id] >= self.first_kept_span or span.call.message == self.last_assistant:
            return Refusal("last_spans", f"the newest {self.snapshot.policy.keep_spans} spans stay as they are")
        return self._refuse_state(span.id, verb) or self._refuse_signed(span, verb)

    def _refuse_turn(self, turn: Turn, verb: str, spare: Container[str]) -> Refusal | None:
        if turn.start < self.first_editable:
            return Refusal("before_compaction", "it stands before the provider's own compaction block")
        if turn.id in self.pins:
            return Refusal("pinned", f"it is pinned: {self.pins[turn.id]}")
        if turn.end > self.frozen_from or turn is self.snapshot.turns[-1]:
            return Refusal("last_turn", "the last turn stays as it is")
        spans = self.swallowable(turn, spare)
        if not spans:
            return Refusal("no_target", "it has no span that may be touched; words and answer are kept")
        edit = self.snapshot.edits.get(turn.id)
        if edit is not None and edit.action == verb == "fold" and {span.id for span in spans} > set(edit.swallowed):
            return None
        return self._refuse_state(turn.id, verb)

    def _refuse_inside(self, span: Span) -> Refusal | None:
        if span.result is None:
            return Refusal("open_call", f"the result of {span.id} has not come")
        if span.id in self.pins:
            return Refusal("pinned", f"{span.id} inside it is pinned: {self.pins[span.id]}")
        if self._number[span.id] >= self.first_kept_span or span.call.message == self.last_assistant:
            return Refusal("last_spans", f"{span.id} inside it is one of the newest spans")
        if (left_as_it_is := self._refuse_taking(span)) is not None:
            return left_as_it_is
        message = self.snapshot.entries[span.call.message].message
        if message.is_signed and not self.may_strip:
            return Refusal("signed", f"the call of {span.id} stands beside signed reasoning")
        return None

    def _refuse_taking(self, span: Span) -> Refusal | None:
        """Refuse what a turn's action has no place for: text in the user's message, and what is gone already."""
        if _is_skill_text(span):
            return Refusal("no_target", f"{span.id} inside it is skill text that the harness put in")
        edit = self.snapshot.edits.get(span.id)
        if edit is not None and edit.action == "prune":
            return Refusal("already", f"{span.id} inside it is pruned already")
        return None

    @cached_property
    def holds_bound(self) -> bool:
        """Whether the transcript holds signed reasoning that its model binds to the messages before it."""
        return self.snapshot.profile.binds_prefix and any(entry.message.is_signed for entry in self.snapshot.entries)

    @property
    def may_strip(self) -> bool:
        """Whether a commit takes bound reasoning out itself, so that what stood beside it can be edited."""
        return self.snapshot.profile.binds_prefix and self.snapshot.policy.boundary is Boundary.TURN

    def _refuse_state(self, object_id: ObjectId, verb: str) -> Refusal | None:
        if self.holds_bound and self.snapshot.policy.boundary is Boundary.STEP:
            return Refusal("prefix_bound", "this model binds its reasoning to the messages before; wait for a turn end")
        edit = self.snapshot.edits.get(object_id)
        if edit is not None and (edit.action in {verb, "prune"} or (edit.action, verb) == ("fold", "mask")):
            return Refusal("already", f"it is {_DONE[edit.action]} already")
        swallower = self._swallowers.get(object_id)
        if swallower is not None:
            return Refusal("already", f"it is inside {swallower.id}, which is {_DONE[swallower.action]}")
        return None

    def _refuse_signed(self, span: Span, verb: str) -> Refusal | None:
        message = self.snapshot.entries[span.call.message].message
        if verb == "prune" and message.is_signed and not self.may_strip:
            return Refusal("signed", "its call stands beside signed reasoning, which may not be left half")
        if _is_skill_text(span) and verb == "prune":
            return Refusal("no_target", "skill text that the harness put in can be folded or masked, not taken out")
        return None


def _is_skill_text(span: Span) -> bool:
    return span.kind is ObjectKind.SKILL and span.call == span.result


_DONE = {"fold": "folded", "mask": "masked", "prune": "pruned"}


RESTORE_TOOL = "restore_context"
"""The name of the tool by which an agent asks for a payload."""


def offers_restore(snapshot: Snapshot, fields: Mapping[str, bytes]) -> bool:
    """Whether pointers may stand in this request's view (V20): the command always works, the tool when declared."""
    if snapshot.policy.recovery is Recovery.COMMAND:
        return True
    return f'"{RESTORE_TOOL}"'.encode() in fields.get("tools", b"")
