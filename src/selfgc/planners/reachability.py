"""The default planner: reachability, as a garbage collector sees it. Deterministic; reads only the prefix.

Everything that may be folded is folded, but for what is reached from the roots, as far as the room for it
goes. Roots are the user's last words and the newest work; what is protected anyway is no candidate. Reached
are, each the more, the later it was touched, the shorter it is, and when the user's last words name it:

1. live bodies: the newest whole text of a file, and what was edited or read of it since
2. reports of other agents, and what tools without a known effect said
3. evidence: the newest outputs of commands and searches

What failed is kept last of all, and notes are. Where several calls of
an old turn go, the turn goes as one, with what is kept spared.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from selfgc.model.anchors import anchors_of
from selfgc.model.ids import ObjectId
from selfgc.model.legality import Legality
from selfgc.model.message import PartRef
from selfgc.model.objects import Span
from selfgc.model.plan import Action, Fold, Plan
from selfgc.model.snapshot import Snapshot
from selfgc.model.spans import Effect
from selfgc.planners.goal import goal_tokens

ROOM = 6000
"""Tokens that may stay for what is reached, when the policy sets no goal."""
ROOM_SHARE = 0.1
"""At most this share of the transcript's tokens, so that short sessions shrink too."""
MEMORY = 60
"""Spans after which the worth of a body has fallen to a third."""
BULK = 0.8
"""By tokens to this power the worth is divided: a short body is the cheaper bet."""
LITTLE = 0.01
"""What failed, and notes, are worth so little that they are kept only when a goal leaves room for them."""
TURN_SPANS = 3
"""A turn goes as one when at least so many of its spans go."""
POINTER_SHARE = 0.1
"""Share of what is folded that its pointers take back; an estimate, for meeting a goal."""
COMMAND_MEMORY = 250
"""Commands of so many newest calls are shown whole by the pointer of their turn."""
LEAST_COMMAND, LONGEST_COMMAND = 40, 800
"""Characters of a command that is worth it."""
_BODY = frozenset({Effect.READ, Effect.WRITE, Effect.EDIT})
_WORTH = {
    Effect.AGENT: (1.0, "report"),
    Effect.OTHER: (1.0, "report"),
    Effect.RUN: (0.5, "evidence"),
    Effect.SEARCH: (0.5, "evidence"),
    Effect.FETCH: (0.5, "evidence"),
}


class Candidate(msgspec.Struct, frozen=True):
    """A span that might be kept, how much that is worth, and as what."""

    span: Span
    worth: float
    reason: str


class ReachabilityPlanner:
    """Folds what later work is not expected to need word for word."""

    name = "reachability"

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return folds of spans and whole turns; an empty plan when nothing may be folded."""
        if goal_tokens(snapshot) == 0:
            return Plan((), self.name, snapshot.version, snapshot.digest, "the goal is met")
        legality = Legality(snapshot)
        foldable = [span for span in snapshot.spans if legality.refusal(span.id, "fold") is None]
        kept = _within(_candidates(snapshot, foldable), _room(snapshot, foldable))
        actions = _actions(snapshot, legality, foldable, kept)
        summary = "" if actions else "nothing that may be touched is left to fold"
        return Plan(tuple(actions), self.name, snapshot.version, snapshot.digest, summary)


def _room(snapshot: Snapshot, foldable: Iterable[Span]) -> float:
    """Return how many tokens may be kept: a fixed room, or what the policy's goal leaves."""
    goal = goal_tokens(snapshot)
    if goal is None:
        return min(ROOM, ROOM_SHARE * snapshot.transcript_tokens)
    return max(0.0, sum(span.tokens for span in foldable) - goal / (1 - POINTER_SHARE))


def _within(candidates: Iterable[Candidate], room: float) -> set[ObjectId]:
    """Return the best candidates that fit into the room, best first."""
    kept: set[ObjectId] = set()
    for candidate in sorted(candidates, key=lambda found: (-found.worth, found.span.call)):
        if candidate.span.tokens <= room:
            kept.add(candidate.span.id)
            room -= candidate.span.tokens
    return kept


