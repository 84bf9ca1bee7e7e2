"""What the judge is shown: the view, the plan, what was removed and how it comes back, the future turn."""

import hashlib

import msgspec
import pytest

from bench.scorecard.scorecards import FUTURE, PREFIX, case, read_file, said, settings, view
from selfgc.bench.cases import Case
from selfgc.bench.governed import Governed, Restorable
from selfgc.bench.scorecard.evidence import blotted, evidence_of, removed_blocks, retained_blocks

POINTER = "[folded 3 lines: restore function:Read:1]"


def folded(**changes):
    """The view in which the file's text stands in a payload."""
    messages = [dict(message) for message in PREFIX]
    block = {**messages[2]["content"][0], "content": POINTER}
    messages[2] = {"role": "user", "content": [block]}
    payload = b"[server]\nport = 9431\nname = 'quartz'"
    item = Restorable("function:Read:1", payload, hashlib.sha256(payload).hexdigest())
    return msgspec.structs.replace(Governed(tuple(messages), (item,)), **changes)


def shown(governed, names=(), **changes):
    return evidence_of(case(), governed, names, settings("c", **changes))


def test_nothing_removed_is_said():
    """The view is the prefix."""
    found = shown(view())
    assert found.removed == "(nothing)"
    assert found.plan == "(none given)"
    assert "port = 9431" in found.retained
    assert found.future.splitlines() == [
        "--- future message 0, user",
        "start it",
        "--- future message 1, agent",
        "run quartz --port 9431",
    ]


def test_removed_lines_stand_with_their_call():
    """Of the message, only what stands nowhere in the view any more."""
    (block, *others) = removed_blocks(case(), view(1, 2))
    assert block.head == "--- prefix message 1, argument path of Read"
    assert [other.head for other in others] == ["--- prefix message 2, result of Read path=/srv/app.toml"]
    assert others[0].lines == ("[server]", "port = 9431", "name = 'quartz'")


def test_a_line_that_stands_elsewhere_is_not_removed():
    """However the view came by it."""
    elsewhere = view(2, extra=[said("a note\n   port = 9431  ")])
    assert removed_blocks(case(), elsewhere)[0].lines == ("[server]", "name = 'quartz'")


def test_what_can_be_restored_says_how():
    """When the view names the id and the payload really holds the lines."""
    assert "restores it: function:Read:1" in shown(folded()).removed


@pytest.mark.parametrize("fault", ["flipped", "unnamed", "other"])
def test_what_cannot_be_restored_does_not_say_so(fault):
    """A payload that is not what the index promises, an id that the view does not name, another payload."""
    governed = folded()
    (item,) = governed.payloads
    changed = {
        "flipped": msgspec.structs.replace(item, payload=b"x" + item.payload),
        "unnamed": msgspec.structs.replace(item, id="function:Read:7"),
        "other": Restorable(item.id, b"else", hashlib.sha256(b"else").hexdigest()),
    }
    found = shown(msgspec.structs.replace(governed, payloads=(changed[fault],)))
    assert "port = 9431" in found.removed
    assert "restores it" not in found.removed


def test_the_subjects_own_lines_come_first_and_without_its_name():
    """Names are blotted out of pointers and plan, never out of the session's own words."""
    governed = msgspec.structs.replace(
        view(2, extra=[said("[folded by Quartz-GC]")]), plan='{"planner": "quartz-gc", "note": "SELFGC says"}'
    )
    found = shown(governed, ("quartz-gc", "selfgc", "welcome"))
    assert "[folded by [method]]" in found.retained
    assert "welcome" in found.retained
    assert found.plan == '{"planner": "[method]", "note": "[method] says"}'
    ranks = {line: block.rank for block in retained_blocks(case(), governed, ()) for line in block.lines}
    assert ranks["[folded by Quartz-GC]"] == 2
    assert ranks["thanks"] == ranks["welcome"] == 1
    assert ranks["it is 9431 now"] == 0


def test_names_are_blotted_as_whole_words():
    """The longest first; without names nothing changes."""
    assert blotted("none, nonempty; fold-all and fold", ("none", "fold", "fold-all")) == (
        "[method], nonempty; [method] and [method]"
    )
    assert blotted("none", ("",)) == "none"


def test_what_was_compacted_away_before_is_not_counted_as_removed():
    """The recorded agent did not have it either."""
    compacted = said("This session is being continued from a previous conversation: all is well")
    prefix = (said("long ago: token zx-1"), compacted, *PREFIX[3:])
    blocks = removed_blocks(Case("s", 5, prefix, FUTURE), Governed(()))
    assert blocks[0].head.startswith("--- prefix message 1, user")


def test_long_calls_and_plans_are_cut():
    """The call in a heading and the plan have a limit."""
    prefix = (*read_file(1, "/x" * 200, "text"), *PREFIX[3:])
    head = removed_blocks(Case("s", 5, prefix, FUTURE), Governed(()))[1].head
    assert head.endswith("...")
    assert len(head) < 250
    assert shown(view(plan="p" * 50), plan_chars=20).plan == "p" * 20 + "\n[30 more characters of the plan]"


def test_arguments_thinking_and_system_have_titles():
    """Every kind of text of both formats can be told from the others."""
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": '"ls"'}}
    messages = (
        {"role": "system", "content": "rules"},
        {"role": "assistant", "content": "", "reasoning_content": "hmm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a.py"},
    )
    heads = [block.head for block in retained_blocks(Case("s", 3, messages, FUTURE), Governed(messages), ())]
    assert [head.split(", ", 1)[1] for head in heads] == ["system", "agent, thinking", "argument of run", "result"]


def test_a_long_view_is_a_digest():
    """It is bounded, and what the future turn names is in it."""
    log = "\n".join(f"line {number} of the log" for number in range(5_000))
    prefix = (said("go"), *read_file(1, "/log", f"{log}\nrun quartz --port 9431\n{log}!"), *PREFIX[3:])
    found = evidence_of(Case("s", 5, prefix, FUTURE), Governed(prefix), (), settings("c", view_chars=4_000))
    assert len(found.retained) < 4_100
    assert "run quartz --port 9431" in found.retained
