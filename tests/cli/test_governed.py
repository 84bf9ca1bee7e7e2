"""The report of a round."""

import msgspec
import pytest

from builders import body_of, session
from cli_sessions import FOLDED, turns_of
from selfgc.cli.governed import LONGEST, print_round, print_skipped, round_document
from selfgc.cli.output import Printer
from selfgc.cli.rounds import Order
from selfgc.cli.running import run_round
from selfgc.model.ids import ObjectId, SessionKey
from selfgc.model.plan import Fold, Plan
from selfgc.model.policy import Policy
from selfgc.planners.baselines import ToolPrunePlanner
from selfgc.readers.recording import Recording, Skipped
from selfgc.sidecar.memory import MemoryStore

PLAN = Plan(tuple(Fold(ObjectId(action["id"]), action["reason"]) for action in FOLDED["actions"]))


def round_of(order, *, calls=5, model="claude-sonnet-4-5", store=None):
    fields = {"model": model} if model else {}
    body = body_of(session(turns_of(4, calls=calls)), **fields)
    recorded = Recording("anthropic", body, "anthropic request")
    return run_round(recorded, store or MemoryStore(), SessionKey("s"), order)


@pytest.fixture
def report(capsys):
    """The printed report of a round, as lines."""

    def printed(done, *, is_dry=False, shows_all=False):
        print_round(Printer(as_json=False), done, is_dry=is_dry, shows_all=shows_all)
        return capsys.readouterr().out.splitlines()

    return printed


def test_it_opens_with_what_was_read_and_what_was_done(report):
    """Session, form, model, counts; planner, verdict."""
    lines = report(round_of(Order(plan=PLAN)))
    assert lines[:2] == [
        "s: anthropic request, claude-sonnet-4-5; 48 messages, 4 turns, 20 tool calls",
        "the plan: committed, it pays",
    ]


def test_a_dry_run_speaks_of_what_would_be(report):
    """Both ways."""
    assert report(round_of(Order(plan=PLAN)), is_dry=True)[1] == "the plan: would be committed, it pays"
    assert "nothing would be committed" in report(round_of(Order(plan=Plan())), is_dry=True)[1]


def test_tokens_and_money_stand_side_by_side(report):
    """Before, after, share, saved, and what a call costs by the model's price sheet."""
    done = round_of(Order(plan=PLAN))
    lines = report(done)
    start = next(n for n, line in enumerate(lines) if line.startswith("Tokens"))
    assert "input prices of claude-sonnet-4" in lines[start]
    assert lines[start + 2].split()[:2] == ["transcript", f"{done.report.tokens_transcript:,}"]
    assert lines[start + 3].split()[:3] == ["view", "now", f"{done.tokens:,}"]
    assert lines[start + 3].count("$") == 2


def test_the_view_before_is_shown_when_something_was_folded_already(report):
    """So that a second run shows its own part."""
    store = MemoryStore()
    round_of(Order(plan=PLAN), store=store)
    lines = report(round_of(Order(planner=ToolPrunePlanner()), store=store))
    assert any(line.startswith("view before") for line in lines)


def test_an_unknown_model_has_no_prices(report):
    """Money is not guessed at."""
    lines = report(round_of(Order(plan=PLAN), model=""))
    assert "no model named" in lines[0]
    assert not any("$" in line for line in lines)


def test_each_action_has_its_reason_and_saving(report):
    """The largest saving first."""
    lines = report(round_of(Order(plan=PLAN)))
    start = lines.index("Actions: 2")
    row = next(line.split() for line in lines[start:] if line.startswith("function:Read:1 "))
    assert row[:5] == ["function:Read:1", "fold", "read", "long", "ago"]
    before, after, saved = (int(cell.replace(",", "")) for cell in row[5:])
    assert before - after == saved


def test_what_is_not_committed_is_called_a_plan(report):
    """It is shown all the same."""
    done = round_of(Order(Policy(target_prune=0.05), ToolPrunePlanner(), is_cold=False))
    assert any(line.startswith("Planned, but not committed: ") for line in report(done))


def test_many_actions_are_grouped(report):
    """By object, action and reason, unless all are asked for."""
    done = round_of(Order(planner=ToolPrunePlanner()), calls=20)
    number = len(done.report.actions)
    assert number > LONGEST
    grouped = report(done)
    start = grouped.index(f"Actions: {number}, grouped (--all lists them)")
    assert grouped[start + 2].split()[:3] == ["function:Read", str(number), "prune"]
    assert len(report(done, shows_all=True)) > len(grouped) + LONGEST


def test_refusals_are_listed_and_many_are_grouped_by_rule(report):
    """With their sentences; one example a rule when they are grouped."""
    few = report(round_of(Order(plan=Plan((Fold(ObjectId("function:Read:99")),)))))
    assert any(line.startswith("function:Read:99  fold    unknown_id") for line in few)
    many = round_of(Order(plan=Plan(tuple(Fold(ObjectId(f"function:Read:{n}")) for n in range(50, 80)))))
    grouped = report(many)
    start = grouped.index("Refused: 30, by rule (--all lists them)")
    assert grouped[start + 2].split()[:3] == ["unknown_id", "30", "function:Read:50:"]
    assert "Refused: 30" in report(many, shows_all=True)


def test_pins_are_counted(report):
    """By reason."""
    done = round_of(Order(Policy(pinned_tools=("Read",)), plan=PLAN))
    assert "Pinned, never touched: 20 (named tool 20)" in report(done)


def test_what_to_mind_comes_with_it(report):
    """Advice, and rules that the view breaks as the recorded request does."""
    done = round_of(Order(plan=Plan()), model="claude-opus-4-6")
    lines = report(done)
    assert "5 of 20 tool calls stand in the last turn" in lines[2]
    assert "as the recorded one does: A4" in lines[3]


def test_what_went_wrong_goes_to_standard_error(capsys):
    """As warnings."""
    done = msgspec.structs.replace(round_of(Order(plan=Plan())), faults=("the disk is full",))
    print_round(Printer(as_json=False), done, is_dry=False, shows_all=False)
    assert capsys.readouterr().err == "Warning: the disk is full\n"


def test_what_was_left_out_is_listed_up_to_a_length(capsys):
    """With its line, where there is one."""
    print_skipped(Printer(as_json=False), [Skipped(0, "in all"), *(Skipped(n, "bad") for n in range(1, 51))])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:4] == ["Left out of the file: 51", "-        in all", "line 1   bad"]
    assert lines[-1] == "...      and 11 more"


def test_the_document_says_the_same():
    """With every number in it."""
    done = round_of(Order(plan=PLAN))
    found = round_document(done)
    assert (found["committed"], found["reason"], found["tokens_after"]) == (True, "it pays", done.tokens)
    assert found["view_bytes"] == len(done.view)
    assert found["actions"] == done.report.actions
