"""Write or check what the README shows of measured runs: `python tools/readme.py [--write]`.

Three blocks between markers come from commands and files, never from a hand: the picture of a context before and
after (a run on the example session), the printed result of `examples/loop.py`, and the table of figures
(`docs/figures/core.json`, which `make bench-core` writes).
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from selfgc.engine.context import load_catalog

ROOT = Path(__file__).parents[1]
SESSION = ROOT / "examples" / "session.json"
WIDTH = 56
KINDS = {
    "tool_result": "tool results",
    "tool_call": "tool calls",
    "assistant_text": "assistant text",
    "user_text": "user's words",
    "system": "system, tools",
}


def selfgc(*arguments: str) -> dict[str, Any]:
    """Run a command of ours with --json and return what it prints."""
    command = [sys.executable, "-m", "selfgc", *arguments, "--json"]
    printed: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)
    return printed


def picture() -> str:
    """Return bars of the example session's tokens by kind, before and after, with the price of the next call."""
    with tempfile.TemporaryDirectory() as folder:
        view = f"{folder}/view.json"
        done = selfgc("govern", str(SESSION), "--out", view, "--store", f"{folder}/store.db")
        before, after = (Counter(selfgc("inspect", file)["tokens_by_kind"]) for file in (str(SESSION), view))
    scale = max(before.values()) / WIDTH
    rows = [
        f"{name:14} {'#' * max(1, round(after[kind] / scale)):{'.'}<{max(1, round(before[kind] / scale))}} "
        f"{before[kind]:,} -> {after[kind]:,}"
        for kind, name in KINDS.items()
    ]
    whole, view_now = int(done["tokens_transcript"]), int(done["tokens_after"])
    prices = load_catalog().row(str(done["model"]))
    price = f"{done['model']}, input prices of {load_catalog().dated}"
    totals = [
        f"{'together':14} {whole:,} -> {view_now:,} tokens  (# what stays in view, . what was folded)",
        f"{'a call, cached':14} ${whole * prices.read / 1e6:.4f} -> ${view_now * prices.read / 1e6:.4f}  ({price})",
        f"{'a cold call':14} ${whole * prices.write / 1e6:.3f} -> ${view_now * prices.write / 1e6:.3f}",
    ]
    return "\n".join(["```text", *rows, "", *totals, "```"])


def loop() -> str:
    """Return what `examples/loop.py` prints."""
    command = [sys.executable, "examples/loop.py"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return f"```text\n{printed.rstrip()}\n```"


def figures() -> str:
    """Return the table of measured figures."""
    found = json.loads((ROOT / "docs" / "figures" / "core.json").read_text("utf-8"))

    def share(part: str, whole: str) -> str:
        return f"{found[part] / found[whole]:.3f} ({found[part]:,} of {found[whole]:,})"

    rows = [
        ("views that pass the provider's validity check", f"{found['valid_views']} of {found['cases']}", "all"),
        ("folded payloads restored byte for byte", f"{found['restored']:,} of {found['folded']:,}", "all"),
        ("mean prune rate, default settings", f"{found['mean_prune']:.3f}", "0.55"),
        ("needed uses still visible (matcher A)", share("seen", "needed"), "0.985"),
        ("the others, in a payload that restores", f"{found['recoverable']} of {found['needed'] - found['seen']}", ""),
        *((row["what"], row["shown"], row["asked"]) for row in found["budgets"]),
    ]
    lines = [f"| {what} | {shown} | {asked} |" for what, shown, asked in rows]
    return "\n".join(["| figure | measured | aimed at |", "| --- | --- | --- |", *lines])


def filled(text: str) -> str:
    """Return the README with each block made anew."""
    for name, make in (("picture", picture), ("loop", loop), ("figures", figures)):
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
        head, tail = re.split(pattern, text, maxsplit=1, flags=re.DOTALL)[0::3]
        text = f"{head}<!-- {name} -->\n{make()}\n<!-- end of {name} -->{tail}"
    return text


def main() -> int:
    """Write the blocks, or exit 1 when they are not what the commands print now."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the blocks instead of checking them")
    path = ROOT / "README.md"
    before = path.read_text("utf-8")
    after = filled(before)
    if parser.parse_args().write:
        path.write_text(after, "utf-8")
    elif before != after:
        print("README.md shows other results than the commands print; run `python tools/readme.py --write`")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
