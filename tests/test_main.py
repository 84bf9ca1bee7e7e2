"""`python -m selfgc`."""

import subprocess
import sys


def test_the_package_runs_as_a_module():
    """It is the same command line under the same name."""
    done = subprocess.run([sys.executable, "-m", "selfgc", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("selfgc ")
