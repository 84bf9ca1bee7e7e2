"""The bodies of both formats, read strictly: what of them an answer is made of."""

import msgspec

from selfgc.bench.scorecard.calls import Said


class _Block(msgspec.Struct, frozen=True):
    type: str
    text: str = ""


class _MessageUsage(msgspec.Struct, frozen=True):
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _MessageBody(msgspec.Struct, frozen=True):
    content: tuple[_Block, ...]
    usage: _MessageUsage
    stop_reason: str | None = None


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


class _ChatUsage(msgspec.Struct, frozen=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Details | None = None


class _ChatMessage(msgspec.Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _ChatMessage
    finish_reason: str | None = None


class _ChatBody(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...]
    usage: _ChatUsage | None = None


def read_message(body: bytes) -> Said | None:
    """Return what a body of Anthropic Messages says; None when it is none."""
    try:
        message = msgspec.json.decode(body, type=_MessageBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    text = "".join(block.text for block in message.content if block.type == "text")
    usage = message.usage
    return Said(
        text=text,
        refusal=(text or "the model refused") if message.stop_reason == "refusal" else "",
        is_truncated=message.stop_reason in {"max_tokens", "model_context_window_exceeded"},
        read=usage.cache_read_input_tokens or 0,
        written=usage.cache_creation_input_tokens or 0,
        uncached=usage.input_tokens,
        output=usage.output_tokens,
    )


def read_completion(body: bytes) -> Said | None:
    """Return what a body of Chat Completions says; None when it is none or has no choice."""
    try:
        completion = msgspec.json.decode(body, type=_ChatBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not completion.choices:
        return None
    choice, usage = completion.choices[0], completion.usage or _ChatUsage()
    read = (usage.prompt_tokens_details or _Details()).cached_tokens or 0
    filtered = "stopped by a filter" if choice.finish_reason == "content_filter" else ""
    return Said(
        text=choice.message.content or "",
        refusal=choice.message.refusal or filtered,
        is_truncated=choice.finish_reason == "length",
        read=read,
        uncached=usage.prompt_tokens - read,
        output=usage.completion_tokens,
    )
