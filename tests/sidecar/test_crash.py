"""What a writer process leaves behind when it is killed, when others write too, and when the disk is full."""

import random
import runpy
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from selfgc.sidecar.sqlite import SqliteStore
from selfgc.sidecar.verify import verify_store

WRITER = Path(__file__).with_name("crash_writer.py")
pytest.importorskip("resource", reason="needs fork, SIGKILL and limits")
append_of = runpy.run_path(str(WRITER))["append_of"]


def run(*arguments):
    return subprocess.Popen(
        [sys.executable, WRITER, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@contextmanager
def killer(path):
    """Give a function that starts a writer, kills it after some milliseconds, and tells how much it acknowledged."""
    with run("kill", path) as process:

        def kill(*line):
            print(*line, file=process.stdin, flush=True)
            return int(process.stdout.readline())

        yield kill
        process.stdin.close()


def count_whole(store, session):
    """Return how many appends of a session are there, after a check that each is there whole and byte-exact."""
    journal, ledger = store.journal(session), store.ledger(session)
    count = len(ledger)
    wanted = [append_of(session, number) for number in range(count)]
    assert journal == [append["journal"][0] for append in wanted]
    assert [(entry.sequence, entry.time, entry.body) for entry in ledger] == [
        (number + 1, append["entries"][0].time, append["entries"][0].body) for number, append in enumerate(wanted)
    ]
    payloads = [append["payloads"][0] for append in wanted]
    assert store.payload_ids(session) == list(dict.fromkeys(payload.sha256 for payload in payloads))
    assert all(store.payload(session, payload.sha256) == payload.data for payload in payloads)
    return count


def check_kills(path, kills, milliseconds):
    chance = random.Random(kills)  # noqa: S311  (moments, no secrets)
    acknowledged = 0
    with killer(path) as kill:
        for number in range(kills):
            session = f"s{number}"
            known = kill(session, chance.uniform(0, milliseconds))
            with SqliteStore(path) as store:
                assert known <= count_whole(store, session) <= known + 1
            acknowledged += known
    with SqliteStore(path) as store:
        assert verify_store(store) == []
        assert sum(info.commits for info in store.sessions()) >= acknowledged > kills


def test_nothing_acknowledged_is_lost_when_writers_are_killed(tmp_path):
    """After each of 200 kills at random moments all acknowledged appends are there, and at most one more, whole."""
    check_kills(tmp_path / "store.db", 200, 20)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_in_many_more_kills(tmp_path):
    """The long form: 1,000 kills, with more appends before each."""
    check_kills(tmp_path / "store.db", 1000, 60)


def test_a_store_that_is_being_made_is_there_whole_or_not_at_all(tmp_path):
    """A writer killed while it makes the file leaves no half store under the store's name."""
    chance = random.Random(7)  # noqa: S311  (moments, no secrets)
    with killer(tmp_path) as kill:
        for number in range(40):
            path = tmp_path / f"{number}.db"
            known = kill("s", chance.uniform(0, 12), path)
            with SqliteStore(path) as store:
                assert known <= count_whole(store, "s") <= known + 1


def test_two_processes_write_to_one_store(tmp_path):
    """Two writers of 200 appends each, half of the payloads common: nothing is lost, common things stand once."""
    path = tmp_path / "store.db"
    with run("write", path, 1, 200) as one, run("write", path, 2, 200) as two:
        assert (one.wait(), two.wait()) == (0, 0)
    with SqliteStore(path) as store:
        names = [(name, n) for name in ("by-1", "by-2", "common") for n in range(200)]
        payloads = {payload.sha256: payload.data for name in names for payload in append_of(*name)["payloads"]}
        assert sorted(store.payload_ids("shared")) == sorted(payloads)
        assert all(store.payload("shared", sha256) == data for sha256, data in payloads.items())
        assert {entry.chain for entry in store.journal("shared")} == {append_of(*n)["journal"][0].chain for n in names}
        assert len(store.ledger("shared")) == 400
        assert verify_store(store) == []


def check_full(path, limit):
    with run("fill", path, limit) as process:
        said = process.stdout.read()
    count, message = said.split("\n", 1)
    assert int(count) > 0
    assert "What was stored before is as it was" in message
    return int(count), message


def test_a_limit_on_file_size_leaves_the_old_state(tmp_path):
    """When the file may not grow, the append fails with what to do; all earlier ones are there, and later ones work."""
    path = tmp_path / "store.db"
    count, message = check_full(path, 400_000)
    assert "limits on file size" in message or "is full" in message
    with SqliteStore(path) as store:
        assert count_whole(store, "full") == count
        store.append("full", **append_of("full", count))
        assert count_whole(store, "full") == count + 1
        assert verify_store(store) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB; skipped where none can be mounted."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "selfgc-test", str(tmp_path)]
    with suppress(OSError):
        if subprocess.run(mount, capture_output=True, check=False).returncode == 0:
            yield tmp_path
            subprocess.run(["umount", str(tmp_path)], check=True)
            return
    pytest.skip("no file system can be mounted here")


def test_a_full_disk_leaves_the_old_state(small_disk):
    """On a full disk the append fails and says so; all earlier ones can be read there, and later ones work again."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(100_000))
    path = small_disk / "store.db"
    count, message = check_full(path, 0)
    assert "full" in message
    with SqliteStore(path) as store:
        assert count_whole(store, "full") == count
        ballast.unlink()
        store.append("full", **append_of("full", count))
        assert count_whole(store, "full") == count + 1
        assert verify_store(store) == []
