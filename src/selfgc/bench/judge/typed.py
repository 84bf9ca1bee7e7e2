"""Matcher A, extraction: the typed anchors of a text, and the spellings under which each may stand in a view.

An anchor is kept in one canonical spelling. What is extracted is what a reader would copy: URLs, paths, ids and
hashes, numbers, quoted strings, code identifiers and error lines. Common words are left out here (`common.py`);
what is common in a corpus is left out by `rarity.py`. Nothing here may be shared with a planner.
"""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote, unquote

from selfgc.bench.judge.guessable import (
    is_common_file,
    is_common_folder,
    is_common_identifier,
    is_common_number,
    is_common_url,
)
from selfgc.bench.texts import LONGEST_LINE, normal, searchable

LONGEST = 300
"""Characters; a longer anchor is text, which matcher B sees."""


class Kind(StrEnum):
    """What an anchor is."""

    URL = "url"
    PATH = "path"
    ID = "id"
    NUMBER = "number"
    QUOTED = "quoted"
    IDENTIFIER = "identifier"
    ERROR = "error"
    LINE = "line"


class Anchor(NamedTuple):
    """An exact string that later work may need, in its canonical spelling."""

    kind: Kind
    text: str


_URL = re.compile(r"\b(?:https?|wss?|ftp|ssh|s3|gs|postgres(?:ql)?|mysql|redis|mongodb)://[^\s\"'`<>\\{}|^\[\]]+")
_PATH = re.compile(
    r"(?<![\w/\\.@:$%&})>-])"
    r"(?:[A-Za-z]:[\\/]+|~/|\.{1,2}/|/)?"
    r"[\w.@-]+(?:[\\/]+[\w.@-]+)+"
)
_FILE = re.compile(
    r"(?<![\w/\\.@$-])[\w-][\w.-]*\.(?:py|pyi|ipynb|tsx?|jsx?|mjs|cjs|vue|svelte|html?|s?css|less|json[lc5]?|ya?ml|toml"
    r"|ini|cfg|conf|env|mdx?|rst|txt|csv|tsv|xlsx?|docx?|pptx?|pdf|sqlite3?|db|sql|sh|ps1|bat|rb|php|java|kts?|go|rs"
    r"|cs|cpp|hpp|cc|[ch]|swift|lua|xml|svg|png|jpe?g|gif|log|lock|pem|key|crt|zip|gz|tar|patch|diff)\b(?![\w(/\\])"
)
_ID = re.compile(r"(?<![\w.-])[A-Za-z0-9][A-Za-z0-9_-]{6,127}(?![\w-])")
_NO_ID = re.compile(
    r"[a-z]+(?:-[a-z]+)*-\d+"  # style classes: text-gray-500
    r"|(?=.*[hlmqstvz])[\dachlmqstvz-]+"  # drawing commands of an SVG path: 3m3-3v12
    r"|\w*[a-z]{3,}_(?:\w*_)?[a-z]{3,}\w*"  # names of code: test_limit_404_rejected
)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT?\d*Z?")
_NUMBER = re.compile(
    r"(?<![\w.,:/\\#-])(?<!line )(?<!lines )"
    r"([$€£¥]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s?(%|[KMGT]i?B))?(?![\w:/\\-]|[.,]\d)"
)
_QUOTED = re.compile(r"""(?<![\w\\])(?:"([^"\n]{6,160})"|'([^'\n]{6,160})'|`([^`\n]{6,160})`|“([^”\n]{6,160})”)""")
_IDENTIFIER = re.compile(r"(?<!\w)[A-Za-z_][A-Za-z0-9_]{5,99}")
_COMPOUND = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_ERROR = re.compile(r"(?:\b[A-Za-z]\w*\.)*\b[A-Za-z]*(?:Error|Exception|Warning|Panic)\b(?: \w+)?: [^\n`]{8,200}")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_WORD_RUN = re.compile(r"\w{3}")
_DISTINCT = re.compile(r"\w[\s:/.#@=+*-]+\w")


def anchors(text: str) -> Iterator[Anchor]:
    """Yield the anchors of one text (in NFKC), each once; what stands within a URL or path is not taken again."""
    text = searchable(text)
    seen: set[str] = set()
    for kind, find in _FINDERS.items():
        for anchor in find(text):
            if anchor not in seen and len(anchor) <= LONGEST:
                seen.add(anchor)
                yield Anchor(kind, anchor)
        if kind in _MASKED:
            text = _MASKED[kind].sub(" ", text)


def all_spelled(text: str) -> Iterator[str]:
    """Yield every anchor of one text (in NFKC) of any kind, those within others too, perhaps more than once."""
    text = searchable(text)
    for find in _FINDERS.values():
        yield from find(text)


def line_anchor(line: str) -> Anchor | None:
    """Return a line as an anchor of exact text; None for one that is trivial or too long."""
    exact = normal(line)
    if len(exact) - exact.count(" ") < 8 or len(exact) > LONGEST_LINE or not _WORD_RUN.search(exact):
        return None
    return Anchor(Kind.LINE, exact)


def path_anchor(text: str) -> Anchor | None:
    """Return a whole string that is known to be a path as an anchor; None when any agent could guess it."""
    path = canonical_path(text)
    if len(path) < 4 or len(path) > LONGEST or "\n" in path or is_common_file(path):
        return None
    return Anchor(Kind.PATH, path)


