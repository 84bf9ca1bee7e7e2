"""Serving: a line in, a line out."""

import io
import subprocess
import sys

import bench_world as world
from selfgc.bench.arms.protocol import Ask, Failed, encode, read_answer
from selfgc.bench.arms.serve import answer, main, serve
from selfgc.bench.governed import Governed

ASK = Ask("anthropic", {"model": "m", "messages": world.messages()[: world.CUT]}, protected=4)


def test_none_and_delete_all_are_the_two_ends():
    """Nothing goes; everything but the protected end does."""
    assert answer("none", ASK) == Governed(tuple(ASK.messages))
    assert answer("delete-all", ASK) == Governed(tuple(ASK.messages[-4:]))


def test_rules_and_planners_are_reached_by_name():
    """Both leave the protected end alone."""
    for name in ("reachability", "anthropic-clear", "oldest-turn"):
        governed = answer(name, ASK)
        assert isinstance(governed, Governed)
        assert list(governed.messages[-4:]) == list(ASK.messages[-4:])


def test_an_arm_that_touches_the_protected_end_has_failed():
    """Here more is protected than the engine knows of."""
    asked = Ask("anthropic", ASK.body, protected=len(ASK.messages))
    assert "changed the protected end" in answer("oldest-turn", asked).error


def test_what_cannot_be_done_is_said():
    """As a failure, not as a crash."""
    assert isinstance(answer("magic", ASK), Failed)


def test_each_line_gets_a_line():
    """Empty lines none."""
    out = io.BytesIO()
    serve("none", [encode(ASK) + b"\n", b"\n", encode(ASK) + b"\n"], out)
    assert [read_answer(line) for line in out.getvalue().splitlines()] == [answer("none", ASK)] * 2


def test_the_program_answers_and_needs_one_name():
    """As the bench starts it."""
    command = [sys.executable, "-m", "selfgc.bench.arms.serve"]
    done = subprocess.run([*command, "none"], input=encode(ASK) + b"\n", capture_output=True, check=True)
    assert read_answer(done.stdout) == answer("none", ASK)
    assert main([]) == 2
