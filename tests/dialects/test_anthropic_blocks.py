"""Rules that one content block of the Anthropic dialect can break alone."""

import pytest

from selfgc.dialects.anthropic_blocks import Mark, Reference, ServerEvent, read_blocks

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}
MARKER = {"type": "ephemeral"}


def text(words="words", **members):
    return {"type": "text", "text": words, **members}


def call(**members):
    return {"type": "tool_use", "id": "a", "name": "x", "input": {}} | members


def result(**members):
    return {"type": "tool_result", "tool_use_id": "a"} | members


def server(**members):
    return {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}} | members


def searched(**members):
    return {"type": "web_search_tool_result", "tool_use_id": "s", "content": []} | members


def media(kind, **source):
    return {"type": kind, "source": source}


ACCEPTED = [
    ("A8", "assistant", call(id="toolu_01-Az")),
    ("A11", "user", result()),
    ("A11", "user", result(content=None, is_error=None)),
    ("A11", "user", result(content="", is_error=True)),
    ("A11", "user", result(content=[])),
    ("A11", "user", result(content=[text(), IMAGE, {"type": "search_result"}, {"type": "browser_state"}])),
    ("A11", "user", result(content=[{"type": "tool_reference", "tool_name": "x"}])),
    ("A29", "user", result(content=[text("\n")])),
    ("A12", "assistant", call(input={"deep": [1]})),
    ("A15", "assistant", {"type": "mcp_tool_use", "id": "m", "name": "x", "input": {}}),
    ("A15", "assistant", searched(content={"type": "web_search_tool_result_error"})),
    ("A16", "assistant", searched(content=[{"type": "web_search_result", "encrypted_content": "e"}])),
    ("A16", "assistant", text(citations=[{"type": "web_search_result_location", "encrypted_index": "e"}])),
    ("A16", "assistant", text(citations=[{"type": "char_location"}])),
    ("A20", "assistant", {"type": "compaction", "content": None}),
    ("A20", "assistant", {"type": "compaction", "content": "summary", "encrypted_content": "e"}),
    ("A22", "assistant", {"type": "thinking", "thinking": "", "signature": "s"}),
    ("A22", "assistant", {"type": "redacted_thinking", "data": "d"}),
    ("A29", "user", text(" a ")),
    ("A30", "user", text(cache_control=None)),
    ("A30", "user", text(cache_control=MARKER)),
    ("A31", "user", IMAGE),
    ("A31", "user", media("image", type="url", url="https://e.test/i.png")),
    ("A31", "user", media("document", type="file", file_id="f")),
    ("A31", "user", media("document", type="text", media_type="text/plain", data="d")),
    ("A31", "user", media("document", type="content", content=[text()])),
    ("A31", "user", media("image", type="new_source")),
    ("A18", "assistant", {"type": "fallback"}),
    ("A17", "user", {"type": "container_upload", "file_id": "f"}),
    ("unknown", "user", {"type": "brand_new", "text": ""}),
]


@pytest.mark.parametrize(("rule", "role", "block"), ACCEPTED)
def test_a_block_that_keeps_its_rule_passes(rule, role, block):
    """Blocks as the provider defines them have no violation."""
    assert read_blocks([block], role).found == []


