"""Excerpts: what of a payload its pointer shows, so that folding hides its words but not its handles.

Unseen anchors are those that stand nowhere else in the view. A short line that is mostly unseen anchors is
shown whole, since agents quote and match lines; of any other line only the anchors themselves are shown.
"""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from selfgc.model.anchors import anchors_of

LONGEST_LINE = 100
"""A longer line is never shown whole."""
DENSITY = 3
"""A line is shown whole when it is at most so many times as long as the unseen anchors in it."""
MOST = 2000
"""Of a payload with more unseen anchors, so many are shown: half from its head, half from its tail."""
MOST_KEPT = 200
"""So many of the strings that a plan wants kept are looked for."""
FEW = 64
"""So few anchors are looked for one by one; of more, those of a line are found by reading the line."""
LONGEST_PIECE = 2000
"""Lines of more characters are looked at in pieces."""
SLACK = 8
"""Characters that any line may have on top of that."""
_DECLARATION = re.compile(
    r"^[ \t]*(?:\d+(?:\t|→)[ \t]*)?(?:[-*+] )?`?("
    r"(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|static|final|abstract|async|unsafe|virtual) )*"
    r"(?:def|fn|func|fun|function|class|interface|struct|enum|trait|impl|type|record|object|module|namespace)"
    r" +[A-Za-z_$][^\n]{2,110}"
    r"|(?:CREATE|ALTER|DROP) [A-Z][^\n]{4,110}"
    r"|(?:async |static |get |set )*[A-Za-z_$][\w.]*(?:<[^()\n]{1,40}>)?\([^()\n]{0,90}\) ?(?::|->) ?[^\n{]{1,60}"
    r")",
    re.MULTILINE,
)
_BOILERPLATE = re.compile(
    r"(?:use|import|from|package|namespace|#include|require)\b"
    r"|(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|static|final|abstract|async|unsafe|virtual) )*"
    r"(?:def|fn|func|fun|function|class|interface|struct|enum|trait|impl|type|record|object|module) "
)
"""Lines of which the names say everything."""
_GUTTER = re.compile(r"\s*\d+(?:\t|→)")


class Excerpt(NamedTuple):
    """The strings to show, and the anchors that they make visible."""

    shown: list[str]
    anchors: frozenset[str]


class Seen:
    """Anchors that are visible: those of the rest of the view, and those that were shown since."""

    def __init__(self, rest: Container[str]) -> None:
        self._rest = rest
        self.shown: set[str] = set()

    def __contains__(self, anchor: object) -> bool:
        return anchor in self.shown or anchor in self._rest


def excerpt(text: str, unseen: Collection[str], keep: Sequence[str] = (), *, is_document: bool = False) -> Excerpt:
    """Return what a pointer shows of `text`: lines and anchors in order, then the strings a plan wants kept.

    Of a document the declarations are shown as well: later work is written against them word for word.
    """
    declared = _declarations(text) if is_document else []
    left = set(unseen)
    if declared:
        joined = "\n".join(declared)
        left = {anchor for anchor in left if not holds(joined, anchor)}
    shown = [*declared, *_shown(text, left)]
    joined = "\n".join(shown)
    shown += [wanted for wanted in keep[:MOST_KEPT] if wanted in text and wanted not in joined]
    return Excerpt(shown, frozenset(unseen))


def _declarations(text: str) -> list[str]:
    found = (line.strip(" \t\r{;`:,(") for line in _DECLARATION.findall(text))
    return list(dict.fromkeys(found))


def _shown(text: str, unseen: set[str]) -> list[str]:
    """Return lines and anchors from the head of a text on; of very many anchors, those of head and tail."""
    if not unseen:
        return []
    lines = list(_lines(text))
    if len(unseen) <= MOST:
        return [item for found in _walk(lines, unseen, len(unseen)) for item in found]
    left = set(unseen)
    head = list(_walk(lines, left, MOST // 2))
    tail = list(_walk(reversed(lines), left, MOST // 2))
    gone = f"… {len(left):,} more names and numbers stand in the payload"
    return [item for found in [*head, [gone], *reversed(tail)] for item in found]


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text; a very long one in pieces, cut where no anchor is cut."""
    for line in text.split("\n"):
        start = 0
        while len(line) - start > LONGEST_PIECE:
            end = max(line.rfind(" ", start, start + LONGEST_PIECE), line.rfind(",", start, start + LONGEST_PIECE))
            end = end + 1 if end > start else start + LONGEST_PIECE
            yield line[start:end]
            start = end
        yield line[start:]


def _walk(lines: Iterable[str], left: set[str], most: int) -> Iterator[list[str]]:
    """Yield what is shown of each line, and take its anchors from `left`, until so many were found."""
    count = 0
    for line in lines:
        if not left or count >= most:
            return
        found = _anchors_in(line, left)
        if found:
            left.difference_update(found)
            count += len(found)
            yield _shown_of(line, found)


def _anchors_in(line: str, left: set[str]) -> list[str]:
    if len(left) <= FEW:
        return [anchor for anchor in left if anchor in line]
    return [anchor for anchor in anchors_of(line) if anchor in left]


def _shown_of(line: str, found: Sequence[str]) -> list[str]:
    bare = _GUTTER.sub("", line, count=1).strip()
    longest = _without_parts(found)
    if not _BOILERPLATE.match(bare) and len(bare) <= min(LONGEST_LINE, DENSITY * sum(map(len, longest)) + SLACK):
        return [bare]
    return sorted(longest, key=line.find)


def holds(text: str, anchor: str) -> bool:
    """Whether an anchor stands in a text as a whole: `idx_user` does not stand in `idx_user_id`."""
    start = text.find(anchor)
    while start >= 0:
        end = start + len(anchor)
        if not (_is_word(text[start - 1 : start]) and _is_word(anchor[0])) and not (
            _is_word(text[end : end + 1]) and _is_word(anchor[-1])
        ):
            return True
        start = text.find(anchor, start + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _without_parts(anchors: Sequence[str]) -> list[str]:
    """Return the anchors that are not inside another one."""
    chosen: list[str] = []
    joined = ""
    for anchor in sorted(anchors, key=lambda anchor: (-len(anchor), anchor)):
        if not holds(joined, anchor):
            chosen.append(anchor)
            joined += f"{anchor}\n"
    return chosen