def canonical_path(text: str) -> str:
    """Return a path with single forward slashes, without a leading `./` and without a trailing slash or stop."""
    path = re.sub(r"[\\/]+", "/", text.strip()).removeprefix("./")
    return path.rstrip("/.,:;")


def spellings(anchor: Anchor) -> list[str]:
    """Return the spellings under which the anchor may stand in a view, the canonical one first."""
    found = dict.fromkeys([anchor.text, *_SPELLED[anchor.kind](anchor.text)])
    return list(found)


def _urls(text: str) -> Iterator[str]:
    if "://" in text:
        for match in dict.fromkeys(_URL.findall(text)):
            url = match.rstrip(".,;:!?)*_/")
            if not is_common_url(url):
                yield url


def _paths(text: str) -> Iterator[str]:
    for match in dict.fromkeys(_PATH.findall(text)):
        path = canonical_path(match)
        if _is_path(path, match) and not is_common_file(path):
            yield path
    for match in dict.fromkeys(_FILE.findall(text)):
        if not is_common_file(match):
            yield match


def _is_path(path: str, written: str) -> bool:
    """Whether what looks like a path is more than words with a slash between them."""
    steps = path.split("/")
    if not _LETTERS.search(path):
        return False
    if "." in steps[-1][1:]:
        return True
    if "\\" in written and ":" not in written[:2]:
        return False
    is_rooted = steps[0] in {"", "~", "..", "."} or steps[0].endswith(":")
    return sum(map(bool, steps)) >= 3 and (is_rooted or any(map(is_common_folder, steps)))


def _ids(text: str) -> Iterator[str]:
    for match in dict.fromkeys(_ID.findall(text)):
        digits = sum(map(str.isdigit, match))
        letters = sum(map(str.isalpha, match))
        if digits < 3 or not letters or _NO_ID.fullmatch(match) or _TIMESTAMP.match(match):
            continue
        yield match.rstrip("-_")


def _numbers(text: str) -> Iterator[str]:
    for sign, digits, unit in dict.fromkeys(_NUMBER.findall(text)):
        number = _plain(digits)
        if _is_telling(number, digits, unit=bool(sign or unit)):
            yield sign + number + unit


def _plain(digits: str) -> str:
    number = digits.replace(",", "")
    return number.rstrip("0").rstrip(".") if "." in number else number


def _is_telling(number: str, written: str, *, unit: bool) -> bool:
    """Whether a number says more than a small count: three significant digits, or two with a unit."""
    significant = number.replace(".", "").lstrip("0")
    if "." not in written:
        significant = significant.rstrip("0")
    return len(significant) >= 2 if unit else len(significant) >= 3 and not is_common_number(number)


def _quoted(text: str) -> Iterator[str]:
    for groups in dict.fromkeys(_QUOTED.findall(text)):
        inner = "".join(groups)
        if inner[0].isspace() or inner[-1].isspace() or not _LETTERS.search(inner):
            continue
        inner = normal(inner)
        if len(inner) >= 8 and _DISTINCT.search(inner):
            yield inner


def _identifiers(text: str) -> Iterator[str]:
    for match in dict.fromkeys(_IDENTIFIER.findall(text)):
        if _COMPOUND.search(match) and not is_common_identifier(match):
            yield match


def _errors(text: str) -> Iterator[str]:
    for match in dict.fromkeys(_ERROR.findall(text)):
        yield normal(match).rstrip(" .\"')")


_FINDERS: dict[Kind, Callable[[str], Iterator[str]]] = {
    Kind.ERROR: _errors,
    Kind.URL: _urls,
    Kind.PATH: _paths,
    Kind.ID: _ids,
    Kind.NUMBER: _numbers,
    Kind.QUOTED: _quoted,
    Kind.IDENTIFIER: _identifiers,
}
_MASKED = {Kind.URL: _URL, Kind.PATH: _PATH}


def _spelled_url(url: str) -> list[str]:
    return [unquote(url), quote(url, safe="/:?#[]@!$&'()*+,;=%~")]


def _spelled_path(path: str) -> list[str]:
    return [path.replace("/", "\\"), path.replace("/", "\\\\")]


def _spelled_id(text: str) -> list[str]:
    is_hex = not text.lower().strip("0123456789abcdef-")
    return [text.lower(), text.upper()] if is_hex else []


def _spelled_number(text: str) -> list[str]:
    match = re.fullmatch(r"([^\d]?)(\d+)((?:\.\d+)?)(.*)", text)
    if match is None:
        return []
    sign, whole, rest, unit = match.groups()
    wholes = [whole, f"{int(whole):,}"]
    rests = [rest, rest + "0"] if rest else [rest, ".0", ".00"]
    units = [unit, f" {unit}"] if unit else [unit]
    return [sign + a + b + c for a in wholes for b in rests for c in units]


def _spelled_text(text: str) -> list[str]:
    """Return the text as it stands within a JSON string, when that is another spelling."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return [escaped] if escaped != text else []


_SPELLED: dict[Kind, Callable[[str], list[str]]] = {
    Kind.URL: _spelled_url,
    Kind.PATH: _spelled_path,
    Kind.ID: _spelled_id,
    Kind.NUMBER: _spelled_number,
    Kind.QUOTED: _spelled_text,
    Kind.IDENTIFIER: _spelled_text,
    Kind.ERROR: _spelled_text,
    Kind.LINE: _spelled_text,
}
