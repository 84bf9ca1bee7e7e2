"""What a judge is shown of one governed case: the retained prefix, the plan, what was removed, what really followed.

1. Everything is compared by lines, without the blanks around them. A line of the prefix that stands nowhere in the
   view was removed; one that stands in the view alone is the subject's own (pointers, masks, summaries).
2. Removed lines stand in blocks, each with the id that gives it back, when the view names one that does.
3. What is too long is shown as a digest. First comes, of the view, what the subject wrote itself, then the protected
   turn; of the future turn, what the user says; of the rest, what shares rare words with the other side. What is left
   out is marked as left out, so that it is not taken for removed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.governed import Governed
from selfgc.bench.scorecard.digest import Block, digest, words_of
from selfgc.bench.scorecard.settings import JudgeSettings
from selfgc.bench.texts import Decoded, Leaf, Source, leaves

_CALL_SHOWN = 160
_TITLES = {Source.RESULT: "result", Source.PROSE: "agent", Source.THINKING: "agent, thinking"}


class Evidence(msgspec.Struct, frozen=True):
    """The four parts as text; the same for the same case and view, whoever made the view."""

    retained: str
    plan: str
    removed: str
    future: str


def evidence_of(case: Case, governed: Governed, names: Sequence[str], settings: JudgeSettings) -> Evidence:
    """Return what is shown. `names` are blotted out of what the subject wrote."""
    retained = retained_blocks(case, governed, names)
    removed = removed_blocks(case, governed)
    future = _future_blocks(case.continuation)
    plan = blotted(governed.plan, names)
    if len(plan) > settings.plan_chars:
        plan = f"{plan[: settings.plan_chars]}\n[{len(plan) - settings.plan_chars:,} more characters of the plan]"
    return Evidence(
        retained=digest(retained, settings.view_chars, words_of(future)),
        plan=plan or "(none given)",
        removed=digest(removed, settings.removed_chars, words_of(future)) or "(nothing)",
        future=digest(future, settings.future_chars, words_of(removed)),
    )


def retained_blocks(case: Case, governed: Governed, names: Sequence[str]) -> list[Block]:
    """Return the view: the subject's own lines, without its names, in the highest rank, then the protected turn."""
    known = _lines_of(case.prefix)
    protected = {_key(message) for message in case.protected}
    found = []
    for number, message in enumerate(governed.messages):
        rank = 1 if _key(message) in protected else 0
        for leaf in leaves(message):
            for is_known, run in groupby(_lines(leaf.text), known.__contains__):
                lines = (line if is_known else blotted(line, names) for line in run)
                found.append(Block(f"--- view message {number}, {_title(leaf)}", tuple(lines), rank if is_known else 2))
    return found


def removed_blocks(case: Case, governed: Governed) -> list[Block]:
    """Return the lines of the prefix that stand nowhere in the view, by message and part."""
    view, holders = _lines_of(governed.messages), _holders(governed)
    blocks, called = [], ""
    for number, message in enumerate(case.in_view, len(case.prefix) - len(case.in_view)):
        parts = list(leaves(message))
        called = _called(parts) or called
        for leaf in parts:
            lines = tuple(line for line in _lines(leaf.text) if line not in view)
            if lines:
                of = f" of {called}" if leaf.source is Source.RESULT and called else ""
                head = f"--- prefix message {number}, {_title(leaf)}{of}{_way_back(lines, holders)}"
                blocks.append(Block(head, lines))
    return blocks


def blotted(text: str, names: Sequence[str]) -> str:
    """Return the text with these names, in any case, replaced."""
    wanted = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    if not wanted:
        return text
    return re.sub(rf"(?<!\w)(?:{'|'.join(map(re.escape, wanted))})(?!\w)", "[method]", text, flags=re.IGNORECASE)


def _future_blocks(messages: Sequence[Decoded]) -> list[Block]:
    return [
        Block(f"--- future message {number}, {_title(leaf)}", tuple(_lines(leaf.text)), int(leaf.source is Source.USER))
        for number, message in enumerate(messages)
        for leaf in leaves(message)
        if leaf.text.strip()
    ]


def _key(message: Decoded) -> bytes:
    return msgspec.json.encode(message, order="sorted")


def _title(leaf: Leaf) -> str:
    if leaf.source is Source.ARGUMENT:
        return f"argument {leaf.key} of {leaf.tool}" if leaf.key else f"argument of {leaf.tool}"
    return _TITLES.get(leaf.source, leaf.source.value)


def _called(parts: Iterable[Leaf]) -> str:
    """Return the calls of a message in short; nothing when it makes none."""
    told = [f"{leaf.tool} {leaf.key}={' '.join(leaf.text.split())}" for leaf in parts if leaf.source is Source.ARGUMENT]
    text = "; ".join(told)
    return text if len(text) <= _CALL_SHOWN else f"{text[:_CALL_SHOWN]}..."


def _lines(text: str) -> Iterator[str]:
    return (line for raw in text.splitlines() if (line := raw.strip()))


def _lines_of(messages: Iterable[Decoded]) -> frozenset[str]:
    return frozenset(line for message in messages for leaf in leaves(message) for line in _lines(leaf.text))


def _holders(governed: Governed) -> Mapping[str, Sequence[str]]:
    """Return for each line the ids of whole payloads that hold it and that the view names."""
    view = "\n".join(leaf.text for message in governed.messages for leaf in leaves(message))
    found: dict[str, list[str]] = defaultdict(list)
    for item in governed.payloads:
        if item.is_whole and item.id in view:
            for line in set(_lines(item.text())):
                found[line].append(item.id)
    return found


def _way_back(lines: Sequence[str], holders: Mapping[str, Sequence[str]]) -> str:
    """Return the id whose payload holds most of the lines, when it holds at least half of them."""
    held = Counter(name for line in lines for name in holders.get(line, ()))
    name, count = max(held.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    return f"; the view names an id that restores it: {name}" if 2 * count >= len(lines) else ""
