"""What tests of the command line share: running it in this process, a session file and a store."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli_sessions import write_plan, write_session
from selfgc.cli.main import main

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Run `selfgc` with these arguments and return how it ended."""

    def invoke(*arguments, **others):
        return CliRunner().invoke(main, [str(argument) for argument in arguments], **others)

    return invoke


@pytest.fixture
def recorded(tmp_path) -> Path:
    """A session file of four whole turns."""
    return write_session(tmp_path / "recorded.json")


@pytest.fixture
def governed(run, tmp_path, recorded) -> Path:
    """A store with that session, its first two calls folded; the view is `view.json` beside it."""
    store, plan = tmp_path / "store.db", write_plan(tmp_path / "folded.json")
    done = run("govern", recorded, "--out", tmp_path / "view.json", "--store", store, "--planner", plan)
    assert done.exit_code == 0, done.output
    return store


@pytest.fixture
def frozen():
    """Give a copy of a store where nothing can be written, to a user for whom modes bind."""

    @contextmanager
    def frozen_copy(store):
        with tempfile.TemporaryDirectory() as name:
            folder, is_root = Path(name), os.geteuid() == 0
            shutil.copy(store, folder / "store.db")
            (folder / "store.db").chmod(0o444)
            folder.chmod(0o555)
            if is_root:
                os.seteuid(65534)
            try:
                yield folder / "store.db"
            finally:
                if is_root:
                    os.seteuid(0)
                folder.chmod(0o700)

    return frozen_copy
