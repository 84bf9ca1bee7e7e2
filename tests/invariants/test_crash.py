"""Invariants 4 and 5 under fire: processes that govern a session are killed, work at once, or find the disk full.

What a process told is what a client may have sent: every pointer in it must lead to its exact payload for ever.
"""

import hashlib
import json
import random
import runpy
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from selfgc.engine.context import ContextEngine
from selfgc.sidecar.sqlite import SqliteStore
from selfgc.sidecar.verify import verify_store

WRITER = Path(__file__).with_name("engine_writer.py")
pytest.importorskip("resource", reason="needs fork, SIGKILL and limits")
writer = runpy.run_path(str(WRITER))
payloads, request, POLICY, LAST = writer["payloads"], writer["request"], writer["POLICY"], writer["FIRST"] + 11


def run(*arguments):
    return subprocess.Popen(
        [sys.executable, WRITER, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@contextmanager
def killer(path):
    """Give a function that starts a session, kills it after some milliseconds, and returns what it told."""
    with run("kill", path) as process:

        def kill(*line):
            print(*line, file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield kill
        process.stdin.close()


def check_told(path, key, told):
    """Whether all that was told is true after a restart: each payload, and the last view when nothing came after."""
    if not told:
        return
    last = told[-1]
    with SqliteStore(path) as store:
        engine = ContextEngine(store=store, session=key, policy=POLICY)
        wanted = payloads(key, last["turns"])
        for name in {name for step in told for name in step["ids"]}:
            assert engine.restore(name) == wanted[name]
        engine.observe_body(request(key, last["turns"]))
        if engine.snapshot().version == last["version"]:
            assert hashlib.sha256(engine.view_body()).hexdigest() == last["view"]


def check_kills(path, kills, milliseconds):
    chance = random.Random(kills)  # noqa: S311  (moments, no secrets)
    pointers = 0
    with killer(path) as kill:
        for number in range(kills):
            key = f"s{number}"
            told = kill(key, chance.uniform(5, milliseconds))
            check_told(path, key, told)
            pointers += sum(len(step["ids"]) for step in told)
    assert pointers > kills, pointers
    with SqliteStore(path) as store:
        assert verify_store(store) == []


def test_no_pointer_was_told_before_its_payload_was_safe(tmp_path):
    """After each of 200 kills at random moments every id that stood in a view gives its exact payload."""
    check_kills(tmp_path / "store.db", 200, 60)


@pytest.mark.slow
def test_no_pointer_in_many_more_kills(tmp_path):
    """The long form: 2,000 kills, after longer runs."""
    check_kills(tmp_path / "store.db", 2000, 200)


def test_a_killed_session_goes_on(tmp_path):
    """One session is killed and taken up again and again: ids, edits and payloads of all its lives stay."""
    path = tmp_path / "store.db"
    told = []
    with killer(path) as kill:
        for milliseconds in (30, 60, 90, 120, 150):
            told += kill("s", milliseconds)
            check_told(path, "s", sorted(told, key=lambda step: (step["turns"], step["version"])))
    assert max(step["version"] for step in told) > 1


def steps_of(process):
    steps = [json.loads(line) for line in process.stdout]
    assert process.wait() == 0
    return steps


@pytest.mark.parametrize("keys", [("a", "a"), ("a", "b")], ids=["one session", "two sessions"])
def test_two_processes_at_once(tmp_path, keys):
    """Two processes govern one session, or one each, on one store: nothing is lost, and all of it is sound."""
    path = tmp_path / "store.db"
    with run("grow", path, keys[0], 12) as one, run("grow", path, keys[1], 12) as two:
        told = [steps_of(one), steps_of(two)]
    for key, steps in zip(keys, told, strict=True):
        assert len(steps) == 12
        check_told(path, key, steps)
    assert any(step["committed"] for step in told[0] + told[1])
    with SqliteStore(path) as store:
        assert verify_store(store) == []
        for key in set(keys):
            before = len(store.journal(key))
            engine = ContextEngine(store=store, session=key)
            engine.observe_body(request(key, LAST))
            assert len(store.journal(key)) == before == len(engine.snapshot().entries)


def test_limit_on_file_size(tmp_path):
    """When the file may not grow, commits are refused with a warning; old pointers stay, and new requests go out."""
    path = tmp_path / "store.db"
    with run("fill", path, "s", 40, 200_000) as process:
        told = steps_of(process)
    assert len(told) == 40
    refused = [step for step in told if step["warnings"]]
    assert refused
    assert any("file size" in warning or "full" in warning for step in refused for warning in step["warnings"])
    first = told.index(refused[0])
    assert told[first - 1]["ids"]
    assert all(step["ids"] == told[first - 1]["ids"] for step in told[first:])
    check_told(path, "s", told)
    with SqliteStore(path) as store:
        assert verify_store(store) == []
