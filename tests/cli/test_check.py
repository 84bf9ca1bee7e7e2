"""`selfgc check`: the provider's rules over a request."""

import json

import pytest

from builders import assistant, body_of, call, user
from cli_sessions import document, error_of, write_session


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_a_valid_request_ends_with_0(run, tmp_path, dialect):
    """One line says so."""
    path = write_session(tmp_path / "s.json", dialect=dialect)
    done = run("check", path)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{path}: {dialect}, ")
    assert done.stdout.endswith("49 messages: valid\n")


def test_each_violation_has_message_path_rule_and_sentence(run, tmp_path):
    """A call without its result is told where it stands; the exit code is 1."""
    path = tmp_path / "s.json"
    path.write_bytes(
        body_of([user("hi"), call("c1", "Read", file_path="/a"), user("go on")], model="claude-sonnet-4-5")
    )
    done = run("check", path)
    assert done.exit_code == 1
    assert "claude-sonnet-4-5, 3 messages: 1 violation" in done.stdout
    found = document(run("check", path, "--json"))
    assert (found["valid"], found["messages"], found["model"]) == (False, 3, "claude-sonnet-4-5")
    (violation,) = found["violations"]
    assert violation["message"] == 1
    assert violation["path"].startswith("messages.1")
    assert violation["rule"] in done.stdout
    assert violation["sentence"] in done.stdout


def test_a_violation_outside_of_the_messages_names_none(run, tmp_path):
    """An empty system block stands in no message."""
    path = write_session(tmp_path / "s.json", system=[{"type": "text", "text": ""}])
    done = run("check", path)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1].split()[:3] == ["-", "system.0", "A29"]


def test_the_profile_is_the_model_s(run, tmp_path):
    """A last assistant message is fine for a model that takes it, and not for one that does not."""
    codes = {}
    for model in ("claude-sonnet-4-5", "claude-opus-4-6"):
        path = tmp_path / f"{model}.json"
        path.write_bytes(body_of([user("hi"), assistant("so")], model=model))
        codes[model] = run("check", path).exit_code
    assert codes == {"claude-sonnet-4-5": 0, "claude-opus-4-6": 1}


def test_a_model_that_is_no_text_counts_as_none(run, tmp_path):
    """The profile is then the conservative one."""
    path = tmp_path / "s.json"
    path.write_bytes(body_of([user("hi")], model=7))
    assert document(run("check", path, "--json"))["model"] == ""


def test_standard_input_is_read_for_a_dash(run, recorded):
    """`-` stands for it."""
    done = run("check", "-", input=recorded.read_bytes())
    assert (done.exit_code, done.stdout[:2]) == (0, "-:")


def test_what_is_broken_is_left_out_only_when_asked(run, tmp_path, recorded):
    """A file that is cut off is refused with its line, or read as far as it is whole."""
    path = tmp_path / "cut.json"
    path.write_bytes(recorded.read_bytes()[:-200])
    assert error_of(run("check", path, "--json"))["kind"] == "ReadError"
    assert run("check", path, "--skip-bad").exit_code in {0, 1}


def test_a_file_that_is_not_there_is_refused(run, tmp_path):
    """It is invalid input, told with its name."""
    done = run("check", tmp_path / "none.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "none.json" in done.stderr
    assert run("check", tmp_path).exit_code == 1


def test_messages_that_are_none_are_told_with_their_path(run, tmp_path):
    """Input that is no message at all is a wire error."""
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": ["hello"]}))
    assert error_of(run("check", path, "--json"))["kind"] in {"ReadError", "WireError"}
