"""ContextEngine as dialogues: what a harness tells it, and what it decides."""

import json
import logging

import pytest

from builders import (
    assistant,
    call,
    call_block,
    calls,
    chat_system,
    raw,
    result,
    session,
    text_block,
    user,
)
from cli_sessions import prose, turns_of
from failing_store import FailingStore
from governed import pointers_in, unmarked
from selfgc.engine.context import ContextEngine
from selfgc.errors import Finding, PayloadCorrupt, PayloadMissing, StalePlan, StoreError, UsageError, WireError
from selfgc.model.plan import Fold, Mask, Plan, Prune
from selfgc.model.policy import Boundary, Carrier, Policy, Recovery
from selfgc.model.records import EntryKind
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore

MODEL = "claude-sonnet-4-5"


def history(turns=3, *, dialect="anthropic", asked="And now?"):
    """Whole turns in which five files are read, and one more question."""
    return session([*turns_of(turns), (asked, [], "")], dialect)


def folds(*names):
    return Plan(tuple(Fold(name) for name in names), "by hand")


def governed(store=None, messages=None, **others):
    """An engine that has seen a history and has committed the folds of its first two calls."""
    engine = ContextEngine(store=store, **others)
    engine.observe(messages or history(), model=MODEL)
    assert engine.maintain(folds("function:Read:1", "function:Read:2"), is_cold=True).committed
    return engine


def kinds(engine):
    return [entry.kind for entry in engine.store.ledger(engine.session)]


def bodies(engine, kind):
    """Bodies of the session's ledger entries of one kind."""
    return [json.loads(entry.body) for entry in engine.store.ledger(engine.session) if entry.kind is kind]


class Clock:
    """A clock that stands until a test moves it."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Planning:
    """A planner that does what it is told: returns a value, or raises it."""

    name = "told"

    def __init__(self, told):
        self.told = told

    def plan(self, snapshot):
        if isinstance(self.told, Exception):
            raise self.told
        return self.told


# -- observe and view ------------------------------------------------------------------------------------


def test_nothing_edited_is_what_came_in():
    """A request without edits goes out as the very bytes, blanks and unknown members included."""
    body = b'{ "model": "m",\n "x": [1.0, 2e5],  "messages": [ {"role": "user", "content": "\\u00e9", "y": null} ] }\n'
    engine = ContextEngine()
    engine.observe_body(body)
    assert engine.view_body() == body
    assert engine.view() == [{"role": "user", "content": "é", "y": None}]


@pytest.mark.parametrize("dialect", ["anthropic", "chat"])
def test_messages_and_bodies_are_the_same_to_it(dialect):
    """Observing decoded messages or a request body gives one snapshot and one view."""
    one, two = ContextEngine(dialect=dialect), ContextEngine(dialect=dialect)
    one.observe(history(dialect=dialect), model="m")
    two.observe_body(one.view_body())
    assert one.snapshot().chains == two.snapshot().chains
    assert one.view() == two.view() == history(dialect=dialect)
    assert one.view_tokens() == two.view_tokens() == one.snapshot().transcript_tokens


def test_without_other_members():
    """A request of messages alone is one JSON object."""
    engine = ContextEngine()
    engine.observe([user("hello")])
    assert json.loads(engine.view_body()) == {"messages": [user("hello")]}


def test_unknown_dialect():
    """A dialect that does not exist is refused with those that do."""
    with pytest.raises(UsageError, match="'morse'; there are anthropic, chat"):
        ContextEngine(dialect="morse")


def test_a_message_of_no_dialect_changes_nothing():
    """WireError on observe leaves session, journal and view as they were."""
    engine = governed()
    before, journal = engine.view_body(), engine.store.journal(engine.session)
    with pytest.raises(WireError, match="role"):
        engine.observe([*history(), {"role": 7}], model=MODEL)
    with pytest.raises(WireError, match="messages"):
        engine.observe_body(b'{"prompt": "hello"}')
    assert engine.view_body() == before
    assert engine.store.journal(engine.session) == journal


def test_a_model_that_is_no_name():
    """A `model` that is no string is an unknown model."""
    engine = ContextEngine()
    engine.observe(history(), model=None)
    assert engine.snapshot().profile.name == ContextEngine().snapshot().profile.name
    assert engine.view() == history()


def test_system_and_tools_are_counted_and_kept():
    """System prompt and tools weigh in the tokens, show anchors, and go out as they came."""
    engine = ContextEngine()
    tools = [{"name": "Read", "input_schema": {"type": "object"}}]
    engine.observe(history(), model=MODEL, system="Look into /repo/very/special.py first.", tools=tools)
    snapshot = engine.snapshot()
    assert snapshot.system_tokens > 10
    assert "/repo/very/special.py" in snapshot.system_anchors
    assert engine.maintain(is_cold=True).committed
    sent = json.loads(engine.view_body())
    assert (sent["system"], sent["tools"]) == ("Look into /repo/very/special.py first.", tools)
    engine.observe(history(), model=MODEL)
    assert engine.snapshot().system_tokens < snapshot.system_tokens


# -- maintain --------------------------------------------------------------------------------------------


def test_a_commit():
    """A plan that pays is committed: the view shrinks, the pointer leads to the exact payload."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    report = engine.maintain(folds("function:Read:1"), is_cold=True)
    assert (report.committed, report.reason, report.planner) == (True, "it pays", "by hand")
    assert [(row.id, row.action) for row in report.actions] == [("function:Read:1", "fold")]
    assert report.tokens_after == engine.view_tokens() < report.tokens_before == report.tokens_transcript
    assert pointers_in(engine.view_body()) == ["function:Read:1"]
    assert engine.restore("function:Read:1").decode() == engine.restore("Read:1").decode() == prose(1, 1)
    assert kinds(engine) == ["plan", "commit", "restore", "restore"]


