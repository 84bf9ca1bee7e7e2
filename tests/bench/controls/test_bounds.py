"""The two bounds: everything lost, and nothing lost at the greatest rate."""

import msgspec

from control_cases import NAMES, judges, needing, vacuous
from selfgc.bench.controls.bounds import anti_oracle, oracle
from selfgc.bench.controls.prepared import Prepared
from selfgc.bench.judge.produced import Place
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.uses import Use


def faulty():
    """A case whose need stands in its protected tail."""
    case = needing()
    need = Use("ready", Kind.IDENTIFIER, 1, 1.0, Place.ARGUMENT, "tool.x")
    return Prepared(case.cut, msgspec.structs.replace(case.needs, uses=(need,), spans=()))


def missing():
    case = faulty()
    need = msgspec.structs.replace(case.needs.uses[0], anchor="never_there")
    return Prepared(case.cut, msgspec.structs.replace(case.needs, uses=(need,)))


def test_without_the_sources_nothing_is_left():
    """No need of any case is visible; vacuous cases are left out."""
    record = anti_oracle([needing("one"), needing("two", NAMES[3:]), vacuous()], judges(), size=9, seed=1)
    assert record.holds
    assert record.found == "S0 0.00 %, 0 needs left; 2 cases, seed 1"


def test_a_need_that_stays_is_told():
    """What the tail shows cannot be deleted, so that it must not be a need."""
    record = anti_oracle([faulty()], judges(), size=9, seed=1)
    assert not record.holds
    assert "1 needs left" in record.found


def test_with_the_sources_everything_is_whole():
    """Every case has S0, and the prune rates are told."""
    record = oracle([needing(), vacuous()], judges(), size=9, seed=1)
    assert record.holds
    assert record.found.startswith("S0 100.00 %; pruned 0.")


def test_a_need_without_a_source_fails():
    """What no message shows cannot be kept."""
    assert not oracle([missing()], judges(), size=9, seed=1).holds
    assert oracle([], judges(), size=9, seed=1).found.startswith("S0 none; pruned nothing")
