"""The default planner: reachability, as a garbage collector sees it. Deterministic; reads only the prefix.

Everything that may be folded is folded, but for what is reached from the roots. Roots are the user's last
words and the last turn. Reached are, in this order, as far as the room for them goes:

1. bodies of files that work is still going on in: the newest whole text, and the edits made on it since;
2. documents (plans, contracts, specifications): what later work is written against;
3. the newest evidence of each command, and reports of other agents;
each the more, the later it was touched and the more of the user's last words name it.

Never kept for its own sake: what a newer copy supersedes, what failed and later succeeded, what was searched.
Where several calls of an old turn go, the turn goes as one, with what is kept spared.
"""

import re
from collections.abc import Iterable

import msgspec

from selfgc.model.anchors import anchors_of
from selfgc.model.ids import ObjectId
from selfgc.model.legality import Legality
from selfgc.model.message import PartRef
from selfgc.model.objects import Span, Turn
from selfgc.model.plan import Action, Fold, Plan
from selfgc.model.snapshot import Snapshot
from selfgc.model.spans import Effect
from selfgc.planners.goal import goal_tokens

KEEP_SHARE = 0.10
"""Share of the transcript's tokens that may stay for what is reached, when the policy sets no goal."""
TURN_SPANS = 3
"""A turn goes as one when at least so many of its spans go."""
_DOCUMENT = re.compile(r"\.(?:md|mdx|rst|txt|adoc)$", re.IGNORECASE)
_BODY = frozenset({Effect.READ, Effect.WRITE, Effect.EDIT})


class Candidate(msgspec.Struct, frozen=True):
    """A span that might be kept, and how much that is worth."""

    span: Span
    worth: float
    reason: str


class ReachabilityPlanner:
    """Folds what later work is not expected to need word for word."""

    name = "reachability"

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return folds of spans and whole turns."""
        legality = Legality(snapshot)
        foldable = [span for span in snapshot.spans if legality.refusal(span.id, "fold") is None]
        if not foldable:
            return Plan((), self.name, snapshot.version, snapshot.digest)
        candidates = _candidates(snapshot, foldable)
        kept = _within(candidates, _room(snapshot, foldable))
        actions = _actions(snapshot, legality, foldable, kept)
        return Plan(tuple(actions), self.name, snapshot.version, snapshot.digest)


def _room(snapshot: Snapshot, foldable: Iterable[Span]) -> float:
    """Return how many tokens may be kept: a share, or what the policy's goal leaves."""
    goal = goal_tokens(snapshot)
    if goal is None:
        return KEEP_SHARE * snapshot.transcript_tokens
    return max(0.0, 0.8 * sum(span.tokens for span in foldable) - goal)


def _within(candidates: list[Candidate], room: float) -> set[ObjectId]:
    kept: set[ObjectId] = set()
    for candidate in sorted(candidates, key=lambda found: (-found.worth, found.span.call)):
        if candidate.worth > 0 and candidate.span.tokens <= room:
            kept.add(candidate.span.id)
            room -= candidate.span.tokens
    return kept


def _candidates(snapshot: Snapshot, foldable: Iterable[Span]) -> list[Candidate]:
    live = _live_bodies(snapshot.spans)
    touched = _last_touch(snapshot.spans)
    named = _named_by_user(snapshot)
    total = max(1, len(snapshot.spans))
    found = []
    for span in foldable:
        target = span.facts.target
        age = (total - touched.get(target, 0)) / total
        worth, reason = _worth(span, live)
        if worth and any(name in named for name in _names(target)):
            worth, reason = worth + 1.0, f"{reason}; named by the user"
        found.append(Candidate(span, worth * (1.0 - age) ** 2, reason))
    return found


def _worth(span: Span, live: set[ObjectId]) -> tuple[float, str]:
    effect = span.facts.effect
    if span.facts.has_failed or span.tokens < 60:
        return 0.0, ""
    if effect in _BODY and span.id in live:
        return (1.5, "document") if _DOCUMENT.search(span.facts.target) else (1.0, "body in work")
    if effect is Effect.AGENT:
        return 0.8, "report"
    return 0.0, ""


def _live_bodies(spans: Iterable[Span]) -> set[ObjectId]:
    """Return the spans that together show the present text of each file."""
    live: dict[str, list[ObjectId]] = {}
    for span in spans:
        facts = span.facts
        if facts.effect not in _BODY or facts.has_failed or span.result is None or not facts.target:
            continue
        whole = facts.effect is Effect.WRITE or (facts.effect is Effect.READ and not facts.is_partial)
        if whole:
            live[facts.target] = [span.id]
        else:
            live.setdefault(facts.target, []).append(span.id)
    return {object_id for ids in live.values() for object_id in ids}


def _last_touch(spans: Iterable[Span]) -> dict[str, int]:
    return {span.facts.target: number for number, span in enumerate(spans)}


def _named_by_user(snapshot: Snapshot) -> set[str]:
    """Return the file names and identifiers in the user's last words."""
    words: set[str] = set()
    for turn in snapshot.turns[-2:]:
        for part in range(len(snapshot.entries[turn.start].message.parts)):
            words |= anchors_of(snapshot.text(PartRef(turn.start, part)))
    return {name for word in words for name in _names(word)}


def _names(path: str) -> Iterable[str]:
    name = path.replace("\\", "/").rpartition("/")[2]
    return [name] if name else []


def _actions(snapshot: Snapshot, legality: Legality, foldable: list[Span], kept: set[ObjectId]) -> list[Action]:
    going = [span for span in foldable if span.id not in kept]
    by_turn: dict[int, list[Span]] = {}
    for span in going:
        by_turn.setdefault(span.turn, []).append(span)
    actions: list[Action] = []
    for number, spans in by_turn.items():
        turn = snapshot.turns[number] if number >= 0 else None
        if turn is not None and len(spans) >= TURN_SPANS and _goes_whole(legality, turn, kept):
            actions.append(Fold(turn.id, "resolved turn", spare=tuple(sorted(kept))))
        else:
            actions += [Fold(span.id, _reason(span)) for span in spans]
    return actions


def _goes_whole(legality: Legality, turn: Turn, kept: set[ObjectId]) -> bool:
    return legality.refusal(turn.id, "fold", kept) is None


def _reason(span: Span) -> str:
    return f"old {span.facts.effect}"