def test_the_default_planner():
    """Without a plan the planner is asked; the default one folds whole turns."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    report = engine.maintain(is_cold=True)
    assert report.planner == "reachability"
    assert {row.id for row in report.actions} >= {"conversation:user:1"}
    assert 0.3 < report.prune_rate < 1


def test_dry_run():
    """A dry run tells what would be, and writes nothing."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    report = engine.maintain(dry_run=True, is_cold=True)
    assert not report.committed
    assert report.decision.commit
    assert report.tokens_planned < report.tokens_after == report.tokens_before
    assert kinds(engine) == []
    assert engine.view() == history()


def test_refusals_are_told():
    """What rehearsal or the reader of a plan turns down stands in report and ledger, with its rule."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    plan = Plan((Fold("function:Read:99"), Fold("function:Read:15"), Fold("function:Read:1")), "by hand")
    report = engine.maintain(plan, findings=[Finding("function:x:1", "malformed", "no")], is_cold=True)
    told = [(row.id, row.refused) for row in report.refused]
    assert told == [
        ("function:x:1", "malformed"),
        ("function:Read:99", "unknown_id"),
        ("function:Read:15", "last_turn"),
    ]
    assert [row["rule"] for row in bodies(engine, EntryKind.REFUSAL)[0]["refused"]] == [rule for _, rule in told]


def test_warm_and_cold():
    """A small saving behind a large warm prefix waits; once the cache is cold it is committed."""
    clock = Clock()
    engine = ContextEngine(clock=clock)
    engine.observe(history(8), model=MODEL)
    engine.view()
    clock.now += 60
    warm = engine.maintain(folds("function:Read:1"))
    assert (warm.committed, warm.decision.is_cold) == (False, False)
    assert warm.reason.startswith("does not pay")
    assert engine.view() == history(8)
    clock.now += 3600
    cold = engine.maintain(folds("function:Read:1"))
    assert (cold.committed, cold.decision.is_cold) == (True, True)
    assert kinds(engine) == ["plan", "defer", "plan", "commit"]


def test_a_saving_that_pays_on_a_warm_cache():
    """When nearly all goes, the break is paid back by the calls to come."""
    clock = Clock()
    engine = ContextEngine(clock=clock)
    engine.observe(history(8), model=MODEL)
    engine.view()
    report = engine.maintain()
    assert (report.committed, report.decision.is_cold) == (True, False)


def test_an_open_call_is_no_boundary():
    """Between a call and its result nothing is committed."""
    engine = ContextEngine(policy=Policy(boundary=Boundary.STEP))
    engine.observe([*history(), call("call_x", "Read", file_path="/a")], model=MODEL)
    report = engine.maintain(folds("function:Read:1"), is_cold=True)
    assert (report.committed, report.reason) == (False, "unsafe boundary: no step boundary here")


def test_inside_a_turn():
    """In a tool loop the policy's boundary decides: `step` commits, `turn` waits."""
    loop = [*history(), call("call_x", "Read", file_path="/a"), result("call_x", "short")]
    for boundary, committed in ((Boundary.TURN, False), (Boundary.STEP, True)):
        engine = ContextEngine(policy=Policy(boundary=boundary))
        engine.observe(loop, model=MODEL)
        assert engine.maintain(folds("function:Read:1"), is_cold=True).committed is committed


