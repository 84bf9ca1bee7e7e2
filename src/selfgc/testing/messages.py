"""Anthropic Messages as the scripted provider speaks it: `POST /v1/messages`, streamed or not."""

import base64
import hashlib
from collections.abc import Iterator, Mapping

from selfgc.testing.prefix_cache import LIFETIME, LONG_LIFETIME, Segment, Usage
from selfgc.testing.replies import Answer, Call, Failure
from selfgc.testing.wire import Made, compact, mappings, pieces

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Messages:
    """The format of Anthropic Messages."""

    is_automatic = False

    def segments(self, fields: Mapping[str, object]) -> list[Segment]:
        """Return tools, system blocks and message blocks; a top-level mark counts at the last one."""
        found = [_segment("tool", tool) for tool in mappings(fields.get("tools"))]
        found += [_segment("system", block) for block in _blocks(fields.get("system"))]
        for message in mappings(fields.get("messages")):
            role = str(message.get("role"))
            found += [_segment(role, block) for block in _blocks(message.get("content"))]
        lifetime = _lifetime(fields)
        if lifetime and found:
            found[-1] = found[-1]._replace(lifetime=found[-1].lifetime or lifetime)
        return found

    def body(self, made: Made) -> dict[str, object]:
        """Return the whole message."""
        usage = {**_usage(made.usage), "output_tokens": made.output}
        return {**_head(made), "content": _content(made.answer), "stop_reason": _stop(made.answer), "usage": usage}

    def events(self, made: Made, fields: Mapping[str, object]) -> Iterator[bytes]:  # noqa: ARG002 - the other format reads a field
        """Yield the events from `message_start` to `message_stop`."""
        usage = {**_usage(made.usage), "output_tokens": 1}
        start = {**_head(made), "content": [], "stop_reason": None, "usage": usage}
        yield _event("message_start", message=start)
        yield _event("ping")
        for index, block in enumerate(_content(made.answer)):
            empty, deltas = _deltas(block)
            yield _event("content_block_start", index=index, content_block=empty)
            for piece in deltas:
                yield _event("content_block_delta", index=index, delta=piece)
            yield _event("content_block_stop", index=index)
        delta: dict[str, object] = {"stop_reason": _stop(made.answer), "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage={"output_tokens": made.output})
        yield _event("message_stop")

    def error(self, failure: Failure) -> dict[str, object]:
        """Return the error body of the provider."""
        kind = _ERRORS.get(failure.status, "api_error" if failure.status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": failure.message}}


def _blocks(content: object) -> list[Mapping[str, object]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else mappings(content)


def _segment(role: str, block: Mapping[str, object]) -> Segment:
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    return Segment(f"{role} {compact(bare)}", _lifetime(block))


def _lifetime(holder: Mapping[str, object]) -> float:
    mark = holder.get("cache_control")
    if not isinstance(mark, dict):
        return 0.0
    return LONG_LIFETIME if mark.get("ttl") == "1h" else LIFETIME


def _head(made: Made) -> dict[str, object]:
    return {"id": made.id, "type": "message", "role": "assistant", "model": made.model, "stop_sequence": None}


def _content(answer: Answer) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    if answer.thinking:
        signature = base64.b64encode(hashlib.sha256(answer.thinking.encode()).digest()).decode()
        found.append({"type": "thinking", "thinking": answer.thinking, "signature": signature})
    text = answer.text + answer.refusal
    if text:
        found.append({"type": "text", "text": text})
    return [*found, *map(_tool_use, answer.calls)]


def _tool_use(call: Call) -> dict[str, object]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}


def _deltas(block: dict[str, object]) -> tuple[dict[str, object], list[dict[str, str]]]:
    """Return a block as it starts, and what is added to it piece by piece."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(str(block["text"]))]
            return {**block, "text": ""}, deltas
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(str(block["thinking"]))]
            deltas.append({"type": "signature_delta", "signature": str(block["signature"])})
            return {**block, "thinking": "", "signature": ""}, deltas
        case _:
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(compact(block["input"]))]
            return {**block, "input": {}}, deltas


def _stop(answer: Answer) -> str:
    if answer.refusal:
        return "refusal"
    if answer.is_truncated:
        return "max_tokens"
    return "tool_use" if answer.calls else "end_turn"


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": usage.uncached,
        "cache_read_input_tokens": usage.read,
        "cache_creation_input_tokens": usage.written + usage.written_long,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written,
            "ephemeral_1h_input_tokens": usage.written_long,
        },
    }


def _event(kind: str, **members: object) -> bytes:
    return f"event: {kind}\ndata: {compact({'type': kind, **members})}\n\n".encode()
