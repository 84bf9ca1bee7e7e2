"""`make demo`: govern the example session, restore one object, and show that it came back byte for byte.

Runs the command line as a user would, prints each command with its output, and exits 1 when a step fails or the
restored bytes differ from the session file's.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SESSION = Path(__file__).parents[1] / "examples" / "session.json"
WANTED = "data/thursday.log"


def show(*arguments: str, quiet: bool = False) -> bytes:
    """Run `selfgc` with these arguments, print the command and what it says, and return its standard output."""
    print(f"\n$ selfgc {' '.join(arguments)}", flush=True)
    environment = os.environ | {"COLUMNS": "110"}
    done = subprocess.run(
        [sys.executable, "-m", "selfgc", *arguments], stdout=subprocess.PIPE, check=False, env=environment
    )
    if done.returncode:
        sys.exit(f"demo: the command ended with exit code {done.returncode}")
    if not quiet:
        print(done.stdout.decode(), end="")
    return done.stdout


def recorded_result(session: dict[str, Any], number: int) -> str:
    """Return the result of the `number`-th tool call, read from the session file itself."""
    blocks = [block for message in session["messages"] for block in message["content"] if isinstance(block, dict)]
    calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
    content = next(block["content"] for block in blocks if block.get("tool_use_id") == calls[number - 1])
    return str(content if isinstance(content, str) else content[0]["text"])


def main() -> int:
    """Run the demo in a temporary folder."""
    session = json.loads(SESSION.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        view, store = f"{folder}/view.json", f"{folder}/demo.db"
        source = os.path.relpath(SESSION)
        show("inspect", source, "--top", "5")
        show("govern", source, "--out", view, "--store", store)
        show("check", view)
        spans = json.loads(show("inspect", source, "--json", quiet=True))["spans"]
        wanted = next(span["id"] for span in spans if span["subject"] == WANTED)
        restored = show("restore", wanted, "--store", store, quiet=True)
        show("verify", "--store", store)
    number = int(wanted.rpartition(":")[2])
    recorded = recorded_result(session, number).encode()
    print(f"\n{wanted}: {len(restored):,} bytes restored, {len(recorded):,} in the session file, ", end="")
    print("byte for byte the same" if restored == recorded else "NOT the same")
    return 0 if restored == recorded else 1


if __name__ == "__main__":
    raise SystemExit(main())
