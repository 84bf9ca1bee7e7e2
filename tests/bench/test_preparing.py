"""From folders of sessions to cases with their needs."""

import json

import pytest

import bench_world as world
from selfgc.bench.preparing import case_of, prepare
from selfgc.bench.sessions import read_session
from selfgc.errors import ReadError


def renamed(wire):
    """The same story about other things, so that neither session makes the other's words common."""
    text = json.dumps(wire)
    for old, new in {"row_plan": "tea_order", "seat": "kettle", "price": "weight", "held": "brewed"}.items():
        text = text.replace(old, new)
    return json.loads(text)


@pytest.fixture
def folder(tmp_path):
    world.write_session(tmp_path / "mine", "one", kind="coding")
    wire = [*world.messages()[:-5], *world.exchange(9, "Bash", {"command": "date"}, "now"), world.agent("Done.")]
    world.write_session(tmp_path / "mine", "two", renamed(wire))
    return tmp_path / "mine"


def prepared(folder, store=None, others=()):
    told = []
    (found,) = prepare([folder], others, workers=1, store=store, step=told.append)
    return found, told


def test_each_session_is_cut_and_its_needs_are_worked_out(folder):
    """Two cuts a session; the third turn needs the first one's read."""
    found, told = prepared(folder)
    assert [(case.session, case.cut) for case in found.cases] == [("one", 10), ("one", 14), ("two", 10), ("two", 14)]
    needed = {(case.session, case.cut): case.needed_a + case.needed_b for case in found.cases}
    assert needed["one", world.CUT] >= 2
    assert needed["two", world.CUT] == 0
    assert [case.kind for case in found.cases] == ["coding", "coding", "", ""]
    assert len(told) == 3


def test_one_cut_a_session_is_the_headline_and_the_densest_are_hard(folder):
    """Nobody chooses them."""
    found, _ = prepared(folder)
    headline = [case.session for case in found.cases if case.is_headline]
    assert headline == ["one", "two"]
    assert [(case.session, case.cut) for case in found.cases if case.is_hard] == [("one", world.CUT)]


def test_a_set_is_named_by_its_content(folder):
    """The same twice; another when a session changes."""
    first, _ = prepared(folder)
    assert prepared(folder)[0].digest == first.digest
    world.write_session(folder, "two", world.messages()[:-6])
    assert prepared(folder)[0].digest != first.digest


def test_what_was_prepared_is_kept(folder, tmp_path):
    """The second time nothing has to be done."""
    first, _ = prepared(folder, tmp_path / "cache")
    second, told = prepared(folder, tmp_path / "cache")
    assert (second, told) == (first, [])


def test_other_sessions_tell_what_is_common(folder, tmp_path):
    """What ten others hold as well is no sign of a need."""
    for number in range(3):
        world.write_session(tmp_path / "others", f"o{number}")
    found, _ = prepared(folder, others=[tmp_path / "others"])
    assert all(case.needed_a == case.needed_b == 0 for case in found.cases)


def test_a_case_is_cut_anew_from_its_record(folder):
    """The same prefix and continuation."""
    found, _ = prepared(folder)
    session = read_session(folder / "one.json")
    case = case_of(session, found.cases[1])
    assert (case.cut, list(case.prefix)) == (world.CUT, world.messages()[: world.CUT])


def test_an_empty_folder_is_refused(tmp_path):
    """With what was expected."""
    with pytest.raises(ReadError, match="expected a folder with session files"):
        prepare([tmp_path], [], workers=1, store=None, step=print)
