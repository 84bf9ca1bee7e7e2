"""What Anthropic Messages accepts, rule by rule; the numbers are those that violations carry.

A1   The first message that is no system message is the user's, or an assistant's that begins with compaction.
A2   A message is an object; its role is user, assistant or system. Neighbours of one role are read as one.
A3   A system message with content follows a user turn, or an assistant turn that ends in a server tool's
     result, and is followed by an assistant turn or the end. One with nothing but `output_config` stands anywhere.
A4   A request ends with the assistant only where the model allows it, and then not in white space.
     A paused turn and a compaction go on by themselves.
A5   Every `tool_use` has its `tool_result` in the next turn; a request cannot end with an open call.
A6   Every `tool_result` has its `tool_use` in the turn before.
A7   One result a call.
A8   Ids of calls are unique, and made of letters, digits, `_` and `-`.
A9   In a user turn results come first.
A11  A result's content is a string or a list of blocks; `is_error` is a boolean; its toolset is its call's.
A12  `tool_use.input` is an object, its name a string.
A13  A `tool_reference` names a declared tool, when tools are declared. (That they are is not asked for: only
     older models and other hosts do.)
A14  A call that was left out beside a `fallback` block has no result.
A15  A server tool's call and result stand in one family of assistant turns, the call first.
A16  Search results and their citations keep their encrypted fields.
A20  A compaction block has a summary or null; the request's `compaction` excludes `context_management`,
     structured output, stop sequences and a forced tool.
A22  Thinking has its signature, redacted thinking its data.
A24  With manual thinking, a last assistant turn that calls tools begins with thinking.
A28  `block_binding` stands beside enabled or adaptive thinking.
A29  Text holds more than white space; content is not empty, except in a final assistant message.
A30  Cache markers: at most four, none on thinking or empty text, lifetimes not growing.
A31  Media have their source; citations are enabled on all documents or on none.
A32  The body is under the provider's size.
A33  Strict JSON, strict UTF-8.

What cannot be seen in one request is not here: that signed blocks are unchanged (A18, A21, A23, A25 to A27),
and what the host keeps (A17). `shape` is made once for each message; `check` walks shapes.
"""

from collections.abc import Iterator, Mapping, Sequence

from selfgc.dialects.anthropic_pairs import (
    Turn,
    pair_violations,
    rare_of,
    repeated_calls,
    server_violations,
    toolset_violations,
    turns_of,
)
from selfgc.dialects.anthropic_shape import Rare, Shape, shape
from selfgc.dialects.cache_marks import mark_violations
from selfgc.dialects.json_rules import field_values, oversize, placed
from selfgc.model.profile import Profile, Violation

__all__ = ["Shape", "check", "shape"]


def check(shapes: Sequence[Shape], fields: Mapping[str, bytes], profile: Profile) -> list[Violation]:
    """Return every rule that a request of these messages and other top-level members breaks, in no order."""
    values, found = field_values(fields, "A33")
    found.extend(_request_violations(values))
    found.extend(oversize(sum([one.size for one in shapes]), len(shapes), fields, profile, "A32"))
    if not shapes:
        found.append(Violation("A1", "$", "`messages` is empty; send at least one user message"))
        return found
    for index, one in enumerate(shapes):
        if one.violations:
            found.extend(placed(one.violations, index))
    turns = turns_of(shapes)
    rare = rare_of(shapes)
    unfinished, still_open = server_violations(shapes, turns) if any(one.server for _, one in rare) else ([], set())
    found.extend(unfinished)
    found.extend(_first_violations(shapes, turns))
    found.extend(_system_violations(shapes, profile))
    found.extend(_last_violations(shapes, profile, is_paused=bool(still_open)))
    found.extend(_empty_violations(shapes))
    found.extend(pair_violations(shapes, turns))
    found.extend(repeated_calls(shapes))
    found.extend(toolset_violations(rare))
    found.extend(_reference_violations(rare, values))
    found.extend(_thinking_violations(shapes, turns, values))
    found.extend(_citation_violations(rare))
    found.extend(mark_violations(rare, values))
    return found


def _first_violations(shapes: Sequence[Shape], turns: Sequence[Turn]) -> Iterator[Violation]:
    first = turns[0][0] if turns else 0
    one = shapes[first]
    is_compacted = one.role == "assistant" and one.rare is not None and one.rare.first == "compaction"
    if one.role and one.role != "user" and not is_compacted:
        sentence = "the first message must have the role user; bring the user message back that opened the conversation"
        yield Violation("A1", f"messages.{first}", sentence, first)


def _system_violations(shapes: Sequence[Shape], profile: Profile) -> Iterator[Violation]:
    if not any(one.role == "system" for one in shapes):
        return
    before: Shape | None = None
    waiting: list[int] = []
    for index, one in enumerate(shapes):
        path = f"messages.{index}"
        if one.role != "system":
            yield from _before_user(waiting) if one.role == "user" else ()
            before, waiting = one, []
        elif not profile.allows_system_messages:
            sentence = "this model takes no system messages among the messages; use the top-level `system`"
            yield Violation("A3", path, sentence, index)
        elif not one.is_empty:
            waiting.append(index)
            if before is None or not (before.role == "user" or _ends_in_server_result(before)):
                sentence = (
                    "a system message follows a user turn, or an assistant turn that ends in a server tool's result; "
                    "move it behind one"
                )
                yield Violation("A3", path, sentence, index)


