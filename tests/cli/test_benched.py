"""What the bench prints, from values."""

import pytest

from selfgc.bench.records import Category, ControlRecord, Status
from selfgc.bench.tally import Pairing, Row, Share
from selfgc.cli.benched import print_controls, print_losses, print_pairings, print_rows
from selfgc.cli.output import Printer

ROW = Row(
    slice="set, turn cuts",
    arm="reachability",
    rate=None,
    cases=4,
    vacuous=1,
    prune=0.6,
    net=0.55,
    s0=Share(0.75, 0.5, 0.9),
    s1=Share(1.0, 0.8, 1.0),
    s2=1.0,
    kept=1.0,
    restores=0.25,
    s0_needed=0.67,
    s1_needed=1.0,
    s0_a=0.8,
    s0_b=0.9,
    s0_face=0.4,
    s1_face=0.8,
    uses_visible=0.95,
    survival=0.9,
    contracts=1.0,
    pointers=0.1,
    seconds=0.2,
    faults=0,
    invalid=0,
)


@pytest.fixture
def printed(capsys):
    def show(function, value):
        function(Printer(as_json=False), value)
        return capsys.readouterr().out

    return show


def test_a_row_shows_its_rate_and_intervals(printed):
    """S0 and S1 side by side; the vacuous cases are in the title."""
    out = printed(print_rows, [ROW])
    assert "set, turn cuts: 4 cases, 1 vacuous" in out
    assert "reachability  default  0.600  0.550  0.750  0.50-0.90  1.000  0.80-1.00" in out


def test_a_pairing_shows_both_points(printed):
    """And the corrected p."""
    one = Pairing("set, turn cuts", "random", 0.44, 0.43, 0.5, 0.48, "s0", 0.9, 0.5, 8, 0, 0.0078, 0.0156)
    out = printed(print_pairings, [one])
    assert "set, turn cuts, S0: against ours at the same prune rate or a higher one" in out
    assert out.splitlines()[-1].split() == [
        "random",
        "0.44",
        "0.430",
        "0.50",
        "0.480",
        "0.500",
        "0.900",
        "0",
        "8",
        "0.016",
    ]


def test_losses_tell_what_cannot_be_had_back(printed):
    """In brackets."""
    found = {
        (Category.VERBATIM, Status.RECOVERABLE): 3,
        (Category.VERBATIM, Status.LOST): 2,
        (Category.STATE, Status.RECOVERABLE): 1,
    }
    out = printed(print_losses, {("random", 0.44): found})
    assert out.splitlines()[-1].split() == ["random", "0.44", "0", "0", "0", "5", "(2)", "1", "0"]


def test_a_control_that_does_not_hold_is_loud(printed):
    """NO, not no."""
    out = printed(print_controls, [ControlRecord("identity", "all", "some", holds=False)])
    assert out.splitlines()[-1].split() == ["identity", "all", "some", "NO"]
