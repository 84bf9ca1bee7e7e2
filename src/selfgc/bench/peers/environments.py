"""An environment of its own for each peer, made once: exact versions, under a cache folder."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from selfgc.errors import UsageError

PINNED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "langchain-context-editing": ("langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"),
        "headroom": ("headroom-ai==0.42.0", "litellm==1.110.2", "tiktoken==0.14.0"),
        "tracegc": ("tracegc==0.6.0",),
    }
)
"""What is installed for each peer: the package first, then those of its dependencies that its results rest on."""
STAMP = "selfgc-peer.json"
"""Written last into an environment, so that one that was left half made is made again."""
_TOLD_ROWS = 12
"""How much of the end of pip's complaint an error quotes."""


def default_folder(peer: str) -> Path:
    """Return where the peer's environment stands unless another place is named."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "selfgc" / "peers" / peer


def ensure(peer: str, folder: Path | None = None) -> Path:
    """Return the python of the peer's environment, made with the running interpreter if it is not there yet.

    UsageError when the peer is unknown or the environment cannot be made; it quotes what pip says.
    """
    return prepared(_pins(peer), folder or default_folder(peer))


def existing(peer: str, folder: Path | None = None) -> Path | None:
    """Return the python of the peer's environment if it is there, made for these versions; else None."""
    place = folder or default_folder(peer)
    return python_of(place) if _is_made(_pins(peer), place) else None


def prepared(pins: Sequence[str], folder: Path) -> Path:
    """Return the python of an environment at `folder` with exactly these requirements, made if it is not there yet."""
    if not _is_made(pins, folder):
        _run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], folder)
        pip = [sys.executable, "-m", "pip", "--python", str(python_of(folder))]
        _run([*pip, "install", "--no-input", "--disable-pip-version-check", "--quiet", *pins], folder)
        (folder / STAMP).write_text(_stamp(pins), "utf-8")
    return python_of(folder)


def python_of(folder: Path) -> Path:
    """Return where the interpreter of an environment stands on this platform."""
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def _pins(peer: str) -> tuple[str, ...]:
    if peer not in PINNED:
        raise UsageError(f"expected the name of a peer ({', '.join(PINNED)}), got {peer!r}")
    return PINNED[peer]


def _is_made(pins: Sequence[str], folder: Path) -> bool:
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text("utf-8") == _stamp(pins) and python_of(folder).exists()


def _stamp(pins: Sequence[str]) -> str:
    return json.dumps({"python": platform.python_version(), "pins": list(pins)})


def _run(command: list[str], folder: Path) -> None:
    """Run a command to its end; UsageError with the end of what it said when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - only pip and venv, with our pins
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_TOLD_ROWS:])
        raise UsageError(
            f"the environment at {folder} could not be made: `{' '.join(command)}` ended with "
            f"{done.returncode}. It said:\n{said}\n"
            "It takes pip beside selfgc and a package index that can be reached; or leave the peer out of --subjects."
        )
