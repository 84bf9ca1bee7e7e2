"""Serving: a line in, a line out, whatever the peer does meanwhile."""

import io
import json
import os
import subprocess
import sys

from peer_stand_ins import agent, prefix, user
from selfgc.bench.peers.drivers.exchange import Governed
from selfgc.bench.peers.drivers.serve import DRIVERS, USAGE_EXIT, answer_to, main, own_output, serve
from selfgc.bench.peers.registry import DRIVERS as FOLDER
from selfgc.bench.peers.registry import PEERS


def asked(messages, rate=None):
    return json.dumps({"dialect": "anthropic", "body": {"messages": messages}, "rate": rate})


def nothing(request):
    return Governed(list(request.messages), {"id1": "text"}, ("did nothing",))


def test_every_line_is_answered_in_order():
    """Empty lines are passed over; a line that is no request gets an error and the next one an answer."""
    out = io.StringIO()
    serve(nothing, [asked([user("one")]), "\n", "{", asked([user("two")])], out)
    first, second, third = map(json.loads, out.getvalue().splitlines())
    assert first["messages"] == [user("one")]
    assert "error" in second
    assert (third["messages"], third["note"]) == ([user("two")], "did nothing")


def test_whatever_the_peer_raises_is_an_answer():
    """The bench reports it; the process goes on."""

    def broken(request):
        raise KeyError("tool_calls")

    assert answer_to(broken, asked([])) == {"error": "KeyError: 'tool_calls'"}


def test_what_the_peer_writes_into_the_protected_end_is_put_back():
    """Even when it writes into the very objects that it was given."""

    def rude(request):
        request.messages[-1]["content"] = "gone"
        return Governed(list(request.messages))

    answered = answer_to(rude, asked([user("one"), agent("a"), user("two"), agent("b")]))
    assert answered["messages"][-1] == agent("b")
    assert "1 messages of the protected end were changed" in answered["note"]


def test_what_was_reached_is_told_with_a_rate():
    """So that a report can show how far a dial goes."""
    assert "asked to remove 0.44, removed 0.00" in answer_to(nothing, asked([user("one")], 0.44))["note"]


def test_a_driver_is_there_for_every_peer():
    """By the names of the registry."""
    assert list(DRIVERS) == list(PEERS)
    assert all((FOLDER / f"{name}.py").is_file() for name in DRIVERS.values())


def test_an_unknown_peer_is_a_usage_error(capsys):
    """The message names those that there are."""
    assert main(["other"]) == USAGE_EXIT
    assert "tracegc" in capsys.readouterr().err


def test_the_output_is_for_answers_alone(tmp_path):
    """What is written to the descriptor meanwhile goes to the standard error."""
    kept = os.dup(1)
    try:
        with (tmp_path / "out").open("wb") as sink:
            os.dup2(sink.fileno(), 1)
        with own_output() as out:
            os.write(1, b"noise\n")
            out.write("answer\n")
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    assert (tmp_path / "out").read_text("utf-8") == "answer\n"


def test_a_process_serves_until_its_input_ends():
    """Run as the registry says, with another package's name for the drivers and none of selfgc at hand."""
    command = [*PEERS["tracegc"].argv(sys.executable)]
    lines = asked(prefix()) + '\n{"dialect": "chat", "body": {"messages": []}}\n'
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    peer, dialect = map(json.loads, done.stdout.splitlines())
    assert "messages" in peer or "tracegc" in peer["error"]
    assert "expected the dialect" in dialect["error"]
