"""The answers on disk: one file each, under the digest of its request, so that tables can be made again offline."""

import tempfile
from pathlib import Path

import msgspec

from selfgc.bench.scorecard.calls import Ask, Said
from selfgc.bench.scorecard.settings import JudgeSettings
from selfgc.errors import UsageError


class Kept(msgspec.Struct, frozen=True):
    """One answer with what a person needs to tell which it is. It holds no key, for a request holds none."""

    model: str
    form: str
    vote: int
    said: Said


class Answers:
    """Reads and writes answers. Only answers are kept: a call that failed is made again in the next run."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._folder = Path(settings.cache_folder)

    def find(self, ask: Ask) -> Said | None:
        """Return the kept answer; None when there is none. UsageError when the file cannot be read."""
        path = self._path(ask)
        try:
            return msgspec.json.decode(path.read_bytes(), type=Kept).said
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(
                f"the kept answer {path} cannot be read: {error}; delete it, and it is asked anew"
            ) from error

    def keep(self, ask: Ask, said: Said) -> None:
        """Write an answer, whole or not at all."""
        path = self._path(ask)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = Kept(self._settings.model, ask.form, ask.vote, said)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".new", delete=False) as written:
            written.write(msgspec.json.format(msgspec.json.encode(kept), indent=1))
        Path(written.name).replace(path)

    def _path(self, ask: Ask) -> Path:
        digest = ask.digest(self._settings)
        return self._folder / digest[:2] / f"{digest}.json"
