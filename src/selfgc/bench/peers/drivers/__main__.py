"""Runs a driver: `python FOLDER NAME`, FOLDER being this one and `python` the interpreter of the peer's environment."""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def paths(before: list[str]) -> list[str]:
    """Return the import path without this folder (its modules are no top ones) and with its parent, last."""
    return [entry for entry in before if Path(entry).resolve() != HERE] + [str(HERE.parent)]


def main(arguments: list[str]) -> int:
    """Load the drivers as a package of their own, outside selfgc, and serve; return the exit code."""
    sys.path[:] = paths(sys.path)
    code: int = importlib.import_module("drivers.serve").main(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