@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "thread", "previous_interaction_id"])
def test_history_on_the_server_is_passed_through(field):
    """A request whose history the server holds is neither edited nor planned for; later ones are governed again."""
    engine = governed()
    folded = engine.view_body()
    engine.observe(history(), model=MODEL, **{field: "resp_1"})
    assert engine.view() == history()
    report = engine.maintain(is_cold=True)
    assert not report.committed
    assert field in report.reason
    engine.observe(history(), model=MODEL)
    assert engine.view_body() == folded


def test_no_way_back_no_pointer():
    """With recovery by tool, a request without the tool gets no new pointer; one with it does."""
    engine = ContextEngine(policy=Policy(recovery=Recovery.TOOL))
    engine.observe(history(), model=MODEL)
    assert engine.maintain(is_cold=True).reason.startswith("no route back")
    engine.observe(history(), model=MODEL, tools=[{"name": "restore_context", "input_schema": {"type": "object"}}])
    assert engine.maintain(folds("function:Read:1"), is_cold=True).committed
    assert 'restore_context(\\"function:Read:1\\")' in engine.view_body().decode()


def test_planner_that_fails():
    """A planner that raises gives an empty plan, a warning, a fault in the ledger, and the view as it was."""
    engine = ContextEngine(planner=Planning(RuntimeError("out of ideas")))
    engine.observe(history(), model=MODEL)
    report = engine.maintain(is_cold=True)
    assert not report.committed
    assert report.warnings == ("the planner told failed: out of ideas",)
    assert bodies(engine, EntryKind.FAULT) == [{"where": "planner", "error": "planner: RuntimeError: out of ideas"}]
    assert engine.view() == history()
    engine.maintain(is_cold=True)
    assert kinds(engine).count("fault") == 1


def test_planner_that_knows_nothing():
    """Ids that do not exist, ids that are none, and an empty plan cost nothing."""
    for told in (Plan(), folds("function:Nothing:7", "no id at all", "", "conversation:user:0")):
        engine = ContextEngine(planner=Planning(told))
        engine.observe(history(), model=MODEL)
        assert engine.maintain(is_cold=True).reason == "nothing to commit: no action passed rehearsal"
        assert engine.view() == history()


def test_tags_in_the_view():
    """With the tag carrier the ids stand in the view, from the first call on, and a fold does not move them."""
    engine = ContextEngine(policy=Policy(carrier=Carrier.TAGS))
    engine.observe(history(1), model=MODEL)
    text = json.dumps(engine.view())
    assert '<turn id=\\"function:Read:1\\" />' in text
    assert "conversation:user:1" in text


def test_a_budget_that_is_not_met():
    """When the view stays over the policy's budget, the report says by how much."""
    engine = ContextEngine(policy=Policy(budget=1000))
    engine.observe(history(), model=MODEL)
    report = engine.maintain(folds("function:Read:1"), is_cold=True)
    assert report.committed
    assert report.reason == f"it pays; the budget of 1,000 tokens is not met: the view has {engine.view_tokens():,}"


def test_a_cache_that_lives_at_least_so_long():
    """Where a provider promises a least lifetime only, the cache is never taken for cold."""
    clock = Clock()
    engine = ContextEngine(clock=clock)
    engine.observe(history(), model="gpt-5.6-luna")
    engine.view()
    clock.now += 10_000_000
    assert not engine.maintain(folds("function:Read:1"), dry_run=True).decision.is_cold


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