def _before_user(waiting: Sequence[int]) -> Iterator[Violation]:
    for index in waiting:
        sentence = "a system message is followed by an assistant turn or the end; move it behind the user message"
        yield Violation("A3", f"messages.{index}", sentence, index)


def _ends_in_server_result(one: Shape) -> bool:
    return one.rare is not None and one.rare.last.endswith("_tool_result") and bool(one.rare.server)


def _last_violations(shapes: Sequence[Shape], profile: Profile, *, is_paused: bool) -> Iterator[Violation]:
    last = len(shapes) - 1
    while last > 0 and shapes[last].role == "system" and shapes[last].is_empty:
        last -= 1
    one = shapes[last]
    if one.role != "assistant" or one.calls or is_paused or _goes_on(one):
        return
    if not profile.allows_prefill:
        sentence = "this model takes no assistant message at the end; end with a user message"
        yield Violation("A4", f"messages.{last}", sentence, last)
    elif one.ends_with_space:
        sentence = "the final assistant message ends in white space; strip it or end with a user message"
        yield Violation("A4", f"messages.{last}", sentence, last)


def _goes_on(one: Shape) -> bool:
    """Whether the provider continues after this message by itself: a paused turn, or a compaction."""
    return _ends_in_server_result(one) or (one.rare is not None and one.rare.last == "compaction")


def _empty_violations(shapes: Sequence[Shape]) -> Iterator[Violation]:
    for index in [index for index, one in enumerate(shapes) if one.is_empty]:
        role = shapes[index].role
        if role == "user" or (role == "assistant" and index < len(shapes) - 1):
            sentence = "messages must have content that is not empty; remove the message or leave a pointer in it"
            yield Violation("A29", f"messages.{index}.content", sentence, index)


def _reference_violations(rare: Sequence[tuple[int, Rare]], values: Mapping[str, object]) -> Iterator[Violation]:
    tools = values.get("tools")
    if not isinstance(tools, list) or not any(one.tool_references for _, one in rare):
        return
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)]
    if not all(isinstance(name, str) for name in names):
        return  # a toolset: the names of its tools are the provider's to know
    for index, one in rare:
        for path, call_id, name in one.tool_references:
            if name not in names:
                sentence = (
                    f"the referenced tool {name!r} is not among the declared tools; declare it or drop the reference"
                )
                yield Violation("A13", f"messages.{index}.{path}", sentence, index, call_id)


def _thinking_violations(
    shapes: Sequence[Shape], turns: Sequence[Turn], values: Mapping[str, object]
) -> Iterator[Violation]:
    thinking = values.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return
    last = next((order for order in reversed(range(len(turns))) if shapes[turns[order][0]].role == "assistant"), None)
    if last is None or not any(shapes[index].calls for index in turns[last]):
        return
    if not _loop_thinks(shapes, turns, last):
        index = turns[last][0]
        sentence = (
            "with manual thinking, the last assistant turn that calls tools begins with its thinking; "
            "keep the thinking there, or turn thinking off"
        )
        yield Violation("A24", f"messages.{index}.content.0", sentence, index)


def _loop_thinks(shapes: Sequence[Shape], turns: Sequence[Turn], last: int) -> bool:
    """Whether a turn of the running tool loop begins with thinking: a model need not think again after results."""
    for order in range(last, -1, -1):
        first = shapes[turns[order][0]]
        if first.role == "assistant":
            if first.starts_with_thinking:
                return True
        elif not any(shapes[index].results for index in turns[order]):
            return False
    return False


def _citation_violations(rare: Sequence[tuple[int, Rare]]) -> Iterator[Violation]:
    cited = [(index, path, enabled) for index, one in rare for path, enabled in one.cited]
    odd = next((place for place in cited if place[2] != cited[0][2]), None)
    if odd is not None:
        sentence = "citations are enabled on all documents of a request or on none; set them alike"
        yield Violation("A31", f"messages.{odd[0]}.{odd[1]}", sentence, odd[0])


def _request_violations(values: Mapping[str, object]) -> Iterator[Violation]:
    system = values.get("system")
    for index, block in enumerate(system if isinstance(system, list) else ()):
        if isinstance(block, dict) and block.get("type") == "text" and block.get("text") == "":
            yield Violation("A29", f"system.{index}", "text blocks must be non-empty; remove the block or write a text")
    thinking = values.get("thinking")
    if isinstance(thinking, dict) and thinking.get("block_binding") is not None:
        yield from _binding_violations(thinking)
    if values.get("compaction") is not None:
        yield from _compaction_violations(values)


def _binding_violations(thinking: Mapping[str, object]) -> Iterator[Violation]:
    if thinking.get("type") not in ("adaptive", "enabled") or not isinstance(thinking["block_binding"], dict):
        sentence = "`block_binding` is an object beside adaptive or enabled thinking; remove it or enable thinking"
        yield Violation("A28", "thinking.block_binding", sentence)


def _compaction_violations(values: Mapping[str, object]) -> Iterator[Violation]:
    output = values.get("output_config")
    choice = values.get("tool_choice")
    refused = {
        "context_management": values.get("context_management") is not None,
        "output_format": values.get("output_format") is not None,
        "output_config.format": isinstance(output, dict) and output.get("format") is not None,
        "stop_sequences": bool(values.get("stop_sequences")),
        "tool_choice": isinstance(choice, dict) and choice.get("type") in ("any", "tool"),
    }
    for path, is_there in refused.items():
        if is_there:
            sentence = f"`compaction` cannot be combined with `{path}`; leave one of the two out"
            yield Violation("A20", path, sentence)
