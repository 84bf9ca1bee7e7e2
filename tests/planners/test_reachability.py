"""The default planner: each rule of its docstring as a small world."""

import msgspec
import pytest

from builders import WordCounter, assistant, session, snapshot_of, user
from selfgc.governance.rehearse import rehearse
from selfgc.model.plan import Fold, Plan
from selfgc.model.policy import Policy
from selfgc.planners.reachability import ReachabilityPlanner, live_bodies

DIALECTS = ["anthropic", "chat"]
NO_KEPT = Policy(keep_spans=0)
BODY = "plain words of a body that somebody may want again\n" * 20
"""255 tokens."""


def read(path, text=BODY, **more):
    return ("Read", {"file_path": path} | more, text)


def write(path, text="done"):
    return ("Write", {"file_path": path, "content": BODY}, text)


def edit(path, text="done"):
    return ("Edit", {"file_path": path, "old_string": BODY, "new_string": BODY}, text)


def run(command, text=BODY):
    return ("Bash", {"command": command}, text)


def worlds(*turns, asked="go on", policy=NO_KEPT, dialect="anthropic", **others):
    """A snapshot of turns with these calls, and a last turn in which the user says `asked`."""
    made = [*((f"turn {number}", calls, "done") for number, calls in enumerate(turns)), (asked, [], "ok")]
    return snapshot_of(session(made, dialect), dialect, policy, **others)


def kept(snapshot):
    """The numbers of the spans that a plan leaves as they are."""
    plan = ReachabilityPlanner().plan(snapshot)
    gone = set()
    for action in plan.actions:
        turn = snapshot.turns_by_id.get(action.id)
        inside = [span.id for span in snapshot.spans[turn.first_span : turn.past_span]] if turn else [action.id]
        gone |= set(inside) - set(action.spare)
    return [number for number, span in enumerate(snapshot.spans, 1) if span.id not in gone]


def room_for(spans, *turns, asked="go on", policy=NO_KEPT, dialect="anthropic"):
    """A snapshot whose size leaves room for about so many bodies of these turns (one is 270 tokens)."""
    snapshot = worlds(*turns, asked=asked, policy=policy, dialect=dialect)
    missing = 10 * 300 * spans - int(snapshot.transcript_tokens)
    return msgspec.structs.replace(snapshot, system_tokens=max(0, missing))


# -- what is kept ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_everything_is_folded_when_there_is_no_room(dialect):
    """A tenth of a short session holds no body."""
    assert kept(worlds([read("/a"), read("/b"), run("make")], dialect=dialect)) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_a_newer_read_supersedes_goes_first(dialect):
    """The newest whole text of a file is the live body."""
    snapshot = room_for(2, [read("/a"), read("/b")], [read("/a")], dialect=dialect)
    assert kept(snapshot) == [2, 3]


def test_an_edit_leaves_the_body_it_changed_alive():
    """Together they show the present text; the read is not superseded by the edit."""
    snapshot = worlds([read("/a"), edit("/a"), read("/b")])
    assert live_bodies(snapshot.spans) == {"function:Read:1", "function:Edit:2", "function:Read:3"}


def test_a_write_takes_the_place_of_all_before_it():
    """It is the whole new text."""
    snapshot = worlds([read("/a"), edit("/a"), write("/a")])
    assert live_bodies(snapshot.spans) == {"function:Write:3"}


def test_a_read_of_some_lines_takes_no_place():
    """It shows a part of the file only."""
    snapshot = worlds([read("/a"), read("/a", offset=10, limit=5)])
    assert live_bodies(snapshot.spans) == {"function:Read:1", "function:Read:2"}


def test_a_stub_takes_no_place():
    """`Unchanged since the last read` shows nothing; the body that it points to stays the live one."""
    stub = read("/a", "File unchanged since last read. The content from the earlier result is still current.")
    snapshot = worlds([read("/a"), stub])
    assert "function:Read:1" in live_bodies(snapshot.spans)
    assert 1 in kept(room_for(1, [read("/a"), stub]))


def test_a_failed_read_takes_no_place():
    """Nor does a call whose result has not come, or one without a subject."""
    failed = read("/a", "<tool_use_error>File does not exist.</tool_use_error>")
    snapshot = worlds([read("/a"), failed, ("Read", {"file_path": ""}, BODY)])
    assert live_bodies(snapshot.spans) == {"function:Read:1"}
    waiting = snapshot_of(session([("x", [read("/a"), read("/a")], "")])[:-1])
    assert live_bodies(waiting.spans) == {"function:Read:1"}


