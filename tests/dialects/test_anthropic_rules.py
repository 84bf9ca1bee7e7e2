"""Each rule of the Anthropic dialect in both directions, generated conversations, and real sessions."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfgc.dialects.anthropic_rules import Shape, check, shape
from selfgc.model.profile import Profile

SHARED = Path(__file__).parents[3] / "shared"
REQUESTS = [*sorted(SHARED.glob("sessions/*.json")), *sorted(SHARED.glob("suite/*.json"))]
MODERN = Profile(name="modern", allows_prefill=False)
STRICT = Profile(name="no-system", allows_system_messages=False)


def user(*content):
    return {"role": "user", "content": list(content)}


def assistant(*content):
    return {"role": "assistant", "content": list(content)}


def system(*content, **members):
    return {"role": "system", "content": list(content), **members}


def text(words="words", **members):
    return {"type": "text", "text": words, **members}


def call(call_id, **members):
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": "a"}, **members}


def result(call_id, **members):
    return {"type": "tool_result", "tool_use_id": call_id, "content": "done", **members}


def thinking(**members):
    return {"type": "thinking", "thinking": "hm", "signature": "c2ln", **members}


def search(call_id="srv1"):
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": "q"}}


def found(call_id="srv1", **members):
    hit = {"type": "web_search_result", "url": "https://e.test", "encrypted_content": "e", **members}
    return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": [hit]}


def document(enabled=None):
    block = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}}
    return block if enabled is None else block | {"citations": {"enabled": enabled}}


COMPACTED = assistant({"type": "compaction", "content": "so far", "encrypted_content": "e"})
OPENING = user(text("hello"))
LOOP = [OPENING, assistant(call("a")), user(result("a"))]
EFFORT = {"role": "system", "content": [], "output_config": {"effort": "low"}}


def violations(messages, fields=None, profile=None):
    raw_fields = {"model": "m", "max_tokens": 9} | (fields or {})
    return check(
        [shape(json.dumps(message).encode()) for message in messages],
        {key: json.dumps(value).encode() for key, value in raw_fields.items()},
        profile or Profile(),
    )


def rules(messages, fields=None, profile=None):
    return sorted({violation.rule for violation in violations(messages, fields, profile)})


ACCEPTED = {
    "A1 user first": ([OPENING], {}, None),
    "A1 compaction first": ([COMPACTED, OPENING], {}, None),
    "A1 user first after an effort-only system message": ([EFFORT, OPENING], {}, None),
    "A2 neighbours of one role": ([OPENING, OPENING, assistant(text()), assistant(text())], {}, None),
    "A2 results split over two user messages": (
        [OPENING, assistant(call("a"), call("b")), user(result("a")), user(result("b"), text())],
        {},
        None,
    ),
    "A2 calls split over two assistant messages": (
        [OPENING, assistant(call("a")), assistant(call("b")), user(result("a"), result("b"))],
        {},
        None,
    ),
    "A3 system after user, at the end": ([OPENING, system(text())], {}, None),
    "A3 system after results, before the assistant": ([*LOOP, system(text()), assistant(text())], {}, None),
    "A3 system after a server tool's result": ([OPENING, assistant(search(), found()), system(text())], {}, None),
    "A3 effort-only anywhere": ([OPENING, EFFORT, assistant(text()), EFFORT, OPENING, EFFORT], {}, None),
    "A3 effort-only inside a tool round": ([OPENING, assistant(call("a")), EFFORT, user(result("a"))], {}, None),
    "A3 clear_at": ([OPENING, system(text(), clear_at="next_user_message")], {}, None),
    "A3 tool blocks": ([OPENING, system({"type": "tool_addition", "tool": {"name": "t"}})], {}, None),
    "A4 prefill where allowed": ([OPENING, assistant(text("It is"))], {}, None),
    "A4 an empty final assistant message": ([OPENING, {"role": "assistant", "content": ""}], {}, None),
    "A4 a paused turn": ([OPENING, assistant(text(), search())], {}, MODERN),
    "A4 a paused turn after a result": ([OPENING, assistant(search(), found())], {}, MODERN),
    "A4 a paused compaction": ([OPENING, COMPACTED], {}, MODERN),
    "A4 white space before results is no prefill": ([OPENING, assistant(text("so ")), OPENING], {}, None),
    "A5 each call answered": (LOOP, {}, None),
    "A5 parallel calls in another order": (
        [OPENING, assistant(call("a"), call("b")), user(result("b"), result("a"))],
        {},
        None,
    ),
    "A9 text after the results": ([OPENING, assistant(call("a")), user(result("a"), text())], {}, None),
    "A11 toolset of the call": (
        [OPENING, assistant(call("a", toolset_name="t")), user(result("a", toolset_name="t"))],
        {},
        None,
    ),
    "A13 no tools declared": (LOOP, {}, None),
    "A13 reference to a declared tool": (
        [*LOOP[:2], user(result("a", content=[{"type": "tool_reference", "tool_name": "x"}]))],
        {"tools": [{"name": "x"}, {"name": "y"}]},
        None,
    ),
    "A13 reference without declared tools": (
        [*LOOP[:2], user(result("a", content=[{"type": "tool_reference", "tool_name": "x"}]))],
        {},
        None,
    ),
    "A13 reference beside a toolset of unknown names": (
        [*LOOP[:2], user(result("a", content=[{"type": "tool_reference", "tool_name": "x"}]))],
        {"tools": [{"type": "mcp_toolset"}]},
        None,
    ),
    "A14 left-out call without a result": ([OPENING, assistant(text(), {"type": "fallback"}), OPENING], {}, None),
    "A15 call and result": ([OPENING, assistant(search(), found(), text()), OPENING], {}, None),
    "A15 result after concurrent client results": (
        [OPENING, assistant(search(), call("a")), user(result("a")), assistant(found(), text()), OPENING],
        {},
        None,
    ),
    "A15 still open over a client result": ([OPENING, assistant(search(), call("a")), user(result("a"))], {}, None),
    "A20 compaction alone": ([OPENING], {"compaction": {"type": "auto"}, "tool_choice": {"type": "auto"}}, None),
    "A20 structured output not asked for": ([OPENING], {"compaction": {}, "output_config": {"effort": "low"}}, None),
    "A24 thinking first": (
        [OPENING, assistant(thinking(), call("a")), user(result("a"))],
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        None,
    ),
    "A24 the loop began with thinking": (
        [OPENING, assistant(thinking(), call("a")), user(result("a")), assistant(call("b")), user(result("b"))],
        {"thinking": {"type": "enabled"}},
        None,
    ),
    "A24 adaptive": (LOOP, {"thinking": {"type": "adaptive"}}, None),
    "A24 no assistant yet": ([OPENING], {"thinking": {"type": "enabled"}}, None),
    "A24 last assistant turn calls nothing": (
        [*LOOP, assistant(text()), OPENING],
        {"thinking": {"type": "enabled"}},
        None,
    ),
    "A28 with adaptive": ([OPENING], {"thinking": {"type": "adaptive", "block_binding": {"mode": "on"}}}, None),
    "A29 string content": ([{"role": "user", "content": "hello"}], {}, None),
    "A29 system text": ([OPENING], {"system": [text(), text()]}, None),
    "A29 a system string": ([OPENING], {"system": ""}, None),
    "A31 all cited": ([user(document(enabled=True), document(enabled=True))], {}, None),
    "A31 none cited": ([user(document(), document(enabled=False))], {}, None),
    "unknown kinds": ([OPENING, assistant({"type": "brand_new", "x": 1}), user({"type": "other"})], {}, None),
}


@pytest.mark.parametrize(("messages", "fields", "profile"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_the_provider_accepts_has_no_violation(messages, fields, profile):
    """A request that keeps the rule passes."""
    assert violations(messages, fields, profile) == []


REFUSED = {
    "A1 no message": ([], {}, None),
    "A1 assistant first": ([assistant(text()), OPENING], {}, None),
    "A1 compaction not at the beginning": ([assistant(text(), *COMPACTED["content"]), OPENING], {}, None),
    "A1 system only": ([EFFORT], {}, None),
    "A2 role": ([OPENING, {"role": "tool", "content": "x"}], {}, None),
    "A3 after the assistant": ([OPENING, assistant(text()), system(text())], {}, None),
    "A3 before the user": ([OPENING, system(text()), OPENING], {}, None),
    "A3 before the user, past an effort-only one": ([OPENING, system(text()), EFFORT, OPENING], {}, None),
    "A3 first of all": ([system(text()), assistant(text())], {}, None),
    "A3 model takes none": ([OPENING, EFFORT], {}, STRICT),
    "A4 prefill": ([OPENING, assistant(text())], {}, MODERN),
    "A4 prefill before an effort-only message": ([OPENING, assistant(text()), EFFORT], {}, MODERN),
    "A4 trailing white space": ([OPENING, assistant(text("It is "))], {}, None),
    "A4 trailing white space in a string": ([OPENING, {"role": "assistant", "content": "It\n"}], {}, None),
    "A5 no result in the next message": ([OPENING, assistant(call("a")), OPENING], {}, None),
    "A5 one of two": ([OPENING, assistant(call("a"), call("b")), user(result("a"))], {}, None),
    "A5 open at the end": ([OPENING, assistant(call("a"))], {}, None),
    "A5 open at the end, no prefill": ([OPENING, assistant(call("a"))], {}, MODERN),
    "A5 result too late": ([OPENING, assistant(call("a")), OPENING, assistant(text()), user(result("a"))], {}, None),
    "A5 an unreadable message between": ([OPENING, assistant(call("a")), {"role": "?"}, user(result("a"))], {}, None),
    "A6 no call": ([OPENING, assistant(text()), user(result("a"))], {}, None),
    "A6 at the beginning": ([user(result("a"))], {}, None),
    "A6 another id": ([OPENING, assistant(call("a")), user(result("a"), result("z"))], {}, None),
    "A7 two results": ([OPENING, assistant(call("a")), user(result("a"), result("a"))], {}, None),
    "A7 two results in two messages": ([OPENING, assistant(call("a")), user(result("a")), user(result("a"))], {}, None),
    "A8 in one message": ([OPENING, assistant(call("a"), call("a")), user(result("a"), result("a"))], {}, None),
    "A8 in two messages": ([*LOOP, *LOOP[1:]], {}, None),
    "A9 text first": ([OPENING, assistant(call("a")), user(text(), result("a"))], {}, None),
    "A9 text first after merging": ([OPENING, assistant(call("a")), user(text()), user(result("a"))], {}, None),
    "A11 another toolset": (
        [OPENING, assistant(call("a", toolset_name="t")), user(result("a", toolset_name="u"))],
        {},
        None,
    ),
    "A13 unknown reference": (
        [*LOOP[:2], user(result("a", content=[{"type": "tool_reference", "tool_name": "x"}]))],
        {"tools": [{"name": "y"}]},
        None,
    ),
    "A14 result beside a fallback": ([OPENING, assistant(text(), {"type": "fallback"}), user(result("a"))], {}, None),
    "A15 result without call": ([OPENING, assistant(found(), text()), OPENING], {}, None),
    "A15 result before call": ([OPENING, assistant(found(), search(), found())], {}, None),
    "A15 call without result": ([OPENING, assistant(search(), text()), OPENING], {}, None),
    "A15 user text beside concurrent results": (
        [OPENING, assistant(search(), call("a")), user(result("a"), text()), assistant(found())],
        {},
        None,
    ),
    "A20 context_management": ([OPENING], {"compaction": {}, "context_management": {"edits": []}}, None),
    "A20 output_config": ([OPENING], {"compaction": {}, "output_config": {"format": {"type": "json_schema"}}}, None),
    "A20 output_format": ([OPENING], {"compaction": {}, "output_format": {"type": "json_schema"}}, None),
    "A20 stop_sequences": ([OPENING], {"compaction": {}, "stop_sequences": ["x"]}, None),
    "A20 forced tool": ([OPENING], {"compaction": {}, "tool_choice": {"type": "any"}}, None),
    "A24 no thinking": (LOOP, {"thinking": {"type": "enabled"}}, None),
    "A24 thinking in an earlier turn only": (
        [OPENING, assistant(thinking(), text()), *LOOP],
        {"thinking": {"type": "enabled"}},
        None,
    ),
    "A24 text before thinking": (
        [OPENING, assistant(text(), thinking(), call("a")), user(result("a"))],
        {"thinking": {"type": "enabled"}},
        None,
    ),
    "A24 compacted loop": (
        [COMPACTED, assistant(call("a")), user(result("a"))],
        {"thinking": {"type": "enabled"}},
        None,
    ),
    "A28 with disabled thinking": ([OPENING], {"thinking": {"type": "disabled", "block_binding": {}}}, None),
    "A28 no object": ([OPENING], {"thinking": {"type": "adaptive", "block_binding": "on"}}, None),
    "A29 an empty user message": ([OPENING, assistant(text()), user()], {}, None),
    "A29 an empty assistant message": ([OPENING, assistant(), OPENING], {}, None),
    "A29 empty system text": ([OPENING], {"system": [text("")]}, None),
    "A31 some cited": ([user(document(enabled=True), document())], {}, None),
    "A32 too large": ([user(text("x" * 500))], {}, Profile(max_body_bytes=400)),
    "A33 lone surrogate in a field": ([OPENING], {"system": "\ud800"}, None),
    "A33 lone surrogate in a message": ([user(text("\ud83d"))], {}, None),
}


@pytest.mark.parametrize(("messages", "fields", "profile"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_provider_refuses_is_found_under_its_rule(request, messages, fields, profile):
    """A request that breaks the rule is found, under the number of the rule."""
    assert request.node.callspec.id.split()[0] in rules(messages, fields, profile)


@pytest.mark.parametrize("name", [name for name in REFUSED if "unreadable" not in name and "two messages" not in name])
def test_one_fault_is_told_once_more_than_its_consequences(name):
    """A5 to A9: a broken pair is told by at most two rules, so that the cause is plain."""
    messages, fields, profile = REFUSED[name]
    assert len(rules(messages, fields, profile)) <= 2


def test_a_violation_tells_where_it_is():
    """A6 carries path, message index and call id."""
    (violation,) = violations([OPENING, assistant(text()), user(result("a"))])
    assert (violation.path, violation.message, violation.call_id) == ("messages.2.content.0", 2, "a")


def test_a_violation_of_one_message_is_told_from_the_top_of_the_request():
    """A29 in message 1 has a path that begins with messages.1."""
    (violation,) = violations([OPENING, assistant(text(" ")), OPENING])
    assert (violation.rule, violation.path, violation.message) == ("A29", "messages.1.content.0", 1)


def test_an_open_call_at_the_end_is_told_by_a5_alone():
    """A4 says nothing more about a message that still waits for a result."""
    assert rules([OPENING, assistant(call("a"))], profile=MODERN) == ["A5"]


def test_a_body_at_the_limit_passes():
    """A32 counts the bytes of the whole body, keys and separators included."""
    message = json.dumps(OPENING, separators=(",", ":")).encode()
    body = json.dumps({"messages": [OPENING], "model": "m"}, separators=(",", ":")).encode()
    fields = {"model": b'"m"'}
    assert check([shape(message)], fields, Profile(max_body_bytes=len(body))) == []
    assert [v.rule for v in check([shape(message)], fields, Profile(max_body_bytes=len(body) - 1))] == ["A32"]


@st.composite
def conversations(draw):
    """A valid conversation: rounds of user text, tool rounds with parallel calls, and closing text."""
    messages = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        opening = st.sampled_from([OPENING, {"role": "user", "content": "go on"}, user(text(), document())])
        messages.append(draw(opening))
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"call_{number + offset}" for offset in range(draw(st.integers(1, 3)))]
            number += len(ids)
            head = draw(st.sampled_from([[], [text()], [thinking()], [thinking(), text()], [search(f"s{number}")]]))
            close = [found(head[0]["id"])] if head and head[0]["type"] == "server_tool_use" else []
            messages.append(assistant(*head, *close, *map(call, ids)))
            answers = [result(call_id) for call_id in draw(st.permutations(ids))]
            messages.append(user(*answers, *draw(st.sampled_from([[], [text("by the way")]]))))
        messages.append(draw(st.sampled_from([assistant(text()), assistant(thinking(), text())])))
    if draw(st.booleans()):
        messages.pop()
    return messages


@given(conversations())
@settings(max_examples=60, deadline=None)
def test_valid_conversations_pass(messages):
    """Whatever the generator makes has no violation."""
    assert violations(messages) == []


def rounds(messages):
    """Indexes of the user messages that answer calls."""
    return [
        index
        for index, message in enumerate(messages)
        if isinstance(message["content"], list) and message["content"][0]["type"] == "tool_result"
    ]


def drop_result(messages, at):
    first, *rest = messages[at]["content"]
    messages[at] = user(*rest, *([] if rest else [text()]))
    return "A5", first["tool_use_id"]


def drop_call(messages, at):
    gone = messages[at]["content"][0]["tool_use_id"]
    content = [block for block in messages[at - 1]["content"] if block.get("id") != gone]
    messages[at - 1] = assistant(*(content or [text()]))
    return "A6", gone


def drop_answer(messages, at):
    gone = messages.pop(at)["content"][0]["tool_use_id"]
    return "A5", gone


def double_result(messages, at):
    first = messages[at]["content"][0]
    messages[at] = user(first, *messages[at]["content"])
    return "A7", first["tool_use_id"]


def double_id(messages, at):
    again = messages[at]["content"][0]["tool_use_id"]
    messages.extend([assistant(call(again)), user(result(again))])
    return "A8", again


def text_first(messages, at):
    messages[at] = user(text(), *messages[at]["content"])
    return "A9", ""


def empty_text(messages, at):
    messages[at] = user(*messages[at]["content"], text(""))
    return "A29", ""


def swap(messages, at):
    wanted = messages[at]["content"][0]["tool_use_id"]
    messages[at - 1], messages[at] = messages[at], messages[at - 1]
    return "A6", wanted


def input_as_text(messages, at):
    messages[at - 1]["content"][-1] = call(messages[at - 1]["content"][-1]["id"], input="{}")
    return "A12", messages[at - 1]["content"][-1]["id"]


def unsigned(messages, at):
    messages[at - 1] = assistant(thinking(signature=""), *messages[at - 1]["content"])
    return "A22", ""


BREAKAGES = [
    drop_result,
    drop_call,
    drop_answer,
    double_result,
    double_id,
    text_first,
    empty_text,
    swap,
    input_as_text,
    unsigned,
]


@pytest.mark.parametrize("breakage", BREAKAGES)
@given(messages=conversations().filter(rounds), data=st.data())
@settings(max_examples=25, deadline=None)
def test_breakages_are_found(breakage, messages, data):
    """One breakage in a valid conversation is found under the right rule, with the call it is about."""
    messages = json.loads(json.dumps(messages))
    rule, call_id = breakage(messages, data.draw(st.sampled_from(rounds(messages))))
    found_ones = [violation for violation in violations(messages) if violation.rule == rule]
    assert found_ones
    assert call_id in [violation.call_id for violation in found_ones]


KEYS = [
    *("role", "content", "type", "text", "id", "input", "name", "tool_use_id", "is_error", "source", "cache_control"),
    *("ttl", "citations", "thinking", "signature", "data", "clear_at", "output_config", "toolset_name", "tool_name"),
]
KINDS = [
    *("text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "compaction", "new"),
    *("server_tool_use", "web_search_tool_result", "mcp_tool_use", "fallback", "tool_reference"),
]
FIELDS = [
    *("system", "tools", "tool_choice", "thinking", "compaction", "cache_control", "output_config"),
    *("stop_sequences", "messages"),
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["user", "assistant", *KINDS]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
BLOCKS = st.builds(
    lambda kind, rest: rest | {"type": kind},
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(KEYS), JSON_VALUES, max_size=5),
)
MESSAGES = JSON_VALUES | st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.lists(BLOCKS | JSON_VALUES, max_size=3)},
    optional={"clear_at": JSON_VALUES, "output_config": JSON_VALUES},
)


@given(st.lists(MESSAGES, max_size=3), st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES, max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_json_is_looked_at_without_raising(messages, fields):
    """Random JSON values as messages and as fields give violations at most."""
    assert all(violation.rule.startswith("A") for violation in violations(messages, fields))


@given(st.lists(st.binary(max_size=40), max_size=4), st.binary(max_size=20))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_looked_at_without_raising(messages, field):
    """Random bytes as messages and as a field give violations at most."""
    shapes = [shape(raw) for raw in messages]
    assert all(isinstance(one, Shape) for one in shapes)
    check(shapes, {"system": field}, Profile())


@pytest.mark.shared
@pytest.mark.skipif(not REQUESTS, reason="no recorded sessions beside the repository")
def test_recorded_requests_pass():
    """Every recorded request keeps every rule."""
    for path in REQUESTS:
        request = msgspec.json.decode(path.read_bytes())["request"]
        shapes = [shape(msgspec.json.encode(message)) for message in request.pop("messages")]
        fields = {key: msgspec.json.encode(value) for key, value in request.items()}
        assert check(shapes, fields, Profile()) == [], path.name
