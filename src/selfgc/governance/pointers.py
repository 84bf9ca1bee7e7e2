"""Pointers: the compact text that stands where a folded or masked payload stood.

A pointer holds what was removed, how long it was, how it ended, its unique anchors (those that are visible
nowhere else in the view), and how to have it back. It is made from the payload and the policy alone: no
clock, no counter, no random value, and nothing that was not verified.
"""

from collections.abc import Iterable, Sequence

from selfgc.model.ids import ObjectId
from selfgc.model.objects import Span
from selfgc.model.policy import Recovery

HEAD_LINES = 12
TAIL_LINES = 12
_LONG_LINE = 400


def way_back(object_id: ObjectId, recovery: Recovery) -> str:
    """Return how the payload can be had: the tool call, or the command."""
    return f'restore_context("{object_id}")' if recovery is Recovery.TOOL else f"selfgc restore {object_id}"


def size_of(text: str) -> str:
    """Return a text's size as a person reads it."""
    lines = text.count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"


def anchor_lines(anchors: Iterable[str]) -> str:
    """Return anchors as one line: those with spaces in double quotes, paths of one folder in braces."""
    paths: dict[str, list[str]] = {}
    others: list[str] = []
    for anchor in anchors:
        folder, slash, name = anchor.rpartition("/")
        if slash and " " not in anchor and "://" not in anchor:
            paths.setdefault(_root(folder), []).append(anchor)
        else:
            others.append(f'"{anchor}"' if " " in anchor else anchor)
    return " ".join([*(_in_braces(root, names) for root, names in paths.items()), *others])


_ROOT_LINKS = 4
"""Absolute paths are shown in braces behind so many links, which is as deep as a project's folder usually lies."""


def _root(folder: str) -> str:
    links = folder.split("/")
    return "/".join(links[: _ROOT_LINKS + 1]) if folder.startswith("/") and len(links) > _ROOT_LINKS else ""


def _in_braces(root: str, names: Sequence[str]) -> str:
    if not root or len(names) < 2:
        return " ".join(names)
    return f"{root}/{{{','.join(name.removeprefix(root + '/') for name in names)}}}"


def result_pointer(span: Span, text: str, anchors: Sequence[str], recovery: Recovery) -> str:
    """Return what stands for a folded result."""
    lines = [f"[folded {size_of(text)}: {way_back(span.id, recovery)}]"]
    if span.facts.outcome:
        lines.append(span.facts.outcome)
    if anchors:
        lines.append(anchor_lines(anchors))
    return "\n".join(lines)


def repeat_pointer(span: Span, text: str, original: str, recovery: Recovery) -> str:
    """Return what stands for a result whose very text another object holds."""
    return f"[folded {size_of(text)}, the same text as {original}: {way_back(span.id, recovery)}]"


def argument_pointer(span: Span, text: str, anchors: Sequence[str], recovery: Recovery) -> str:
    """Return what stands for a folded string argument; the first line of a command stays."""
    pointer = f"[folded {size_of(text)}: {way_back(span.id, recovery)}]"
    return "\n".join([pointer, anchor_lines(anchors)]) if anchors else pointer


def command_pointer(span: Span, text: str, anchors: Sequence[str], recovery: Recovery) -> str:
    """Return what stands for a folded command: how it begins, then the pointer."""
    head = text[:120].split("\n", 1)[0]
    return f"{head} {argument_pointer(span, text, anchors, recovery)}"


def masked_text(span: Span, text: str, anchors: Sequence[str], recovery: Recovery) -> str:
    """Return a text with its middle taken out: head and tail lines, or head and tail of one long line."""
    lines = text.split("\n")
    if len(lines) > HEAD_LINES + TAIL_LINES + 1:
        head, tail = lines[:HEAD_LINES], lines[-TAIL_LINES:]
        gone = f"{len(lines) - HEAD_LINES - TAIL_LINES:,} lines"
    else:
        joined = "\n".join(lines)
        head, tail = [joined[:_LONG_LINE]], [joined[-_LONG_LINE:]]
        gone = f"{max(0, len(joined) - 2 * _LONG_LINE):,} characters"
    middle = [f"[… {gone} masked: {way_back(span.id, recovery)}]"]
    if anchors:
        middle.append(anchor_lines(anchors))
    return "\n".join([*(line[: 2 * _LONG_LINE] for line in head), *middle, *(line[-2 * _LONG_LINE :] for line in tail)])


def turn_pointer(
    turn_id: ObjectId, calls: int, rows: Sequence[str], anchors: Sequence[str], recovery: Recovery
) -> str:
    """Return what stands for the folded spans of a turn: a row for each that matters, then the anchors of all."""
    lines = [f"[folded {calls} calls of this turn: {way_back(turn_id, recovery)}, or one by its id]", *rows]
    if anchors:
        lines.append(anchor_lines(anchors))
    return "\n".join(lines)


def span_row(span: Span) -> str:
    """Return one span as a row of a turn's pointer: its id, what it was about, how it ended."""
    ended = f" → {span.facts.outcome or 'failed'}" if span.facts.has_failed else ""
    return f"{span.id.removeprefix('function:')} {span.facts.target[:80]}{ended}".rstrip()
