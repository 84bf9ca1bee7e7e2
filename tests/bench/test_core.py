"""The bench of the core, on sessions made here."""

import json

import pytest

from selfgc.bench import core
from selfgc.bench.budgets import Budget


def exchange(number, size):
    named = [f"/srv/shop/part_{number}/file_{line}.py holds value {number * 1000 + line}" for line in range(9)]
    text = "\n".join([*named, *["the work on this went on as it was planned before"] * size])
    return [
        {"role": "user", "content": f"step {number}: look at part {number}"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"ls {number}"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}]},
        {"role": "assistant", "content": f"Part {number} is fine."},
    ]


@pytest.fixture
def folder(tmp_path):
    messages = [message for number in range(1, 9) for message in exchange(number, 220)]
    messages[-3]["content"][0]["input"]["command"] = "cat /srv/shop/part_2/file_7.py"
    body = {"model": "claude-sonnet-4", "system": "be brief", "messages": messages}
    (tmp_path / "one.json").write_text(json.dumps(body), "utf-8")
    return tmp_path


@pytest.fixture
def budgets(monkeypatch):
    monkeypatch.setattr(core, "measure_budgets", lambda *_: [Budget("first sight", "0.1 s", "0.5 s")])


def test_the_figures_add_up(folder, budgets, capsys):
    """Every view is valid, every payload restored, and what the agent used later is still seen."""
    out = folder / "out" / "core.json"
    assert core.main([str(folder), "--workers", "1", "--out", str(out)]) == 0
    figures = json.loads(out.read_text("utf-8"))
    assert figures["cases"] == figures["valid_views"] > 3
    assert figures["restored"] == figures["folded"] > 0
    assert 0.1 < figures["mean_prune"] < 1
    assert figures["needed"] >= figures["seen"] > 0
    shown = capsys.readouterr().out
    assert "needed uses still visible" in shown
    assert "first sight" in shown


def test_a_goal_turns_pruning_down(folder, budgets):
    """With a target the planner stops earlier than by default."""
    rates = []
    for extra in ([], ["--target-prune", "0.2"]):
        out = folder / "figures" / f"{len(extra)}.json"
        assert core.main([str(folder), "--workers", "1", "--out", str(out), *extra]) == 0
        rates.append(json.loads(out.read_text("utf-8"))["mean_prune"])
    assert rates[1] < rates[0]


def test_others_make_anchors_common(folder, budgets, tmp_path):
    """What other sessions hold too is no needed use."""
    out, others = tmp_path / "f" / "core.json", tmp_path / "others"
    others.mkdir()
    for number in range(3):
        (others / f"{number}.json").write_bytes((folder / "one.json").read_bytes())
    assert core.main([str(folder), "--workers", "1", "--others", str(others), "--out", str(out)]) == 0
    figures = json.loads(out.read_text("utf-8"))
    assert figures["needed"] == 0
    assert "none" in core._share(figures["seen"], figures["needed"])


def test_a_missing_folder_is_a_usage_error(tmp_path, capsys):
    """The bench says what it wanted."""
    with pytest.raises(SystemExit) as stopped:
        core.main([str(tmp_path / "nothing")])
    assert stopped.value.code == 2
    assert "no folder of sessions" in capsys.readouterr().err


def test_a_case_that_does_not_hold_fails_the_run(folder, budgets, monkeypatch):
    """The command exits 1 when a payload does not come back."""
    monkeypatch.setattr(core, "count_restored", lambda *_: (2, 1))
    monkeypatch.setattr(core, "ProcessPoolExecutor", Here)
    assert core.main([str(folder), "--workers", "1"]) == 1


class Here:
    """Runs work in this process, so that what a test put in place holds there too."""

    def __init__(self, workers):
        self.workers = workers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    map = staticmethod(map)


def test_a_session_knows_its_system_text():
    """System prompt and tools are what every view holds."""
    session = core.Session("s", "anthropic", {"system": "be brief", "model": "x"}, ())
    assert "be brief" in session.system
    assert "model" not in session.system
