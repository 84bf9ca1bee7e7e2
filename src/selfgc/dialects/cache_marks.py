"""Rule A30 of the Anthropic dialect: cache markers over the whole request.

1. At most four: those in tools, system and messages, and the top-level one, which takes a slot too.
2. In the order tools, system, messages, no longer lifetime after a shorter one.
"""

from collections.abc import Iterator, Mapping, Sequence

from selfgc.dialects.anthropic_blocks import Mark, block_marks
from selfgc.dialects.anthropic_shape import Rare
from selfgc.model.profile import Violation

MOST_MARKS = 4
_LONG, _SHORT = "1h", "5m"


def mark_violations(rare: Sequence[tuple[int, Rare]], values: Mapping[str, object]) -> list[Violation]:
    """Return what breaks A30 over several blocks."""
    marks = [
        *block_marks(values.get("tools"), "tools"),
        *block_marks(values.get("system"), "system"),
        *(Mark(f"messages.{index}.{mark.path}", mark.ttl) for index, one in rare for mark in one.marks),
        *block_marks([{"cache_control": values.get("cache_control")}], "$"),
    ]
    return [*_too_many(marks), *_out_of_order(marks)]


def _too_many(marks: Sequence[Mark]) -> Iterator[Violation]:
    if len(marks) > MOST_MARKS:
        mark = marks[MOST_MARKS]
        sentence = f"{len(marks)} blocks have `cache_control`, at most {MOST_MARKS} may; remove the oldest in messages"
        yield _violation(mark, sentence)


def _out_of_order(marks: Sequence[Mark]) -> Iterator[Violation]:
    is_short = False
    for mark in marks:
        if is_short and mark.ttl == _LONG:
            yield _violation(
                mark,
                "a 1h `cache_control` comes after a 5m one (order: tools, system, messages); give it the 5m lifetime",
            )
        is_short = is_short or mark.ttl == _SHORT


def _violation(mark: Mark, sentence: str) -> Violation:
    head, _, rest = mark.path.partition(".")
    if head == "$":
        return Violation("A30", "cache_control", sentence)
    message = int(rest.partition(".")[0]) if head == "messages" else -1
    return Violation("A30", mark.path, sentence, message)
