"""`selfgc govern`: a session goes in; a view, a report and a store come out."""

import json
import sqlite3
from pathlib import Path

import pytest

from builders import body_of, session
from cli_sessions import document, error_of, prose, turns_of, write_plan, write_session

EXAMPLE = Path(__file__).parents[2] / "examples" / "session.json"


@pytest.fixture
def govern(run, tmp_path):
    """Govern a file into `view.json` and `store.db`, and return how it ended."""

    def go(path, *options, **others):
        return run(
            "govern", path, "--out", tmp_path / "view.json", "--store", tmp_path / "store.db", *options, **others
        )

    return go


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def messages_of(path):
    return json.loads(path.read_bytes())["messages"]


# -- the view --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_the_view_is_a_smaller_valid_request_of_the_same_dialect(run, govern, tmp_path, dialect):
    """All members but the messages are as they came in."""
    path = write_session(tmp_path / "s.json", dialect=dialect)
    done = govern(path)
    assert (done.exit_code, done.stderr) == (0, "")
    view, body = json.loads((tmp_path / "view.json").read_bytes()), json.loads(path.read_bytes())
    assert len(json.dumps(view)) < 0.7 * len(json.dumps(body))
    assert view | {"messages": body["messages"]} == body
    assert run("check", tmp_path / "view.json").exit_code == 0


def test_every_folded_byte_can_be_had_back(run, govern, tmp_path, recorded):
    """By the ids that the commit names."""
    govern(recorded)
    store = tmp_path / "store.db"
    commit = document(run("history", "--store", store, "--json"))["sessions"][0]["entries"][-1]["body"]
    restored = {edit["id"]: run("restore", edit["id"], "--store", store).stdout for edit in commit["edits"]}
    texts = {
        f"function:Read:{5 * (turn - 1) + call}": prose(turn, call) for turn in range(1, 5) for call in range(1, 6)
    }
    assert restored
    assert all(text == texts.get(key, text) for key, text in restored.items())
    assert run("verify", "--store", store).exit_code == 0


def test_the_example_session_is_governed(run, govern, tmp_path):
    """The session that this project recorded: more than half of it goes, and all rules hold."""
    found = document(govern(EXAMPLE, "--json"))
    assert found["committed"]
    assert found["prune_rate"] > 0.5
    assert run("check", tmp_path / "view.json").exit_code == 0


def test_a_second_run_changes_nothing(govern, tmp_path, recorded):
    """The same view to the byte, nothing committed anew, and that is no failure."""
    first = document(govern(recorded, "--json"))
    view = (tmp_path / "view.json").read_bytes()
    second = document(govern(recorded, "--json"))
    assert (tmp_path / "view.json").read_bytes() == view
    assert (first["committed"], second["committed"], second["actions"]) == (True, False, [])
    assert second["tokens_before"] == second["tokens_after"] == first["tokens_after"]


def test_a_grown_session_keeps_ids_and_edits(run, govern, tmp_path):
    """What was in the view stays there as it was; what came later follows."""
    path = tmp_path / "s.json"
    path.write_bytes(body_of(session(turns_of(3)), model="claude-sonnet-4-5"))
    plan = write_plan(tmp_path / "plan.json")
    assert govern(path, "--planner", plan).exit_code == 0
    before = messages_of(tmp_path / "view.json")
    path.write_bytes(body_of(session(turns_of(4)), model="claude-sonnet-4-5"))
    nothing = write_plan(tmp_path / "nothing.json", {"actions": []})
    found = document(govern(path, "--planner", nothing, "--json"))
    after = messages_of(tmp_path / "view.json")
    assert after[: len(before)] == before
    assert after[len(before) :] == messages_of(path)[len(before) :]
    assert found["tokens_before"] == found["tokens_after"] < found["tokens_transcript"]
    assert run("restore", "Read:1", "--store", tmp_path / "store.db").stdout == prose(1, 1)


def test_when_nothing_is_committed_the_view_is_written_all_the_same(govern, tmp_path):
    """It is the request as it came in, to the byte, and the report says why."""
    path = write_session(tmp_path / "s.json", 1)
    done = govern(path, "--keep-spans", 100)
    assert done.exit_code == 0
    assert "nothing committed, nothing to commit: nothing that may be touched is left to fold" in done.stdout
    assert (tmp_path / "view.json").read_bytes() == path.read_bytes()


# -- what is done ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("planner", ["reachability", "oldest-turn", "tool-prune"])
def test_each_planner_can_be_named(govern, recorded, planner):
    """The report says which it was."""
    found = document(govern(recorded, "--planner", planner, "--json"))
    assert (found["planner"], found["committed"]) == (planner, True)


