"""Tells an Anthropic Messages body from a Chat Completions body, by what stands in it.

1. Messages that only Chat can hold decide for `chat`: the roles tool, function and developer, `tool_calls`,
   `tool_call_id`, `function_call`, and parts of the types image_url, input_audio, file and refusal.
2. Else blocks that only Anthropic knows decide for `anthropic`: calls, results, thinking, images, documents, …
3. Else top-level members decide: `system`, `stop_sequences`, `input_schema` in a tool and the like for
   `anthropic`; `max_completion_tokens`, `function` in a tool and the like for `chat`.
4. Else a first message with the role system is `chat`: Anthropic's first message is the user's.
5. Else the model's name decides, where it is a Claude or an OpenAI model.
6. Else it is `anthropic`.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from selfgc.model.wire import decode, without_lone_escapes

_CHAT_ROLES = frozenset({"tool", "function", "developer"})
_CHAT_PARTS = frozenset({"image_url", "input_audio", "file", "refusal"})
_ANTHROPIC_BLOCKS = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "image",
        "document",
        "search_result",
        "server_tool_use",
        "mcp_tool_use",
        "container_upload",
        "compaction",
        "fallback",
    }
)
_ANTHROPIC_FIELDS = ("system", "stop_sequences", "thinking", "anthropic_version", "anthropic_beta", "top_k")
_CHAT_FIELDS = (
    "max_completion_tokens",
    "response_format",
    "stream_options",
    "parallel_tool_calls",
    "frequency_penalty",
    "presence_penalty",
    "logprobs",
    "reasoning_effort",
    "functions",
    "seed",
    "stop",
    "n",
)
_CLAUDE = re.compile(r"(?:^|[/.:])(?:claude|anthropic)", re.IGNORECASE)
_OPENAI = re.compile(r"(?:^|/)(?:gpt-|chatgpt|o\d)", re.IGNORECASE)


class _Message(msgspec.Struct):
    role: object = None
    content: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    tool_calls: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    tool_call_id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    function_call: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Typed(msgspec.Struct):
    type: str | None = None


_MESSAGE = msgspec.json.Decoder(_Message)
_BLOCKS = msgspec.json.Decoder(list[_Typed])


def dialect_of(messages: Sequence[bytes], fields: Mapping[str, bytes]) -> str:
    """Return `anthropic` or `chat` for the raw messages and the other raw members of one body."""
    read = [_MESSAGE.decode(without_lone_escapes(raw)) for raw in messages]
    kinds = frozenset(kind for message in read for kind in _kinds(message.content))
    if kinds & _CHAT_PARTS or any(_is_chat(message) for message in read):
        return "chat"
    if kinds & _ANTHROPIC_BLOCKS or any(kind.endswith("_tool_result") for kind in kinds):
        return "anthropic"
    return _dialect_of_fields(fields) or _dialect_of_rest(read, fields)


def _is_chat(message: _Message) -> bool:
    marks = (message.tool_calls, message.tool_call_id, message.function_call)
    return message.role in _CHAT_ROLES or any(mark is not msgspec.UNSET for mark in marks)


def _kinds(content: msgspec.Raw | msgspec.UnsetType) -> list[str]:
    if content is msgspec.UNSET or not bytes(content).startswith(b"["):
        return []
    try:
        return [block.type or "" for block in _BLOCKS.decode(content)]
    except msgspec.ValidationError:
        return []  # blocks that are no objects tell nothing


def _dialect_of_fields(fields: Mapping[str, bytes]) -> str:
    if any(name in fields for name in _ANTHROPIC_FIELDS):
        return "anthropic"
    if any(name in fields for name in _CHAT_FIELDS):
        return "chat"
    tools = decode(fields["tools"]) if "tools" in fields else None
    named = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    if any("function" in tool for tool in named):
        return "chat"
    return "anthropic" if any("input_schema" in tool for tool in named) else ""


def _dialect_of_rest(read: Sequence[_Message], fields: Mapping[str, bytes]) -> str:
    if read and read[0].role == "system":
        return "chat"
    model = decode(fields["model"]) if "model" in fields else ""
    is_openai = isinstance(model, str) and _OPENAI.search(model) is not None and _CLAUDE.search(model) is None
    return "chat" if is_openai else "anthropic"
