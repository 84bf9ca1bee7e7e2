"""The budgets are measured against floors of the same run."""

import re

from selfgc.bench.budgets import STEPS, measure_budgets

ROWS = 7


def session(steps):
    messages = [{"role": "user", "content": "work"}]
    for number in range(steps):
        name = f"t{number}"
        call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"step {number}"}}
        answer = {"type": "tool_result", "tool_use_id": name, "content": f"/srv/a_{number}.py is there " * 30}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    return messages


def test_every_budget_of_the_core_has_a_row():
    """Each row has a figure and, but for the floor, what is asked for."""
    rows = measure_budgets("anthropic", {"model": "claude-sonnet-4"}, session(STEPS + 40))
    assert len(rows) == ROWS
    assert [row.asked for row in rows] == ["", "3 x floor", "0.5 s", "0.25 s", "6 x", "100 ms", "150 ms"]
    assert all(re.match(r"-?\d", row.shown) for row in rows)