def test_a_plan_from_a_file_is_carried_out(govern, tmp_path, recorded):
    """Its actions and reasons are in the report; what cannot be is refused one by one."""
    actions = [
        {"action": "fold", "id": "function:Read:1", "reason": "old"},
        {"action": "mask", "id": "function:Read:2"},
        {"action": "prune", "id": "function:Read:3"},
        {"action": "fold", "id": "function:Read:99"},
        {"action": "shrink", "id": "function:Read:4"},
    ]
    plan = write_plan(tmp_path / "plan.json", {"actions": actions, "planner": "by hand"})
    found = document(govern(recorded, "--planner", plan, "--json"))
    assert found["planner"] == "by hand"
    assert {row["id"]: row["action"] for row in found["actions"]} == {
        "function:Read:1": "fold",
        "function:Read:2": "mask",
        "function:Read:3": "prune",
    }
    assert {row["id"]: row["refused"] for row in found["refused"]} == {
        "function:Read:99": "unknown_id",
        "function:Read:4": "malformed",
    }
    again = govern(recorded, "--planner", plan)
    assert "unknown_id" in again.stdout


def test_a_plan_can_come_from_standard_input(govern, tmp_path, recorded):
    """`-` stands for it."""
    plan = write_plan(tmp_path / "plan.json")
    assert "2" in govern(recorded, "--planner", "-", input=plan.read_bytes()).stdout
    assert (
        document(govern(recorded, "--planner", "-", "--json", input=plan.read_bytes()))["refused"][0]["refused"]
        == "already"
    )


def test_a_stale_plan_is_refused_whole(govern, tmp_path, recorded):
    """It was made from another state of the session."""
    plan = write_plan(tmp_path / "plan.json", {"actions": [{"action": "fold", "id": "function:Read:1"}], "version": 7})
    found = document(govern(recorded, "--planner", plan, "--json"))
    assert (found["committed"], [row["refused"] for row in found["refused"]]) == (False, ["stale_plan"])


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"actions": 1}', b'{"actions": [], "version": "x"}', b"\xff"])
def test_what_is_no_plan_is_an_error(govern, tmp_path, recorded, content):
    """Nothing is governed then."""
    (tmp_path / "plan.json").write_bytes(content)
    done = govern(recorded, "--planner", tmp_path / "plan.json", "--json")
    assert (done.exit_code, done.stdout, error_of(done)["kind"]) == (1, "", "PlanError")
    assert names(tmp_path) == ["plan.json", "recorded.json"]


def test_a_planner_that_is_not_there_is_an_error(govern, recorded):
    """Neither a name nor a file; the names are listed."""
    done = govern(recorded, "--planner", "clever")
    assert done.exit_code == 1
    assert "reachability, oldest-turn, tool-prune" in done.stderr


def test_goals_stop_the_planner(govern, tmp_path, recorded):
    """A share or a budget, not both; less is saved than without."""
    most = document(govern(recorded, "--dry-run", "--json"))["prune_rate"]
    share = document(govern(recorded, "--dry-run", "--json", "--target-prune", 0.1))
    budget = document(govern(recorded, "--dry-run", "--json", "--budget", share["tokens_transcript"] - 1500))
    assert 0.1 <= share["prune_rate"] < most
    assert 0.1 <= budget["prune_rate"] < most
    assert govern(recorded, "--budget", 1000, "--target-prune", 0.1).exit_code == 2


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan", "inf", "x"])
def test_a_share_is_from_0_to_1(govern, recorded, value):
    """Anything else is wrong usage."""
    assert govern(recorded, "--target-prune", value).exit_code == 2


@pytest.mark.parametrize(
    "options", [("--keep-spans", "-1"), ("--budget", "0"), ("--boundary", "now"), ("--cache", "hot"), ("--pin", "x")]
)
def test_values_that_cannot_be_are_wrong_usage(govern, recorded, tmp_path, options):
    """Nothing is written."""
    assert govern(recorded, *options).exit_code == 2
    assert names(tmp_path) == ["recorded.json"]


def test_the_newest_calls_stay(govern, recorded):
    """As many as are asked for."""
    found = document(govern(recorded, "--planner", "tool-prune", "--keep-spans", 18, "--json"))
    assert {row["id"] for row in found["actions"]} == {"function:Read:1", "function:Read:2"}


def test_the_boundary_decides_about_the_last_turn(govern, tmp_path):
    """Inside one long turn only `step` commits; the report says so."""
    path = tmp_path / "s.json"
    messages = session(turns_of(1, calls=12, answer=""))
    path.write_bytes(body_of(messages, model="claude-sonnet-4-5"))
    done = govern(path)
    assert done.exit_code == 0
    assert "--boundary step allows" in done.stdout
    assert document(govern(path, "--boundary", "step", "--json"))["committed"]