def test_what_failed_is_kept_last_of_all():
    """Its pointer tells the error; an older command that went well has the place."""
    failed = run("make", f"{BODY}\nExit code: 2")
    filler = [run(f"true {number}", "few words of text " * 70) for number in range(30)]
    assert kept(room_for(1, [run("make lint"), *filler, failed])) != [32]
    assert kept(room_for(1, [run("make lint"), failed])) == [1]
    assert kept(room_for(3, [run("make lint"), failed])) == [1, 2]


def test_notes_are_kept_last_too():
    """A list of things to do is written anew at every step."""
    notes = ("TodoWrite", {"note": "x"}, BODY)
    assert kept(room_for(1, [run("make"), notes])) == [1]
    assert kept(room_for(3, [run("make"), notes])) == [1, 2]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (read("/a"), run("make")),
        (("Task", {"prompt": "look", "description": "d"}, BODY), run("make")),
        (("Ask", {"question": "what"}, BODY), ("Grep", {"pattern": "port"}, BODY)),
        (("Ask", {"question": "what"}, BODY), ("WebFetch", {"url": "https://example.org"}, BODY)),
    ],
    ids=["body over command", "report over command", "report over search", "report over fetch"],
)
def test_bodies_and_reports_are_worth_more_than_evidence(better, worse):
    """One place, two candidates of one size, the evidence the newer one."""
    assert kept(room_for(1, [better, worse])) == [1]


def test_the_later_of_two_equals_stays():
    """What was touched long ago is the less likely to be needed."""
    assert kept(room_for(1, [run("make"), run("make lint")])) == [2]


def test_a_body_is_as_young_as_the_last_touch_of_its_file():
    """An edit tells that work is still going on in it; without one the later read stays."""
    small_edit = ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, "done")
    policy = Policy(keep_spans=1)
    assert kept(room_for(1, [read("/a"), read("/b"), run("make"), small_edit], policy=policy)) == [1, 4]
    assert kept(room_for(1, [read("/a"), read("/b"), run("make"), run("make")], policy=policy)) == [2, 4]


def test_of_two_equals_the_shorter_stays():
    """It is the cheaper bet."""
    snapshot = room_for(2, [read("/long", BODY * 2), read("/short")])
    assert kept(snapshot) == [2]


def test_a_body_larger_than_the_room_does_not_block_smaller_ones():
    """The next that fits is taken."""
    assert kept(room_for(1, [run("make", "few words of text"), read("/huge", BODY * 40)])) == [1]


@pytest.mark.parametrize("words", ["fix `/srv/one.py` now", "look at one.py", "one.py:12 fails", "in lib\\one.py"])
def test_a_file_that_the_user_names_is_kept(words):
    """By its path or its name alone, though another body is newer."""
    name = "one.py:12" if ":" in words else "one.py"
    snapshot = room_for(1, [read(f"/srv/{name}"), read("/srv/two.py")], asked=words)
    assert kept(snapshot) == [1]
    assert kept(room_for(1, [read(f"/srv/{name}"), read("/srv/two.py")])) == [2]


def test_the_words_before_the_last_ones_count_too():
    """The turn that was answered last is still what the session is about."""
    made = [("x", [read("/srv/one.py"), read("/srv/two.py")], "done"), ("see one.py", [], "ok"), ("thanks", [], "ok")]
    snapshot = snapshot_of(session(made), policy=NO_KEPT)
    snapshot = msgspec.structs.replace(snapshot, system_tokens=3000 - int(snapshot.transcript_tokens))
    assert kept(snapshot) == [1]


# -- protection and goals --------------------------------------------------------------------------------


def test_what_is_protected_is_no_candidate():
    """Pins, the last turn and the newest spans are left out of the plan, and take no room."""
    turns = [[read("/CLAUDE.md"), read("/a"), run("make")]]
    snapshot = worlds(*turns, policy=Policy(keep_spans=1))
    assert [action.id for action in ReachabilityPlanner().plan(snapshot).actions] == ["function:Read:2"]


