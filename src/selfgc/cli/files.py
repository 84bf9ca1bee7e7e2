"""Files that commands write: whole or not at all.

Bytes go into a new file in the same folder, which takes the name when it is complete and on the disk. So what was
there stays as it is until then, and a folder that cannot be written to is found out before work starts.
"""

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import click


class OutputFile:
    """A file that one `write` fills; when its block ends without that, nothing has changed.

    `-` is standard output. A new file can be read by its owner alone, one that is replaced keeps its mode; what is
    no file (a pipe, a device) is written to directly. click.FileError when it cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft: Path | None = None
        self._descriptor = -1
        if str(path) != "-":
            with self._mapped():
                self._open(path.resolve())

    def write(self, data: bytes) -> None:
        """Write the whole content."""
        if self._descriptor < 0:
            write_stdout(data)
            return
        with self._mapped(), open(self._descriptor, "wb", closefd=False) as file:
            file.write(data)
            file.flush()
            if self._draft is not None:
                os.fsync(self._descriptor)
                self._draft.replace(self._path.resolve())
                self._draft = None

    def _open(self, target: Path) -> None:
        mode = target.stat().st_mode if target.exists() else 0o600
        if target.exists() and not stat.S_ISREG(mode):
            self._descriptor = os.open(target, os.O_WRONLY)
            return
        draft = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.new")
        self._descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        self._draft = draft
        draft.chmod(stat.S_IMODE(mode))

    @contextlib.contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise click.FileError(str(self._path), f"{error.strerror or error}; choose another place") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file; paths that lead to none are compared as they are written."""
    try:
        return first.samefile(second)
    except OSError:
        return first.resolve() == second.resolve()