def test_a_warm_cache_must_pay(govern, recorded):
    """What would be committed on a cold one is deferred, with the numbers."""
    found = document(govern(recorded, "--cache", "warm", "--planner", "tool-prune", "--target-prune", "0.05", "--json"))
    assert (found["committed"], found["decision"]["is_cold"]) == (False, False)
    assert found["reason"].startswith("does not pay")
    assert found["decision"]["benefit"]["total"] < 0


def test_pins_are_kept(govern, recorded):
    """By id, by tool, by path."""
    by_id = document(
        govern(recorded, "--dry-run", "--json", "--planner", "tool-prune", "--pin", "Read:1", "--pin", "Read:2")
    )
    assert {"function:Read:1", "function:Read:2"} <= set(by_id["pinned"])
    assert {"function:Read:1", "function:Read:2"} & {row["id"] for row in by_id["actions"]} == set()
    assert document(govern(recorded, "--dry-run", "--json", "--pin-tool", "Re?d"))["actions"] == []
    by_path = document(govern(recorded, "--dry-run", "--json", "--pin-path", "/repo/part_1/*"))
    assert set(by_path["pinned"].values()) == {"named path"}


def test_a_pin_without_an_object_is_told(govern, recorded):
    """A slip of the pen must not look like protection."""
    done = govern(recorded, "--dry-run", "--pin", "Read:77")
    assert "Warning: --pin function:Read:77 protects nothing" in done.stderr
    assert document(govern(recorded, "--dry-run", "--json", "--pin", "Read:77"))["idle_pins"] == ["function:Read:77"]


# -- what is written -------------------------------------------------------------------------------------


def test_a_dry_run_needs_no_place_and_makes_none(run, tmp_path, recorded):
    """Without --out and --store; with a store that is not there it is not made."""
    assert "would be committed" in run("govern", recorded, "--dry-run").stdout
    done = run("govern", recorded, "--dry-run", "--out", tmp_path / "v" / "w", "--store", tmp_path / "s" / "t.db")
    assert (done.exit_code, names(tmp_path)) == (0, ["recorded.json"])
    assert "nothing would be committed" in run("govern", recorded, "--dry-run", "--keep-spans", 99).stdout


def test_a_dry_run_leaves_the_store_as_it_is(run, governed, tmp_path, recorded):
    """It starts from what is committed there, and says what a real run then does."""
    before, view = governed.read_bytes(), (tmp_path / "view.json").read_bytes()
    dry = document(run("govern", recorded, "--dry-run", "--store", governed, "--out", tmp_path / "view.json", "--json"))
    assert (governed.read_bytes(), (tmp_path / "view.json").read_bytes()) == (before, view)
    real = document(run("govern", recorded, "--store", governed, "--out", tmp_path / "view.json", "--json"))
    assert dry["tokens_before"] < dry["tokens_transcript"]
    assert dry | {"dry_run": False} == real


def test_the_view_can_go_to_standard_output(run, tmp_path, recorded):
    """Nothing else is there; the report goes to standard error, as text or as a document."""
    view = tmp_path / "view.json"
    run("govern", recorded, "--out", view, "--store", tmp_path / "a.db")
    done = run("govern", recorded, "--out", "-", "--store", tmp_path / "b.db")
    assert (done.exit_code, done.stdout_bytes) == (0, view.read_bytes())
    assert done.stderr.startswith("recorded: anthropic request")
    done = run("govern", recorded, "--out", "-", "--store", tmp_path / "c.db", "--json")
    assert (done.stdout_bytes, json.loads(done.stderr)["committed"]) == (view.read_bytes(), True)


def test_the_session_can_come_from_standard_input(run, tmp_path, recorded):
    """It is then named `default`, unless it says a name itself."""
    done = run("govern", "-", "--out", tmp_path / "v", "--store", tmp_path / "s.db", input=recorded.read_bytes())
    assert done.stdout.startswith("default: ")
    named = json.dumps({"meta": {"id": "s01"}, "request": json.loads(recorded.read_bytes())})
    assert run("govern", "-", "--dry-run", input=named).stdout.startswith("s01: ")
    both = run("govern", "-", "--planner", "-", "--dry-run", input=b"")
    assert both.exit_code == 2


