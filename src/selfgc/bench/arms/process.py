"""An arm's process: asked over its standard input, answered on its standard output, started anew when it fails."""

import subprocess
import tempfile
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Self

from selfgc.bench.arms.protocol import Ask, Failed, encode, read_answer
from selfgc.bench.governed import Governed

TIME_LIMIT = 120.0
"""Seconds for one answer."""
_TOLD = 400


class ArmProcess:
    """Runs one arm's command as long as it answers. Use it as a context manager."""

    def __init__(self, argv: Sequence[str], limit: float = TIME_LIMIT) -> None:
        """`limit` is the time for one answer, in seconds."""
        self._argv, self._limit = list(argv), limit
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Nothing is started before the first ask."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self.stop()

    def ask(self, ask: Ask) -> Governed | Failed:
        """Return the arm's answer; a failure with its last words when it hangs, dies or answers with no answer."""
        process = self._running()
        if process.stdin is None or process.stdout is None:
            return Failed("the arm's process has no pipes")
        timer = threading.Timer(self._limit, process.kill)
        timer.start()
        try:
            process.stdin.write(encode(ask) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            return Failed(f"no answer within {self._limit:.0f} s, or the process ended: {self._last_words()}")
        return read_answer(line)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
            self._process = subprocess.Popen(  # noqa: S603 - a command of the registry
                self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
        return self._process

    def _last_words(self) -> str:
        self._end()
        if self._errors is None:
            return "it said nothing"
        self._errors.seek(0)
        said = self._errors.read()[-_TOLD:].decode("utf-8", "replace").strip()
        return said or "it said nothing"

    def _end(self) -> None:
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what was still to be written has nobody to read it
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def stop(self) -> None:
        """End the process, if it runs."""
        self._end()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
