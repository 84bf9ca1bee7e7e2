"""Pointers: the compact text that stands where a folded or masked payload stood.

A pointer holds what was removed, how long it was, how it ended, its unique anchors (those that are visible
nowhere else in the view), and how to have it back. It is made from the payload and the policy alone: no
clock, no counter, no random value, and nothing that was not verified.
"""

from collections.abc import Iterable, Sequence

from selfgc.model.ids import ObjectId
from selfgc.model.objects import Span
from selfgc.model.policy import Recovery
from selfgc.model.spans import Effect

HEAD_LINES = 12
TAIL_LINES = 12
_LONG_LINE = 400
ROW_SUBJECT = 80
"""Characters of a call's subject that its row shows."""


def way_back(object_id: ObjectId, recovery: Recovery) -> str:
    """Return how the payload can be had: the tool call, or the command."""
    return f'restore_context("{object_id}")' if recovery is Recovery.TOOL else f"selfgc restore {object_id}"


def size_of(text: str) -> str:
    """Return a text's size as a person reads it; of what holds no text (an image), just that."""
    if not text:
        return "an image or document"
    lines = text.count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"


def anchor_lines(anchors: Iterable[str]) -> str:
    """Return what is shown of a payload, a line each, short ones together; paths of one folder in braces."""
    paths: list[str] = []
    words: list[str] = []
    lines: list[str] = []
    for anchor in anchors:
        if " " in anchor:
            lines.append(anchor)
        elif anchor.startswith("/"):
            paths.append(anchor)
        else:
            words.append(anchor)
    words = [*_in_braces(paths), *words]
    return "\n".join([*([" ".join(words)] if words else []), *lines])


_ROOT_LINKS = 3
"""Paths are put in braces only behind a folder of so many links: a shallower one saves nothing."""


def _in_braces(paths: Sequence[str]) -> list[str]:
    """Return absolute paths behind their common folder, as a shell would write them: `/a/b/{c/d.py,e.py}`."""
    root = _common_folder(paths)
    return [f"{root}/{{{','.join(path[len(root) + 1 :] for path in paths)}}}"] if root else list(paths)


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


def turn_pointer(turn_id: ObjectId, calls: int, rows: Sequence[str], anchors: Sequence[str], recovery: Recovery) -> str:
    """Return what stands for the folded spans of a turn: a row for each that matters, then the anchors of all."""
    lines = [f"[folded {calls} calls of this turn: {way_back(turn_id, recovery)}, or one by its id]", *rows]
    if anchors:
        lines.append(anchor_lines(anchors))
    return "\n".join(lines)


def span_rows(spans: Sequence[Span]) -> list[str]:
    """Return the spans of a turn as rows: files with the calls on them, below their common folder; then the rest."""
    by_file: dict[str, list[Span]] = {}
    others: list[Span] = []
    for span in spans:
        if span.facts.effect in _ON_FILES and span.facts.target and not span.facts.has_failed:
            by_file.setdefault(span.facts.target, []).append(span)
        else:
            others.append(span)
    root = _common_folder(list(by_file))
    rows = [f"under {root}/"] if root else []
    rows += [f"{path[len(root) + 1 if root else 0 :]} {_calls(calls)}" for path, calls in by_file.items()]
    return [*rows, *map(_row, others)]


_ON_FILES = frozenset({Effect.READ, Effect.WRITE, Effect.EDIT})


def _row(span: Span) -> str:
    ended = f" → {span.facts.outcome or 'failed'}" if span.facts.has_failed else ""
    return f"{span.id.removeprefix('function:')} {row_subject(span)}{ended}".rstrip()


def row_subject(span: Span) -> str:
    """Return what a span's row shows of what it is about: a file's path whole, the beginning of anything else."""
    return span.facts.target if span.facts.effect in _ON_FILES else span.facts.target[:ROW_SUBJECT]


def _calls(spans: Sequence[Span]) -> str:
    """Return the calls on one file, the numbers of each tool together: `Edit:12,15 Read:9`."""
    numbers: dict[str, list[str]] = {}
    for span in spans:
        name, _, number = span.id.removeprefix("function:").rpartition(":")
        numbers.setdefault(name, []).append(number)
    return " ".join(f"{name}:{','.join(found)}" for name, found in numbers.items())


def _common_folder(paths: Sequence[str]) -> str:
    """Return the folder that all absolute paths share, or nothing when it is too shallow to be worth a row."""
    if len(paths) < 2 or not all(path.startswith("/") for path in paths):
        return ""
    links = [path.split("/")[:-1] for path in paths]
    shared = 0
    while all(len(link) > shared and link[shared] == links[0][shared] for link in links):
        shared += 1
    return "/".join(links[0][:shared]) if shared > _ROOT_LINKS else ""
