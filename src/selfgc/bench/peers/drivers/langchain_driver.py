"""LangChain's `ContextEditingMiddleware` with its `ClearToolUsesEdit`, run over a model request as an agent would.

Its defaults (1.5.2): above 100,000 tokens by its own estimate, the content of every tool result but the newest three
becomes `[cleared]`. Nothing can be restored. The dial is how many results are kept; where clearing results alone
does not reach the rate, the calls' arguments are cleared too, as its `clear_tool_inputs` does.
"""

import importlib
from dataclasses import dataclass, field
from typing import Any

from .exchange import Foreign, Governed, Message, Request
from .prefix import least, share_removed

WHOLE = -1
"""In place of a block's index: the message without its tool results."""


@dataclass(frozen=True)
class Piece:
    """What one LangChain message stands for: a message, or one tool result in it."""

    at: int
    """Index of the message."""
    block: int
    """Index of the tool result's block, or `WHOLE`."""
    role: str
    """`user`, `assistant` or `tool`."""
    content: Any
    call: str = ""
    """Of a result, the id of its call."""
    arguments: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of an assistant message, each call's arguments by its id."""
    names: dict[str, str] = field(default_factory=dict)
    """And the name of its tool."""

    @property
    def id(self) -> str:
        """What the LangChain message is called, so that its edit finds the way back."""
        return f"{self.at}.{self.block}"


def pieces_of(messages: list[Message]) -> list[Piece]:
    """Return the messages as LangChain has them: tool results each on its own, before what else the user says."""
    found: list[Piece] = []
    for at, message in enumerate(messages):
        content, role = message.get("content", ""), str(message.get("role"))
        if isinstance(content, str):
            found.append(Piece(at, WHOLE, role, content))
            continue
        results = [n for n, block in enumerate(content) if block.get("type") == "tool_result"]
        found.extend(_result(at, n, content[n]) for n in results)
        rest = [block for n, block in enumerate(content) if n not in results]
        calls = [block for block in rest if block.get("type") == "tool_use" and isinstance(block.get("input"), dict)]
        if rest or not results:
            arguments = {str(block["id"]): block["input"] for block in calls}
            names = {str(block["id"]): str(block["name"]) for block in calls}
            found.append(Piece(at, WHOLE, role, rest, "", arguments, names))
    return found


def carry_back(messages: list[Message], before: list[Piece], after: list[Piece]) -> list[Message | None]:
    """Return the messages with the edits of `after` made on their own blocks; the others are the very objects."""
    edited: list[Message | None] = list(messages)
    for old, new in zip(before, after, strict=True):
        at = old.at
        message = edited[at]
        if old == new or message is None:
            continue
        content = [_edited(block, n, old, new) for n, block in enumerate(message["content"])]
        edited[at] = {**message, "content": content}
    return edited


def govern(request: Request) -> Governed:
    """Return the request's messages as the middleware sends them to the model."""
    pieces = pieces_of(request.messages)

    def run(kept: int | None, *, inputs: bool = False) -> list[Message | None]:
        return carry_back(request.messages, pieces, _middleware(pieces, kept, inputs=inputs))

    if request.rate is None:
        return Governed(run(None), notes=("defaults: above 100,000 tokens all results but the newest 3",))
    results = sum(piece.role == "tool" for piece in pieces)
    inputs = share_removed(request, run(0)) < request.rate
    cleared = least(results, lambda n: share_removed(request, run(results - n, inputs=inputs)), request.rate)
    note = f"trigger=0, keep={results - cleared}, clear_tool_inputs={inputs}"
    return Governed(run(results - cleared, inputs=inputs), notes=(note,))


def _result(at: int, n: int, block: Message) -> Piece:
    return Piece(at, n, "tool", block.get("content", ""), str(block["tool_use_id"]))


def _edited(block: Message, n: int, old: Piece, new: Piece) -> Message:
    """Return a block as the edit leaves it."""
    if n == old.block and old.content != new.content:
        return {**block, "content": new.content}
    call = str(block.get("id")) if block.get("type") == "tool_use" else ""
    if call in old.arguments and new.arguments.get(call) != old.arguments[call]:
        return {**block, "input": new.arguments.get(call, {})}
    return block


def _middleware(pieces: list[Piece], kept: int | None, *, inputs: bool) -> list[Piece]:
    """Return the pieces after the middleware has run: with its defaults, or with so many results kept.

    The peer is imported here and nowhere else, so that the conversion can be read and tested without it.
    """
    peer = importlib.import_module("langchain.agents.middleware")
    types = importlib.import_module("langchain_core.messages")
    models = importlib.import_module("langchain_core.language_models.fake_chat_models")
    edits = None if kept is None else [peer.ClearToolUsesEdit(trigger=0, keep=kept, clear_tool_inputs=inputs)]
    sent: list[Foreign] = []

    def model(request: Foreign) -> Foreign:
        sent.extend(request.messages)
        return types.AIMessage(content="")

    unused = models.GenericFakeChatModel(messages=iter(()))  # its estimate of tokens needs no model
    asked = peer.ModelRequest(model=unused, messages=[_message(types, piece) for piece in pieces])
    peer.ContextEditingMiddleware(edits=edits).wrap_model_call(asked, model)
    return [_read(piece, message) for piece, message in zip(pieces, sent, strict=True)]


def _message(types: Foreign, piece: Piece) -> Foreign:
    if piece.role == "tool":
        return types.ToolMessage(content=piece.content, tool_call_id=piece.call, id=piece.id)
    if piece.role != "assistant":
        return types.HumanMessage(content=piece.content, id=piece.id)
    calls = [{"name": piece.names[key], "args": value, "id": key} for key, value in piece.arguments.items()]
    return types.AIMessage(content=piece.content, tool_calls=calls, id=piece.id)


def _read(piece: Piece, message: Foreign) -> Piece:
    if message.id != piece.id:
        raise RuntimeError(f"expected the message {piece.id} from the middleware, got {message.id}")
    arguments = {call["id"]: call["args"] for call in getattr(message, "tool_calls", ())}
    content = message.content if piece.role == "tool" else piece.content
    return Piece(piece.at, piece.block, piece.role, content, piece.call, arguments, piece.names)
