"""Planners of the comparison that go through our own engine: plain rules, and our planner with a part taken out."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from selfgc.model.legality import Legality
from selfgc.model.objects import Span
from selfgc.model.plan import Action, Fold, Mask, Plan, Prune
from selfgc.model.snapshot import Planner, Snapshot
from selfgc.planners.baselines import OldestTurnPlanner, ToolPrunePlanner
from selfgc.planners.goal import goal_tokens
from selfgc.planners.reachability import ReachabilityPlanner

LARGE = 400
"""Tokens of an output from which on the mask-and-prune rule masks it."""


def _plan(name: str, snapshot: Snapshot, actions: Sequence[Action]) -> Plan:
    return Plan(tuple(actions), name, snapshot.version, snapshot.digest)


def _legal_spans(snapshot: Snapshot, verb: str) -> list[Span]:
    legality = Legality(snapshot)
    return [span for span in snapshot.spans if legality.refusal(span.id, verb) is None]


def _until_met(snapshot: Snapshot, spans: Sequence[Span], share: float) -> Iterator[Span]:
    """Yield spans until the policy's goal is met; without a goal, until `share` of the transcript is."""
    goal = goal_tokens(snapshot)
    left = share * snapshot.transcript_tokens if goal is None else goal
    for span in spans:
        if left <= 0:
            return
        left -= span.tokens
        yield span


class RandomPlanner:
    """Tool spans leave in random order, by the dice of a seed, until half of the tokens (or the goal) are gone."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        """The same seed and prefix give the same plan."""
        self._seed = seed

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return prunes of spans that dice chose."""
        spans = _legal_spans(snapshot, "prune")
        random.Random(f"{self._seed} {snapshot.digest}").shuffle(spans)  # noqa: S311 - dice must fall the same again
        return _plan(self.name, snapshot, [Prune(span.id, "dice") for span in _until_met(snapshot, spans, 0.5)])


class FoldAllPlanner:
    """Everything that may be folded is folded, oldest first, span by span."""

    name = "fold-all"

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return folds of all spans, or of so many that the goal is met."""
        spans = _legal_spans(snapshot, "fold")
        return _plan(self.name, snapshot, [Fold(span.id, "old") for span in _until_met(snapshot, spans, 1.0)])


class MaskPrunePlanner:
    """Tool masking and pruning: large outputs lose their middle, and the oldest spans leave until the goal is met."""

    name = "tool-mask-prune"

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return prunes of the older half of the spans (or up to the goal), and masks of what is large behind them."""
        spans = _legal_spans(snapshot, "prune")
        gone = list(_until_met(snapshot, spans, 0.3))
        pruned = {span.id for span in gone}
        large = [span for span in _legal_spans(snapshot, "mask") if span.tokens > LARGE and span.id not in pruned]
        actions: list[Action] = [Prune(span.id, "oldest first") for span in gone]
        return _plan(self.name, snapshot, [*actions, *(Mask(span.id, "large output") for span in large)])


class HybridPlanner:
    """Turn deletion and tool pruning together: the oldest turns leave for half of the goal, tool spans for the rest."""

    name = "hybrid"

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return prunes of the oldest turns, then of the oldest spans outside them."""
        legality = Legality(snapshot)
        turns = [turn for turn in snapshot.turns if legality.refusal(turn.id, "prune") is None]
        goal = goal_tokens(snapshot)
        left = (0.5 * snapshot.transcript_tokens if goal is None else goal) / 2
        actions: list[Action] = []
        inside: set[str] = set()
        for turn in turns:
            if left <= 0:
                break
            held = snapshot.spans[turn.first_span : turn.past_span]
            actions.append(Prune(turn.id, "oldest first"))
            inside.update(span.id for span in held)
            left -= sum(span.tokens for span in held)
        rest = [span for span in _legal_spans(snapshot, "prune") if span.id not in inside]
        share = 0.25 if goal is None else goal / 2 / max(1, snapshot.transcript_tokens)
        left = share * snapshot.transcript_tokens
        for span in rest:
            if left <= 0:
                break
            actions.append(Prune(span.id, "oldest first"))
            left -= span.tokens
        return _plan(self.name, snapshot, actions)


class ChangedPlanner:
    """Our planner with its plan changed afterwards: an ablation."""

    def __init__(self, name: str, change: Callable[[Snapshot, Action], Sequence[Action]]) -> None:
        """`change` makes of each action those that take its place."""
        self.name = name
        self._change = change

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return the changed plan."""
        plan = ReachabilityPlanner().plan(snapshot)
        actions = [made for action in plan.actions for made in self._change(snapshot, action)]
        return _plan(self.name, snapshot, actions)


def _by_span(snapshot: Snapshot, action: Action) -> list[Action]:
    turn = snapshot.turns_by_id.get(action.id)
    if turn is None:
        return [action]
    legality = Legality(snapshot)
    spans = legality.swallowable(turn, action.spare)
    return [Fold(span.id, action.reason) for span in spans if legality.refusal(span.id, "fold") is None]


def _pruned(_: Snapshot, action: Action) -> list[Action]:
    return [Prune(action.id, action.reason, spare=action.spare)]


def _masked(snapshot: Snapshot, action: Action) -> list[Action]:
    return [Mask(made.id, made.reason) for made in _by_span(snapshot, action)]


def _without_commands(_: Snapshot, action: Action) -> list[Action]:
    return [msgspec.structs.replace(action, keep=())]


def _keeping_nothing(snapshot: Snapshot, action: Action) -> list[Action]:
    """Fold what our planner had kept inside the turn as well."""
    legality = Legality(snapshot)
    if action.id in snapshot.turns_by_id and legality.refusal(action.id, "fold") is None:
        return [msgspec.structs.replace(action, spare=())]
    return [action]


PLANNERS: Mapping[str, Callable[[int], Planner]] = {
    "reachability": lambda _: ReachabilityPlanner(),
    "oldest-turn": lambda _: OldestTurnPlanner(),
    "tool-prune": lambda _: ToolPrunePlanner(),
    "tool-mask-prune": lambda _: MaskPrunePlanner(),
    "hybrid": lambda _: HybridPlanner(),
    "random": RandomPlanner,
    "fold-all-id": lambda _: FoldAllPlanner(),
    "fold-all-routing": lambda _: FoldAllPlanner(),
    "ours-bare-pointers": lambda _: ReachabilityPlanner(),
    "ours-prune-for-fold": lambda _: ChangedPlanner("ours-prune-for-fold", _pruned),
    "ours-mask-for-fold": lambda _: ChangedPlanner("ours-mask-for-fold", _masked),
    "ours-no-turns": lambda _: ChangedPlanner("ours-no-turns", _by_span),
    "ours-no-commands": lambda _: ChangedPlanner("ours-no-commands", _without_commands),
    "ours-nothing-spared": lambda _: ChangedPlanner("ours-nothing-spared", _keeping_nothing),
}
"""By the arm's name, a maker of its planner from a seed."""
