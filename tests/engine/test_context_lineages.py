"""ContextEngine as dialogues: restarts, forks, rewinds, results that are born small, commits that are taken back."""

import pytest

from builders import assistant, call, result, session, text_block, user
from cli_sessions import prose, turns_of
from dialogues import MODEL, bodies, folds, governed, history
from failing_store import FailingStore
from governed import pointers_in, unmarked
from selfgc.engine.context import ContextEngine
from selfgc.errors import UsageError
from selfgc.model.policy import Policy
from selfgc.model.records import EntryKind
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore

# -- lineages --------------------------------------------------------------------------------------------


def test_restart(tmp_path):
    """Another engine on the same store has the same ids, edits, version and view bytes."""
    with SqliteStore(tmp_path / "store.db") as store:
        engine = governed(store)
        before = engine.snapshot()
        view = engine.view_body()
    with SqliteStore(tmp_path / "store.db") as store:
        again = ContextEngine(store=store)
        assert again.restorable_ids() == ["function:Read:2", "function:Read:1"]
        again.observe(history(), model=MODEL)
        after = again.snapshot()
        assert (after.edits, after.version, after.chains) == (before.edits, before.version, before.chains)
        assert [item.id for item in after.spans] == [item.id for item in before.spans]
        assert again.view_body() == view


def test_growth():
    """What comes later stands behind the view as it was; new objects get the next numbers."""
    engine = governed()
    before = engine.view()
    longer = [*history(), assistant("Well."), user("More"), call("call_x", "Bash", command="ls"), result("call_x", "a")]
    engine.observe(longer, model=MODEL)
    assert engine.view() == [*before, *longer[len(before) :]]
    assert engine.snapshot().spans[-1].id == "function:Bash:16"
    assert engine.snapshot().turns[-1].id == "conversation:user:5"


def test_fork_and_back():
    """On a fork the edits of what is no more there are undone and ids are new; back on the branch all returns."""
    engine = governed()
    view, spans = engine.view_body(), engine.snapshot().spans
    fork = [*history()[:2], *session(turns_of(3), "anthropic")[20:26], user("Elsewhere")]
    fork = [message for message in fork if message["role"] == "user" and isinstance(message["content"], str)]
    engine.observe([*history()[:1], assistant("I will not."), *fork], model=MODEL)
    assert engine.snapshot().edits == {}
    assert {turn.id for turn in engine.snapshot().turns[1:]}.isdisjoint({f"conversation:user:{n}" for n in range(2, 5)})
    assert pointers_in(engine.view_body()) == []
    engine.observe(history(), model=MODEL)
    assert engine.snapshot().spans == spans
    assert engine.view_body() == view


def test_rewind():
    """A shorter history keeps the edits of what is still there; going on differently gives new ids."""
    engine = governed()
    first = history()[:12]
    engine.observe(first, model=MODEL)
    assert set(engine.snapshot().edits) == {"function:Read:1", "function:Read:2"}
    assert len(engine.view()) == 12
    engine.observe([*first, user("Else"), call("z", "Read", file_path="/z"), result("z", "zzz")], model=MODEL)
    assert engine.snapshot().spans[-1].id == "function:Read:16"
    assert engine.snapshot().turns[-1].id == "conversation:user:5"


def test_rewind_and_forward():
    """Messages that the client took back and sends again are edited as before, whatever was sent in between."""
    engine = governed()
    view = engine.view_body()
    for length in (1, 3, 30):
        engine.observe(history()[:length], model=MODEL)
        assert len(engine.view()) == length
        engine.observe(history(), model=MODEL)
        assert engine.view_body() == view
    again = ContextEngine(store=engine.store)
    for length in range(1, len(history()) + 1):
        again.observe(history()[:length], model=MODEL)
        again.view()
    assert again.view_body() == view


def test_compaction_by_the_client():
    """When the client writes its own summary in place of the history, nothing of ours is left in the view."""
    engine = governed()
    view = engine.view_body()
    compacted = [user("Summary: files were read."), assistant("Good."), user("And now?")]
    engine.observe(compacted, model=MODEL)
    assert engine.view() == compacted
    assert engine.snapshot().edits == {}
    assert not engine.maintain(folds("function:Read:1"), is_cold=True).committed
    assert engine.restore("function:Read:1").decode() == prose(1, 1)
    engine.observe(history(), model=MODEL)
    assert engine.view_body() == view


