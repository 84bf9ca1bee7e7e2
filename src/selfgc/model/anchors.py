"""Anchors: exact strings that later work may need verbatim.

An anchor is a run of characters that nobody would write twice by chance: a URL, a path, an id, a hash, a
number, a compound identifier, a short quoted phrase. A chain of names (`self.cart.total`) counts by its
telling links. Extraction is linear in the text: one scan for runs, then a look at each distinct run.
"""

import re
from collections.abc import Container, Iterator
from functools import lru_cache

_RUN = re.compile(r"[\w./:@~%+#$\\-]{3,}(?:,\d{3})*")
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>`|]{3,400}")
_PHRASE = re.compile(r"(?<!\w)([\"'`])((?:(?!\1)[^\n]){0,100})\1")
_PLAIN_WORD = re.compile(r"[^\W\d_]+")
_CHAIN = re.compile(r"[A-Z]\w*\.\w+|\w+(?:::\w+){1,2}")
_WORDY = re.compile(r"[^\W\d_]{3}")
_ESCAPE = re.compile(r"\\[nrt]|\x1b\[[\d;]*[A-Za-z]")
_TRIM = ".,:;-+#%\\/"
_WHOLE = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@+~-]+[/\\])*[\w.@+~-]+(?::\d+)?"  # absolute paths and routes
    r"|(?:[\w.@+~-]+[/\\]){2,}[\w.@+~-]+(?::\d+)?"  # relative paths of three links
    r"|[\w@+~-]+[/\\][\w.@+~-]*\w\.\w{1,5}(?::\d+)?"  # a folder and a file with an ending
    r"|[\w-]+(?:\.[\w-]+)*\.(?!\d)[a-z]{2,5}(?::\d+)?"  # file and host names
    r"|[\w.+-]+@[\w.-]+\.\w+"  # addresses
    r"|(?=[\w-]*\d)[\w-]++(?:[.:/]\w++(?:-\w++)*+)*+"  # versions, dates, times, hosts with ports, numbered names
    r"|[A-Za-z]\w*(?:-\w+){2,}"  # kebab-case names of three links
)
_LINK = re.compile(r"\$?\w+(?:-\w+)*")
_TELLING = re.compile(
    r"\d\d|\d,\d"  # two digits and more
    r"|[^\W\d_]_[^\W\d_]|[^\W_]_\d|\d_[^\W_]"  # snake_case
    r"|[a-z][A-Z]|[A-Z]{2}[a-z]"  # camelCase
    r"|[A-Z][A-Z0-9]{2}"  # CONSTANTS
    r"|\w[/\\.:@]\w|^[~/.\\]+\w|\w-\w+-\w|^\$\w"  # paths, dotted and kebab-case names, variables
)
_VERSION = re.compile(r"[vV=^~]?\d+(?:\.\d+){1,4}(?:[-+]\w+)*")
_PLOTTED = re.compile(r"(?:[a-zA-Z]?-?\d*\.\d+){2,}.*|[a-zA-Z]?-?\d+\.\d+[a-zA-Z][\d.]*|\d*\.?\d+[a-zA-Z]-?\.?\d.*")
_NOISE = re.compile(
    r"[\W_]+|\d{1,2}(?:[.:,]\d{1,2})?|e\.g|i\.e|etc\.?"
    r"|\d+(?:\.\d+)?(?:ms|us|µs|ns|s|m|h|px|rem|em|vh|vw|%)"  # durations and lengths
    r"|\d{4}-\d\d-\d\d[T_ ]?\d\d:.*|\d\d:\d\d:\d\d.*|\d{1,2}/\w{3}/\d{4}.*"  # moments
    r"|[a-z]{1,3}-\d.*"  # utility classes: p-6, gap-3
)
LONGEST_CHAIN = 48
"""A qualified name of two or three links counts whole up to this length; longer ones by their links."""
MAX_LENGTH = 400
"""Longer runs (base64, minified code) are no anchors: nobody repeats them from memory."""


def anchors_of(text: str) -> set[str]:
    """Return the distinct anchors of `text`."""
    plain = _ESCAPE.sub("  ", text) if "\\n" in text or "\\t" in text or "\x1b" in text else text
    found = {anchor for run in set(_RUN.findall(plain)) for anchor in _of_run(run)}
    if "://" in plain:
        found.update(url.rstrip(".,;:)]}") for url in _URL.findall(plain))
    found.update(phrase for _, phrase in _PHRASE.findall(plain) if _is_phrase(phrase))
    return found


@lru_cache(maxsize=1 << 10)
def _of_run(run: str) -> tuple[str, ...]:
    trimmed = run.rstrip(_TRIM).lstrip(",:;-+#%\\")
    if len(trimmed) > MAX_LENGTH:
        return ()
    is_whole = _WHOLE.fullmatch(trimmed) or (_CHAIN.fullmatch(trimmed) and len(trimmed) <= LONGEST_CHAIN)
    links = [trimmed] if is_whole else _LINK.findall(trimmed)
    return tuple(link for link in links if _is_telling(link))


def _is_telling(link: str) -> bool:
    if len(link) < 3 or _TELLING.search(link) is None or _NOISE.fullmatch(link):
        return False
    return "." not in link or _VERSION.fullmatch(link) is not None or _PLOTTED.fullmatch(link) is None


def _is_phrase(phrase: str) -> bool:
    if len(phrase) < 4 or phrase[0].isspace() or phrase[-1].isspace():
        return False
    return _PLAIN_WORD.fullmatch(phrase) is None and _WORDY.search(phrase) is not None


def implied(anchor: str) -> Iterator[str]:
    """Yield what is visible wherever a path is: each of its endings, and the folders above an absolute one."""
    if "/" not in anchor or "://" in anchor:
        return
    rest = anchor.removeprefix("./").strip("/")
    while rest:
        yield rest
        rest = rest.partition("/")[2]
    folder = anchor.rpartition("/")[0] if anchor.startswith("/") else ""
    while folder.count("/") > 1:
        yield folder
        folder = folder.rpartition("/")[0]


def stands_in(anchor: str, visible: Container[str]) -> bool:
    """Whether an anchor is among the visible ones, or is a path that two visible ones make up."""
    if anchor in visible:
        return True
    if anchor.startswith("./"):
        return anchor[2:] in visible
    if not anchor.startswith("/") or " " in anchor:
        return False
    links = anchor.split("/")
    cuts = range(3, len(links) - 2)
    return any("/".join(links[cut:]) in visible and "/".join(links[:cut]) in visible for cut in cuts)