# -- restore ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["function:Read:99", "function:Read:3", "function:Read:4", "skill:pdf:1"])
def test_what_cannot_be_restored(name):
    """Unknown, live, pruned and foreign ids are answered alike, with the nearest ids that can be had."""
    engine = governed()
    engine.maintain(Plan((Prune("function:Read:4"),)), is_cold=True)
    with pytest.raises(PayloadMissing, match=r"no payload for .* in session 'default'; there is: function:Read:\d, "):
        engine.restore(name)
    assert "restore" not in kinds(engine)


def test_nothing_to_restore():
    """In a session without folds the answer says so, though another session has that very id."""
    engine = governed()
    other = ContextEngine(store=engine.store, session="other")
    other.observe(history(), model=MODEL)
    with pytest.raises(PayloadMissing, match="nothing is folded in this session"):
        other.restore("function:Read:1")
    assert other.restorable_ids() == []


def test_nearest_ids():
    """Of many ids the five nearest by number are named."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    engine.maintain(folds(*(f"function:Read:{n}" for n in range(1, 10))), is_cold=True)
    with pytest.raises(PayloadMissing) as found:
        engine.restore("function:Write:4")
    assert sorted(str(found.value).partition("there is: ")[2].split(", ")) == [
        f"function:Read:{n}" for n in range(2, 7)
    ]


@pytest.mark.parametrize(
    "name", ["", "Read", "function:Read:0", "function:Read:01", "../etc:1", "function:Read:1:2", "a\n:1"]
)
def test_no_id(name):
    """What is no id is told apart from an id that is not there."""
    with pytest.raises(UsageError, match="is no object id"):
        governed().restore(name)


def test_pieces():
    """A payload of several pieces gives each by its name: texts as UTF-8, other values as raw JSON."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    shown = [text_block(prose(1, 1)), image]
    made = call("call_1", "Write", file_path="/a", content=prose(1, 3))
    messages = [user("Write"), made, result("call_1", shown), assistant("Done."), user("b"), assistant("c"), user("d")]
    engine = ContextEngine(policy=Policy(keep_spans=0))
    engine.observe(messages, model=MODEL)
    assert engine.maintain(folds("function:Write:1"), is_cold=True).committed
    assert engine.restore("function:Write:1", "input.content").decode() == prose(1, 3)
    assert json.loads(engine.restore("function:Write:1", "content")) == shown
    assert json.loads(engine.restore("function:Write:1")) == {"content": shown, "input.content": prose(1, 3)}
    with pytest.raises(UsageError, match=r"no piece 'x'; there are content, input\.content"):
        engine.restore("function:Write:1", "x")


