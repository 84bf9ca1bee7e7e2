"""ContextEngine as dialogues: what a harness tells it, and what it decides."""

import json

import pytest

from builders import assistant, call, call_block, calls, chat_system, raw, result, text_block, user
from cli_sessions import prose
from dialogues import MODEL, Clock, bodies, folds, governed, history, kinds
from governed import pointers_in
from selfgc.engine.context import ContextEngine
from selfgc.errors import Finding, UsageError, WireError
from selfgc.model.plan import Fold, Mask, Plan
from selfgc.model.policy import Boundary, Carrier, Policy, Recovery
from selfgc.model.records import EntryKind
from selfgc.sidecar.memory import MemoryStore


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
