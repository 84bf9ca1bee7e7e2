"""OpenAI Chat Completions as the scripted provider speaks it: `POST /v1/chat/completions`, streamed or not."""

from collections.abc import Iterator, Mapping

from selfgc.testing.prefix_cache import LIFETIME, Segment
from selfgc.testing.replies import Answer, Call, Failure
from selfgc.testing.wire import Made, compact, mappings, pieces

CREATED = 1_700_000_000
"""The moment every answer carries: the same script gives the same bytes."""
_ERRORS = {401: "authentication_error", 429: "rate_limit_error"}


class Completions:
    """The format of OpenAI Chat Completions."""

    is_automatic = True

    def segments(self, fields: Mapping[str, object]) -> list[Segment]:
        """Return tools and messages, each one marked."""
        held = [*mappings(fields.get("tools")), *mappings(fields.get("messages"))]
        return [Segment(compact(item), LIFETIME) for item in held]

    def body(self, made: Made) -> dict[str, object]:
        """Return the whole completion."""
        answer = made.answer
        message: dict[str, object] = {
            "role": "assistant",
            "content": answer.text or None,
            "refusal": answer.refusal or None,
        }
        if answer.calls:
            message["tool_calls"] = [_call(call) for call in answer.calls]
        choice = {"index": 0, "message": message, "finish_reason": _finish(answer), "logprobs": None}
        return {**_head(made, "chat.completion"), "choices": [choice], "usage": _usage(made)}

    def events(self, made: Made, fields: Mapping[str, object]) -> Iterator[bytes]:
        """Yield the chunks up to `[DONE]`; one with the usage when the request asks for it."""
        head = _head(made, "chat.completion.chunk")
        for delta in _deltas(made.answer):
            yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        last = {"index": 0, "delta": {}, "finish_reason": _finish(made.answer)}
        yield _event({**head, "choices": [last]})
        options = fields.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage") is True:
            yield _event({**head, "choices": [], "usage": _usage(made)})
        yield b"data: [DONE]\n\n"

    def error(self, failure: Failure) -> dict[str, object]:
        """Return the error body of the provider."""
        kind = _ERRORS.get(failure.status, "server_error" if failure.status >= 500 else "invalid_request_error")
        return {"error": {"message": failure.message, "type": kind, "param": None, "code": None}}


def _head(made: Made, kind: str) -> dict[str, object]:
    return {"id": made.id, "object": kind, "created": CREATED, "model": made.model}


def _call(call: Call) -> dict[str, object]:
    function = {"name": call.name, "arguments": compact(dict(call.arguments))}
    return {"id": call.id, "type": "function", "function": function}


def _deltas(answer: Answer) -> Iterator[dict[str, object]]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(answer.text):
        yield {"content": piece}
    for piece in pieces(answer.refusal):
        yield {"refusal": piece}
    for index, call in enumerate(answer.calls):
        head = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [head]}
        for piece in pieces(compact(dict(call.arguments))):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _finish(answer: Answer) -> str:
    if answer.is_truncated:
        return "length"
    return "tool_calls" if answer.calls else "stop"


def _usage(made: Made) -> dict[str, object]:
    return {
        "prompt_tokens": made.usage.total,
        "completion_tokens": made.output,
        "total_tokens": made.usage.total + made.output,
        "prompt_tokens_details": {"cached_tokens": made.usage.read},
    }


def _event(chunk: Mapping[str, object]) -> bytes:
    return f"data: {compact(chunk)}\n\n".encode()