REFUSED = [
    ("A29", "user", "text"),
    ("A29", "user", {"text": "no type"}),
    ("A29", "user", {"type": 3}),
    ("A5", "user", call()),
    ("A5", "system", call()),
    ("A6", "assistant", result()),
    ("A6", "user", result(tool_use_id="")),
    ("A6", "user", result(tool_use_id=None)),
    ("A8", "assistant", call(id="a b")),
    ("A8", "assistant", call(id="")),
    ("A8", "assistant", call(id="a\n")),
    ("A8", "assistant", call(id=7)),
    ("A11", "user", result(content={"text": "x"})),
    ("A11", "user", result(content=["x"])),
    ("A11", "user", result(content=[{"text": "x"}])),
    ("A11", "user", result(content=[call()])),
    ("A11", "user", result(content=[{"type": "thinking"}])),
    ("A11", "user", result(content=[{"type": "text"}])),
    ("A11", "user", result(is_error="yes")),
    ("A11", "user", result(is_error=1)),
    ("A12", "assistant", call(input="{}")),
    ("A12", "assistant", call(input=None)),
    ("A12", "assistant", call(name="")),
    ("A12", "assistant", server(input="{}")),
    ("A15", "user", server()),
    ("A15", "user", searched()),
    ("A15", "assistant", server(id="")),
    ("A15", "assistant", searched(tool_use_id=None)),
    ("A16", "assistant", searched(content=[{"type": "web_search_result"}])),
    ("A16", "assistant", text(citations=[{"type": "web_search_result_location", "encrypted_index": ""}])),
    ("A20", "assistant", {"type": "compaction", "content": ""}),
    ("A20", "assistant", {"type": "compaction", "content": []}),
    ("A22", "assistant", {"type": "thinking", "thinking": "t"}),
    ("A22", "assistant", {"type": "thinking", "thinking": "t", "signature": ""}),
    ("A22", "assistant", {"type": "thinking", "signature": "s"}),
    ("A22", "assistant", {"type": "redacted_thinking", "data": ""}),
    ("A22", "user", {"type": "thinking", "thinking": "t", "signature": "s"}),
    ("A22", "user", {"type": "redacted_thinking", "data": "d"}),
    ("A29", "user", text("")),
    ("A29", "user", text(" \n\t")),
    ("A29", "user", text(None)),
    ("A29", "user", result(content=[text("")])),
    ("A30", "user", text("", cache_control=MARKER)),
    ("A30", "user", text(cache_control="ephemeral")),
    ("A30", "user", result(content=[text("", cache_control=MARKER)])),
    ("A30", "assistant", {"type": "thinking", "thinking": "t", "signature": "s", "cache_control": MARKER}),
    ("A30", "assistant", {"type": "redacted_thinking", "data": "d", "cache_control": MARKER}),
    ("A31", "user", {"type": "image"}),
    ("A31", "user", media("image", type="base64", media_type="image/png", data="")),
    ("A31", "user", media("image", type="base64", data="iVBO")),
    ("A31", "user", media("document", type="url")),
    ("A31", "user", media("document", type="file", file_id=3)),
    ("A31", "user", result(content=[{"type": "image", "source": "iVBO"}])),
]


@pytest.mark.parametrize(("rule", "role", "block"), REFUSED)
def test_a_block_that_breaks_its_rule_is_found(rule, role, block):
    """What the provider refuses in a block is found under the rule's number, at the block."""
    found = read_blocks([text(), block], role).found
    assert rule in [violation.rule for violation in found]
    assert all(violation.path.startswith("content.1") for violation in found)


def test_results_come_before_text():
    """A9: a result behind another block is found at its place."""
    (violation,) = read_blocks([result(), text(), result(tool_use_id="b")], "user").found
    assert (violation.rule, violation.path) == ("A9", "content.2")
    assert read_blocks([result(), result(tool_use_id="b"), text()], "user").found == []


def test_calls_and_results_are_noted_in_order():
    """A5, A6: the ids that pairing needs, and where the results stand."""
    assert read_blocks([text(), call(), call(id="b")], "assistant").calls == ["a", "b"]
    answered = read_blocks([result(tool_use_id="b"), result()], "user")
    assert (answered.results, answered.places) == (["b", "a"], [0, 1])


def test_a_call_of_an_odd_id_still_takes_part_in_pairing():
    """A8: the odd id is told once; its result is not called an orphan on top."""
    assert read_blocks([call(id="a b")], "assistant").calls == ["a b"]


def test_markers_are_noted_inside_out():
    """A30: markers inside a result count before the result's own, and those inside a document as well."""
    inner = text(cache_control={"type": "ephemeral", "ttl": "1h"})
    document = media("document", type="content", content=[inner])
    reading = read_blocks([result(content=[text(), inner], cache_control=MARKER), document], "user")
    assert reading.marks == [
        Mark("content.0.content.1", "1h"),
        Mark("content.0", "5m"),
        Mark("content.1.source.content.0", "1h"),
    ]


def test_server_tools_references_toolsets_and_documents_are_noted():
    """A11, A13, A15, A31: what the rules over several messages need."""
    reading = read_blocks([server(), searched(), call(toolset_name="t")], "assistant")
    assert reading.server == [ServerEvent(0, "s", ""), ServerEvent(1, "s", "web_search_tool_result")]
    assert reading.toolsets == [Reference("content.2", "a", "t")]
    answer = result(content=[{"type": "tool_reference", "tool_name": "x"}], toolset_name="t")
    reading = read_blocks([answer, media("document", type="url", url="u") | {"citations": {"enabled": True}}], "user")
    assert reading.tool_references == [Reference("content.0.content.0", "a", "x")]
    assert reading.toolsets == [Reference("content.0", "a", "t")]
    assert reading.cited == [("content.1", True)]
