"""How much is still to be saved: the policy's target as a number of tokens."""

from selfgc.model.snapshot import Snapshot


def goal_tokens(snapshot: Snapshot) -> int | None:
    """Return how many tokens of the present view are still to leave it, or None when the policy sets no goal.

    0 when the goal is met. With both a share and a budget set, the larger saving counts.
    """
    policy, total = snapshot.policy, int(snapshot.transcript_tokens)
    goals = []
    if policy.target_prune is not None:
        goals.append(round(policy.target_prune * total))
    if policy.budget is not None:
        goals.append(total - policy.budget)
    if not goals:
        return None
    return max(0, max(goals) - snapshot.part_savings)
