"""Writers that tests run as processes of their own: one that is killed again and again, one that fills a disk.

crash_writer.py kill PATH           each line "SESSION MILLISECONDS [PATH]" starts a writer and kills it then;
                                    answered by the number of appends that it acknowledged
crash_writer.py write PATH WRITER N appends N times to the session "shared", with payloads that others write too
crash_writer.py fill PATH LIMIT     appends until an error; LIMIT is the largest file allowed, 0 for none
"""

import hashlib
import os
import resource
import select
import signal
import sys
import time

from selfgc.errors import StoreError
from selfgc.model.records import EntryKind, JournalEntry, NewEntry, Payload
from selfgc.sidecar.sqlite import SqliteStore


def piece(name):
    """Bytes that depend on nothing but the name: 0 to 12 KB, not compressible."""
    digest = hashlib.sha256(name.encode()).digest()
    return hashlib.shake_128(digest).digest(int.from_bytes(digest[:2], "big") % 12_000)


def append_of(session, number):
    """What a writer appends to its session as the append of that number."""
    data = piece(f"{session}:{number}")
    chain, parent = (hashlib.sha256(f"{session}/{n}".encode()).digest() for n in (number, number - 1))
    return {
        "journal": [JournalEntry(chain, parent if number else b"", data[::-1])],
        "payloads": [Payload(hashlib.sha256(data).hexdigest(), data)],
        "entries": [NewEntry(EntryKind.COMMIT, float(number), b'{"number":%d}' % number)],
    }


def write_for_ever(path, session, acknowledge):
    store = SqliteStore(path)
    number = 0
    while True:
        store.append(session, **append_of(session, number))
        os.write(acknowledge, b".")
        number += 1


def kill_writers(path):
    for line in sys.stdin:
        session, milliseconds, *other = line.split()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            write_for_ever(other[0] if other else path, session, writing)
        os.close(writing)
        if not other:  # on a busy machine opening alone takes longer than the moment given; the clock starts behind it
            select.select([reading], [], [], 30)
        time.sleep(float(milliseconds) / 1000)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as acknowledged:
            sys.stdout.write(f"{len(acknowledged.read())}\n")
            sys.stdout.flush()


def write_shared(path, writer, count):
    with SqliteStore(path, timeout=60) as store:
        for number in range(int(count)):
            append = append_of(f"by-{writer}", number)
            common = append_of("common", number)
            append["payloads"] += common["payloads"]
            append["journal"] = common["journal"] + append["journal"]
            store.append("shared", **append)


def fill(path, limit):
    if int(limit):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    with SqliteStore(path) as store:
        number = 0
        try:
            while True:
                store.append("full", **append_of("full", number))
                number += 1
        except StoreError as error:
            sys.stdout.write(f"{number}\n{error}\n")


if __name__ == "__main__":
    {"kill": kill_writers, "write": write_shared, "fill": fill}[sys.argv[1]](*sys.argv[2:])
