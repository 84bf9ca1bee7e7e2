"""Turns of an Anthropic conversation, and the pairing of tool calls with their results across them.

Rules A5 to A9, A11 (toolset), A14 and A15; the list of all rules opens `anthropic_rules`.
"""

from collections.abc import Iterator, Sequence

from selfgc.dialects.anthropic_shape import Rare, Shape
from selfgc.model.profile import Violation

Turn = Sequence[int]
"""Indexes of neighbouring messages of one role, which the provider reads as one; system messages are passed over."""


def turns_of(shapes: Sequence[Shape]) -> list[Turn]:
    """Group the messages into turns (A2)."""
    turns: list[Turn] = []
    current: list[int] = []
    role = ""
    for index, shape in enumerate(shapes):
        if shape.role == "system":
            continue
        if shape.role != role or not current:
            current = []
            turns.append(current)
            role = shape.role
        current.append(index)
    return turns


def rare_of(shapes: Sequence[Shape]) -> list[tuple[int, Rare]]:
    """Return the messages that have something rare, with their indexes."""
    return [(index, shape.rare) for index, shape in enumerate(shapes) if shape.rare is not None]


def pair_violations(shapes: Sequence[Shape], turns: Sequence[Turn]) -> list[Violation]:
    """Return what breaks A5, A6, A7, A9 and A14: calls and results of neighbouring turns."""
    found: list[Violation] = []
    asked: Turn = ()
    for turn in turns:
        role = shapes[turn[0]].role
        if role == "user":
            if not _is_plain_pair(shapes, asked, turn):
                found.extend(_unpaired(shapes, asked, turn))
            asked = ()
        else:
            found.extend(_unanswered(shapes, asked, frozenset()))
            asked = turn if role == "assistant" else ()
        if len(turn) > 1:
            found.extend(_late_results(shapes, turn))
    found.extend(_unanswered(shapes, asked, frozenset()))
    return found


def _is_plain_pair(shapes: Sequence[Shape], asked: Turn, answering: Turn) -> bool:
    """Whether one message answers one message in the order of its calls: nearly always so."""
    if len(answering) > 1 or len(asked) > 1:
        return False
    results = shapes[answering[0]].results
    calls = shapes[asked[0]].calls if asked else ()
    return results == calls and (len(calls) < 2 or len(set(calls)) == len(calls))


def _unpaired(shapes: Sequence[Shape], asked: Turn, answering: Turn) -> Iterator[Violation]:
    calls = {call_id for index in asked for call_id in shapes[index].calls}
    answered = {call_id for index in answering for call_id in shapes[index].results}
    yield from _unanswered(shapes, asked, answered)
    is_fallback = any(rare.has_fallback for index in asked if (rare := shapes[index].rare) is not None)
    seen: set[str] = set()
    for index in answering:
        for place, call_id in zip(shapes[index].places, shapes[index].results, strict=True):
            path = f"messages.{index}.content.{place}"
            if call_id not in calls:
                yield _unexpected(path, index, call_id, is_fallback=is_fallback)
            elif call_id in seen:
                sentence = f"`tool_use` {call_id} has more than one `tool_result`; keep one result for each call"
                yield Violation("A7", path, sentence, index, call_id)
            seen.add(call_id)


def _unanswered(shapes: Sequence[Shape], asked: Turn, answered: frozenset[str] | set[str]) -> Iterator[Violation]:
    for index in asked:
        for call_id in shapes[index].calls:
            if call_id not in answered:
                yield Violation(
                    "A5",
                    f"messages.{index}",
                    f"`tool_use` {call_id} has no `tool_result` in the next message; add its result there, "
                    "or take the call out",
                    index,
                    call_id,
                )


def _unexpected(path: str, index: int, call_id: str, *, is_fallback: bool) -> Violation:
    if is_fallback:
        sentence = f"the call {call_id} was left out beside a `fallback` block, so it takes no `tool_result`; remove it"
        return Violation("A14", path, sentence, index, call_id)
    sentence = f"`tool_result` {call_id} has no `tool_use` in the previous message; remove it, or bring its call back"
    return Violation("A6", path, sentence, index, call_id)


def _late_results(shapes: Sequence[Shape], turn: Turn) -> Iterator[Violation]:
    has_other = False
    for index in turn:
        if has_other and shapes[index].results:
            yield Violation(
                "A9",
                f"messages.{index}.content.{shapes[index].places[0]}",
                "user messages that follow each other are read as one, in which `tool_result` blocks come first; "
                "move the text behind the results",
                index,
            )
        has_other = has_other or shapes[index].has_other


def repeated_calls(shapes: Sequence[Shape]) -> list[Violation]:
    """Return what breaks A8: ids that stand on more than one call of the request."""
    every = [call_id for shape in shapes for call_id in shape.calls]
    if len(set(every)) == len(every):
        return []
    found = []
    seen: set[str] = set()
    for index, shape in enumerate(shapes):
        for call_id in shape.calls:
            if call_id in seen:
                sentence = (
                    f"`tool_use` ids must be unique, and {call_id} stands on two calls; rename one with its result"
                )
                found.append(Violation("A8", f"messages.{index}", sentence, index, call_id))
            seen.add(call_id)
    return found


def toolset_violations(rare: Sequence[tuple[int, Rare]]) -> list[Violation]:
    """Return what breaks A11 over two messages: a result that names another toolset than its call."""
    names: dict[str, str] = {}
    found = []
    for index, one in rare:
        for path, call_id, name in one.toolsets:
            if names.setdefault(call_id, name) != name:
                sentence = f"`toolset_name` is {name!r}, its call has {names[call_id]!r}; keep the call's name"
                found.append(Violation("A11", f"messages.{index}.{path}", sentence, index, call_id))
    return found


def server_violations(shapes: Sequence[Shape], turns: Sequence[Turn]) -> tuple[list[Violation], set[str]]:
    """Return what breaks A15, and the server calls that are still open at the end (a paused turn).

    Calls stay open over user turns that hold nothing but results of client tools.
    """
    found: list[Violation] = []
    opened: dict[str, tuple[int, int]] = {}
    for turn in turns:
        for index in turn:
            shape = shapes[index]
            if shape.role == "user" and shape.has_other:
                found.extend(_unfinished(opened))
                opened = {}
            elif shape.role == "assistant" and shape.rare is not None:
                found.extend(_server_events(index, shape.rare, opened))
    return found, set(opened)


def _server_events(index: int, rare: Rare, opened: dict[str, tuple[int, int]]) -> Iterator[Violation]:
    for place, call_id, result in rare.server:
        if not result:
            opened[call_id] = (index, place)
        elif opened.pop(call_id, None) is None:
            yield Violation(
                "A15",
                f"messages.{index}.content.{place}",
                f"`{result}` {call_id} has no open server tool call before it; keep or drop the two together",
                index,
                call_id,
            )


def _unfinished(opened: dict[str, tuple[int, int]]) -> Iterator[Violation]:
    for call_id, (index, place) in opened.items():
        yield Violation(
            "A15",
            f"messages.{index}.content.{place}",
            f"the server tool call {call_id} has no result before the next user input; keep or drop the two together",
            index,
            call_id,
        )
