"""`selfgc bench`: cases, run, report and explain, as one would use them."""

import json
import sys

import pytest

import bench_world as world
from bench.scorecard.scorecards import answer
from cli_sessions import document
from selfgc.cli.bench import command
from selfgc.testing import ScriptedProvider


@pytest.fixture
def folder(tmp_path):
    world.write_session(tmp_path / "mine", kind="coding")
    return tmp_path / "mine"


def test_cases_are_listed(folder, run):
    """With what each needed, and the digest of the set."""
    done = run("bench", "cases", str(folder), "--workers", "1")
    assert done.exit_code == 0
    assert "mine: 2 cases, 1 of them vacuous; digest" in done.stdout
    assert f"one:{world.CUT}" in done.stdout
    (found,) = document(run("bench", "cases", str(folder), "--workers", "1", "--json"))
    assert [case["cut"] for case in found["cases"]] == [10, world.CUT]


def test_a_run_judges_and_goes_on_where_it_was(folder, tmp_path, run):
    """The second run has nothing to do but to show the tables; --fresh begins anew."""
    out = str(tmp_path / "report")
    given = ["bench", "run", "--suite", str(folder), "--out", out, "--workers", "1", "--rates", "0.3", "--no-controls"]
    done = run(*given, "--subjects", "none,reachability")
    assert done.exit_code == 0
    assert "mine, turn cuts: 2 cases, 1 vacuous" in done.stdout
    lines = (tmp_path / "report" / "records.jsonl").read_text().splitlines()
    tags = [json.loads(line)["type"] for line in lines]
    assert (tags.count("case"), tags.count("judgement")) == (2, 6)
    run(*given, "--subjects", "none,reachability,delete-all")
    more = (tmp_path / "report" / "records.jsonl").read_text().splitlines()
    assert len(more) == len(lines) + 2
    assert more[: len(lines)] == lines
    run(*given, "--subjects", "none", "--fresh")
    assert len((tmp_path / "report" / "records.jsonl").read_text().splitlines()) == 4
    found = document(run("bench", "report", out, "--json"))
    assert {row["arm"] for row in found["rows"]} == {"none"}


def test_tables_compare_and_tell_losses(folder, tmp_path, run):
    """Ours against the others at a rate that is at least as high; what is out of view by category."""
    out = str(tmp_path / "report")
    given = ["--suite", str(folder), "--out", out, "--workers", "1", "--no-controls"]
    run("bench", "run", *given, "--subjects", "reachability,delete-all")
    done = run("bench", "report", out)
    assert "against ours at the same prune rate or a higher one" in done.stdout
    assert "Needed and out of view, by category" in done.stdout


def test_a_verdict_is_explained(folder, run):
    """Source, pointer, and what became of it."""
    given = ["bench", "explain", f"one:{world.CUT}", "--suite", str(folder), "--workers", "1"]
    given += ["--subject", "fold-all-routing"]
    done = run(*given)
    assert "recoverable: total_price = base_price * seat_count" in done.stdout
    assert "source: Read /srv/shop/prices/row_plan.py (message 2)" in done.stdout
    found = document(run(*given, "--json"))
    assert found["judgement"]["subject"] == "fold-all-routing"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["explain", "one", "--suite", "{}"], "expected SESSION:CUT"),
        (["run", "--suite", "{}", "--out", "x", "--rates", "2"], "expected rates over 0 and below 1"),
        (["run", "--suite", "{}", "--out", "x", "--rates", "some"], "expected rates such as 0.3,0.44"),
        (["run", "--suite", "{}", "--out", "x", "--subjects", "magic"], "expected arms out of"),
    ],
)
def test_what_cannot_be_is_refused(folder, run, given, said):
    """As usage, before anything is done."""
    done = run("bench", *[part.format(folder) for part in given])
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_group_has_its_commands():
    """Each with a help text."""
    assert sorted(command.commands) == ["cases", "explain", "report", "run", "score"]
    assert all(found.help for found in command.commands.values())


def test_a_run_checks_the_judge_and_writes_a_page(folder, tmp_path, run):
    """The controls once; a second run finds them done. The exit code says whether all hold."""
    out = tmp_path / "report"
    given = ["bench", "run", "--suite", str(folder), "--out", str(out), "--workers", "1", "--subjects", "none"]
    done = run(*given)
    assert "Controls of the judge" in done.stdout
    lines = (out / "records.jsonl").read_text().splitlines()
    controls = [record for record in map(json.loads, lines) if record["type"] == "control"]
    assert {"identity", "anti-oracle", "oracle"} <= {record["name"] for record in controls}
    assert done.exit_code == int(not all(record["holds"] for record in controls))
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    run(*given)
    assert (out / "records.jsonl").read_text().splitlines() == lines


def test_without_the_drawing_library_the_run_goes_on(folder, tmp_path, run, monkeypatch):
    """It says what is missing and how to have it."""
    monkeypatch.setitem(sys.modules, "selfgc.bench.page", None)
    given = ["--suite", str(folder), "--out", str(tmp_path / "report"), "--workers", "1", "--subjects", "none"]
    done = run("bench", "run", *given, "--no-controls")
    assert done.exit_code == 0
    assert "pip install 'selfgc[bench]'" in done.stderr


def test_a_model_can_judge_too(folder, tmp_path, run):
    """Asked over HTTP once; the second time, offline, the kept answers are enough."""
    given = ["bench", "score", "--suite", folder, "--model", "gpt-5.5", "--votes", "1", "--out", tmp_path / "score"]
    given += ["--workers", "1", "--subjects", "none"]
    with ScriptedProvider(lambda _: answer(5)) as provider:
        url = ["--base-url", provider.openai_url]
        done = run(*given, *url)
        assert done.exit_code == 0, done.output
        assert len(provider.requests) == 1
        again = document(run(*given, *url, "--offline", "--json"))
        assert len(provider.requests) == 1
    assert "Cards of the model" in done.stdout
    assert "both fine 1" in done.stdout
    assert [card["no_impact"] for card in again["cards"]] == [True]
