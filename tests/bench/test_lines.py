"""Records on disk."""

import pytest

from selfgc.bench.lines import read_lines, write_lines
from selfgc.bench.records import ControlRecord
from selfgc.errors import ReadError

ONE, TWO = (ControlRecord(name, "all", "all", holds=True) for name in ("one", "two"))


def test_records_come_back_as_they_were_written(tmp_path):
    """Written, and appended to; a file that is not there has none."""
    path = tmp_path / "deep" / "records.jsonl"
    assert read_lines(path) == []
    write_lines(path, [ONE])
    write_lines(path, [TWO], append=True)
    assert read_lines(path) == [ONE, TWO]
    write_lines(path, [TWO])
    assert read_lines(path) == [TWO]


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    """A run was ended in the middle of it."""
    path = tmp_path / "records.jsonl"
    write_lines(path, [ONE, TWO])
    path.write_bytes(path.read_bytes()[:-10])
    assert read_lines(path) == [ONE]


def test_a_broken_line_is_named(tmp_path):
    """With the file and its number."""
    path = tmp_path / "records.jsonl"
    write_lines(path, [ONE])
    with path.open("ab") as out:
        out.write(b'{"type": "nothing"}\n')
    with pytest.raises(ReadError, match=r"records.jsonl, line 2: expected a record of the bench"):
        read_lines(path)
