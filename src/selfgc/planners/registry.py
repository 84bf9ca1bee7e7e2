"""The planners that can be had by name."""

from collections.abc import Callable, Mapping

from selfgc.model.snapshot import Planner
from selfgc.planners.baselines import OldestTurnPlanner, ToolPrunePlanner
from selfgc.planners.reachability import ReachabilityPlanner

PLANNERS: Mapping[str, Callable[[], Planner]] = {
    "reachability": ReachabilityPlanner,
    "oldest-turn": OldestTurnPlanner,
    "tool-prune": ToolPrunePlanner,
}
"""Name to a maker; the first one is the default."""
