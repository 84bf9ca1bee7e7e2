"""What is told of a session."""

import pytest

from builders import assistant, body_of, call, exchange, session, user
from cli_sessions import turns_of
from selfgc.cli.inspection import SUBJECT, inspection_of
from selfgc.cli.rounds import Order
from selfgc.cli.running import run_round
from selfgc.model.ids import SessionKey
from selfgc.model.policy import Boundary, Policy
from selfgc.readers.recording import Recording
from selfgc.sidecar.memory import MemoryStore


def inspected(messages, dialect="anthropic", boundaries=(Boundary.TURN,), **fields):
    body = body_of(messages, **({"model": "claude-sonnet-4-5"} | fields))
    recorded = Recording(dialect, body, f"{dialect} request", "s01")
    return inspection_of(
        [run_round(recorded, MemoryStore(), SessionKey("s"), Order(Policy(boundary=item))) for item in boundaries]
    )


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_tokens_by_kind_add_up(dialect):
    """To the tokens of the whole request; the kinds are those of its parts."""
    found = inspected(session(turns_of(3), dialect), dialect)
    assert sum(found.tokens_by_kind.values()) == found.tokens
    assert {"tool_result", "tool_call", "user_text", "assistant_text", "framing"} <= set(found.tokens_by_kind)
    assert list(found.tokens_by_kind.values()) == sorted(found.tokens_by_kind.values(), reverse=True)


def test_tools_are_counted():
    """With their calls and tokens, the largest first."""
    messages = [
        user("go"),
        *exchange("a", "Bash", {"command": "ls"}, "few"),
        *exchange("b", "Read", {"file_path": "/a"}, "x " * 500),
    ]
    found = inspected(messages)
    assert [(use.tool, use.calls) for use in found.tokens_by_tool] == [("Read", 1), ("Bash", 1)]


def test_objects_have_the_ids_of_a_governed_session():
    """Turns and calls, each with where it stands."""
    found = inspected(session(turns_of(2, calls=2)))
    assert [turn.id for turn in found.turns] == ["conversation:user:1", "conversation:user:2"]
    assert [(turn.message, turn.calls) for turn in found.turns] == [(0, 2), (6, 2)]
    assert [span.id for span in found.spans] == [f"function:Read:{number}" for number in range(1, 5)]
    third = found.spans[2]
    assert (third.turn, third.subject, third.message) == ("conversation:user:2", "/repo/part_2/file_1.py", 7)
    assert found.turns[0].subject == "Please look at part 1 of the project."


def test_a_call_tells_its_state():
    """Open, failed, pinned, or before the first turn."""
    messages = [
        assistant("hello"),
        *exchange("a", "Read", {"file_path": "/repo/AGENTS.md"}, "Keep to the rules. " * 30),
        user("go"),
        *exchange("b", "Bash", {"command": "make"}, "it broke\nexit code 2"),
        call("c", "Bash", command="ls"),
    ]
    found = inspected(messages)
    assert [(span.pinned, span.has_failed, span.is_open) for span in found.spans] == [
        ("instruction file", False, False),
        ("", True, False),
        ("", False, True),
    ]
    assert found.spans[0].turn == ""


def test_skill_text_is_no_tool_but_is_told():
    """It stands under a name of its own."""
    skill = '<skill name="report">\n' + "Write plainly. " * 100 + "\n</skill>"
    found = inspected([user(skill, "go on"), assistant("yes")])
    names = {use.tool for use in found.tokens_by_tool}
    assert names <= {"(skill text)"}


def test_a_subject_is_one_short_line():
    """Whatever a path holds."""
    found = inspected([user("go\n\x1b[31m" + "on " * 200), *exchange("a", "Bash", {"command": "a\nb\x07"}, "c")])
    assert "\n" not in found.turns[0].subject + found.spans[0].subject
    assert len(found.turns[0].subject) <= SUBJECT
    assert "\x1b" not in found.turns[0].subject


def test_what_could_be_reclaimed_is_told_for_each_boundary():
    """Planned tokens where nothing would be committed."""
    found = inspected(session(turns_of(3, answer="")), boundaries=(Boundary.TURN, Boundary.STEP))
    turn, step = found.reclaimable
    assert (turn.boundary, turn.would_commit) == (Boundary.TURN, False)
    assert (step.boundary, step.would_commit) == (Boundary.STEP, True)
    assert 0 < step.share < 1
    assert step.tokens_after == round(found.tokens * (1 - step.share))


def test_repairs_are_told():
    """What a broken history needs."""
    found = inspected([user("go"), call("lost", "Read", file_path="/a"), user("and now?")])
    assert [repair.message for repair in found.repairs] == [1]


def test_a_history_that_the_provider_takes_needs_no_repair():
    """Ids that stand on two calls are refused by one dialect and taken by the other."""
    twice = [exchange("same", "Bash", {"command": "ls"}, "a", dialect) for dialect in ("anthropic", "chat")]
    found = [
        inspected([{"role": "user", "content": "go"}, *pair, *pair], dialect).repairs
        for dialect, pair in zip(("anthropic", "chat"), twice, strict=True)
    ]
    assert [bool(repairs) for repairs in found] == [True, False]
