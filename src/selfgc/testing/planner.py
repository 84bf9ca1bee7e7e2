"""A planner that proposes what a script says: for tests of what a harness makes of a plan."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from selfgc.model.plan import Plan
from selfgc.model.snapshot import Snapshot

Step: TypeAlias = Plan | Exception | Callable[[Snapshot], Plan]
"""One entry of a script: a plan, an error to raise, or a function of the snapshot."""


class ScriptedPlanner:
    """Returns the given plans in turn, or raises; when the script is over it proposes nothing.

    A plan without a planner's name gets this one's. `snapshots` holds what it was asked about, in order.
    """

    def __init__(self, script: Iterable[Step] = (), name: str = "scripted") -> None:
        self._script = list(script)
        self._name = name
        self.snapshots: list[Snapshot] = []
        """Every snapshot so far."""

    @property
    def name(self) -> str:
        """The name under which plans are recorded."""
        return self._name

    def plan(self, snapshot: Snapshot) -> Plan:
        """Return the next plan of the script, or raise its error."""
        self.snapshots.append(snapshot)
        if not self._script:
            return Plan(planner=self.name, summary="the script is over")
        step = self._script.pop(0)
        if isinstance(step, Exception):
            raise step
        plan = step if isinstance(step, Plan) else step(snapshot)
        return plan if plan.planner else msgspec.structs.replace(plan, planner=self.name)
