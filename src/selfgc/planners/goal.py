"""How much is to be saved: the policy's target as a number of tokens."""

from selfgc.model.snapshot import Snapshot


def goal_tokens(snapshot: Snapshot) -> int | None:
    """Return how many tokens of the transcript are to leave the view, or None when the policy sets no goal.

    With both a share and a budget set, the larger saving counts.
    """
    policy, total = snapshot.policy, int(snapshot.transcript_tokens)
    goals = []
    if policy.target_prune is not None:
        goals.append(round(policy.target_prune * total))
    if policy.budget is not None:
        goals.append(total - policy.budget)
    return max(0, *goals) if goals else None
