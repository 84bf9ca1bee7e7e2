"""`selfgc history`: the ledger in words."""

import json
import sqlite3

import pytest

from builders import body_of, call, session, user
from cli_sessions import document, turns_of, write_plan, write_session
from selfgc.cli.history import sentence_of
from selfgc.model.records import EntryKind, LedgerEntry


def entry(kind, body, time=1.0):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return LedgerEntry(1, kind, time, raw, "0" * 64, "1" * 64)


def last_words(done):
    """What happened, of the last line."""
    return done.stdout.splitlines()[-1].split(maxsplit=4)[-2:]


def test_a_commit_tells_tokens_and_actions(run, governed):
    """In the order of the ledger, with number, time and kind."""
    done = run("history", "--store", governed)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].endswith("1 session")
    assert lines[2] == "recorded"
    assert [line.split()[0] for line in lines[3:]] == ["#", "1", "2"]
    kind, words = last_words(done)
    assert kind == "commit"
    assert "tokens, " in words
    assert words.endswith("; 2 fold by a plan; it pays")


def test_the_document_holds_whole_bodies(run, governed):
    """Edits, hashes and times are there for programs."""
    found = document(run("history", "--store", governed, "--json"))
    (told,) = found["sessions"]
    assert (found["store"], told["session"]) == (str(governed), "recorded")
    plan, commit = told["entries"]
    assert (plan["sequence"], plan["kind"], commit["kind"]) == (1, "plan", "commit")
    assert [edit["id"] for edit in commit["body"]["edits"]] == ["function:Read:2", "function:Read:1"]
    assert len(commit["hash"]) == 64
    assert commit["at"].startswith("20")


def test_all_sessions_are_shown_or_one(run, governed, tmp_path):
    """A session that is not there is refused."""
    run("govern", write_session(tmp_path / "other.json", 1), "--out", tmp_path / "v", "--store", governed)
    assert len(document(run("history", "--store", governed, "--json"))["sessions"]) == 2
    one = document(run("history", "--store", governed, "--session", "other", "--json"))
    assert [told["session"] for told in one["sessions"]] == ["other"]
    assert run("history", "--store", governed, "--session", "third").exit_code == 1


def test_refusals_repairs_and_restores_are_told(run, tmp_path):
    """A broken history, a plan that asks too much, and a payload that was asked for."""
    broken = [*session(turns_of(3)), user("go on"), call("lost", "Read", file_path="/x"), user("and now?")]
    (tmp_path / "s.json").write_bytes(body_of(broken, model="claude-sonnet-4-5"))
    plan = write_plan(
        tmp_path / "p.json",
        {
            "actions": [
                {"action": "fold", "id": "no id"},
                {"action": "fold", "id": "function:Read:1"},
                {"action": "fold", "id": "function:Read:77"},
                {"action": "fold", "id": "function:Read:78"},
            ]
        },
    )
    store = tmp_path / "s.db"
    assert (
        run("govern", tmp_path / "s.json", "--out", tmp_path / "v", "--store", store, "--planner", plan).exit_code == 0
    )
    run("restore", "Read:1", "--store", store)
    text = run("history", "--store", store).stdout
    assert "3 actions refused: unknown_id 2, malformed 1" in text
    assert "the call lost never got its result" in text
    assert "function:Read:1: " in text


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        (EntryKind.PLAN, {"planner": "", "accepted": 1, "refused": 2}, "a plan: 1 edits passed rehearsal, 2 refused"),
        (EntryKind.REFUSAL, {"refused": 7}, "0 actions refused: "),
        (EntryKind.COMMIT, {}, "0 -> 0 tokens, - less;  by a plan; None"),
        (EntryKind.DEFER, {"reason": "does not pay"}, "does not pay"),
        (EntryKind.RESTORE, {"id": "a:b:1", "part": "content", "bytes": 1}, "a:b:1, piece content: 1 byte"),
        (EntryKind.REPAIR, {"message": 4, "sentence": "why"}, "message 4: why"),
        (EntryKind.ROLLBACK, {"version": 2}, "the last commit was taken back"),
        (EntryKind.FAULT, {"error": "it broke"}, "it broke"),
        (EntryKind.COMMIT, b"{broken\xff", "its body cannot be read: {broken\ufffd"),
        (EntryKind.COMMIT, [1], "its body cannot be read: [1]"),
    ],
)
def test_every_kind_has_its_sentence(kind, body, words):
    """A body that is not as it should be is shown as far as it goes."""
    assert sentence_of(entry(kind, body)) == words


def test_a_damaged_ledger_is_shown_as_it_stands(run, governed):
    """`verify` judges it; history does not refuse to show it."""
    connection = sqlite3.connect(governed)
    connection.execute("UPDATE ledger SET time = 1e300 WHERE sequence = 1")
    connection.execute("UPDATE ledger SET body = x'7bff' WHERE sequence = 2")
    connection.commit()
    connection.close()
    done = run("history", "--store", governed)
    assert done.exit_code == 0
    assert "1e+300" in done.stdout
    assert "its body cannot be read" in done.stdout


def test_a_missing_store_is_refused(run, tmp_path):
    """And not made."""
    done = run("history", "--store", tmp_path / "none.db")
    assert (done.exit_code, list(tmp_path.iterdir())) == (1, [])