def _candidates(snapshot: Snapshot, foldable: Iterable[Span]) -> list[Candidate]:
    live = live_bodies(snapshot.spans)
    number = {span.id: position for position, span in enumerate(snapshot.spans)}
    touched = {span.facts.target: position for position, span in enumerate(snapshot.spans)}
    named = _named_by_user(snapshot)
    found: list[Candidate] = []
    for span in foldable:
        worth, reason = _worth(span, live)
        newest = touched[span.facts.target] if span.id in live else number[span.id]
        age = len(snapshot.spans) - newest
        if _file_name(span.facts.target) in named:
            worth *= 2
        found.append(Candidate(span, worth * math.exp(-age / MEMORY) / span.tokens**BULK, reason))
    return found


def _worth(span: Span, live: set[ObjectId]) -> tuple[float, str]:
    if span.facts.has_failed:
        return LITTLE, "failed"
    if span.facts.effect in _BODY:
        return (1.0, "live body") if span.id in live else (0.5, "older body")
    return _WORTH.get(span.facts.effect, (LITTLE, "note"))


def live_bodies(spans: Iterable[Span]) -> set[ObjectId]:
    """Return the spans that together show the present text of each file, as far as it was seen.

    A whole write or read takes the place of what came before it. A read that is much shorter than what was
    seen before ("unchanged since the last read", a truncated output) does not.
    """
    live: dict[str, list[Span]] = {}
    for span in spans:
        facts = span.facts
        if facts.effect not in _BODY or facts.has_failed or span.result is None or not facts.target:
            continue
        before = live.get(facts.target, [])
        live[facts.target] = [span] if _takes_over(span, before) else [*before, span]
    return {span.id for held in live.values() for span in held}


def _takes_over(span: Span, before: Sequence[Span]) -> bool:
    if span.facts.effect is Effect.WRITE:
        return True
    if span.facts.effect is Effect.EDIT or span.facts.is_partial:
        return False
    return not before or span.result_tokens >= before[0].tokens // 2


def _named_by_user(snapshot: Snapshot) -> set[str]:
    """Return the file names in the user's last words."""
    words: set[str] = set()
    for turn in snapshot.turns[-2:]:
        for part in range(len(snapshot.entries[turn.start].message.parts)):
            words |= anchors_of(snapshot.text(PartRef(turn.start, part)))
    return {_file_name(word) for word in words} - {""}


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _actions(snapshot: Snapshot, legality: Legality, foldable: Sequence[Span], kept: set[ObjectId]) -> list[Action]:
    by_turn: dict[int, list[Span]] = {}
    for span in foldable:
        if span.id not in kept:
            by_turn.setdefault(span.turn, []).append(span)
    actions: list[Action] = []
    for number, spans in by_turn.items():
        turn = snapshot.turns[number] if number >= 0 else None
        if turn is not None and len(spans) >= TURN_SPANS and legality.refusal(turn.id, "fold", kept) is None:
            inside = snapshot.spans[turn.first_span : turn.past_span]
            spared = tuple(span.id for span in inside if span.id in kept)
            keep = tuple(_commands(snapshot, spans))
            actions.append(Fold(turn.id, f"resolved turn: {len(spans)} calls", keep=keep, spare=spared))
        else:
            actions += [Fold(span.id, f"old {span.facts.effect}") for span in spans]
    return actions


def _commands(snapshot: Snapshot, spans: Iterable[Span]) -> Iterator[str]:
    """Yield the commands of the newer calls, newest first: they are run again, word for word, more than anything."""
    first = len(snapshot.spans) - COMMAND_MEMORY
    newer = {span.id for span in snapshot.spans[max(0, first) :]}
    for span in reversed([*spans]):
        if span.id in newer and span.facts.effect is Effect.RUN:
            message = snapshot.entries[span.call.message].message
            for text in snapshot.dialect.arguments(message, span.call.part).values():
                if LEAST_COMMAND <= len(text) <= LONGEST_COMMAND:
                    yield text
