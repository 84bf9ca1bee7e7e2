"""Reports: one round of maintenance as a value."""

import json

import msgspec
import pytest

from selfgc.engine.report import report_of
from selfgc.governance.decide import Decision
from selfgc.model.outcome import Refused, Rehearsal, View
from selfgc.model.records import Edit


def rehearsal(*edits, refused=()):
    return Rehearsal("by hand", 0, "d", edits, (), tuple(refused), 1000, 400, 0, 2, View((), ()))


def report(*edits, committed=True, refused=(), transcript=2000):
    decision = Decision(commit=committed, reason="it pays" if committed else "does not pay")
    made = rehearsal(*edits, refused=refused)
    return report_of(made, decision, transcript, {"function:Read:9": "an instruction file"}, committed=committed)


def test_committed():
    """A committed round tells the tokens after it, and what the view lost of the transcript."""
    told = report()
    assert (told.committed, told.reason, told.planner) == (True, "it pays", "by hand")
    assert (told.tokens_before, told.tokens_after, told.tokens_planned, told.tokens_transcript) == (
        1000,
        400,
        400,
        2000,
    )
    assert told.prune_rate == pytest.approx(0.8)
    assert told.pinned == {"function:Read:9": "an instruction file"}


def test_deferred():
    """A deferred round leaves the tokens as they were, and tells what they would be."""
    told = report(committed=False)
    assert (told.tokens_after, told.tokens_planned, told.prune_rate) == (1000, 400, 0.5)
    assert told.decision.reason == told.reason == "does not pay"


def test_rows():
    """Each action has a row; what a turn's fold only keeps restorable has none."""
    turn = Edit("conversation:user:1", "fold", (), 90, 9, "p", reason="old")
    inner = Edit("function:Read:1", "fold", (), 0, 0, "p", within="conversation:user:1")
    told = report(turn, inner, refused=[Refused("function:x:1", "fold", "pinned", "it is pinned")])
    assert [(row.id, row.action, row.reason, row.tokens_before, row.tokens_after) for row in told.actions] == [
        ("conversation:user:1", "fold", "old", 90, 9)
    ]
    assert [(row.id, row.action, row.reason, row.refused) for row in told.refused] == [
        ("function:x:1", "fold", "it is pinned", "pinned")
    ]


def test_an_empty_transcript():
    """Of nothing nothing is pruned."""
    assert report(transcript=0).prune_rate == 0.0


def test_as_json():
    """A report is JSON without further help."""
    assert json.loads(msgspec.json.encode(report()))["decision"]["reason"] == "it pays"
