"""Each rule of the Chat dialect over several messages, generated conversations, and real dialogues."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfgc.dialects.chat_rules import Shape, check, shape
from selfgc.model.profile import Profile

DIALOGUES = sorted((Path(__file__).parents[3] / "shared" / "transcripts" / "tau-bench").glob("*.json"))


def user(words="hello"):
    return {"role": "user", "content": words}


def system(words="be brief", role="system"):
    return {"role": role, "content": words}


def said(words="words"):
    return {"role": "assistant", "content": words}


def calling(*call_ids, content=None):
    calls = [
        {"id": call_id, "type": "function", "function": {"name": "read", "arguments": "{}"}} for call_id in call_ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def answer(call_id, content="done"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def legacy(name):
    return {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": "{}"}}


def returned(name):
    return {"role": "function", "name": name, "content": "done"}


def violations(messages, fields=None, profile=None):
    return check(
        [shape(json.dumps(message).encode()) for message in messages],
        {key: json.dumps(value).encode() for key, value in (fields or {"model": "m"}).items()},
        profile or Profile(),
    )


def rules(messages, fields=None, profile=None):
    return sorted({violation.rule for violation in violations(messages, fields, profile)})


ACCEPTED = {
    "C1 one call": [user(), calling("a"), answer("a"), said()],
    "C1 parallel calls in any order": [user(), calling("a", "b"), answer("b"), answer("a")],
    "C1 round after round": [user(), calling("a"), answer("a"), calling("b"), answer("b"), user()],
    "C5 roles anywhere": [said(), system(), user(), system(), said(), user(), user(), system(role="developer")],
    "C5 final assistant message": [user(), said("It is ")],
    "C8 legacy pair": [user(), legacy("x"), returned("x"), said()],
    "C8 legacy call without answer": [user(), legacy("x"), user()],
    "C9 one id in two rounds": [user(), calling("a"), answer("a"), calling("a"), answer("a")],
}


@pytest.mark.parametrize("messages", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_the_provider_accepts_has_no_violation(messages):
    """A request that keeps the rule passes."""
    assert violations(messages) == []


REFUSED = {
    "C1 no answer": [user(), calling("a"), user()],
    "C1 one of two": [user(), calling("a", "b"), answer("b"), said()],
    "C1 another role between": [user(), calling("a"), system(), answer("a")],
    "C1 answers parted": [user(), calling("a", "b"), answer("a"), user(), answer("b")],
    "C1 open at the end": [user(), calling("a")],
    "C1 half open at the end": [user(), calling("a", "b"), answer("a")],
    "C1 next calls before the answer": [user(), calling("a"), calling("b"), answer("b")],
    "C1 an unreadable message between": [user(), calling("a"), 3, answer("a")],
    "C1 answered twice": [user(), calling("a"), answer("a"), answer("a")],
    "C2 no calls before": [user(), answer("a")],
    "C2 first of all": [answer("a"), user()],
    "C2 after the round": [user(), calling("a"), answer("a"), said(), answer("a")],
    "C3 another id": [user(), calling("a"), answer("a"), answer("z")],
    "C5 no message": [],
    "C8 another name": [user(), legacy("x"), returned("y")],
    "C8 no call": [user(), returned("x")],
    "C8 call of an earlier message": [user(), legacy("x"), said(), returned("x")],
    "C4 inside a message": [user(), {"role": "assistant", "content": None}],
    "V7 lone surrogate": [user("\ud83d")],
}


@pytest.mark.parametrize(("name", "messages"), REFUSED.items(), ids=REFUSED.keys())
def test_what_the_provider_refuses_is_found_under_its_rule(name, messages):
    """A request that breaks the rule is found, under the number of the rule."""
    assert name.split()[0] in rules(messages)


def test_no_message_is_told_at_the_top():
    """C5: an empty list of messages is a fault of the request as a whole."""
    assert [(violation.rule, violation.path) for violation in violations([])] == [("C5", "$")]


def test_fields_and_size_are_looked_at():
    """V7, V17: the members beside the messages count as well."""
    assert rules([user()], {"tools": ["\ud800"]}) == ["V7"]
    assert rules([user()], {"model": "m" * 100}, Profile(max_body_bytes=100)) == ["V17"]


def test_a_violation_tells_where_it_is():
    """C1: told at the message that asked, once for each call."""
    found = violations([user(), calling("a", "b", "c"), answer("b"), user()])
    assert [(one.path, one.message, one.call_id) for one in found] == [("messages.1", 1, "a"), ("messages.1", 1, "c")]


@st.composite
def conversations(draw):
    """A valid conversation; ids may come again in a later round."""
    messages = draw(st.sampled_from([[], [system()], [system(role="developer")]]))[:]
    for _ in range(draw(st.integers(1, 4))):
        messages.append(user())
        for _ in range(draw(st.integers(0, 3))):
            ids = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True))
            messages.append(calling(*ids, content=draw(st.sampled_from([None, "", "words"]))))
            messages.extend(answer(call_id) for call_id in draw(st.permutations(ids)))
        messages.append(draw(st.sampled_from([said(), said() | {"reasoning_content": "r"}])))
    return messages


@given(conversations())
@settings(max_examples=60, deadline=None)
def test_valid_conversations_pass(messages):
    """Whatever the generator makes has no violation."""
    assert violations(messages) == []


def answers(messages):
    return [index for index, message in enumerate(messages) if message["role"] == "tool"]


def drop_answer(messages, at):
    del messages[at]
    return "C1"


def double_answer(messages, at):
    messages.insert(at, dict(messages[at]))
    return "C1"


def part(messages, at):
    messages.insert(at, user())
    return "C1"


def rename(messages, at):
    messages[at]["tool_call_id"] = "zzz"
    return "C3"


def drop_calls(messages, at):
    asker = max(index for index in range(at) if "tool_calls" in messages[index])
    messages[asker] = said()
    return "C2"


def empty_calls(messages, at):
    asker = max(index for index in range(at) if "tool_calls" in messages[index])
    messages[asker]["tool_calls"] = []
    return "C4"


def null_answer(messages, at):
    messages[at]["content"] = None
    return "C6"


def cut_arguments(messages, at):
    asker = max(index for index in range(at) if "tool_calls" in messages[index])
    messages[asker]["tool_calls"][0]["function"]["arguments"] = '{"a": "'
    return "C3"


def double_id(messages, at):
    asker = max(index for index in range(at) if "tool_calls" in messages[index])
    messages[asker]["tool_calls"].append(messages[asker]["tool_calls"][0])
    return "C9"


BREAKAGES = [
    drop_answer,
    double_answer,
    part,
    rename,
    drop_calls,
    empty_calls,
    null_answer,
    cut_arguments,
    double_id,
]


@pytest.mark.parametrize("breakage", BREAKAGES)
@given(messages=conversations().filter(answers), data=st.data())
@settings(max_examples=25, deadline=None)
def test_breakages_are_found(breakage, messages, data):
    """One breakage in a valid conversation is found under the right rule."""
    messages = json.loads(json.dumps(messages))
    rule = breakage(messages, data.draw(st.sampled_from(answers(messages))))
    assert rule in rules(messages)


KEYS = [
    *("role", "content", "tool_calls", "tool_call_id", "function_call", "name", "id", "type", "function", "arguments"),
    *("custom", "text", "refusal", "audio"),
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["text", "function", "custom"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
ROLES = ["system", "developer", "user", "assistant", "tool", "function"]
MESSAGES = JSON_VALUES | st.builds(
    lambda role, rest: rest | {"role": role},
    st.sampled_from(ROLES),
    st.dictionaries(st.sampled_from(KEYS), JSON_VALUES, max_size=5),
)


@given(st.lists(MESSAGES, max_size=3), st.dictionaries(st.sampled_from(["tools", "stream"]), JSON_VALUES))
@settings(max_examples=150, deadline=None)
def test_any_json_is_looked_at_without_raising(messages, fields):
    """Random JSON values as messages and as fields give violations at most."""
    assert all(violation.rule[0] in "CV" for violation in violations(messages, fields))


@given(st.lists(st.binary(max_size=40), max_size=4), st.binary(max_size=20))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_looked_at_without_raising(messages, field):
    """Random bytes as messages and as a field give violations at most."""
    shapes = [shape(raw) for raw in messages]
    assert all(isinstance(one, Shape) for one in shapes)
    check(shapes, {"tools": field}, Profile())


@pytest.mark.shared
@pytest.mark.skipif(not DIALOGUES, reason="no recorded dialogues beside the repository")
def test_recorded_dialogues_pass():
    """Every recorded dialogue keeps every rule."""
    for dialogue in msgspec.json.decode(DIALOGUES[0].read_bytes()):
        shapes = [shape(msgspec.json.encode(message)) for message in dialogue["traj"]]
        assert check(shapes, {"model": b'"m"'}, Profile()) == []
