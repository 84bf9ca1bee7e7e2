"""The controls over a folder of sessions."""

import sys

import pytest

import bench_world as world
from selfgc.bench.arms.process import ArmProcess
from selfgc.bench.controlled import control_records, plan_of
from selfgc.bench.preparing import prepare
from selfgc.errors import UsageError


def test_every_control_is_run_over_the_sets_of_a_run(tmp_path):
    """On a small world too: identity, deletion and the future-perturbation test of our planner hold."""
    world.write_session(tmp_path / "mine")
    world.write_session(tmp_path / "others", "two", [world.user("x"), world.agent("y")])
    sets = prepare([tmp_path / "mine"], [], workers=1, store=None, step=lambda _: None)
    told = []
    found = {one.name: one for one in control_records(sets, [tmp_path / "others"], told.append)}
    assert found["identity"].holds
    assert any("future" in name and "reachability" in name and one.holds for name, one in found.items())
    assert len(told) == 2


def test_an_arm_without_a_plan_is_told():
    """The control could not be run."""
    with (
        ArmProcess([sys.executable, "-c", "raise SystemExit('no')"]) as arm,
        pytest.raises(UsageError, match="gave no plan"),
    ):
        plan_of(arm, b'{"messages": []}')
