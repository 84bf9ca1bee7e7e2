"""`python -m selfgc.bench.arms.serve NAME`: answers asks, one JSON line each, until its input ends."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from selfgc.bench.arms.clearing import clear
from selfgc.bench.arms.governing import govern
from selfgc.bench.arms.protocol import Ask, Failed, encode, kept_what_it_must, read_ask
from selfgc.bench.governed import Governed
from selfgc.economics.tokens import VocabularyCounter
from selfgc.errors import SelfGCError

CLEARING = frozenset({"anthropic-clear", "opencode-prune"})
USAGE_EXIT = 2


def answer(name: str, ask: Ask) -> Governed | Failed:
    """Return an arm's answer; a failure when it could not, or touched what it must leave alone."""
    try:
        governed = _governed(name, ask)
    except SelfGCError as error:
        return Failed(str(error))
    if name not in UNBOUND and not kept_what_it_must(ask, governed):
        return Failed(f"{name} changed the protected end of the prefix or a system message")
    return governed


UNBOUND = frozenset({"none"})
"""Arms that change nothing, so that nothing has to be compared."""


def _governed(name: str, ask: Ask) -> Governed:
    if name == "none":
        return Governed(tuple(ask.messages))
    if name == "delete-all":
        standing = [message for message in ask.messages[: -ask.protected or None] if message.get("role") == "system"]
        return Governed((*standing, *ask.messages[len(ask.messages) - ask.protected :]))
    if name in CLEARING:
        return clear(name, ask, VocabularyCounter().count)
    return govern(name, ask)


def serve(name: str, lines: Iterable[bytes], out: BinaryIO) -> None:
    """Answer every line that is not empty."""
    for line in lines:
        if line.strip():
            out.write(encode(answer(name, read_ask(line))) + b"\n")
            out.flush()


def main(arguments: Sequence[str]) -> int:
    """Serve the arm that the one argument names; whatever is printed meanwhile goes to the standard error."""
    if len(arguments) != 1:
        sys.stderr.write(f"expected the name of one arm, got {list(arguments)}\n")
        return USAGE_EXIT
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        serve(arguments[0], sys.stdin.buffer, out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
