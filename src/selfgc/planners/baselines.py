"""The two baselines of the paper, through the same protocol as every other planner.

They know sizes and ages and nothing else; protection, rehearsal and recovery are the same for all.
"""

from collections.abc import Sequence

from selfgc.model.legality import Legality
from selfgc.model.objects import Span, Turn
from selfgc.model.plan import Action, Plan, Prune
from selfgc.model.snapshot import Snapshot
from selfgc.planners.goal import goal_tokens


class OldestTurnPlanner:
    """Oldest-turn deletion: whole turns leave the view, oldest first, until the goal is reached."""

    name = "oldest-turn"

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return prunes of the oldest turns."""
        legality = Legality(snapshot)
        turns = [turn for turn in snapshot.turns if legality.refusal(turn.id, "prune") is None]
        return _prunes(self.name, snapshot, [(turn, _turn_tokens(snapshot, turn)) for turn in turns])


class ToolPrunePlanner:
    """Tool-output pruning: tool spans leave the view, oldest first, until the goal is reached."""

    name = "tool-prune"

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return prunes of the oldest tool spans."""
        legality = Legality(snapshot)
        spans = [span for span in snapshot.spans if legality.refusal(span.id, "prune") is None]
        return _prunes(self.name, snapshot, [(span, span.tokens) for span in spans])


def _turn_tokens(snapshot: Snapshot, turn: Turn) -> int:
    return sum(span.tokens for span in snapshot.spans[turn.first_span : turn.past_span])


def _prunes(name: str, snapshot: Snapshot, candidates: Sequence[tuple[Turn | Span, int]]) -> Plan:
    goal = goal_tokens(snapshot)
    actions: list[Action] = []
    for target, tokens in candidates:
        if goal is not None and goal <= 0:
            break
        actions.append(Prune(target.id, "oldest first"))
        goal = None if goal is None else goal - tokens
    summary = "the goal is met" if goal_tokens(snapshot) == 0 else "" if actions else "nothing may be touched"
    return Plan(tuple(actions), name, snapshot.version, snapshot.digest, summary)
