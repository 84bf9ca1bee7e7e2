"""Rules of providers and clients that clear old tool results in place: a placeholder stays, nothing comes back.

anthropic-clear  the provider's `clear_tool_uses_20250919` with its defaults: from 100,000 input tokens on all tool
                 results but those of the newest 3 calls are cleared; the calls' inputs stay
opencode-prune   the prune rule of the opencode client: going back over tool outputs, the newest 40,000 tokens stay,
                 what is older is cleared when that is at least 20,000 tokens; the last two user turns stay
With a rate, the oldest results are cleared until so many tokens are gone, whatever the trigger says.
"""

from collections.abc import Iterator, Sequence

from selfgc.bench.arms.protocol import Ask
from selfgc.bench.cases import is_user_turn
from selfgc.bench.governed import Counter, Governed, tokens_of
from selfgc.errors import UsageError

ANTHROPIC_TRIGGER = 100_000
ANTHROPIC_KEEP = 3
ANTHROPIC_PLACEHOLDER = "[Old tool result content cleared]"
OPENCODE_PROTECT = 40_000
OPENCODE_MINIMUM = 20_000
OPENCODE_TURNS = 2
OPENCODE_PLACEHOLDER = "[Old tool result content cleared]"

Place = tuple[int, int]
"""Message and block of one tool result."""


def clear(name: str, ask: Ask, count: Counter) -> Governed:
    """Return the prefix as the rule of that name leaves it. UsageError for another dialect or name."""
    if ask.dialect != "anthropic":
        raise UsageError(f"{name} works on Anthropic Messages, got the dialect {ask.dialect!r}")
    allowed = list(_results(ask.messages[: len(ask.messages) - ask.protected]))
    if ask.rate is not None:
        places = list(_until(ask, allowed, count, ask.rate))
    elif name == "anthropic-clear":
        places = _anthropic(ask, allowed, count)
    elif name == "opencode-prune":
        places = _opencode(ask, allowed, count)
    else:
        raise UsageError(f"expected anthropic-clear or opencode-prune, got {name!r}")
    text = ANTHROPIC_PLACEHOLDER if name == "anthropic-clear" else OPENCODE_PLACEHOLDER
    return Governed(tuple(_cleared(ask.messages, set(places), text)), plan=str(places))


def _anthropic(ask: Ask, allowed: Sequence[Place], count: Counter) -> list[Place]:
    if tokens_of(ask.body, ask.messages, count) < ANTHROPIC_TRIGGER:
        return []
    newest = set(list(_results(ask.messages))[-ANTHROPIC_KEEP:])
    return [place for place in allowed if place not in newest]


def _opencode(ask: Ask, allowed: Sequence[Place], count: Counter) -> list[Place]:
    turns = [number for number, message in enumerate(ask.messages) if is_user_turn(message)]
    border = turns[-OPENCODE_TURNS] if len(turns) >= OPENCODE_TURNS else 0
    seen = gone = 0
    places: list[Place] = []
    for place in reversed([place for place in _results(ask.messages) if place[0] < border]):
        size = count(_text(ask.messages, place))
        seen += size
        if seen > OPENCODE_PROTECT and place in allowed:
            gone += size
            places.append(place)
    return places[::-1] if gone >= OPENCODE_MINIMUM else []


def _until(ask: Ask, allowed: Sequence[Place], count: Counter, rate: float) -> Iterator[Place]:
    left = rate * tokens_of(ask.body, ask.messages, count)
    for place in allowed:
        if left <= 0:
            return
        left -= count(_text(ask.messages, place)) - count(ANTHROPIC_PLACEHOLDER)
        yield place


def _results(messages: Sequence[dict[str, object]]) -> Iterator[Place]:
    for number, message in enumerate(messages):
        content = message.get("content")
        for place, block in enumerate(content if isinstance(content, list) else []):
            if isinstance(block, dict) and block.get("type") == "tool_result":
                yield number, place


def _text(messages: Sequence[dict[str, object]], place: Place) -> str:
    content = messages[place[0]]["content"]
    held = content[place[1]].get("content") if isinstance(content, list) else None
    if isinstance(held, str):
        return held
    blocks = held if isinstance(held, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def _cleared(messages: Sequence[dict[str, object]], places: set[Place], text: str) -> Iterator[dict[str, object]]:
    for number, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list) and any(place[0] == number for place in places):
            blocks = [
                {**block, "content": text} if (number, at) in places else block for at, block in enumerate(content)
            ]
            yield {**message, "content": blocks}
        else:
            yield message
