"""Excerpts: what of a payload its pointer shows, so that folding hides its words but not its handles.

Unseen anchors are those that stand nowhere else in the view. A short line that is mostly unseen anchors is
shown whole, since agents quote and match lines; of any other line only the anchors themselves are shown.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

LONGEST_LINE = 100
"""A longer line is never shown whole."""
DENSITY = 3
"""A line is shown whole when it is at most so many times as long as the unseen anchors in it."""
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


def excerpt(text: str, unseen: Collection[str], keep: Sequence[str] = (), *, is_document: bool = False) -> Excerpt:
    """Return what a pointer shows of `text`: lines and anchors in order, then the strings a plan wants kept.

    Of a document the declarations are shown as well: later work is written against them word for word.
    """
    anchors = frozenset(unseen)
    declared = _declarations(text) if is_document else []
    if declared:
        joined = "\n".join(declared)
        unseen = [anchor for anchor in unseen if not holds(joined, anchor)]
    shown = [*declared, *_shown(text, unseen)]
    shown += [wanted for wanted in keep if wanted in text and not any(wanted in line for line in shown)]
    return Excerpt(shown, anchors)


def _declarations(text: str) -> list[str]:
    found = (line.strip(" \t\r{;`:,(") for line in _DECLARATION.findall(text))
    return list(dict.fromkeys(found))


def _shown(text: str, unseen: Collection[str]) -> Iterator[str]:
    left = set(unseen)
    for line in text.split("\n") if left else ():
        if not left:
            return
        found = [anchor for anchor in left if anchor in line]
        if not found:
            continue
        left.difference_update(found)
        bare = _GUTTER.sub("", line, count=1).strip()
        longest = _without_parts(found)
        if not _BOILERPLATE.match(bare) and len(bare) <= min(LONGEST_LINE, DENSITY * sum(map(len, longest)) + SLACK):
            yield bare
        else:
            yield from sorted(longest, key=line.find)


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
