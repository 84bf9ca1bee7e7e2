"""Records on disk: one JSON object a line, each with its tag; a run that goes on appends to them."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from selfgc.bench.records import Record
from selfgc.errors import ReadError


def write_lines(path: Path, records: Iterable[Record], *, append: bool = False) -> None:
    """Write records to a file, or behind those that are there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab" if append else "wb") as out:
        for record in records:
            out.write(msgspec.json.encode(record) + b"\n")


def read_lines(path: Path) -> list[Record]:
    """Return the records of a file; a last line that was cut off is left out. ReadError names a line that is broken."""
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    records: list[Record] = []
    for number, line in enumerate(whole.split(b"\n") if whole else [], 1):
        try:
            records.append(msgspec.json.decode(line, type=Record))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
            raise ReadError(f"{path}, line {number}: expected a record of the bench, but {error}") from error
    return records
