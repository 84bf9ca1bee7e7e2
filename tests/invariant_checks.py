"""The 17 invariants of the design, each as a check over one session that is governed call by call.

Every check takes a transcript, a schedule and the kind of store, and asserts one promise; what it expects it finds out
from the client's messages alone. Generated transcripts and recorded sessions go through the same checks.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from builders import dialect_named
from failing_store import FailingStore
from governed import (
    Step,
    calls_in,
    desk,
    drive,
    leaves_of,
    plan_of,
    pointers_in,
    results_in,
    text_of,
    texts_in,
    unmarked,
    words_of,
)
from selfgc.engine.context import ContextEngine
from selfgc.errors import PayloadMissing
from selfgc.model.ids import ObjectKind, SessionKey, kind_of
from selfgc.model.plan import Fold, Plan
from selfgc.model.policy import Boundary
from selfgc.model.wire import split_body
from selfgc.planners.reachability import ReachabilityPlanner
from selfgc.sidecar.verify import verify_store
from transcripts import Schedule, Transcript, marked

Check = Callable[[Transcript, Schedule, str], None]


def unborn(schedule: Schedule) -> Schedule:
    """The same schedule without born-small edits."""
    policy = msgspec.structs.replace(schedule.policy, born_small_repeats=False, born_small_tokens=None)
    return schedule._replace(policy=policy)


def no_edit_no_change(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 1: with nothing committed, view bytes equal input bytes."""
    with desk(kind) as held:
        for step in drive(transcript, unborn(schedule)._replace(steps=("nothing", "restart")), held):
            assert step.view == step.body
            assert step.engine.view() == step.came


