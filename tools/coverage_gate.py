"""Holds the coverage of tests, room by room: lines and branches together, as coverage.py counts them.

Usage: `python tools/coverage_gate.py .coverage.json`, the file that `pytest --cov-report=json:…` wrote.
Prints a table of room, percent and limit, and the open rows of what is below; exit code 1 then.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TypedDict

from shape import PURE_ROOMS

PURE_PERCENT = 100.0
OTHER_PERCENT = 90.0


class Summary(TypedDict):
    """The totals of one file that are read here."""

    covered_lines: int
    num_statements: int
    covered_branches: int
    num_branches: int


class FileReport(TypedDict):
    """One file in the report."""

    summary: Summary
    missing_lines: list[int]
    missing_branches: list[list[int]]


def main(arguments: list[str]) -> int:
    """Read the report, print the table, and return the exit code."""
    if len(arguments) != 1:
        print("usage: coverage_gate.py REPORT.json", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    if not path.is_file():
        print(f"expected coverage's report at {path}, found none: no test ran any code of the package", file=sys.stderr)
        return 1
    files: dict[str, FileReport] = json.loads(path.read_text("utf-8"))["files"]
    below = False
    for room, reports in sorted(by_room(files).items()):
        limit = PURE_PERCENT if room in PURE_ROOMS else OTHER_PERCENT
        percent = percent_covered([report["summary"] for report in reports.values()])
        is_below = percent < limit
        below = below or is_below
        print(f"coverage of {room:12} {percent:6.2f} %, at least {limit:.0f} %{'  BELOW' if is_below else ''}")
        if is_below:
            print("\n".join(line for name, report in reports.items() if (line := describe(name, report))))
    return 1 if below else 0


def by_room(files: Mapping[str, FileReport]) -> dict[str, dict[str, FileReport]]:
    """Return the reports by room; the package's own `__init__.py` counts as the room `selfgc`."""
    rooms: defaultdict[str, dict[str, FileReport]] = defaultdict(dict)
    for name, report in files.items():
        parts = PurePath(name).with_suffix("").parts
        inside = parts[parts.index("selfgc") + 1 :]
        rooms["selfgc" if inside[0] == "__init__" else inside[0]][name] = report
    return dict(rooms)


def percent_covered(summaries: list[Summary]) -> float:
    """Return the covered part of all lines and branches; 100 when there are none."""
    covered = sum(item["covered_lines"] + item["covered_branches"] for item in summaries)
    whole = sum(item["num_statements"] + item["num_branches"] for item in summaries)
    return 100 * covered / whole if whole else 100.0


def describe(name: str, report: FileReport) -> str:
    """Return one line that names the open rows and branches of a file; empty when nothing is open."""
    rows = ", ".join(map(str, report["missing_lines"]))
    branches = ", ".join(f"{start}->{end if end > 0 else 'exit'}" for start, end in report["missing_branches"])
    told = [*([f"rows {rows}"] if rows else []), *([f"branches {branches}"] if branches else [])]
    return f"    {name}: {'; '.join(told)}" if told else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
