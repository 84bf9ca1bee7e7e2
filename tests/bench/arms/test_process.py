"""An arm's process: asked, answered, and started anew when it fails."""

import sys

import bench_world as world
from selfgc.bench.arms.process import ArmProcess
from selfgc.bench.arms.protocol import Ask, Failed
from selfgc.bench.governed import Governed

ASK = Ask("anthropic", {"messages": [world.user("hello")]}, protected=1)
ANSWERS = "import sys\nfor line in sys.stdin:\n    print('{\"messages\": []}', flush=True)"


def program(text):
    return [sys.executable, "-c", text]


def test_one_process_answers_many_asks():
    """Until the block ends."""
    with ArmProcess(program(ANSWERS)) as arm:
        assert [arm.ask(ASK) for _ in range(3)] == [Governed(())] * 3


def test_a_process_that_dies_is_told_with_its_last_words_and_started_anew():
    """The next ask has a fresh one."""
    dies = "import sys\nsys.stderr.write('out of ideas')\nsys.exit(3)"
    with ArmProcess(program(dies)) as arm:
        for _ in range(2):
            answer = arm.ask(ASK)
            assert isinstance(answer, Failed)
            assert "out of ideas" in answer.error


def test_a_process_that_hangs_is_ended():
    """After its time."""
    with ArmProcess(program("import time\ntime.sleep(60)"), limit=0.5) as arm:
        answer = arm.ask(ASK)
    assert isinstance(answer, Failed)
    assert "no answer within" in answer.error
    assert "it said nothing" in answer.error


def test_junk_is_a_failure():
    """And the process goes on."""
    with ArmProcess(program("import sys\nfor line in sys.stdin:\n    print('junk', flush=True)")) as arm:
        assert isinstance(arm.ask(ASK), Failed)
        assert isinstance(arm.ask(ASK), Failed)


def test_what_was_never_asked_never_ran():
    """Nothing to stop."""
    ArmProcess(["/no/such/program"]).stop()
