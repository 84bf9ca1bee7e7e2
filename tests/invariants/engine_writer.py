"""Governed sessions that tests run as processes of their own: killed again and again, two at once, on a full disk.

engine_writer.py kill PATH                  each line "SESSION MILLISECONDS" starts a session and kills it then;
                                            answered by the steps that it told, as a JSON list
engine_writer.py grow PATH SESSION STEPS    plays a session to its end, and tells each step on a line
engine_writer.py fill PATH SESSION STEPS LIMIT    the same with LIMIT as the largest file allowed

A step is told when its view is made, as a client would send it: how many turns were sent, which pointers stand in the
view, the number of commits, the view's hash, and the warnings of maintenance.
"""

import hashlib
import json
import logging
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from builders import body_of, session
from cli_sessions import WORDS
from governed import pointers_in
from selfgc.engine.context import ContextEngine
from selfgc.model.policy import Policy
from selfgc.sidecar.sqlite import SqliteStore

READS = 3
FIRST = 3
"""So many turns are there at the first step."""
POLICY = Policy(keep_spans=1)


def text_of(key, turn, call):
    """What the file of that call holds: about 120 words that depend on nothing but the names."""
    digest = hashlib.shake_128(f"{key}/{turn}/{call}".encode()).digest(120)
    return " ".join(WORDS[byte % len(WORDS)] for byte in digest)


def history(key, turns):
    """The messages that the client of a session sends at the beginning of the turn after so many."""
    whole = [
        (
            f"Look at part {turn}.",
            [("Read", {"file_path": f"/repo/{turn}/{call}.py"}, text_of(key, turn, call)) for call in range(READS)],
            "Done.",
        )
        for turn in range(turns)
    ]
    return session([*whole, (f"Look at part {turns}.", [], "")])


def payloads(key, turns):
    """What each id of such a session must give back."""
    messages = history(key, turns)
    length = 2 * READS + 2
    spans = {
        f"function:Read:{turn * READS + call + 1}": text_of(key, turn, call).encode()
        for turn in range(turns)
        for call in range(READS)
    }
    wholes = {f"conversation:user:{n + 1}": messages[n * length + 1 : (n + 1) * length] for n in range(turns)}
    return spans | {name: json.dumps(whole, separators=(",", ":")).encode() for name, whole in wholes.items()}


def request(key, turns):
    return body_of(history(key, turns), model="claude-sonnet-4-5")


def play(path, key, steps, tell):
    with SqliteStore(path, timeout=60) as store:
        engine = ContextEngine(store=store, session=key, policy=POLICY)
        for turns in range(FIRST, FIRST + int(steps)):
            engine.observe_body(request(key, turns))
            report = engine.maintain(is_cold=True)
            view = engine.view_body()
            told = {
                "turns": turns,
                "ids": pointers_in(view),
                "version": engine.snapshot().version,
                "view": hashlib.sha256(view).hexdigest(),
                "committed": report.committed,
                "warnings": report.warnings,
            }
            tell(json.dumps(told).encode() + b"\n")


def kill(path):
    play(path, "first", 1, len)  # what takes long to load is loaded once, before the forks
    for line in sys.stdin:
        key, milliseconds = line.split()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            play(path, key, 1_000_000, partial(os.write, writing))
        os.close(writing)
        time.sleep(float(milliseconds) / 1000)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as told:
            steps = [json.loads(step) for step in told.read().split(b"\n")[:-1]]
        sys.stdout.write(f"{json.dumps(steps)}\n")
        sys.stdout.flush()


def grow(path, key, steps):
    play(path, key, steps, partial(os.write, 1))


def fill(path, key, steps, limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    grow(path, key, steps)


if __name__ == "__main__":
    logging.disable()
    with suppress(BrokenPipeError):
        {"kill": kill, "grow": grow, "fill": fill}[sys.argv[1]](*sys.argv[2:])
