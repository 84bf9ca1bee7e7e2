"""Anchors: exact strings that later work may need verbatim.

An anchor is a run of characters that nobody would write twice by chance: a URL, a path, an id, a hash, a
number of three digits and more, a compound identifier, a short quoted phrase. Extraction is linear in the
text: one scan for runs, then a look at each distinct run.
"""

import re

_RUN = re.compile(r"[\w./:@~%+#$\\-]{3,}(?:,\d{3})*")
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>`|]{3,400}")
_PHRASE = re.compile(r"[\"'`]([^\s\"'`\\][^\"'`\n\\]{2,58}[^\s\"'`\\])[\"'`]")
_PLAIN_WORD = re.compile(r"[^\W\d_]+")
_TELLING = re.compile(
    r"\d[\d.,:_-]*\d"  # two digits and more, with what joins numbers
    r"|[^\W\d_]_[^\W\d_]|[^\W_]_\d|\d_[^\W_]"  # snake_case
    r"|[a-z][A-Z]|[A-Z]{2}[a-z]"  # camelCase
    r"|[A-Z][A-Z0-9]{2}"  # CONSTANTS
    r"|\w[/\\.:@#-]\w|^[~/.]+\w"  # paths, dotted and kebab-case names, handles
)
_TRIM = ".,:;-+#%$\\"
_NOISE = re.compile(r"[\W_]+|\d{1,2}(?:[.:,]\d{1,2})?|e\.g|i\.e|etc\.?")
MAX_LENGTH = 400
"""Longer runs (base64, minified code) are no anchors: nobody repeats them from memory."""


def anchors_of(text: str) -> set[str]:
    """Return the distinct anchors of `text`."""
    found = {run for run in map(_trimmed, set(_RUN.findall(text))) if _is_telling(run)}
    if "://" in text:
        found.update(url.rstrip(".,;:)]}") for url in _URL.findall(text))
    found.update(phrase for phrase in set(_PHRASE.findall(text)) if not _PLAIN_WORD.fullmatch(phrase))
    return found


def ordered_anchors(text: str) -> list[str]:
    """Return the distinct anchors of `text` in order of first appearance."""
    found = anchors_of(text)
    return sorted(found, key=text.find)


def _trimmed(run: str) -> str:
    return run.strip(_TRIM)


def _is_telling(run: str) -> bool:
    return 3 <= len(run) <= MAX_LENGTH and _TELLING.search(run) is not None and not _NOISE.fullmatch(run)
