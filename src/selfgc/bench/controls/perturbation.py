"""The future-perturbation test: a plan is the same whatever follows, and whatever the planner has seen meanwhile.

A planner is given a serialised prefix and nothing else. It is asked three times for the same prefix; in between it is
shown the prefix with its true continuation, and with noise in the place of it. A planner that draws lots, remembers
the session, or has another way to its future, answers differently.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from selfgc.bench.controls.prepared import Cut, Prepared, dice, sampled, told, with_first
from selfgc.bench.records import ControlRecord
from selfgc.bench.texts import Decoded, raw_text

Plan = Callable[[bytes], bytes]
"""Gives the plan for a serialised request."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz     "


def serialised(cut: Cut, further: Sequence[Decoded] = ()) -> bytes:
    """Return what a planner is given of a case: the request up to the cut, and the `further` messages."""
    return msgspec.json.encode({**cut.session.fields, "messages": [*cut.case.prefix, *further]})


def future_perturbation(
    cases: Sequence[Prepared], plans: Mapping[str, Plan], *, size: int, seed: int
) -> list[ControlRecord]:
    """Return, for each subject, whether its plans hold still."""
    chosen = sampled(cases, size, seed)
    return [_tried(name, plan, chosen, seed) for name, plan in plans.items()]


def _tried(name: str, plan: Plan, cases: Sequence[Prepared], seed: int) -> ControlRecord:
    wrong = []
    for case in cases:
        prefix = serialised(case.cut)
        first = plan(prefix)
        plan(serialised(case.cut, case.cut.case.continuation))
        again = plan(prefix)
        plan(serialised(case.cut, _noise(case.cut, seed)))
        if not first == again == plan(prefix):
            wrong.append(f"{case.cut.session.name} at {case.cut.case.cut}")
    found = f"{len(wrong)} of {len(cases)} plans differ; {told(cases, seed)}"
    holds = bool(cases) and not wrong
    return ControlRecord(
        f"future perturbation, {name}", "plans identical, byte for byte", with_first(found, wrong), holds
    )


def _noise(cut: Cut, seed: int) -> list[Decoded]:
    """Return messages of the same speakers and lengths as the continuation's that say nothing."""
    chance = dice("noise", seed, cut.place)
    return [
        {"role": message.get("role"), "content": "".join(chance.choices(_LETTERS, k=len(raw_text(message)) + 1))}
        for message in cut.case.continuation
        if message.get("role") in {"user", "assistant"}
    ]