def test_the_session_has_its_own_name_or_the_one_given(run, govern, tmp_path, recorded):
    """Two sessions in one store know nothing of each other."""
    plan = write_plan(tmp_path / "plan.json")
    govern(recorded, "--planner", plan)
    found = document(govern(recorded, "--session", "again", "--planner", plan, "--json"))
    assert (found["session"], len(found["actions"])) == ("again", 2)
    told = document(run("history", "--store", tmp_path / "store.db", "--json"))["sessions"]
    assert [(one["session"], len(one["entries"])) for one in told] == [("again", 2), ("recorded", 2)]


def test_out_and_store_are_needed(run, recorded, tmp_path):
    """Only a dry run can do without."""
    assert run("govern", recorded).exit_code == 2
    assert run("govern", recorded, "--out", tmp_path / "v").exit_code == 2
    assert run("govern", recorded, "--store", tmp_path / "s").exit_code == 2


def test_nothing_that_is_read_is_written_over(run, governed, tmp_path, recorded):
    """Not the transcript, not the store, not the plan; under no name."""
    plan = write_plan(tmp_path / "plan.json")
    (tmp_path / "link").symlink_to(recorded)
    before = {path: path.read_bytes() for path in (recorded, governed, plan)}
    for out in (recorded, governed, plan, tmp_path / "link"):
        done = run("govern", recorded, "--out", out, "--store", governed, "--planner", plan)
        assert done.exit_code == 2
        assert "would write over" in done.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_an_unwritable_place_is_found_out_before_anything_is_committed(run, tmp_path, recorded):
    """No store is made; the message names the place."""
    done = run("govern", recorded, "--out", tmp_path / "none" / "v", "--store", tmp_path / "s.db", "--json")
    assert (done.exit_code, done.stdout, error_of(done)["kind"]) == (1, "", "FileError")
    assert names(tmp_path) == ["recorded.json"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_when_the_view_cannot_be_written_nothing_is_lost(run, tmp_path, recorded):
    """The commit stands, and the next run gives the view."""
    store = tmp_path / "s.db"
    assert run("govern", recorded, "--out", "/dev/full", "--store", store).exit_code == 1
    assert run("verify", "--store", store).exit_code == 0
    found = document(run("govern", recorded, "--out", tmp_path / "v", "--store", store, "--json"))
    assert found["tokens_after"] < found["tokens_transcript"]


def test_a_store_that_cannot_be_written_to_is_a_failure(run, governed, frozen, tmp_path, recorded):
    """The view is written as it stood, and the exit code is 1."""
    body = recorded.read_bytes()
    with frozen(governed) as store:
        done = run("govern", "-", "--out", "-", "--store", store, "--session", "recorded", input=body)
    assert done.exit_code == 1
    assert done.stdout_bytes == (tmp_path / "view.json").read_bytes()
    assert "read-only" in done.stderr


@pytest.mark.parametrize("content", [b"no database" * 100, b""])
def test_a_file_that_is_no_store_is_refused(govern, tmp_path, recorded, content):
    """It is left as it is, and no view is written."""
    (tmp_path / "store.db").write_bytes(content)
    done = govern(recorded, "--json")
    assert (done.exit_code, done.stdout, error_of(done)["kind"]) == (1, "", "StoreError")
    assert (tmp_path / "store.db").read_bytes() == content
    assert names(tmp_path) == ["recorded.json", "store.db"]


def test_a_damaged_journal_ends_governing(run, governed, tmp_path, recorded):
    """The view is the client's own request, the fault is told with what to do, and the exit code is 1."""
    connection = sqlite3.connect(governed)
    connection.execute("UPDATE journal SET body = x'00' WHERE number = 3")
    connection.commit()
    connection.close()
    done = run("govern", recorded, "--out", tmp_path / "view.json", "--store", governed, "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["committed"], report["prune_rate"]) == (1, False, 0.0)
    assert "PayloadCorrupt" in report["faults"][0]
    assert "selfgc verify" in report["reason"]
    assert (tmp_path / "view.json").read_bytes() == recorded.read_bytes()


def test_what_cannot_be_read_is_left_out_when_asked(govern, tmp_path, recorded):
    """A session that was cut off is refused, or governed as far as it is whole; the report says what is missing."""
    cut = tmp_path / "cut.json"
    cut.write_bytes(recorded.read_bytes()[:-100])
    assert govern(cut).exit_code == 1
    done = govern(cut, "--skip-bad")
    assert done.exit_code == 0
    assert "Left out of the file: 1" in done.stdout
    assert json.loads((tmp_path / "view.json").read_bytes())["messages"]


def test_the_new_files_are_for_their_owner_alone(govern, tmp_path, recorded):
    """View and store hold what the session holds."""
    govern(recorded)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("view.json", "store.db")] == [0o600, 0o600]
