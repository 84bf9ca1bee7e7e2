"""Are folded payloads given back byte for byte? Compared with the session's own messages, not with the store."""

import json
from collections.abc import Iterator, Sequence

from selfgc.bench.texts import Decoded, normal
from selfgc.engine.context import ContextEngine


def count_restored(engine: ContextEngine, messages: Sequence[Decoded]) -> tuple[int, int]:
    """Return how many payloads were folded, and how many of them restore to exactly what stands in `messages`."""
    calls = _spans(messages)
    ids = engine.restorable_ids()
    exact = 0
    for object_id in ids:
        payload = engine.restore(object_id)
        if object_id.startswith("conversation:"):
            exact += _is_run_of(payload, messages)
        else:
            number = int(object_id.rpartition(":")[2])
            exact += _holds(payload, *calls[number - 1])
    return len(ids), exact


def payload_texts(engine: ContextEngine) -> list[str]:
    """Return every folded payload as text, in the spelling that matching needs."""
    texts = []
    for object_id in engine.restorable_ids():
        payload = engine.restore(object_id).decode("utf-8", "replace")
        try:
            texts.append(normal("\n".join(_leaves(json.loads(payload)))))
        except ValueError:
            texts.append(normal(payload))
    return texts


def _spans(messages: Sequence[Decoded]) -> list[tuple[object, object]]:
    """Return the arguments and the result of each call, in order of the calls, which is the allocator's order.

    A result belongs to the nearest call before it that has its id: some harnesses use an id again.
    """
    spans: list[tuple[object, object]] = []
    waiting: dict[object, int] = {}
    for message in messages:
        for key, arguments in _calls(message):
            waiting[key] = len(spans)
            spans.append((arguments, None))
        for key, content in _results(message):
            number = waiting.pop(key, None)
            if number is not None:
                spans[number] = (spans[number][0], content)
    return spans


def _blocks(message: Decoded) -> list[Decoded]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _results(message: Decoded) -> Iterator[tuple[object, object]]:
    if message.get("role") == "tool":
        yield message.get("tool_call_id"), message.get("content")
    for block in _blocks(message):
        if block.get("type") == "tool_result":
            yield block.get("tool_use_id"), block.get("content")


def _calls(message: Decoded) -> Iterator[tuple[object, object]]:
    for block in _blocks(message):
        if block.get("type") == "tool_use":
            yield block.get("id"), block.get("input")
    called = message.get("tool_calls")
    for call in called if isinstance(called, list) else []:
        yield call["id"], json.loads(call["function"]["arguments"])


def _holds(payload: bytes, arguments: object, result: object) -> bool:
    """Whether a payload is one text of the call or its result, or a JSON object of several of them."""
    texts = [result, *_leaves(arguments), *_only_text(result)]
    if any(isinstance(text, str) and text.encode("utf-8", "surrogatepass") == payload for text in texts):
        return True
    try:
        pieces = json.loads(payload)
    except ValueError:
        return False
    return isinstance(pieces, dict) and all(piece in texts for piece in pieces.values())


def _only_text(result: object) -> list[object]:
    """Return the text of a result that is a list of one text block."""
    return [result[0].get("text")] if isinstance(result, list) and len(result) == 1 else []


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)


def _is_run_of(payload: bytes, messages: Sequence[Decoded]) -> bool:
    """Whether a payload is a list of neighbouring messages, just as they stand."""
    held = json.loads(payload)
    starts = (start for start, message in enumerate(messages) if message == held[0])
    return any(list(messages[start : start + len(held)]) == held for start in starts)
