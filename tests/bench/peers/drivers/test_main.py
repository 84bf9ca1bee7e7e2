"""The folder as a program: which import path it runs with, and which code it ends with."""

import os
import subprocess
import sys

from selfgc.bench.peers.drivers.__main__ import HERE, paths


def test_the_drivers_are_no_top_modules():
    """Their folder leaves the path, its parent comes last: no name of theirs hides one of the peer's."""
    assert paths([str(HERE), "/lib"]) == ["/lib", str(HERE.parent)]
    assert paths([os.path.relpath(HERE)]) == [str(HERE.parent)]


def test_the_folder_runs_without_selfgc():
    """An isolated interpreter without site packages can run it; a name that it does not know is a usage error."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HERE), "nobody"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "expected the name of one peer" in done.stderr
