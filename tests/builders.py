"""Small builders that tests of several rooms share: wire messages of both dialects, and snapshots of them.

Messages are plain dicts, so that a test can change one; `raw` and `snapshot_of` turn them into wire bytes.
A bare name (`user`, `calls`, `results`) builds an Anthropic message, a `chat_` name one of Chat Completions.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, count
from typing import Any

from selfgc.dialects.anthropic import AnthropicDialect
from selfgc.dialects.chat import ChatDialect
from selfgc.model.dialect import Dialect
from selfgc.model.ids import ObjectId
from selfgc.model.index import Index, read_entry
from selfgc.model.policy import Policy
from selfgc.model.profile import Profile
from selfgc.model.records import Edit
from selfgc.model.snapshot import Snapshot

Wire = dict[str, Any]
Call = tuple[str, Mapping[str, Any], str]
"""A tool, its arguments, and the text of its result."""


class WordCounter:
    """A plain token counter: four characters make a token."""

    def count(self, text: str) -> int:
        return len(text) // 4


def dialect_named(name: str) -> Dialect:
    """A fresh dialect, `anthropic` or `chat`."""
    return AnthropicDialect() if name == "anthropic" else ChatDialect()


def raw(message: Wire | bytes) -> bytes:
    """The wire bytes of a message, compact; bytes are passed on as they are."""
    return message if isinstance(message, bytes) else json.dumps(message, separators=(",", ":")).encode()


def body_of(messages: Iterable[Wire | bytes], **fields: Any) -> bytes:
    """A request body with these messages; `fields` (`model`, `system`, `tools`) stand before them."""
    head = b"".join(
        json.dumps(key).encode() + b":" + json.dumps(value).encode() + b"," for key, value in fields.items()
    )
    return b"{" + head + b'"messages":[' + b",".join(raw(message) for message in messages) + b"]}"


# -- Anthropic Messages ----------------------------------------------------------------------------------


def text_block(text: str) -> Wire:
    return {"type": "text", "text": text}


def thinking_block(thinking: str, signature: str = "c2lnbmF0dXJl") -> Wire:
    return {"type": "thinking", "thinking": thinking, "signature": signature}


def call_block(call_id: str, tool: str, arguments: Mapping[str, Any]) -> Wire:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": dict(arguments)}


def result_block(call_id: str, text: str | list[Wire], *, is_error: bool = False) -> Wire:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text} | ({"is_error": True} if is_error else {})


def message(role: str, content: Sequence[str | Wire]) -> Wire:
    """A message of blocks; a single string stays a string, other strings become text blocks."""
    if len(content) == 1 and isinstance(content[0], str):
        return {"role": role, "content": content[0]}
    return {"role": role, "content": [text_block(item) if isinstance(item, str) else item for item in content]}


def user(*content: str | Wire) -> Wire:
    return message("user", content)


def assistant(*content: str | Wire) -> Wire:
    return message("assistant", content)


def call(call_id: str, tool: str, **arguments: Any) -> Wire:
    """An assistant message with one tool call."""
    return assistant(call_block(call_id, tool, arguments))


def calls(*blocks: str | Wire, thinking: str = "") -> Wire:
    """An assistant message of several calls; `thinking` stands before them, signed."""
    return assistant(*([thinking_block(thinking)] if thinking else []), *blocks)


def result(call_id: str, text: str | list[Wire], *, is_error: bool = False) -> Wire:
    """A user message with one tool result."""
    return user(result_block(call_id, text, is_error=is_error))


def results(*blocks: Wire) -> Wire:
    return user(*blocks)


# -- Chat Completions ------------------------------------------------------------------------------------


def chat_user(text: str | list[Wire]) -> Wire:
    return {"role": "user", "content": text}


def chat_system(text: str) -> Wire:
    return {"role": "system", "content": text}


def chat_assistant(text: str | None, *tool_calls: Wire, reasoning: str = "") -> Wire:
    built: Wire = {"role": "assistant", "content": text}
    if reasoning:
        built["reasoning_content"] = reasoning
    return built | ({"tool_calls": list(tool_calls)} if tool_calls else {})


def chat_call(call_id: str, tool: str, arguments: Mapping[str, Any] | str) -> Wire:
    """One entry of `tool_calls`; arguments that are a string already are sent as they are."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": text}}


def chat_result(call_id: str, text: str | list[Wire]) -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


# -- sessions and snapshots ------------------------------------------------------------------------------


def exchange(
    call_id: str, tool: str, arguments: Mapping[str, Any], text: str, dialect: str = "anthropic"
) -> list[Wire]:
    """A call and its result, two messages."""
    if dialect == "anthropic":
        return [assistant(call_block(call_id, tool, arguments)), result(call_id, text)]
    return [chat_assistant(None, chat_call(call_id, tool, arguments)), chat_result(call_id, text)]


def session(turns: Iterable[tuple[str, Sequence[Call], str]], dialect: str = "anthropic") -> list[Wire]:
    """Messages of whole turns: what the user says, the calls made one by one, and the answer ("" for none yet).

    Calls are named `call_1`, `call_2` and so on through the session.
    """
    numbers = count(1)
    built: list[Wire] = []
    for asked, made, answer in turns:
        built.append({"role": "user", "content": asked})
        for tool, arguments, text in made:
            built.extend(exchange(f"call_{next(numbers)}", tool, arguments, text, dialect))
        if answer:
            built.append({"role": "assistant", "content": answer})
    return built


def index_of(messages: Iterable[Wire | bytes], dialect: str = "anthropic") -> Index:
    """The index of these messages, with ids from a fresh allocator."""
    wire_format, index, seen = dialect_named(dialect), Index(), {}
    for item in messages:
        index.add(read_entry(wire_format.split(raw(item)), wire_format, WordCounter(), seen))
    return index


def chains_of(index: Index) -> tuple[str, ...]:
    """Hex chain digests of an index's messages, as the engine makes them."""
    digests = (entry.message.digest for entry in index.entries)
    chains = accumulate(digests, lambda parent, digest: hashlib.sha256(parent + digest).digest(), initial=b"")
    return tuple(chain.hex() for chain in chains)[1:]


def snapshot_of(
    messages: Iterable[Wire | bytes],
    dialect: str = "anthropic",
    policy: Policy | None = None,
    profile: Profile | None = None,
    edits: Iterable[Edit] | Mapping[ObjectId, Edit] = (),
    **others: Any,
) -> Snapshot:
    """A snapshot of these messages, made by the real dialect and index.

    `edits` are committed edits, as a mapping or one after another; `others` are further fields of a snapshot
    (`version`, `system_tokens`, `system_anchors`).
    """
    index = index_of(messages, dialect)
    return Snapshot(
        dialect=dialect_named(dialect),
        entries=tuple(index.entries),
        chains=chains_of(index),
        spans=tuple(index.spans),
        turns=tuple(index.turns),
        edits=edits if isinstance(edits, Mapping) else {edit.id: edit for edit in edits},
        policy=policy or Policy(),
        profile=profile or Profile(),
        **others,
    )
