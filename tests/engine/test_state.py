"""The commits of a session, replayed from its ledger."""

import json

import msgspec
import pytest

from selfgc.engine.state import CommitBody, CommitState
from selfgc.errors import StoreError
from selfgc.model.records import Edit, EntryKind, LedgerEntry, Replacement


def edit(name, *chains, action="fold", payload="p", **others):
    return Edit(name, action, tuple(Replacement(chain, "content", "x") for chain in chains), 10, 1, payload, **others)


def commit(*edits):
    return EntryKind.COMMIT, CommitBody("by hand", "d", "turn", 10, 5, edits)


def replayed(*told):
    """A state from ledger entries: pairs of a kind and its body."""
    entries = [
        LedgerEntry(n, kind, float(n), msgspec.json.encode(body), "0" * 64, "1" * 64)
        for n, (kind, body) in enumerate(told, 1)
    ]
    return CommitState(entries)


def in_force(state, *chains):
    return dict(state.edits_on(frozenset(chains)))


def test_nothing_yet():
    """A session without commits has no edits and version 0."""
    state = CommitState()
    assert (state.version, in_force(state, "a"), state.restorable_ids) == (0, {}, [])
    assert state.restorable("function:Read:1") is None


def test_replay():
    """Commits add up in order; the later of two for one object counts, and stands last."""
    one, two, three = (
        edit("function:Read:1", "a"),
        edit("function:Read:2", "b"),
        edit("function:Read:1", "a", action="mask"),
    )
    state = replayed(commit(one, two), commit(three))
    assert state.version == 2
    assert list(in_force(state, "a", "b").values()) == [two, three]
    assert state.restorable("function:Read:1") == three


def test_replay_is_the_same_as_adding():
    """A state grown while it happened equals one that is replayed."""
    one, two = edit("function:Read:1", "a"), edit("function:Read:2", "b")
    grown = CommitState()
    grown.add([one])
    grown.add([two])
    grown.roll_back()
    told = replayed(commit(one), commit(two), (EntryKind.ROLLBACK, {"version": 2}))
    assert (grown.version, in_force(grown, "a", "b")) == (told.version, in_force(told, "a", "b")) == (3, {one.id: one})
    assert grown.restorable_ids == told.restorable_ids == [one.id, two.id]


def test_rollbacks():
    """A rollback takes the last commit's edits out, its payload stays; one without a commit only counts."""
    state = CommitState()
    state.roll_back()
    assert state.version == 1
    state.add([edit("function:Read:1", "a")])
    state.roll_back()
    assert (state.version, in_force(state, "a")) == (3, {})
    assert state.restorable_ids == ["function:Read:1"]


def test_edits_follow_the_lineage():
    """An edit is in force where every message that it changes is, and comes back with them."""
    one, two = edit("function:Read:1", "a", "b"), edit("function:Read:2", "c")
    state = replayed(commit(one, two))
    assert in_force(state, "a", "c") == {two.id: two}
    assert in_force(state, "a", "b") == {one.id: one}
    assert in_force(state) == {}


def test_what_lies_in_a_turn_goes_with_it():
    """An edit inside a folded turn is gone where the turn's edit is."""
    turn = edit("conversation:user:1", "a", "b")
    inner = edit("function:Read:1", within="conversation:user:1")
    state = replayed(commit(turn, inner))
    assert in_force(state, "a", "b") == {turn.id: turn, inner.id: inner}
    assert in_force(state, "a") == {}
    assert state.restorable_ids == [turn.id, inner.id]


def test_a_prune_promises_nothing():
    """An edit without a payload is never restorable, and takes no earlier payload away."""
    folded, pruned = edit("function:Read:1", "a"), edit("function:Read:1", "a", action="prune", payload="")
    state = replayed(commit(folded), commit(pruned))
    assert in_force(state, "a") == {pruned.id: pruned}
    assert state.restorable("function:Read:1") == folded


def test_restores_and_repairs():
    """What was restored, and which repairs were told, is remembered; other kinds say nothing of the state."""
    state = replayed(
        (EntryKind.RESTORE, {"id": "function:Read:1", "part": None, "bytes": 3}),
        (EntryKind.REPAIR, {"key": "k", "message": 1, "sentence": "s"}),
        (EntryKind.FAULT, {"where": "view", "error": "e"}),
        (EntryKind.DEFER, {}),
        (EntryKind.PLAN, {}),
        (EntryKind.REFUSAL, {}),
    )
    assert (state.restored, state.repaired, state.version) == (["function:Read:1"], {"k"}, 0)


@pytest.mark.parametrize("body", [b"{", b"{}", b'{"edits": 3}', b"null"])
def test_a_commit_that_cannot_be_read(body):
    """A commit record that is none is no reason to guess: which entry it is, and what to do."""
    entry = LedgerEntry(7, EntryKind.COMMIT, 0.0, body, "0" * 64, "1" * 64)
    with pytest.raises(StoreError, match=r"ledger entry 7 is no commit record: .*; run `selfgc verify`"):
        CommitState([entry])


def test_commit_bodies_hold_no_payload():
    """A commit record is JSON of edits: hashes and renderings, no payload."""
    _, body = commit(edit("function:Read:1", "a", payload="ab" * 32))
    assert json.loads(msgspec.json.encode(body))["edits"][0]["payload"] == "ab" * 32