def prefix_is_stable(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 2: between commits a view is a prefix of the next one, up to moved cache markers."""
    with desk(kind) as held:
        for one, two in pairwise(drive(transcript, schedule, held)):
            earlier, later = split_body(one.view).messages, split_body(two.before or two.view).messages
            if transcript.moves_marker:
                assert list(map(plain, earlier)) == list(map(plain, later))[: len(earlier)]
            else:
                assert earlier == later[: len(earlier)]


def plain(raw: bytes) -> dict[str, Any]:
    return unmarked(json.loads(raw))


def views_are_valid(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 3: every view passes the oracle; signed reasoning is kept byte-equal or dropped whole."""
    with desk(kind) as held:
        for step in drive(transcript, schedule, held):
            profile = step.engine.snapshot().profile
            for body in filter(None, (step.body, step.before, step.view)):
                parsed = split_body(body)
                assert dialect_named(transcript.dialect).check(parsed.messages, parsed.fields, profile) == []
            kept, came = (list(filter(None, map(signed, messages))) for messages in (step.went, step.came))
            left = iter(came)
            assert all(thought in left for thought in kept)


def signed(message: Mapping[str, Any]) -> list[Any]:
    """The signed or encrypted reasoning of a message; plain reasoning may be joined with a neighbour's."""
    content = message["content"] if isinstance(message.get("content"), list) else []
    blocks = [block for block in content if block.get("type") in {"thinking", "redacted_thinking"}]
    return [*blocks, *message.get("reasoning_details", ())]


def every_fold_comes_back(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 4: restore gives the payload byte for byte, after any number of commits and restarts."""
    with desk(kind) as held:
        steps = list(drive(transcript, schedule, held))
        seen = {name for step in steps for name in pointers_in(step.view)}
        for engine in (steps[-1].engine, held.engine(transcript.dialect)):
            assert seen <= set(engine.restorable_ids())
            for name in steps[-1].engine.restorable_ids():
                check_payload(transcript, steps[-1].engine, name, engine.restore(name))


def check_payload(transcript: Transcript, engine: ContextEngine, name: str, payload: bytes) -> None:
    """Whether a payload is what the client sent, as the client's own messages have it."""
    snapshot = engine.snapshot()
    if kind_of(name) is ObjectKind.CONVERSATION:
        turn = snapshot.turns_by_id[name]
        whole = list(map(plain, transcript.messages[turn.start + 1 : turn.end]))
        assert list(map(unmarked, json.loads(payload))) == whole
        return
    span = snapshot.spans_by_id[name]
    call_id = snapshot.entries[span.call.message].message.parts[span.call.part].call_id
    called, answered = ([json.loads(transcript.messages[ref.message])] for ref in (span.call, span.result))
    content, leaves = results_in(answered).get(call_id), leaves_of(calls_in(called)[call_id])
    as_text = payload.decode("utf-8", "surrogatepass")
    if as_text in {only_text(content), *leaves.values()}:
        return
    for piece, value in json.loads(payload).items():
        assert value == (content if piece == "content" else leaves[piece.removeprefix("input.")])
        restored = engine.restore(name, piece)
        sent = transcript.messages[span.result.message]
        if restored.decode("utf-8", "surrogatepass") != value:
            assert restored in sent or restored in marked(sent)
            assert json.loads(restored) == value


def only_text(content: Any) -> str | None:
    """The text of a result that is one text: a string, or a list of one plain block."""
    if isinstance(content, list) and len(content) == 1 and content[0].keys() == {"type", "text"}:
        content = content[0]["text"]
    return content if isinstance(content, str) else None


def payloads_come_first(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 5: a pointer is never in a view before its payload is durable."""
    with desk(kind) as held:
        for step in drive(transcript, schedule, held):
            names = pointers_in(step.view)
            if names:
                reader = held.engine(transcript.dialect)
                assert all(reader.restore(name) for name in names)


def words_stay(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 6: the user's words, system prompt and tools are never removed or changed; nor what the agent said."""
    with desk(kind) as held:
        for step in drive(transcript, schedule, held):
            assert said_by_all(step.went) == said_by_all(step.came)
            assert split_body(step.view).fields == split_body(step.body).fields


def said_by_all(messages: list[dict[str, Any]]) -> list[str]:
    """What users, systems and the agent said, each on end: neighbours may have been joined."""
    return ["\n\n".join(words_of(messages, *roles)) for roles in (("user",), ("system", "developer"), ("assistant",))]


def newest_is_protected(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 7: the last turn, the last N spans and open tool loops are as before, whatever a plan says.

    But for reasoning that a model binds to the messages before it: a commit takes that out everywhere. The user's
    words that open the last turn may be joined with those before them (invariant 6 sees to them).
    """
    with desk(kind) as held:
        for step in drive(transcript, schedule._replace(steps=("plan", "maintain", "nothing")), held):
            if step.before is None:
                continue
            before = json.loads(step.before)["messages"]
            kept = list(calls_in(step.came))[len(calls_in(step.came)) - schedule.policy.keep_spans :]
            for call_id in kept if schedule.policy.keep_spans else ():
                assert results_in(step.went).get(call_id) == results_in(before).get(call_id)
                assert calls_in(step.went)[call_id] == calls_in(before)[call_id]
            is_turn = schedule.policy.boundary is Boundary.TURN
            tail = last_turn(step.came) - 1 if is_turn else last_said(step.came)
            assert list(map(unthought, step.went[-tail:])) == list(map(unthought, before[-tail:]))


def unthought(message: dict[str, Any]) -> dict[str, Any]:
    blocks = unmarked(message)["content"]
    if isinstance(blocks, list):
        blocks = [block for block in blocks if block.get("type") not in {"thinking", "redacted_thinking"}]
    return {key: value for key, value in message.items() if not key.startswith("reasoning")} | {"content": blocks}


def last_turn(messages: list[dict[str, Any]]) -> int:
    """Number of messages from the user input on that was answered last; at least 2."""
    inputs = [n for n, message in enumerate(messages) if is_input(message)]
    answered = [n for n in inputs if n + 1 < len(messages) and n + 1 not in inputs]
    return max(2, len(messages) - (answered or inputs)[-1])


def last_said(messages: list[dict[str, Any]]) -> int:
    """Number of messages behind the agent's last one."""
    roles = [message["role"] for message in messages]
    return max(1, len(roles) - 1 - max((n for n, role in enumerate(roles) if role == "assistant"), default=0))


def is_input(message: dict[str, Any]) -> bool:
    content = message["content"] if isinstance(message.get("content"), list) else []
    return message["role"] == "user" and not any(block.get("type") == "tool_result" for block in content)


def never_worse(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 8: a commit makes the view smaller; a view never has more tokens than its transcript.

    What is told is what a fresh count finds, but for a token or two where a shortened text meets the one behind it.
    """
    transcript = transcript._replace(moves_marker=False)
    with desk(kind) as held:
        steps = list(drive(transcript, schedule, held))
        for step in steps:
            if step.report is not None and step.report.committed:
                assert step.report.tokens_after < step.report.tokens_before <= step.report.tokens_transcript
                assert all(action.tokens_before >= action.tokens_after for action in step.report.actions)
        last = steps[-1]
        weight = measured(transcript, last.view)
        told, edits = last.engine.view_tokens(), last.engine.snapshot().edits
        assert weight - 2 * len(edits) <= told <= last.engine.snapshot().transcript_tokens
        assert last.engine.snapshot().transcript_tokens == measured(transcript, last.body)


def measured(transcript: Transcript, body: bytes) -> int:
    """Tokens of a request, counted anew by an engine that knows nothing of edits."""
    engine = ContextEngine(dialect=transcript.dialect)
    engine.observe_body(body)
    return engine.snapshot().transcript_tokens


def same_in_same_out(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 9: the same transcript, policy and plans give the same views and reports."""
    runs = []
    for store in (kind, "memory"):
        with desk(store) as held:
            runs.append([(step.view, step.report) for step in drive(transcript, schedule, held)])
    assert runs[0] == runs[1]


def failures_stay_inside(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 10: whatever the store does, each view is valid and every pointer in it leads somewhere."""
    with desk(kind) as held:
        inner = held.store()
        for first in range(4):
            store = FailingStore(inner, append=range(first, first + 3))
            engine = ContextEngine(store=store, session=f"s{first}", dialect=transcript.dialect, policy=schedule.policy)
            for length in transcript.calls:
                engine.observe_body(transcript.body(length))
                engine.maintain(plan_of(engine.snapshot(), schedule.verbs), is_cold=True)
                view = engine.view_body()
                parsed = split_body(view)
                assert dialect_named(transcript.dialect).check(parsed.messages, parsed.fields, _profile(engine)) == []
                assert all(engine.restore(name) for name in pointers_in(view))
            again = ContextEngine(
                store=inner, session=f"s{first}", dialect=transcript.dialect, policy=unborn(schedule).policy
            )
            again.observe_body(transcript.body(length))
            assert again.view_body() == view
        assert verify_store(inner) == []


def _profile(engine: ContextEngine) -> Any:
    return engine.snapshot().profile


def planners_see_the_past_only(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 11: what comes later changes neither the snapshot of a prefix nor the plan for it."""
    transcript = transcript._replace(moves_marker=False)
    with desk(kind) as held:
        whole = held.engine(transcript.dialect, schedule.policy, session="whole")
        whole.observe_body(transcript.body())
        for length in transcript.calls:
            cut = ContextEngine(dialect=transcript.dialect, policy=schedule.policy)
            cut.observe_body(transcript.body(length))
            whole.observe_body(transcript.body(length))
            assert whole.snapshot().entries == cut.snapshot().entries
            assert whole.snapshot().spans == cut.snapshot().spans
            assert whole.snapshot().turns == cut.snapshot().turns
            assert ReachabilityPlanner().plan(whole.snapshot()) == ReachabilityPlanner().plan(cut.snapshot())


def sessions_are_apart(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 12: no id of one session gives another's payload, though both have the same ids."""
    other = transcript._replace(messages=tuple(raw.replace(b"fox", b"cat") for raw in transcript.messages))
    with desk(kind) as held:
        mine = list(drive(transcript, schedule, held, session="mine"))[-1]
        theirs = held.engine(transcript.dialect, session="theirs")
        theirs.observe_body(other.body())
        for name in mine.engine.restorable_ids():
            with pytest.raises(PayloadMissing):
                theirs.restore(name)
        governed = list(drive(other, schedule, held, session="theirs"))[-1]
        for name in governed.engine.restorable_ids():
            check_payload(other, governed.engine, name, governed.engine.restore(name))
        for name in mine.engine.restorable_ids():
            check_payload(transcript, mine.engine, name, mine.engine.restore(name))


def again_changes_nothing(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 13: observing the same messages again, or replaying the commits, changes nothing."""
    with desk(kind) as held:
        for step in drive(transcript, schedule, held):
            store = step.engine.store
            journal, version = store.journal(SessionKey("s")), step.engine.snapshot().version
            step.engine.observe_body(step.body)
            assert step.engine.view_body() == step.view
            assert store.journal(SessionKey("s")) == journal
            assert step.engine.snapshot().version == version
        replayed = held.engine(transcript.dialect, unborn(schedule).policy)
        replayed.observe_body(step.body)
        assert replayed.view_body() == step.view
        assert replayed.snapshot().edits == step.engine.snapshot().edits


def plans_belong_to_their_snapshot(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 14: a plan is refused on another state; what arrived since it was made survives, in order."""
    with desk(kind) as held:
        engine = held.engine(transcript.dialect, unborn(schedule).policy)
        for early, late in pairwise(transcript.calls):
            engine.observe_body(transcript.body(early))
            made = engine.snapshot()
            plan = msgspec.structs.replace(plan_of(made, schedule.verbs), version=made.version, digest=made.digest)
            engine.observe_body(transcript.body(late))
            report = engine.maintain(plan, is_cold=True)
            assert all(refused.refused != "stale_plan" for refused in report.refused)
            came, went = json.loads(transcript.body(late))["messages"], engine.view()
            assert said_by_all(came) == said_by_all(went)
            assert results_in(came[early:]).items() <= results_in(went).items()
            assert calls_in(came[early:]).items() <= calls_in(went).items()
            if report.committed:
                late_plan = engine.maintain(plan, is_cold=True)
                assert not late_plan.committed
                assert {refused.refused for refused in late_plan.refused} == {"stale_plan"}
        elsewhere = engine.maintain(Plan((Fold("function:Read:1"),), digest="0" * 64), is_cold=True)
        assert [refused.refused for refused in elsewhere.refused] == ["stale_plan"]


def pointers_are_deterministic(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 15: no clock, session name or random in a pointer; it stands in the role and place of its payload."""
    views = []
    for name, time in (("one", 0.0), ("two", 1e9)):
        with desk(kind) as held:
            steps = list(drive(transcript, schedule, held, session=name, clock=lambda time=time: time))
            views.append([step.view for step in steps])
    assert views[0] == views[1]
    for step in steps:
        elsewhere = without_results_and_arguments(step.went)
        assert not pointers_in(json.dumps({"messages": elsewhere}).encode())
        came_results, came_calls = results_in(step.came), calls_in(step.came)
        for call_id, content in results_in(step.went).items():
            assert content == came_results[call_id] or isinstance(content, str)
        for call_id, arguments in calls_in(step.went).items():
            assert leaves_of(arguments).keys() == leaves_of(came_calls[call_id]).keys()


def without_results_and_arguments(messages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]] | list[Any]:
    kept = []
    for message in messages:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if message["role"] != "tool":
            kept.append([block for block in blocks if block.get("type") not in {"tool_use", "tool_result"}])
    return kept


def renderings_are_frozen(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 16: what was sent is sent again in the same bytes, or the change is priced as a break."""
    with desk(kind) as held:
        for step in drive(transcript, schedule, held):
            if step.before is None:
                continue
            before, after = (flat(json.loads(body)["messages"]) for body in (step.before, step.view))
            same = next((n for n, (one, two) in enumerate(zip(before, after, strict=False)) if one != two), len(after))
            changed = {"messages": [{"role": role, "content": [block]} for role, block in before[same:]]}
            assert step.report.decision.suffix >= text_weight(changed)
        changed_policy = msgspec.structs.replace(unborn(schedule).policy, min_saving=1000, pins_memory=False)
        later = held.engine(transcript.dialect, changed_policy)
        later.observe_body(step.body)
        assert later.view_body() == step.view


def flat(messages: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """The blocks of messages in order, each with its role, so that joined neighbours make no difference."""
    found = []
    for message in map(unmarked, messages):
        content = message["content"] if isinstance(message["content"], list) else [message["content"]]
        others = {key: value for key, value in message.items() if key not in {"role", "content"}}
        found += [(message["role"], json.dumps(block)) for block in (*content, others) if block not in (None, {})]
    return found


def text_weight(changed: Mapping[str, Any]) -> int:
    """A lower bound for the tokens of these blocks: none has more than 40 characters."""
    return sum(len(text) for text in texts_in(changed)) // 40


def pointers_tell_the_truth(transcript: Transcript, schedule: Schedule, kind: str) -> None:
    """Invariant 17: a pointer's size is its payload's, and every word that it shows stands in call or result."""
    with desk(kind) as held:
        for step in drive(transcript, schedule, held):
            names = {call_id(step, span): span.id for span in step.engine.snapshot().spans if span.tool}
            came_calls, came_results = calls_in(step.came), results_in(step.came)
            for call, content in results_in(step.went).items():
                if content != came_results[call] and "of this turn:" not in content:
                    check_pointer(step, names[call], content, text_of(came_results[call]), str(came_calls[call]))
            for call, arguments in calls_in(step.went).items():
                came = leaves_of(came_calls[call])
                for path, text in leaves_of(arguments).items():
                    if text != came[path] and not text.endswith("…"):
                        check_pointer(step, names[call], text, came[path], "")


def call_id(step: Step, span: Any) -> str:
    return step.engine.snapshot().entries[span.call.message].message.parts[span.call.part].call_id


def check_pointer(step: Step, name: str, shown: str, payload: str, others: str) -> None:
    lines = payload.count("\n") + 1
    size = f"{lines:,} lines" if lines > 1 else f"{len(payload):,} characters" if payload else "an image or document"
    way = f": selfgc restore {name}]"
    assert way in shown
    if f"[folded {size}" not in shown:
        head, _, tail = shown.partition("[… ")
        assert tail.partition(way)[0].endswith("masked")
        assert payload.startswith(head.rstrip("\n")[:20])
    if ", the same text as " in shown:
        original = shown.partition(", the same text as ")[2].partition(":")[0]
        assert original
        return
    rest = shown.replace(shown.partition(way)[0].rpartition("[")[2] + way, "")
    for word in rest.replace("{", " ").replace("}", " ").replace(",", " ").split():
        bare = word.strip("[]…;").rpartition("/{")[2]
        assert bare.split("/")[-1] in f"{payload}\n{others}".replace(",", " "), (word, shown)


CHECKS: Mapping[int, Check] = dict(
    enumerate(
        (
            no_edit_no_change,
            prefix_is_stable,
            views_are_valid,
            every_fold_comes_back,
            payloads_come_first,
            words_stay,
            newest_is_protected,
            never_worse,
            same_in_same_out,
            failures_stay_inside,
            planners_see_the_past_only,
            sessions_are_apart,
            again_changes_nothing,
            plans_belong_to_their_snapshot,
            pointers_are_deterministic,
            renderings_are_frozen,
            pointers_tell_the_truth,
        ),
        1,
    )
)
"""The checks by the number of their invariant."""