def test_a_share_as_the_goal_says_how_much_stays():
    """Pointers are taken to give back a tenth of what goes; what the goal leaves is kept."""
    turns = [[read(f"/{number}") for number in range(10)]]
    size = worlds(*turns).spans[0].tokens
    total = int(worlds(*turns).transcript_tokens)
    for share, expected in ((0.0, 10), (0.4, 5), (1.0, 0)):
        assert max(0, int((10 * size - share * total / 0.9) // size)) == expected
        assert len(kept(worlds(*turns, policy=Policy(keep_spans=0, target_prune=share)))) == expected


def test_a_budget_that_is_met_keeps_everything():
    """There is nothing to save."""
    snapshot = worlds([read("/a"), run("make", "Exit code: 1")], policy=Policy(keep_spans=0, budget=1_000_000))
    assert ReachabilityPlanner().plan(snapshot).actions == ()


def test_the_goal_is_reached_after_rehearsal():
    """The estimate of what pointers take back is on the safe side here."""
    turns = [[read(f"/{number}") for number in range(20)]]
    snapshot = worlds(*turns, policy=Policy(keep_spans=0, target_prune=0.5))
    rehearsal = rehearse(snapshot, ReachabilityPlanner().plan(snapshot), WordCounter())
    assert rehearsal.refused == ()
    assert rehearsal.tokens_after <= 0.5 * rehearsal.tokens_before


# -- turns and spans -------------------------------------------------------------------------------------


def test_a_turn_goes_as_one_when_three_of_its_spans_go():
    """What is kept of it is spared by name."""
    snapshot = room_for(1, [run("a"), run("b"), run("c"), read("/d")])
    (action,) = ReachabilityPlanner().plan(snapshot).actions
    assert action == Fold("conversation:user:1", "resolved turn: 3 calls", spare=("function:Read:4",))


def test_the_commands_of_a_turn_are_shown_whole():
    """Commands are run again word for word; very short and very long ones are not worth it, nor are read files."""
    command = "docker compose exec app php artisan migrate --force 2>&1 | tail -3"
    calls = [run(command), run("ls"), run("echo " + "x" * 900), read("/a")]
    (action,) = ReachabilityPlanner().plan(worlds(calls)).actions
    assert action.keep == (command,)


def test_commands_of_long_ago_are_not_shown():
    """Of 251 calls the first one's command is left to its payload."""
    command = "docker compose exec app php artisan migrate --force 2>&1 | tail -3"
    calls = [run(command), *[run("ls")] * 250]
    (action,) = ReachabilityPlanner().plan(worlds(calls)).actions
    assert action.keep == ()


def test_a_small_turn_goes_span_by_span():
    """The pointer of a turn would be no shorter."""
    actions = ReachabilityPlanner().plan(worlds([run("a"), read("/b")])).actions
    assert actions == (Fold("function:Bash:1", "old run"), Fold("function:Read:2", "old read"))


def test_a_turn_that_may_not_be_touched_goes_span_by_span():
    """Folded already, so that only what came into question since is named."""
    calls = [run("a"), run("b"), run("c")]
    snapshot = worlds(calls)
    first = rehearse(snapshot, Plan((Fold("conversation:user:1"),)), WordCounter())
    committed = msgspec.structs.replace(snapshot, edits={one.id: one for one in first.edits})
    assert ReachabilityPlanner().plan(committed).actions == ()
    marked = msgspec.structs.replace(
        first.edits[0], swallowed=("function:Bash:1", "function:Bash:2", "function:Bash:3")
    )
    alone = msgspec.structs.replace(marked, swallowed=(), action="prune")
    spans = ReachabilityPlanner().plan(worlds(calls, edits=[alone])).actions
    assert [action.id for action in spans] == ["function:Bash:1", "function:Bash:2", "function:Bash:3"]


def test_spans_before_the_first_turn_go_one_by_one():
    """A history may begin in the middle of a turn that its client cut off."""
    head = session([("x", [run("a"), run("b"), run("c")], "done")])[1:]
    snapshot = snapshot_of([*head, user("y"), assistant("ok"), user("z"), assistant("ok")], policy=NO_KEPT)
    assert {span.turn for span in snapshot.spans} == {-1}
    assert len(ReachabilityPlanner().plan(snapshot).actions) == 3


# -- the plan --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_same_snapshot_gives_the_same_plan(dialect):
    """No clock, no counter, no order of a hash; the plan names its snapshot."""
    turns = [[read("/a"), run("make"), edit("/a")], [read("/b"), read("/a")]]
    plans = [ReachabilityPlanner().plan(worlds(*turns, dialect=dialect, version=3)) for _ in range(2)]
    assert plans[0] == plans[1]
    snapshot = worlds(*turns, dialect=dialect)
    assert (plans[0].planner, plans[0].version, plans[0].digest) == ("reachability", 3, snapshot.digest)


def test_a_plan_depends_on_nothing_that_comes_later():
    """Invariant 11: two sessions that differ after the cut have one plan at the cut."""
    turns = [("one", [read("/a"), read("/b"), run("make")], "done"), ("two", [], "ok")]
    short = session(turns)
    futures = [session([*turns, ("three", [last], "done")]) for last in (read("/a"), write("/b"))]
    plans = [ReachabilityPlanner().plan(snapshot_of(future[: len(short)], policy=NO_KEPT)) for future in futures]
    assert plans[0] == plans[1] == ReachabilityPlanner().plan(snapshot_of(short, policy=NO_KEPT))


def test_an_empty_session_gives_an_empty_plan():
    """That is a good answer."""
    assert ReachabilityPlanner().plan(snapshot_of([])) == Plan(
        (), "reachability", 0, "", "nothing that may be touched is left to fold"
    )
