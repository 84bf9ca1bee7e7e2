"""What one round of maintenance did, as a value: for harnesses, for the command line, and as JSON."""

import msgspec

from selfgc.governance.decide import Decision
from selfgc.model.ids import ObjectId
from selfgc.model.outcome import Rehearsal


class ActionRow(msgspec.Struct, frozen=True):
    """One action: what it was, why, and what it saved or why it was refused."""

    id: ObjectId
    action: str
    reason: str
    tokens_before: int = 0
    tokens_after: int = 0
    refused: str = ""
    """The rule that turned it down; empty for an accepted action."""


class Report(msgspec.Struct, frozen=True):
    """One round: plan, rehearsal, decision, and what the view weighs now."""

    planner: str
    committed: bool
    reason: str
    tokens_transcript: int
    """Tokens of the ungoverned request."""
    tokens_before: int
    """Tokens of the view before this round."""
    tokens_after: int
    """Tokens of the view after this round; as before when nothing was committed."""
    tokens_planned: int
    """Tokens the view would have if the plan were committed."""
    actions: tuple[ActionRow, ...]
    refused: tuple[ActionRow, ...]
    pinned: dict[str, str]
    decision: Decision | None = None
    warnings: tuple[str, ...] = ()

    @property
    def prune_rate(self) -> float:
        """Share of the transcript's tokens that the view does not hold."""
        return 1 - self.tokens_after / self.tokens_transcript if self.tokens_transcript else 0.0


def report_of(
    rehearsal: Rehearsal, decision: Decision, transcript: int, pinned: dict[str, str], *, committed: bool
) -> Report:
    """Put a rehearsal and its decision into a report."""
    actions = tuple(
        ActionRow(edit.id, edit.action, edit.reason, edit.tokens_before, edit.tokens_after)
        for edit in rehearsal.edits
        if not edit.within
    )
    refused = tuple(ActionRow(ObjectId(r.object_id), r.verb, r.sentence, refused=r.rule) for r in rehearsal.refused)
    return Report(
        planner=rehearsal.planner,
        committed=committed,
        reason=decision.reason,
        tokens_transcript=transcript,
        tokens_before=rehearsal.tokens_before,
        tokens_after=rehearsal.tokens_after if committed else rehearsal.tokens_before,
        tokens_planned=rehearsal.tokens_after,
        actions=actions,
        refused=refused,
        pinned=pinned,
        decision=decision,
    )
