"""x"""

from selfgc.model.legality import Legality
from selfgc.model.plan import Fold, Plan
from selfgc.model.snapshot import Snapshot


class ReachabilityPlanner:
    """x"""

    name = "reachability"

    def plan(self, snapshot: Snapshot) -> Plan:
        """x"""
        legality = Legality(snapshot)
        return Plan(
            tuple(Fold(x.id) for x in snapshot.spans if legality.refusal(x.id, "fold") is None),
            self.name,
            snapshot.version,
            snapshot.digest,
        )
