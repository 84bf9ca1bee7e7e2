"""What a round of governing is to do, and what it did: the values that `govern` and `inspect` tell of."""

import msgspec

from selfgc.engine.report import ActionRow, Report
from selfgc.errors import Finding
from selfgc.model.ids import SessionKey
from selfgc.model.legality import Legality
from selfgc.model.plan import Plan
from selfgc.model.policy import Boundary, Policy
from selfgc.model.profile import Violation
from selfgc.model.snapshot import Planner, Snapshot
from selfgc.model.wire import split_body
from selfgc.readers.recording import Recording


class Order(msgspec.Struct, frozen=True):
    """What a round is to do."""

    policy: Policy = Policy()
    planner: Planner | None = None
    """None: the default planner."""
    plan: Plan | None = None
    """A plan from outside, instead of a planner."""
    findings: tuple[Finding, ...] = ()
    """What of that plan could not be read."""
    is_cold: bool = True


class Round(msgspec.Struct, frozen=True):
    """What a round did."""

    session: SessionKey
    recording: Recording
    report: Report
    snapshot: Snapshot
    """The session after the round."""
    view: bytes
    """The request body to send."""
    tokens: int
    """Tokens of that request."""
    unsent: tuple[ActionRow, ...]
    """What was folded or masked before it was ever sent, beside the plan."""
    violations: tuple[Violation, ...]
    """Rules of the provider that the view breaks, as the recorded request did."""
    faults: tuple[str, ...]
    """What went wrong on the way; the view is then whole, but perhaps not governed."""

    @property
    def prune_rate(self) -> float:
        """Share of the transcript's tokens that the view does not hold."""
        whole = self.report.tokens_transcript
        return 1 - self.tokens / whole if whole else 0.0

    @property
    def verdict(self) -> str:
        """Why something was committed, or nothing was."""
        is_lost = self.report.decision is not None and self.report.decision.commit and not self.report.committed
        return "it could not be written into the store" if is_lost else self.report.reason

    @property
    def idle_pins(self) -> tuple[str, ...]:
        """Pinned ids that protect nothing: no tool call of the session has such an id."""
        return tuple(pin for pin in self.snapshot.policy.pinned_ids if pin not in self.report.pinned)

    @property
    def advice(self) -> str:
        """What would let more be committed, as a sentence; empty when there is nothing to say."""
        if self.report.committed or self.snapshot.edits or self.snapshot.policy.boundary is Boundary.STEP:
            return ""
        spans = self.snapshot.spans
        start = Legality(self.snapshot).frozen_from
        late = sum(span.result is not None and span.result.message >= start for span in spans)
        if self.report.reason.startswith("unsafe boundary"):
            return "the session stops inside a turn; --boundary step allows a commit between two steps of it"
        if late and not self.report.actions:
            return f"{late} of {len(spans)} tool calls stand in the last turn; --boundary step allows to touch them"
        return ""


def violations_in(snapshot: Snapshot, request: bytes) -> tuple[Violation, ...]:
    """Return the rules that a request of this session breaks."""
    body = split_body(request)
    return tuple(snapshot.dialect.check(body.messages, body.fields, snapshot.profile))
