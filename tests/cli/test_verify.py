"""`selfgc verify`: counts when all is well, problems and exit code 1 when not."""

import sqlite3

from cli_sessions import document, error_of


def damage(store, statement):
    connection = sqlite3.connect(store)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_whole_store_ends_with_0_and_counts(run, governed):
    """Each session with what was checked."""
    done = run("verify", "--store", governed)
    assert done.exit_code == 0
    assert "1 session: everything is there" in done.stdout
    assert done.stdout.splitlines()[-1].split()[:5] == ["recorded", "49", "2", "1", "2"]


def test_the_document_holds_the_same_counts(run, governed):
    """And no problems."""
    found = document(run("verify", "--store", governed, "--json"))
    assert (found["whole"], found["problems"]) == (True, [])
    (session,) = found["sessions"]
    assert (session["session"], session["messages"], session["entries"], session["payloads"]) == ("recorded", 49, 2, 2)


def test_a_damaged_payload_is_told_with_its_pointer(run, governed):
    """The payload itself and the object that points to it; the exit code is 1."""
    damage(governed, "UPDATE payload SET body = x'00' WHERE number = 1")
    done = run("verify", "--store", governed)
    assert done.exit_code == 1
    assert "problems" in done.stdout.splitlines()[0]
    found = document(run("verify", "--store", governed, "--json"))
    assert not found["whole"]
    assert {problem["what"] for problem in found["problems"]} == {"payload", "pointer"}


def test_a_changed_ledger_is_told(run, governed):
    """Tampering shows in the chain."""
    damage(governed, "UPDATE ledger SET time = 0 WHERE sequence = 2")
    found = document(run("verify", "--store", governed, "--json"))
    assert [(problem["what"], problem["where"]) for problem in found["problems"]] == [("ledger", "2")]


def test_a_store_whose_counts_cannot_be_read_is_told_without_them(run, governed):
    """A row that is no row of ours spoils the counts, not the command."""
    damage(governed, "UPDATE session SET messages = 'many'")
    found = document(run("verify", "--store", governed, "--json"))
    assert not found["whole"]
    assert found["sessions"] == []


def test_a_file_that_is_no_store_is_refused(run, tmp_path):
    """Missing, foreign or with a damaged header: one error, exit code 1."""
    missing = run("verify", "--store", tmp_path / "none.db", "--json")
    assert (missing.exit_code, error_of(missing)["kind"]) == (1, "StoreError")
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "foreign.db").write_bytes(b"no database at all" * 100)
    foreign = run("verify", "--store", tmp_path / "foreign.db")
    assert foreign.exit_code == 1
    assert "no selfgc store" in foreign.stderr


def test_the_store_must_be_named(run):
    """Without --store there is nothing to do."""
    assert run("verify").exit_code == 2
