"""The decision: commit a rehearsed plan now, or defer it.

1  nothing to commit     no action passed rehearsal
2  unsafe boundary       a call is open, or the policy's boundary is not reached
3  server state          the history is held by the server; it cannot be edited here
4  no route back         pointers name a tool that the request does not offer (V20)
5  does not pay          the expected benefit is not over zero (P12)

Declining is a value with its numbers, not an error.
"""

from collections.abc import Mapping

import msgspec

from selfgc.economics.benefit import Benefit, Terms, commit_benefit
from selfgc.economics.catalog import Row
from selfgc.model.ids import Tokens
from selfgc.model.legality import offers_restore
from selfgc.model.message import PartKind
from selfgc.model.objects import Entry
from selfgc.model.outcome import Rehearsal
from selfgc.model.policy import Boundary
from selfgc.model.snapshot import Snapshot


class Circumstances(msgspec.Struct, frozen=True):
    """What the engine knows of the moment."""

    is_cold: bool
    """The provider's cache holds nothing of this prefix any more (or never did)."""
    calls_to_come: float
    fields: Mapping[str, bytes]
    """The request's other top-level members, raw."""


class Decision(msgspec.Struct, frozen=True):
    """Commit or defer, why, and the numbers."""

    commit: bool
    reason: str
    removed: Tokens = Tokens(0)
    suffix: Tokens = Tokens(0)
    is_cold: bool = False
    calls_to_come: float = 0.0
    benefit: Benefit | None = None


def decide(snapshot: Snapshot, rehearsal: Rehearsal, prices: Row, now: Circumstances) -> Decision:
    """Return whether to commit a rehearsed plan now."""
    if not rehearsal.edits:
        return Decision(commit=False, reason="nothing to commit: no action passed rehearsal")
    held = [name for name in snapshot.profile.server_state if name in now.fields]
    if held:
        return Decision(commit=False, reason=f"server state: the history is held by the server ({held[0]})")
    if not is_boundary(snapshot):
        return Decision(commit=False, reason=f"unsafe boundary: no {snapshot.policy.boundary} boundary here")
    if not offers_restore(snapshot, now.fields):
        return Decision(commit=False, reason="no route back: the request does not offer the restore tool")
    removed = Tokens(rehearsal.tokens_before - rehearsal.tokens_after)
    suffix = Tokens(rehearsal.tokens_before - _tokens_before(snapshot, rehearsal.first_changed))
    terms = Terms(removed, suffix, now.calls_to_come, now.is_cold, reasoning=rehearsal.reasoning_tokens)
    benefit = commit_benefit(terms, prices)
    pays = benefit.total > 0
    reason = "it pays" if pays else "does not pay: the cache break costs more than the calls to come save"
    return Decision(pays, reason, removed, suffix, now.is_cold, now.calls_to_come, benefit)


def is_boundary(snapshot: Snapshot) -> bool:
    """Whether the transcript ends where the policy allows a commit: no open call; at a turn's end or start."""
    waiting = {span.call.message for span in snapshot.spans if span.is_open}
    if waiting and all(map(_only_answers, snapshot.entries[max(waiting) + 1 :])):
        return False
    if snapshot.policy.boundary is Boundary.STEP:
        return True
    if not snapshot.entries:
        return False
    last = snapshot.entries[-1]
    return last.opens_turn or (last.message.role == "assistant" and not last.calls)


def _only_answers(entry: Entry) -> bool:
    """Whether a message holds results and nothing else: more of them may come."""
    return {part.kind for part in entry.message.parts} == {PartKind.TOOL_RESULT}


def _tokens_before(snapshot: Snapshot, first_changed: int) -> int:
    """Return the tokens of the present view before a message; edits before it are counted as they stand."""
    position = {chain: number for number, chain in enumerate(snapshot.chains[:first_changed])}
    total = snapshot.system_tokens + sum(entry.tokens for entry in snapshot.entries[:first_changed])
    for (chain, path), item in snapshot.replacements.items():
        if chain in position:
            entry = snapshot.entries[position[chain]]
            part = next(n for n, part in enumerate(entry.message.parts) if part.path == path)
            total -= entry.parts[part].tokens - item.tokens
    return total
