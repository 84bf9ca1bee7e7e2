"""Reads requests, a JSON line each, and writes the answers; whatever the peer prints goes to the standard error."""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO, TypeAlias

from .exchange import Governed, Request, answer, read_request
from .prefix import put_back, share_removed

DRIVERS = {
    "langchain-context-editing": "langchain_driver",
    "headroom": "headroom_driver",
    "tracegc": "tracegc_driver",
}
"""By the peer's name, the module beside this one whose `govern` runs it."""
USAGE_EXIT = 2

Govern: TypeAlias = Callable[[Request], Governed]
"""What each driver offers under the name `govern`."""


def main(arguments: list[str]) -> int:
    """Serve the peer that the one argument names until the input ends; return the exit code."""
    if len(arguments) != 1 or arguments[0] not in DRIVERS:
        sys.stderr.write(f"expected the name of one peer ({', '.join(DRIVERS)}), got {arguments}\n")
        return USAGE_EXIT
    module = importlib.import_module(f"{__package__}.{DRIVERS[arguments[0]]}")
    with own_output() as out, open(0, encoding="utf-8", closefd=False) as lines:
        serve(module.govern, lines, out)
    return 0


def own_output() -> TextIO:
    """Return the standard output for the answers alone: what others write there goes to the standard error from now on.

    By the descriptors, since compiled code does not know Python's streams.
    """
    sys.stdout.flush()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def serve(govern: Govern, lines: Iterable[str], out: TextIO) -> None:
    """Answer every line that is not empty."""
    for line in lines:
        if line.strip():
            out.write(json.dumps(answer_to(govern, line)) + "\n")
            out.flush()


def answer_to(govern: Govern, line: str) -> dict[str, Any]:
    """Return the answer to one line; `{"error": ...}` for whatever goes wrong with it."""
    try:
        governed = govern(read_request(line))
        request = read_request(line)  # anew, since the peer may have written into what it was given
        messages, changed = put_back(request, governed.messages)
        return answer(messages, governed.payloads, (*governed.notes, *_told(request, governed, changed)))
    except Exception as error:  # noqa: BLE001 - the peer is a stranger: whatever it raises is the bench's to report
        return {"error": f"{type(error).__name__}: {error}"}


def _told(request: Request, governed: Governed, changed: int) -> list[str]:
    told = []
    if request.rate is not None:
        reached = share_removed(request, governed.messages)
        told.append(f"asked to remove {request.rate:.2f}, removed {reached:.2f} by a quarter of the characters")
    if changed:
        told.append(f"{changed} messages of the protected end were changed by the peer and put back")
    return told
