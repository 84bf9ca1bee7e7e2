"""`selfgc inspect`: a session at a glance."""

import itertools
import json
from pathlib import Path

import pytest

from builders import body_of, call, session, user
from cli_sessions import document, error_of, turns_of, write_session

SHARED = Path(__file__).parents[2] / ".." / "shared"


def claude_code(path, answer="Here it is."):
    """A Claude Code session of one turn, with a line of a subagent and one that is no message."""
    head = {"sessionId": "abc", "version": "1.0.0", "cwd": "/repo", "timestamp": "2026-01-01T00:00:00Z"}
    lines = [
        {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "isSidechain": False,
            "message": {"role": "user", "content": "go"},
        },
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            "isSidechain": False,
            "message": {
                "id": "m1",
                "model": "claude-sonnet-4-5",
                "role": "assistant",
                "content": [{"type": "text", "text": answer}],
            },
        },
        {
            "type": "user",
            "uuid": "u3",
            "parentUuid": None,
            "isSidechain": True,
            "message": {"role": "user", "content": "sub"},
        },
        {"type": "progress", "uuid": "u4", "parentUuid": "u2", "isSidechain": False},
    ]
    path.write_text("\n".join(json.dumps(head | line) for line in lines), "utf-8")
    return path


def titles(text):
    """The first words of the lines behind empty ones."""
    lines = text.splitlines()
    return [line.split(":")[0] for before, line in itertools.pairwise(lines) if not before]


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_the_report_has_all_sections(run, tmp_path, dialect):
    """What was read, tokens by kind and tool, the largest objects, and what could be reclaimed."""
    path = write_session(tmp_path / "s.json", dialect=dialect)
    done = run("inspect", path)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{path}: {dialect} request, ")
    assert "49 messages, 5 turns, 20 tool calls" in done.stdout
    assert titles(done.stdout) == [
        "Tokens by kind, counted offline",
        "Tools",
        "Largest of 20 calls",
        "Largest of 5 turns",
        "Reclaimable with the default planner",
    ]
    assert "could be committed: it pays" in done.stdout


def test_only_so_many_objects_are_listed(run, recorded):
    """Ten by default; with --json there are all."""

    def listed(*options):
        return sum(line.startswith("function:") for line in run("inspect", recorded, *options).stdout.splitlines())

    assert (listed(), listed("--top", 3), listed("--top", 0), listed("--top", 99)) == (10, 3, 0, 20)
    found = document(run("inspect", recorded, "--json", "--top", 0))
    assert (len(found["spans"]), len(found["turns"])) == (20, 5)


def test_the_ids_are_those_of_a_governed_session(run, governed, recorded):
    """What is shown here can be restored there."""
    ids = {span["id"] for span in document(run("inspect", recorded, "--json"))["spans"]}
    commit = document(run("history", "--store", governed, "--json"))["sessions"][0]["entries"][-1]["body"]
    assert {edit["id"] for edit in commit["edits"]} <= ids


def test_pins_repairs_and_notes_are_shown(run, tmp_path):
    """Each in a section of its own; long ones say how many are left out."""
    reads = [("Read", {"file_path": f"/repo/{n}/AGENTS.md"}, "Keep to the rules. " * 30) for n in range(12)]
    broken = [user("go"), *(item for n in range(12) for item in (call(f"lost{n}", "Read", file_path="/a"), user("on")))]
    path = tmp_path / "s.json"
    path.write_bytes(body_of([*session([("Look.", reads, "Yes.")]), *broken], model="claude-sonnet-4-5"))
    text = run("inspect", path).stdout
    assert "Pinned: 12" in text
    assert "and 2 more" in text
    assert "pinned" in text
    assert "Repairs that a view needs: 12" in text
    assert "the call lost0 never got its result" in text


def test_a_harness_s_own_file_tells_what_was_in_it(run, tmp_path):
    """Sidechains and lines that are no messages; its name is the session's."""
    done = run("inspect", claude_code(tmp_path / "c.jsonl"))
    assert "claude code session, claude-sonnet-4-5; 2 messages, 1 turn, 0 tool calls" in done.stdout
    assert "1  conversations of subagents, no part of the request" in done.stdout
    assert "1  lines that are no messages" in done.stdout
    found = document(run("inspect", tmp_path / "c.jsonl", "--json"))
    assert (found["name"], found["notes"]["sidechains"]) == ("abc", 1)


def test_a_session_inside_a_turn_is_planned_for_both_boundaries(run, tmp_path):
    """Nothing can be committed at a turn's end there."""
    path = tmp_path / "s.json"
    path.write_bytes(body_of(session(turns_of(1, calls=12, answer="")), model="claude-sonnet-4-5"))
    found = document(run("inspect", path, "--json"))["reclaimable"]
    assert [(each["boundary"], each["would_commit"]) for each in found] == [("turn", False), ("step", True)]
    assert "would not be committed: " in run("inspect", path).stdout


def test_what_is_broken_is_refused_or_left_out(run, tmp_path, recorded):
    """With its line; left out it is listed."""
    cut = tmp_path / "cut.json"
    cut.write_bytes(recorded.read_bytes()[:-100])
    done = run("inspect", cut, "--json")
    assert (done.exit_code, done.stdout, error_of(done)["kind"]) == (1, "", "ReadError")
    done = run("inspect", cut, "--skip-bad")
    assert done.exit_code == 0
    assert "Left out of the file: 1" in done.stdout


def test_faults_of_governing_are_warnings(run, recorded, monkeypatch):
    """The session is shown all the same."""

    def fail(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("selfgc.planners.reachability.ReachabilityPlanner.plan", fail)
    done = run("inspect", recorded)
    assert done.exit_code == 0
    assert "Warning: " in done.stderr
    assert "by zero" in done.stderr


def test_nothing_is_written(run, tmp_path, recorded):
    """It only looks."""
    run("inspect", recorded)
    assert [path.name for path in tmp_path.iterdir()] == ["recorded.json"]


def test_standard_input_is_read_for_a_dash(run, recorded):
    """`-` stands for it."""
    assert run("inspect", "-", input=recorded.read_bytes()).stdout.startswith("-: anthropic request")


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real sessions are not here")
def test_every_real_session_can_be_inspected_and_governed(run, tmp_path):
    """Each view passes the check unless the recorded request did not, and the store is whole."""
    paths = [*SHARED.glob("sessions/*.json"), *SHARED.glob("transcripts/claude-code/*.jsonl")]
    for path in paths:
        assert run("inspect", path).exit_code == 0, path
        done = run("govern", path, "--out", tmp_path / "v", "--store", tmp_path / "s.db", "--boundary", "step")
        assert done.exit_code == 0, path
        assert run("check", tmp_path / "v").exit_code == run("check", path).exit_code, path
    assert run("verify", "--store", tmp_path / "s.db").exit_code == 0
