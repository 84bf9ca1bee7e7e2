"""`selfgc restore`: every byte, or a reason."""

import base64
import hashlib
import json
import sqlite3

import pytest

from builders import body_of, session
from cli_sessions import document, error_of, prose, turns_of, write_plan, write_session

FIRST = prose(1, 1).encode()


@pytest.mark.parametrize("object_id", ["function:Read:1", "Read:1"])
def test_the_payload_comes_back_byte_for_byte(run, governed, object_id):
    """Nothing is added, not even a line end; the session need not be named when it is the only one."""
    done = run("restore", object_id, "--store", governed)
    assert (done.exit_code, done.stdout_bytes, done.stderr) == (0, FIRST, "")


def test_the_payload_can_go_to_a_file(run, governed, tmp_path):
    """Standard output stays empty then; with --json the document is there as well."""
    done = run("restore", "Read:1", "--store", governed, "--out", tmp_path / "payload")
    assert (done.exit_code, done.stdout, (tmp_path / "payload").read_bytes()) == (0, "", FIRST)
    found = document(run("restore", "Read:2", "--store", governed, "--out", tmp_path / "payload", "--json"))
    assert found["text"].encode() == (tmp_path / "payload").read_bytes()


def test_the_document_names_and_proves_the_payload(run, governed):
    """With its hash, its size and what it is."""
    assert document(run("restore", "Read:1", "--store", governed, "--json")) == {
        "id": "function:Read:1",
        "session": "recorded",
        "part": None,
        "media": "text/plain",
        "bytes": len(FIRST),
        "sha256": hashlib.sha256(FIRST).hexdigest(),
        "text": FIRST.decode(),
    }


def test_one_piece_of_several_can_be_had(run, tmp_path):
    """A call's large argument and its result are two pieces."""
    body = " ".join(f"{word} line" for word in prose(2, 2).split())
    messages = session(
        [("Write it.", [("Write", {"file_path": "/a.txt", "content": body}, prose(1, 1))], "Done."), *turns_of(2)]
    )
    (tmp_path / "s.json").write_bytes(body_of(messages, model="claude-sonnet-4-5"))
    plan = write_plan(tmp_path / "p.json", {"actions": [{"action": "fold", "id": "function:Write:1"}]})
    store = tmp_path / "s.db"
    assert (
        run("govern", tmp_path / "s.json", "--out", tmp_path / "v", "--store", store, "--planner", plan).exit_code == 0
    )
    whole = run("restore", "Write:1", "--store", store)
    assert set(json.loads(whole.stdout)) == {"content", "input.content"}
    assert document(run("restore", "Write:1", "--store", store, "--json"))["media"] == "application/json"
    assert run("restore", "Write:1", "--store", store, "--part", "input.content").stdout == body
    piece = document(run("restore", "Write:1", "--store", store, "--part", "content", "--json"))
    assert (piece["part"], piece["text"], piece["media"]) == ("content", prose(1, 1), "text/plain")
    wrong = run("restore", "Write:1", "--store", store, "--part", "nothing", "--json")
    assert (wrong.exit_code, error_of(wrong)["kind"]) == (2, "UsageError")


def test_bytes_that_are_no_text_come_as_base64(run, tmp_path):
    """A lone surrogate is kept as it was, and is no UTF-8."""
    turns = turns_of(3)
    asked, ((tool, arguments, _), *others), answer = turns[0]
    turns[0] = (asked, [(tool, arguments, "\ud800" + prose(1, 1)), *others], answer)
    path, store = tmp_path / "s.json", tmp_path / "s.db"
    path.write_bytes(body_of(session(turns), model="claude-sonnet-4-5"))
    plan = write_plan(tmp_path / "p.json")
    assert run("govern", path, "--out", tmp_path / "v", "--store", store, "--planner", plan).exit_code == 0
    done = run("restore", "Read:1", "--store", store)
    assert (
        base64.b64decode(document(run("restore", "Read:1", "--store", store, "--json"))["base64"]) == done.stdout_bytes
    )


def test_each_restore_is_in_the_ledger(run, governed):
    """Who asked for what can be seen later."""
    run("restore", "Read:1", "--store", governed)
    entries = document(run("history", "--store", governed, "--json"))["sessions"][0]["entries"]
    assert entries[-1]["kind"] == "restore"


def test_of_several_sessions_one_must_be_named(run, governed, tmp_path):
    """The error lists them; an id of one never gives a payload of the other."""
    other = write_session(tmp_path / "other.json", 1)
    run("govern", other, "--out", tmp_path / "v", "--store", governed)
    done = run("restore", "Read:1", "--store", governed, "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "other, recorded" in error_of(done)["error"]
    assert run("restore", "Read:1", "--store", governed, "--session", "recorded").stdout_bytes == FIRST
    assert run("restore", "Read:1", "--store", governed, "--session", "other").exit_code == 1
    assert run("restore", "Read:1", "--store", governed, "--session", "third").exit_code == 1


@pytest.mark.parametrize(
    ("object_id", "code", "kind"),
    [("Read:9", 1, "PayloadMissing"), ("conversation:user:1", 1, "PayloadMissing"), ("nothing", 2, "UsageError")],
)
def test_what_was_never_folded_cannot_be_restored(run, governed, object_id, code, kind):
    """Unknown ids and live objects alike; what is no id is wrong usage."""
    done = run("restore", object_id, "--store", governed, "--json")
    assert (done.exit_code, done.stdout, error_of(done)["kind"]) == (code, "", kind)


def test_a_damaged_payload_is_not_given_out(run, governed, tmp_path):
    """The message says so; no file is made."""
    connection = sqlite3.connect(governed)
    connection.execute("UPDATE payload SET body = x'00'")
    connection.commit()
    connection.close()
    done = run("restore", "Read:1", "--store", governed, "--out", tmp_path / "payload")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "payload" in done.stderr
    assert not (tmp_path / "payload").exists()


def test_a_missing_store_is_not_made(run, tmp_path):
    """It is refused with its name."""
    done = run("restore", "Read:1", "--store", tmp_path / "none.db")
    assert (done.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "there is no store" in done.stderr


def test_the_store_is_never_written_over(run, governed):
    """--out and --store may not be one file."""
    before = governed.read_bytes()
    assert run("restore", "Read:1", "--store", governed, "--out", governed).exit_code == 2
    assert governed.read_bytes() == before


def test_a_store_that_cannot_be_written_to_still_gives_its_payloads(run, governed, frozen):
    """That the ledger lacks the entry is a warning."""
    with frozen(governed) as store:
        done = run("restore", "Read:1", "--store", store)
    assert (done.exit_code, done.stdout_bytes) == (0, FIRST)
    assert done.stderr.startswith("Warning: the ledger could not be written")


def test_a_place_that_cannot_be_written_to_is_refused(run, governed, tmp_path):
    """The exit code is 1, and the message names the place."""
    done = run("restore", "Read:1", "--store", governed, "--out", tmp_path / "none" / "payload", "--json")
    assert (done.exit_code, done.stdout, error_of(done)["kind"]) == (1, "", "FileError")
