"""What `tools/coverage_gate.py` makes of coverage.py's report."""

import json

import pytest
from coverage_gate import by_room, main


def report(covered: int, whole: int, *, rows: tuple[int, ...] = (), branches: tuple[tuple[int, int], ...] = ()) -> dict:
    summary = {"covered_lines": covered, "num_statements": whole, "covered_branches": 0, "num_branches": 0}
    return {"summary": summary, "missing_lines": list(rows), "missing_branches": [list(pair) for pair in branches]}


@pytest.fixture
def gate(tmp_path):
    def run(**files: dict) -> int:
        path = tmp_path / "report.json"
        names = {f"src/selfgc/{name.replace('__', '/', 1)}.py": found for name, found in files.items()}
        path.write_text(json.dumps({"files": names}))
        return main([str(path)])

    return run


def test_rooms_come_from_paths():
    """Files count for their room; a room of one file for itself; the package's own file for `selfgc`."""
    names = ("src/selfgc/__init__.py", "src/selfgc/errors.py", "src/selfgc/model/ids.py", "src/selfgc/model/wire.py")
    assert {room: len(found) for room, found in by_room(dict.fromkeys(names, report(1, 1))).items()} == {
        "selfgc": 1,
        "errors": 1,
        "model": 2,
    }


def test_pure_rooms_need_everything(gate, capsys):
    """One open row in a pure room fails, and is named with its branches."""
    assert gate(model__ids=report(99, 100, rows=(7,), branches=((3, 5), (3, -1)))) == 1
    assert "src/selfgc/model/ids.py: rows 7; branches 3->5, 3->exit" in capsys.readouterr().out


def test_other_rooms_need_nine_tenths(gate):
    """The limit counts for the room as a whole."""
    assert gate(engine__a=report(10, 10), engine__b=report(8, 10, rows=(1, 2))) == 0
    assert gate(engine__a=report(9, 10, rows=(1,)), engine__b=report(8, 10, rows=(1, 2))) == 1


def test_a_room_without_code_passes(gate, capsys):
    """Nothing to cover is covered; whole files are not listed below a broken room."""
    assert gate(cli____init__=report(0, 0)) == 0
    assert gate(model__ids=report(1, 1), model__wire=report(1, 2, rows=(2,))) == 1
    assert "ids.py" not in capsys.readouterr().out


def test_no_report(tmp_path, capsys):
    """A report that was never written is a failure, told in one line."""
    assert main([str(tmp_path / "report.json")]) == 1
    assert capsys.readouterr().err.startswith("expected coverage's report at")


def test_usage(capsys):
    """Without a report: usage, exit code 2."""
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("usage")