def test_fork_after_a_restart(tmp_path):
    """Numbers that another branch took are not given again after a restart."""
    with SqliteStore(tmp_path / "store.db") as store:
        governed(store).observe([user("Something else"), call("z", "Read", file_path="/z"), result("z", "zzz")])
    with SqliteStore(tmp_path / "store.db") as store:
        engine = ContextEngine(store=store)
        engine.observe([user("A third way"), call("y", "Read", file_path="/y"), result("y", "yyy")])
        assert [span.id for span in engine.snapshot().spans] == ["function:Read:17"]
        assert [turn.id for turn in engine.snapshot().turns] == ["conversation:user:6"]
        engine.observe([user("Something else"), call("z", "Read", file_path="/z"), result("z", "zzz")])
        assert [span.id for span in engine.snapshot().spans] == ["function:Read:16"]


def test_moved_markers_are_no_change():
    """Cache markers that wander, and strings that become blocks for them, leave lineage and edits alone."""
    engine = governed()
    before = engine.snapshot()
    marker = {"cache_control": {"type": "ephemeral"}}
    moved = [*history()[:-1], user(text_block("And now?") | marker)]
    moved[2] = user(moved[2]["content"][0] | marker)
    engine.observe(moved, model=MODEL)
    assert engine.snapshot().chains == before.chains
    assert len(engine.store.journal(engine.session)) == len(history())
    sent = engine.view()
    assert sent[-1] == moved[-1]
    assert sent[2]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert pointers_in(engine.view_body()) == ["function:Read:1", "function:Read:2"]
    engine.observe(history(), model=MODEL)
    assert list(map(unmarked, engine.view())) == list(map(unmarked, sent))


# -- born small ------------------------------------------------------------------------------------------

REPEATED = [
    user("Read it twice."),
    call("call_1", "Read", file_path="/repo/a.py"),
    result("call_1", prose(1, 2)),
    call("call_2", "Read", file_path="/repo/a.py"),
    result("call_2", prose(1, 2)),
]


def test_born_small_before_the_first_send():
    """A result whose very text stands in view is folded before it is first sent, by a commit of its own."""
    engine = ContextEngine()
    engine.observe(REPEATED[:3], model=MODEL)
    assert engine.view() == REPEATED[:3]
    engine.observe(REPEATED, model=MODEL)
    view = engine.view()
    assert view[:-1] == REPEATED[:-1]
    assert "the same text as function:Read:1" in view[-1]["content"][0]["content"]
    assert engine.restore("function:Read:2").decode() == prose(1, 2)
    assert [body["planner"] for body in bodies(engine, EntryKind.COMMIT)] == ["born small"]
    assert engine.view() == view
    assert engine.snapshot().version == 1


def test_born_small_is_off():
    """A policy may want neither repeats folded nor giants masked."""
    engine = ContextEngine(policy=Policy(born_small_repeats=False))
    engine.observe(REPEATED, model=MODEL)
    assert engine.view() == REPEATED


def test_giant_results():
    """A result over the policy's size is masked before it is first sent; what was sent whole stays whole."""
    messages = [user("Run it."), call("call_1", "Bash", command="make"), result("call_1", prose(1, 2) * 5)]
    later = [*messages, call("call_2", "Bash", command="make test"), result("call_2", prose(2, 3) * 5)]
    plain = ContextEngine()
    plain.observe(messages, model=MODEL)
    plain.view()
    plain.policy = Policy(born_small_tokens=500)
    plain.observe(later, model=MODEL)
    view = plain.view()
    assert view[:4] == later[:4]
    assert "characters masked: selfgc restore function:Bash:2" in view[4]["content"][0]["content"]


def test_born_small_without_a_store():
    """When the store fails, the request goes out whole, and what was sent whole is not folded later."""
    store = FailingStore(MemoryStore(), append=range(1, 3))
    engine = ContextEngine(store=store)
    engine.observe(REPEATED, model=MODEL)
    assert engine.view() == REPEATED
    engine.observe([*REPEATED, assistant("Done."), user("Next")], model=MODEL)
    assert engine.view()[: len(REPEATED)] == REPEATED
    again = ContextEngine(store=store)
    again.observe([*REPEATED, assistant("Done."), user("Next")], model=MODEL)
    assert again.view()[: len(REPEATED)] == REPEATED


# -- rolling back ----------------------------------------------------------------------------------------


def test_roll_back():
    """The last commit is taken back: the view is as before it, its payload can still be had."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    engine.maintain(folds("function:Read:1"), is_cold=True)
    one = engine.view_body()
    engine.maintain(folds("function:Read:2"), is_cold=True)
    engine.roll_back()
    assert engine.view_body() == one
    assert engine.restore("function:Read:2").decode() == prose(1, 2)
    assert engine.snapshot().version == 3
    engine.roll_back()
    assert engine.view() == history()
    with pytest.raises(UsageError, match="nothing is committed in session 'default'"):
        engine.roll_back()
    assert engine.snapshot().version == 4
    again = ContextEngine(store=engine.store)
    again.observe(history(), model=MODEL)
    assert again.view() == history()
    assert again.maintain(folds("function:Read:1"), is_cold=True).committed
    assert again.view_body() == one
