"""The program of the controls: what another process says of the same world."""

import io
import sys

import msgspec

from control_cases import needing
from selfgc.bench.controls.__main__ import main
from selfgc.bench.controls.determinism import about, digest_of, world_of
from selfgc.bench.controls.judging import SessionJudges


def test_the_program_prints_the_digest(monkeypatch, capsys):
    """Of the world on its standard input."""
    world = world_of([needing()], 1)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(msgspec.json.encode(world))))
    assert main() == 0
    assert capsys.readouterr().out == digest_of(world, SessionJudges(about))
