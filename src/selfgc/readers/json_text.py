"""The text of a file before it is read as JSON: encoding, nesting, positions.

Readers call `json_text` first; the other functions answer questions about bytes that a JSON parser leaves open.
"""

import re
from itertools import accumulate

from selfgc.errors import ReadError
from selfgc.model.wire import MAX_DEPTH, without_lone_escapes

_NOTHING = b" \t\r\n\v\f\x00"
_UTF8_MARK = b"\xef\xbb\xbf"
_FOREIGN = {
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8",
    b"{\x00": "UTF-16 text; convert it to UTF-8",
    b"\x00{": "UTF-16 text; convert it to UTF-8",
    b"[\x00": "UTF-16 text; convert it to UTF-8",
    b"\x00[": "UTF-16 text; convert it to UTF-8",
    b"\x1f\x8b": "a gzip archive; unpack it first",
    b"(\xb5/\xfd": "a zstd archive; unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"SQLite format 3\x00": "a SQLite database; export the session from it first",
}
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_BLANK = re.compile(rb'"(?:\\[nrtf]|\\u[0-9a-fA-F]{4}|[ \x80-\xff])*+"')


def json_text(data: bytes) -> bytes:
    """Return the bytes of a file without a UTF-8 byte order mark; ReadError when they can be no UTF-8 JSON."""
    text = data.removeprefix(_UTF8_MARK)
    if not text.strip(_NOTHING):
        what = "empty" if not text.strip() else "nothing but NUL bytes"
        raise ReadError(f"expected a session file, but it is {what}; check that the agent has written it")
    for start, what in _FOREIGN.items():
        if text.startswith(start):
            raise ReadError(f"expected JSON in UTF-8, got {what}")
    if b"\x00" in text[:1024] and text.lstrip(_NOTHING)[:1] not in (b"{", b"["):
        raise ReadError("expected JSON in UTF-8, got a binary file; give the session file itself")
    return text


def first_bad_byte(raw: bytes) -> int | None:
    """Return where the bytes stop being UTF-8, or None when all of them are."""
    if raw.isascii():
        return None
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def line_at(raw: bytes, position: int) -> int:
    """Return the line, from 1, in which a position stands."""
    return raw.count(b"\n", 0, position) + 1


def is_too_deep(raw: bytes) -> bool:
    """Whether well-formed JSON nests deeper than any provider accepts."""
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _STRING.sub(b"", raw).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MAX_DEPTH


def is_blank(string: bytes) -> bool:
    """Whether a raw JSON string holds no visible character."""
    if _BLANK.fullmatch(string) is None:
        return False
    text = without_lone_escapes(string)[1:-1].decode("utf-8", "replace")
    return not re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _character, text).strip()


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1][1:], 16)) if escape[1][0] == "u" else " "
