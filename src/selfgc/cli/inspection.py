"""What `selfgc inspect` tells of a session, gathered from rounds that were run in memory."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from selfgc.cli.output import one_line
from selfgc.cli.rounds import Round, violations_in
from selfgc.engine.report import ActionRow
from selfgc.governance.lineage import find_repairs
from selfgc.model.ids import ObjectId, kind_of
from selfgc.model.message import PartKind, PartRef
from selfgc.model.objects import PART_OVERHEAD, Span, Turn
from selfgc.model.outcome import Repair
from selfgc.model.policy import Boundary
from selfgc.model.snapshot import Snapshot
from selfgc.readers.recording import Notes, Skipped

SUBJECT = 120
"""So many characters of a subject are told."""


class Object(msgspec.Struct, frozen=True):
    """One object of the session."""

    id: ObjectId
    kind: str
    tool: str
    subject: str
    tokens: int
    message: int
    """Index of the message that it begins in."""
    turn: str
    """The turn that it stands in; empty before the first one, and for turns themselves."""
    calls: int = 1
    """How many tool calls it holds: one, or those of a turn."""
    is_open: bool = False
    has_failed: bool = False
    pinned: str = ""
    """Why it is pinned; empty when it is not."""


class ToolUse(msgspec.Struct, frozen=True):
    """All calls of one tool, with their results."""

    tool: str
    calls: int
    tokens: int


class Reclaimable(msgspec.Struct, frozen=True):
    """What the default planner would reclaim with one boundary."""

    boundary: Boundary
    would_commit: bool
    reason: str
    tokens_after: int
    share: float
    actions: tuple[ActionRow, ...]


class Inspection(msgspec.Struct, frozen=True):
    """All that is told of a session."""

    source: str
    name: str
    dialect: str
    model: str
    messages: int
    tokens: int
    tokens_by_kind: dict[str, int]
    """Parts by kind; `framing` is what a provider adds around each message."""
    tokens_by_tool: tuple[ToolUse, ...]
    turns: tuple[Object, ...]
    spans: tuple[Object, ...]
    """Tool calls with their results, and skill state."""
    reclaimable: tuple[Reclaimable, ...]
    repairs: tuple[Repair, ...]
    """What a view needs so that the provider takes it; none when it takes the request as it is."""
    faults: tuple[str, ...]
    notes: Notes
    skipped: tuple[Skipped, ...]


def inspection_of(rounds: Sequence[Round]) -> Inspection:
    """Gather what there is to tell of a session from at least one round over it."""
    done = rounds[0]
    snapshot, recording = done.snapshot, done.recording
    return Inspection(
        source=recording.source,
        name=recording.name,
        dialect=recording.dialect,
        model=snapshot.profile.name,
        messages=len(snapshot.entries),
        tokens=snapshot.transcript_tokens,
        tokens_by_kind=_by_kind(snapshot),
        tokens_by_tool=_by_tool(snapshot),
        turns=tuple(_turn(snapshot, turn) for turn in snapshot.turns),
        spans=tuple(_span(snapshot, span, done.report.pinned) for span in snapshot.spans),
        reclaimable=tuple(_reclaimable(each) for each in rounds),
        repairs=tuple(find_repairs(snapshot)) if violations_in(snapshot, recording.body) else (),
        faults=done.faults,
        notes=recording.notes,
        skipped=recording.skipped,
    )


def _by_kind(snapshot: Snapshot) -> dict[str, int]:
    tokens: Counter[str] = Counter()
    tokens[PartKind.SYSTEM] = snapshot.system_tokens
    for entry in snapshot.entries:
        for part, facts in zip(entry.message.parts, entry.parts, strict=True):
            tokens[part.kind] += facts.tokens
    tokens["framing"] = PART_OVERHEAD * len(snapshot.entries)
    return {str(kind): number for kind, number in tokens.most_common() if number}


def _by_tool(snapshot: Snapshot) -> tuple[ToolUse, ...]:
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for span in snapshot.spans:
        spans[span.tool or "(skill text)"].append(span)
    uses = [ToolUse(tool, len(calls), sum(span.tokens for span in calls)) for tool, calls in spans.items()]
    return tuple(sorted(uses, key=lambda use: -use.tokens))


def _turn(snapshot: Snapshot, turn: Turn) -> Object:
    parts = snapshot.entries[turn.start].message.parts
    texts = [snapshot.text(PartRef(turn.start, n)) for n, part in enumerate(parts) if part.kind is PartKind.USER_TEXT]
    tokens = sum(entry.tokens for entry in snapshot.entries[turn.start : turn.end])
    calls = turn.past_span - turn.first_span
    return Object(turn.id, kind_of(turn.id), "", _subject(" ".join(texts)), tokens, turn.start, "", calls)


def _span(snapshot: Snapshot, span: Span, pinned: dict[str, str]) -> Object:
    return Object(
        id=span.id,
        kind=kind_of(span.id),
        tool=span.tool,
        subject=_subject(span.facts.target),
        tokens=span.tokens,
        message=span.call.message,
        turn=snapshot.turns[span.turn].id if span.turn >= 0 else "",
        is_open=span.is_open,
        has_failed=span.facts.has_failed,
        pinned=pinned.get(span.id, ""),
    )


def _subject(text: str) -> str:
    return one_line(text[: 4 * SUBJECT])[:SUBJECT]


def _reclaimable(done: Round) -> Reclaimable:
    is_committed = done.report.committed
    after = done.tokens if is_committed else done.report.tokens_planned
    whole = done.report.tokens_transcript
    boundary = done.snapshot.policy.boundary
    part = 1 - after / whole if whole else 0.0
    return Reclaimable(boundary, is_committed, done.report.reason, after, part, done.report.actions)
