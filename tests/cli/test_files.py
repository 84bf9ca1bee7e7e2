"""Files that are written whole or not at all."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

from selfgc.cli.files import OutputFile, is_same_file

posix = pytest.mark.skipif(os.name != "posix", reason="modes and special files as POSIX has them")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def unprivileged():
    """A folder of a user for whom modes bind, and that user as the one who runs the test."""
    with tempfile.TemporaryDirectory() as name:
        folder, is_root = Path(name), os.geteuid() == 0
        if is_root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)
            folder.chmod(0o700)


def test_a_new_file_can_be_read_by_its_owner_alone(tmp_path):
    """A session may hold secrets. Nothing else is left in the folder."""
    with OutputFile(tmp_path / "v") as file:
        file.write(b"bytes\0")
    assert (tmp_path / "v").read_bytes() == b"bytes\0"
    assert stat.S_IMODE((tmp_path / "v").stat().st_mode) == 0o600
    assert names(tmp_path) == ["v"]


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path):
    """Without a write nothing changes; with one the content changes and the mode stays."""
    path = tmp_path / "v"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with OutputFile(path):
        assert path.read_bytes() == b"old"
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["v"])
    with OutputFile(path) as file:
        file.write(b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), names(tmp_path)) == (b"new", 0o640, ["v"])


def test_a_link_stays_a_link(tmp_path):
    """What it leads to is replaced."""
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with OutputFile(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_place_that_cannot_be_written_to_is_told_at_once(tmp_path, unprivileged):
    """A missing folder, a folder itself, a folder of somebody else."""
    unprivileged.chmod(0o500)
    for path in (unprivileged / "none" / "v", unprivileged, unprivileged / "v"):
        with pytest.raises(click.FileError, match="choose another place"):
            OutputFile(path)


@posix
def test_a_device_is_written_to_and_not_replaced():
    """`/dev/full` takes no byte and is still there afterwards."""
    if not Path("/dev/full").exists():
        pytest.skip("no such device here")
    with OutputFile(Path("/dev/null")) as file:
        file.write(b"bytes")
    with OutputFile(Path("/dev/full")) as file, pytest.raises(click.FileError, match="No space left"):
        file.write(b"bytes")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_dash_is_standard_output():
    """Bytes go out as they are."""
    code = (
        "from pathlib import Path; from selfgc.cli.files import OutputFile; OutputFile(Path('-')).write(b'a\\r\\n\\0')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"a\r\n\0"


@posix
def test_a_pipe_that_nobody_reads_is_a_broken_pipe(tmp_path):
    """It ends the command as it does on standard output, not as a file error."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with OutputFile(tmp_path / "pipe") as file:
        os.close(reader)
        with pytest.raises(BrokenPipeError):
            file.write(b"bytes")


def test_one_file_under_two_names_is_seen(tmp_path):
    """By what stands there, or by the spelling of what does not."""
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "c").write_bytes(b"")
    assert is_same_file(tmp_path / "a", tmp_path / "b")
    assert not is_same_file(tmp_path / "a", tmp_path / "c")
    assert is_same_file(tmp_path / "x" / ".." / "n", tmp_path / "n")
    assert not is_same_file(tmp_path / "n", tmp_path / "m")
