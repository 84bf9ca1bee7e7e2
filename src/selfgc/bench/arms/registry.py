"""The arms by name: what each is, its family, whether it can be turned, and the command that runs it."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from selfgc.bench.peers.environments import ensure
from selfgc.bench.peers.registry import PEERS
from selfgc.errors import UsageError


class Arm(msgspec.Struct, frozen=True):
    """One way to govern, as the bench compares it."""

    name: str
    family: str
    """`none`, `floor`, `baseline`, `provider`, `peer`, `ours` or `ablation`."""
    sentence: str
    has_knob: bool = True
    """Whether a rate can be asked of it."""

    def argv(self, peers: Path | None = None) -> list[str]:
        """Return the command that serves it. Peers are installed below `peers` when they are not there yet."""
        if self.family == "peer":
            return PEERS[self.name].argv(ensure(self.name, peers))
        return [sys.executable, "-m", "selfgc.bench.arms.serve", self.name]


_OWN = (
    Arm("none", "none", "Nothing is edited.", has_knob=False),
    Arm("delete-all", "floor", "Everything but the protected end leaves.", has_knob=False),
    Arm("random", "floor", "Tool calls leave by the dice of a seed."),
    Arm("fold-all-id", "floor", "Everything is folded; the pointer holds the id and nothing else."),
    Arm("fold-all-routing", "floor", "Everything is folded; the pointer holds id, tool and subject."),
    Arm("oldest-turn", "baseline", "The paper's: whole turns leave, oldest first."),
    Arm("tool-prune", "baseline", "The paper's: tool calls leave, oldest first."),
    Arm("tool-mask-prune", "baseline", "The paper's: large outputs lose their middle, then the oldest calls leave."),
    Arm("hybrid", "baseline", "The paper's: oldest turns and oldest tool calls leave."),
    Arm("anthropic-clear", "provider", "Anthropic's clear_tool_uses with its defaults."),
    Arm("opencode-prune", "provider", "opencode's prune rule."),
    Arm("reachability", "ours", "The default planner."),
    Arm("ours-bare-pointers", "ablation", "Pointers hold the id alone, no anchors."),
    Arm("ours-prune-for-fold", "ablation", "What would be folded is pruned: nothing comes back."),
    Arm("ours-mask-for-fold", "ablation", "What would be folded is masked, span by span."),
    Arm("ours-no-turns", "ablation", "Spans are folded one by one, never a turn as one."),
    Arm("ours-no-commands", "ablation", "Commands are not shown whole."),
    Arm("ours-nothing-spared", "ablation", "No body is kept inside a folded turn."),
)
ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (*_OWN, *(Arm(peer.name, "peer", peer.sentence, has_knob=peer.has_knob) for peer in PEERS.values()))
}
"""Every arm by its name, in the order of the tables."""


def arms_named(names: str) -> list[Arm]:
    """Return the arms of a list with commas; `all`, `own` (all but the peers), or a family's name stand for several.

    UsageError when there is none of a name.
    """
    return list(dict.fromkeys(arm for name in names.split(",") for arm in _arms(name.strip())))


def _arms(name: str) -> Iterable[Arm]:
    if name == "all":
        return ARMS.values()
    if name == "own":
        return [arm for arm in ARMS.values() if arm.family != "peer"]
    if name.startswith("plan:"):
        return [Arm(name, "plan", "A plan file.", has_knob=False)]
    if name in ARMS:
        return [ARMS[name]]
    family = [arm for arm in ARMS.values() if arm.family == name]
    if not family:
        families = dict.fromkeys(arm.family for arm in ARMS.values())
        raise UsageError(f"expected arms out of {', '.join(ARMS)}, or {', '.join(families)}, all, own; got {name!r}")
    return family
