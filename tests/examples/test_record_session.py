"""The example session is a valid request, is what the recorder records, and holds nothing of a machine."""

import importlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
BODY = (EXAMPLES / "session.json").read_bytes()
SESSION = json.loads(BODY)
MESSAGES = SESSION["messages"]

needs_git = pytest.mark.skipif(shutil.which("git") is None or sys.platform == "win32", reason="needs git and a shell")


def calls_of(messages):
    return [block for message in messages for block in message["content"] if block["type"] == "tool_use"]


def results_of(messages):
    return [block for message in messages for block in message["content"] if block["type"] == "tool_result"]


def user_turns(messages):
    return [index for index, message in enumerate(messages) if is_request(message)]


def is_request(message):
    return message["role"] == "user" and message["content"][0]["type"] == "text"


def without_python_lines(body):
    """Line numbers inside of Python's own modules differ between patch releases."""
    return re.sub(rb'(File \\"(?:/usr/lib/python3/[^"\\]*|<frozen \w+>)\\", line )\d+', rb"\g<1>0", body)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    out = tmp_path_factory.mktemp("recorded") / "session.json"
    command = [sys.executable, str(EXAMPLES / "record_session.py"), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return out.read_bytes()


@pytest.fixture
def workshop(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("record_session").Workshop(tmp_path)


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("scenario.script")


@needs_git
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="recorded with Python 3.11; others word tracebacks otherwise"
)
def test_recording_again_gives_the_same_bytes(recorded):
    """The committed session is what the recorder records today."""
    assert without_python_lines(recorded) == without_python_lines(BODY)


@needs_git
def test_recording_again_makes_the_same_calls(recorded):
    """With any Python the same calls are made in the same order, and the same ones fail."""
    again = json.loads(recorded)["messages"]
    names = [(call["id"], call["name"], sorted(call["input"])) for call in calls_of(again)]
    assert names == [(call["id"], call["name"], sorted(call["input"])) for call in calls_of(MESSAGES)]
    failed = [result["tool_use_id"] for result in results_of(again) if result.get("is_error")]
    assert failed == [result["tool_use_id"] for result in results_of(MESSAGES) if result.get("is_error")]


def test_roles_alternate_and_the_user_speaks_last():
    """The request begins and ends with the user, and no role speaks twice in a row."""
    roles = [message["role"] for message in MESSAGES]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    assert is_request(MESSAGES[-1])
    assert not calls_of([MESSAGES[-2]])


def test_every_call_has_its_result_in_the_next_message():
    """Results stand right after their calls, in their order, and nothing else answers a call."""
    for before, after in pairwise(MESSAGES):
        answered = [result["tool_use_id"] for result in results_of([after])]
        assert answered == [call["id"] for call in calls_of([before])]


def test_call_ids_are_unique_and_look_like_the_real_ones():
    """Ids are `toolu_01` and 22 letters or digits, each given once."""
    ids = [call["id"] for call in calls_of(MESSAGES)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"toolu_01[0-9A-Za-z]{22}", call_id) for call_id in ids)


def test_calls_keep_to_the_declared_schemas():
    """Each call names a declared tool, gives what it needs and nothing that it does not know."""
    schemas = {tool["name"]: tool["input_schema"] for tool in SESSION["tools"]}
    for call in calls_of(MESSAGES):
        schema = schemas[call["name"]]
        assert set(schema["required"]) <= set(call["input"]) <= set(schema["properties"])


def test_no_block_is_empty():
    """Providers refuse empty texts."""
    texts = [block for message in MESSAGES for block in message["content"] if block["type"] == "text"]
    texts += [block for result in results_of(MESSAGES) for block in result["content"]]
    assert all(block["text"].strip() for block in texts)


def test_it_is_long_enough_to_govern_and_small_enough_to_ship():
    """At least 80 calls and 6 user turns, failures and parallel calls among them, below 600 kB."""
    assert len(calls_of(MESSAGES)) >= 80
    assert len(user_turns(MESSAGES)) >= 7
    assert sum(result.get("is_error", False) for result in results_of(MESSAGES)) >= 5
    assert sum(len(calls_of([message])) > 1 for message in MESSAGES) >= 10
    assert len(BODY) < 600_000


def test_it_shows_nothing_of_the_machine_it_was_recorded_on():
    """Neither the interpreter, the temporary folder nor this repository is named."""
    text = BODY.decode()
    for place in (sys.executable, sys.prefix, tempfile.gettempdir(), EXAMPLES.parent):
        assert not re.search(re.escape(str(place)) + r"\b(?!/lib/python3/)", text)


@pytest.mark.parametrize(
    ("pattern", "first_turn"),
    [
        (r"https://intake\S+?receipt=[0-9a-f]{12}", 0),
        (r"[0-9a-f]{7} events: read scanner lines", 0),
        (r"[0-9a-f]{64}", 0),
        (r"batch    BX-\w+-20441", 3),
    ],
)
def test_early_values_are_used_late(pattern, first_turn):
    """An address, a hash and a batch id that one tool printed early are needed at the end."""
    starts = [*user_turns(MESSAGES), len(MESSAGES)]
    early = json.dumps(MESSAGES[starts[first_turn] : starts[first_turn + 1]])
    found = re.search(pattern, early)
    assert found is not None
    value = re.search(r"https\S+|[0-9a-f]{64}|BX-\w+-\d+|[0-9a-f]{7}", found[0])
    assert value is not None
    assert value[0] in json.dumps(MESSAGES[starts[-3] :])


def test_a_file_is_read_twice_without_a_change():
    """The instruction file is read at the start and, unchanged, once more before the release."""
    reads = {call["id"] for call in calls_of(MESSAGES) if call["input"].get("file_path", "").endswith("/AGENTS.md")}
    texts = [result["content"] for result in results_of(MESSAGES) if result["tool_use_id"] in reads]
    assert len(texts) == 2
    assert texts[0] == texts[1]


def test_an_edit_must_find_its_string_exactly_once(workshop, script):
    """The Edit tool fails on a string that is missing or stands there twice, and leaves the file alone."""
    for old, reason in (("no such line", "not found"), ("SKILL.md", "found 2 times")):
        call = script.edit("AGENTS.md", old, "", fails=True)
        result = workshop.run(call, call.arguments)
        assert result.is_error
        assert f"old_string was {reason}" in result.text
    assert workshop.root.joinpath("AGENTS.md").read_bytes() == (EXAMPLES / "scenario/seed/AGENTS.md.txt").read_bytes()


@pytest.mark.parametrize("path", ["/etc/passwd", "/home/agent/project/missing.py"])
def test_files_outside_or_missing_are_errors(workshop, script, path):
    """The tools reach the project's folder only, and say so when a file is not there."""
    call = script.read("x")
    result = workshop.run(call, {"file_path": path})
    assert result.is_error
    assert path in result.text


def test_long_output_is_cut_in_the_middle(workshop, script):
    """More than 30,000 characters of output keep their head and tail."""
    call = script.bash("python -c \"print('a' * 20000 + 'b' * 30000 + 'c' * 20000)\"", "much")
    text = workshop.run(call, call.arguments).text
    assert text.startswith("aaa")
    assert text.endswith("ccc")
    assert "40000 characters left out" in text


def test_a_search_without_hits_says_so(workshop, script):
    """Grep answers in words when nothing matches."""
    call = script.grep("no such text anywhere", "tools")
    assert workshop.run(call, call.arguments).text == "No matches found"
