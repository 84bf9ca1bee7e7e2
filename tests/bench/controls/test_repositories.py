"""Sessions of one repository are told by the rare text that they share."""

from control_cases import noise, session_of
from selfgc.bench.controls.repositories import members, repositories_of
from selfgc.bench.judge.verbatim import Held


def held(name, *outputs):
    session, _ = session_of(name, outputs)
    return Held(session.messages), len(session.messages)


def test_shared_files_make_a_repository():
    """Two sessions that read one file belong together, whatever else they read; a third does not."""
    file = noise("file", 60)
    sessions = {
        "one": held("one", file, noise(1, 60)),
        "two": held("two", noise(2, 60), file),
        "three": held("three", noise(3, 120)),
        "four": held("four", noise(4, 120)),
    }
    group = repositories_of(sessions)
    assert group == {"one": "one", "two": "one", "three": "three", "four": "four"}
    assert members(group, "one") == ["two"]
    assert members(group, "three") == []


def test_pairs_are_linked_through():
    """One shares with two and two with three: all three are of one repository."""
    first, second = noise("first", 60), noise("second", 60)
    sessions = {
        "c": held("c", second),
        "b": held("b", first, second),
        "a": held("a", first),
        **{str(number): held(str(number), noise(number, 60)) for number in range(9)},
    }
    group = repositories_of(sessions)
    assert {group[name] for name in "abc"} == {"a"}
    assert len(set(group.values())) == 10


def test_what_every_session_holds_links_none():
    """A harness's own text is in all of them, and is not rare."""
    sessions = {str(number): held(str(number), noise("harness", 60), noise(number, 60)) for number in range(12)}
    assert len(set(repositories_of(sessions).values())) == 12