def test_one_piece():
    """A payload of one text, or a turn's, has no pieces."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    engine.maintain(Plan((Fold("conversation:user:1"), Fold("function:Read:6"))), is_cold=True)
    for name in ("conversation:user:1", "function:Read:6"):
        with pytest.raises(UsageError, match=f"{name} has one piece only"):
            engine.restore(name, "content")
    assert json.loads(engine.restore("conversation:user:1")) == history()[1:12]


def test_lone_surrogates_come_back():
    """A text with half of a surrogate pair comes back with that half, as the bytes of its code unit."""
    text = f"{prose(1, 1)}\ud83d"
    messages = history()
    messages[2] = result("call_1", text)
    engine = governed(messages=messages)
    assert engine.restore("function:Read:1") == text.encode("utf-8", "surrogatepass")


def test_damaged_payloads():
    """Bytes that are not those that were stored are not handed out."""

    class Damaged(MemoryStore):
        def payload(self, session, sha256):
            raise PayloadCorrupt(f"payload {sha256} is damaged")

    engine = governed(Damaged())
    with pytest.raises(PayloadCorrupt):
        engine.restore("function:Read:1")
    assert "restore" not in kinds(engine)


def test_a_restore_that_cannot_be_noted(caplog):
    """The payload is handed out although the ledger cannot be written; the log says so."""
    engine = governed(FailingStore(MemoryStore(), append=range(2, 100)))
    with caplog.at_level(logging.WARNING):
        assert engine.restore("function:Read:1").decode() == prose(1, 1)
    assert "the ledger could not be written" in caplog.text


# -- broken histories ------------------------------------------------------------------------------------


def test_broken_history_is_repaired_in_the_view():
    """A call that never got its result gets an error answer in the view; the ledger tells it once."""
    broken = [user("Go"), call("call_1", "Bash", command="sleep 9"), user("Go on, please")]
    engine = ContextEngine()
    engine.observe(broken, model=MODEL)
    view = engine.view()
    assert view[2]["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "call_1",
        "content": "[interrupted: no output was recorded]",
        "is_error": True,
    }
    assert view[2]["content"][1:] == [text_block("Go on, please")]
    assert engine.view() == view
    again = ContextEngine(store=engine.store)
    again.observe(broken, model=MODEL)
    assert again.view() == view
    assert [body["sentence"] for body in bodies(engine, EntryKind.REPAIR)] == ["the call call_1 never got its result"]
    assert engine.store.journal(engine.session)[2].raw == raw(broken[2])


def test_a_call_in_flight_is_left_alone():
    """A call at the very end, whose result is still to come, is neither repaired nor a fault."""
    engine = ContextEngine()
    messages = [user("Go"), call("call_1", "Bash", command="sleep 9")]
    engine.observe(messages, model=MODEL)
    assert engine.view() == messages
    assert kinds(engine) == []


def test_faults_of_the_input_are_not_ours():
    """What a provider will refuse anyway and no repair mends goes out as it came, edits included."""
    messages = history()
    messages[1]["content"] = [*messages[1]["content"], text_block(" ")]
    engine = governed(messages=messages)
    assert pointers_in(engine.view_body()) == ["function:Read:1", "function:Read:2"]
    assert engine.view()[1] == messages[1]
    assert kinds(engine) == ["plan", "commit"]


def test_parallel_calls():
    """Of parallel calls one may be folded; the others keep their bytes and their order."""
    made = [call_block(f"call_{n}", "Read", {"file_path": f"/repo/{n}.py"}) for n in range(3)]
    answers = user(*(result(f"call_{n}", prose(n + 1, 1))["content"][0] for n in range(3)))
    messages = [user("Read three."), calls(*made), answers, assistant("Done."), user("b"), assistant("c"), user("d")]
    engine = ContextEngine(policy=Policy(keep_spans=0))
    engine.observe(messages, model=MODEL)
    assert engine.maintain(folds("function:Read:2"), is_cold=True).committed
    view = engine.view()
    assert view[1] == messages[1]
    assert [block["tool_use_id"] for block in view[2]["content"]] == ["call_0", "call_1", "call_2"]
    assert [view[2]["content"][n] == answers["content"][n] for n in range(3)] == [True, False, True]


def test_fold_after_mask():
    """What is masked may be folded later: the newer rendering counts, and the payload is still the original."""
    engine = ContextEngine()
    engine.observe(history(), model=MODEL)
    assert engine.maintain(Plan((Mask("function:Read:1"),)), is_cold=True).committed
    masked = engine.view_tokens()
    assert engine.maintain(folds("function:Read:1"), is_cold=True).committed
    assert engine.view_tokens() < masked
    assert "masked" not in engine.view_body().decode()
    assert engine.restore("function:Read:1").decode() == prose(1, 1)


def test_chat_sessions():
    """The same dialogue in the other dialect: fold, view, restart, restore."""
    store = MemoryStore()
    messages = [chat_system("You are an agent."), *history(dialect="chat")]
    engine = ContextEngine(store=store, dialect="chat")
    engine.observe(messages, model="gpt-4o")
    assert engine.maintain(is_cold=True).committed
    again = ContextEngine(store=store, dialect="chat")
    again.observe(messages, model="gpt-4o")
    assert again.view_body() == engine.view_body()
    assert again.restore("function:Read:1").decode() == prose(1, 1)
    assert again.view()[0] == chat_system("You are an agent.")


# -- stores that fail ------------------------------------------------------------------------------------


def test_a_failing_journal_stops_nothing():
    """Messages that could not be written are kept and written with the next append; the fault is told once."""
    store = FailingStore(MemoryStore(), append=range(6))
    engine = ContextEngine(store=store)
    for length in (1, 3, 5):
        engine.observe(history()[:length], model=MODEL)
        assert engine.view() == history()[:length]
    assert store.inner.journal(engine.session) == []
    store.failing["append"] = ()
    engine.observe(history(), model=MODEL)
    assert len(store.inner.journal(engine.session)) == len(history())


def test_others_who_always_come_first():
    """When other writers take the ids again and again, the request goes out all the same, and the fault is told."""

    class Crowded(MemoryStore):
        def append(self, session, *, journal=(), **what):
            if journal:
                raise StalePlan("another writer's message has that id")
            super().append(session, journal=journal, **what)

    engine = ContextEngine(store=Crowded())
    engine.observe(history(), model=MODEL)
    assert engine.view() == history()
    assert not engine.maintain(folds("function:Read:1"), is_cold=True).committed
    assert "give each a session" in bodies(engine, EntryKind.FAULT)[0]["error"]


def test_a_failing_commit_changes_nothing():
    """A commit that cannot be written is refused with a warning; view and ids are as before, and later it works."""
    store = FailingStore(MemoryStore(), append=(1,))
    engine = ContextEngine(store=store)
    engine.observe(history(), model=MODEL)
    report = engine.maintain(folds("function:Read:1"), is_cold=True)
    assert (report.committed, report.warnings) == (False, ("call 1 of append fails",))
    assert report.tokens_after == report.tokens_before
    assert engine.view() == history()
    assert engine.restorable_ids() == []
    assert bodies(engine, EntryKind.FAULT)[0]["where"] == "commit"
    assert engine.maintain(folds("function:Read:1"), is_cold=True).committed
    assert engine.restore("function:Read:1").decode() == prose(1, 1)


def test_a_failing_roll_back_changes_nothing():
    """A rollback that cannot be written says so, and the view stays."""
    store = FailingStore(MemoryStore())
    engine = governed(store)
    view = engine.view_body()
    store.failing["append"] = range(1000)
    with pytest.raises(StoreError, match="fails"):
        engine.roll_back()
    assert engine.view_body() == view


def test_a_store_that_is_read_only(tmp_path):
    """On a store opened for reading, old edits stay in the view, payloads come back, and nothing new is committed."""
    path = tmp_path / "store.db"
    with SqliteStore(path) as store:
        view = governed(store).view_body()
    with SqliteStore(path, read_only=True) as store:
        engine = ContextEngine(store=store)
        engine.observe(history(), model=MODEL)
        assert engine.view_body() == view
        report = engine.maintain(is_cold=True)
        assert not report.committed
        assert "read-only" in report.warnings[0]
        assert engine.view_body() == view
        assert engine.restore("function:Read:1").decode() == prose(1, 1)


def test_the_loser_of_two_engines():
    """Of two commits from one state the second is refused and says why; its view stays valid, the first is intact."""
    store = MemoryStore()
    one, two = ContextEngine(store=store), ContextEngine(store=store)
    for engine in (one, two):
        engine.observe(history(), model=MODEL)
    assert one.maintain(folds("function:Read:1"), is_cold=True).committed
    report = two.maintain(folds("function:Read:2"), is_cold=True)
    assert not report.committed
    assert "another writer came first" in report.warnings[0]
    assert kinds(one).count("commit") == 1
    assert len(two.view()) == len(history())
    later = ContextEngine(store=store)
    later.observe(history(), model=MODEL)
    assert later.view_body() == one.view_body()


def test_a_fault_of_ours(caplog):
    """Whatever breaks while a view is made, the agent gets its own request; log and ledger tell the fault once."""
    engine = governed()
    view, policy = engine.view_body(), engine.policy
    engine.policy = None
    with caplog.at_level(logging.WARNING):
        assert engine.view() == engine.view() == history()
    assert "the request goes on ungoverned: view: AttributeError" in caplog.text
    assert [body["where"] for body in bodies(engine, EntryKind.FAULT)] == ["view"]
    engine.policy = policy
    assert engine.view_body() == view
