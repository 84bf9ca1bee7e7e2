"""The hash chain of a ledger: each way to tamper with it is found at its first bad entry."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfgc.errors import StalePlan, UsageError
from selfgc.model.records import EntryKind, NewEntry
from selfgc.sidecar.ledger import GENESIS, Head, check_commits, check_key, extend, first_break


def chain(count, session="s", start=0):
    entries = [NewEntry(EntryKind.PLAN, float(number), b"%d" % number) for number in range(start, start + count)]
    return extend(session, Head(), entries)


def changed(entries, position, **changes):
    entries = list(entries)
    entries[position] = msgspec.structs.replace(entries[position], **changes)
    return entries


def test_an_empty_ledger_holds():
    """A ledger without entries has no break."""
    assert first_break("s", []) is None


def test_entries_count_from_one_and_name_the_hash_before():
    """Sequence numbers have no gaps, and each entry carries the hash of the one before it."""
    entries = chain(3)
    assert [entry.sequence for entry in entries] == [1, 2, 3]
    assert [entry.previous for entry in entries] == [GENESIS, entries[0].hash, entries[1].hash]
    assert first_break("s", entries) is None


def test_a_chain_goes_on_from_its_head():
    """Entries written in two steps make the same chain as in one."""
    entries = [NewEntry(EntryKind.FAULT, 1.0, b"a"), NewEntry(EntryKind.DEFER, 2.0, b"b")]
    first = extend("s", Head(), entries[:1])
    assert first + extend("s", Head(1, first[0].hash), entries[1:]) == extend("s", Head(), entries)


@pytest.mark.parametrize(
    "changes",
    [
        {"body": b"other"},
        {"time": 7.0},
        {"kind": EntryKind.COMMIT},
        {"hash": "f" * 64},
        {"previous": "e" * 64},
    ],
)
def test_a_changed_entry_is_named(changes):
    """Any field of an entry that is changed breaks the chain at that entry."""
    found = first_break("s", changed(chain(5), 2, **changes))
    assert found is not None
    assert found.sequence == 3
    assert "changed" in found.sentence


def test_an_entry_that_was_changed_with_its_hash_breaks_the_next_link():
    """Whoever makes the hash of a changed entry anew is found at the entry after it."""
    entries = chain(5)
    forged = extend("s", Head(2, entries[1].hash), [NewEntry(EntryKind.PLAN, 2.0, b"forged")])
    found = first_break("s", [*entries[:2], *forged, *entries[3:]])
    assert found is not None
    assert found.sequence == 4
    assert "does not follow" in found.sentence


def test_a_deleted_entry_is_named():
    """A gap in the numbers is a deletion."""
    entries = chain(5)
    found = first_break("s", entries[:2] + entries[3:])
    assert found is not None
    assert (found.sequence, "deleted" in found.sentence) == (3, True)


def test_an_inserted_entry_is_named():
    """A number that comes twice is an insertion."""
    entries = chain(5)
    found = first_break("s", [*entries[:3], entries[2], *entries[3:]])
    assert found is not None
    assert (found.sequence, "inserted" in found.sentence) == (4, True)


def test_swapped_entries_are_named():
    """Two entries that changed places are found, with their numbers and without."""
    entries = chain(5)
    swapped = [entries[0], entries[2], entries[1], *entries[3:]]
    renumbered = [msgspec.structs.replace(entry, sequence=n) for n, entry in enumerate(swapped, 1)]
    assert [found and found.sequence for found in (first_break("s", swapped), first_break("s", renumbered))] == [2, 2]


def test_a_ledger_of_another_session_does_not_hold():
    """A whole chain that was carried to another session breaks at its first entry."""
    found = first_break("other", chain(2))
    assert found is not None
    assert found.sequence == 1


@given(st.text(max_size=5), st.binary(max_size=5), st.floats(allow_nan=False), st.sampled_from(EntryKind))
def test_any_entry_holds(session, body, time, kind):
    """Whatever key, kind, time and body an entry has, its chain holds."""
    assert first_break(session, extend(session, Head(), [NewEntry(kind, time, body)] * 2)) is None


def test_the_sign_of_a_zero_time_is_dropped():
    """A time of -0.0 is written as 0.0, which every store gives back alike."""
    (entry,) = extend("s", Head(), [NewEntry(EntryKind.PLAN, -0.0, b"")])
    assert str(entry.time) == "0.0"


def test_a_write_bound_to_other_commits_is_stale():
    """A count of commits that differs raises StalePlan; an equal one, and none, do not."""
    check_commits("s", 2, 2)
    check_commits("s", 2, None)
    with pytest.raises(StalePlan, match="expected 1 commits and rollbacks, found 2"):
        check_commits("s", 2, 1)


def test_a_key_that_cannot_be_written_is_refused():
    """A session key with a lone surrogate is a UsageError."""
    check_key("ключ 🔑")
    with pytest.raises(UsageError, match="UTF-8"):
        check_key("\ud800")
