"""The snapshot: one immutable state of a session, as planners and rehearsal see it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import msgspec

from selfgc.model.dialect import Dialect
from selfgc.model.ids import ObjectId, Tokens
from selfgc.model.message import PartRef
from selfgc.model.objects import Entry, Span, Turn
from selfgc.model.plan import Plan
from selfgc.model.policy import Policy
from selfgc.model.profile import Profile
from selfgc.model.records import Edit, Replacement


class Snapshot(msgspec.Struct, frozen=True, dict=True):
    """Transcript, objects and committed edits at one moment. Nothing of what comes later is in it."""

    dialect: Dialect
    entries: tuple[Entry, ...]
    chains: tuple[str, ...]
    """Hex chain digest of each message: position, lineage and content in one."""
    spans: tuple[Span, ...]
    turns: tuple[Turn, ...]
    edits: Mapping[ObjectId, Edit]
    """Committed edits by object."""
    policy: Policy
    profile: Profile
    version: int = 0
    """Number of commits and rollbacks so far."""
    system_tokens: int = 0
    """Tokens of system prompt and tool definitions outside the messages."""
    system_anchors: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """Names this very transcript: the chain digest of its last message."""
        return self.chains[-1] if self.chains else ""

    @cached_property
    def spans_by_id(self) -> dict[ObjectId, Span]:
        """Spans by id."""
        return {span.id: span for span in self.spans}

    @cached_property
    def turns_by_id(self) -> dict[ObjectId, Turn]:
        """Turns by id."""
        return {turn.id: turn for turn in self.turns}

    @cached_property
    def replacements(self) -> dict[tuple[str, str], Replacement]:
        """What stands at each edited part now, by chain and path; later commits win."""
        return {(item.chain, item.path): item for edit in self.edits.values() for item in edit.replacements}

    @cached_property
    def transcript_tokens(self) -> Tokens:
        """Tokens of the whole ungoverned request."""
        return Tokens(self.system_tokens + sum(entry.tokens for entry in self.entries))

    @cached_property
    def part_savings(self) -> int:
        """Tokens that the committed edits took out of parts; the framing of messages that left is not in it."""
        saved = 0
        for number, chain in enumerate(self.chains):
            if chain not in self._edited_chains:
                continue
            entry = self.entries[number]
            for part, facts in zip(entry.message.parts, entry.parts, strict=True):
                item = self.replacements.get((chain, part.path))
                saved += facts.tokens - item.tokens if item is not None else 0
        return saved

    @cached_property
    def _edited_chains(self) -> frozenset[str]:
        return frozenset(chain for chain, _ in self.replacements)

    def text(self, ref: PartRef) -> str:
        """Return the decoded text of one part of the transcript."""
        return self.dialect.texts(self.entries[ref.message].message)[ref.part]

    def part_tokens(self, ref: PartRef) -> int:
        """Return the tokens of one part of the transcript, its overhead included."""
        return self.entries[ref.message].parts[ref.part].tokens

    def span_anchors(self, span: Span) -> set[str]:
        """Return the anchors of a span's call and result."""
        refs = [span.call] if span.result is None else [span.call, span.result]
        return {anchor for ref in refs for anchor in self.entries[ref.message].parts[ref.part].anchors}


class Planner(Protocol):
    """Proposes a plan for a snapshot; sees nothing but the snapshot."""

    @property
    def name(self) -> str:
        """The name under which plans are recorded."""
        ...

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return a plan over existing ids; an empty one is a good answer. PlanError when it cannot."""
        ...
