"""Bytes of a file before they are read as JSON."""

import gzip
import json

import pytest

from selfgc.errors import ReadError
from selfgc.model.wire import without_lone_escapes
from selfgc.readers.json_text import first_bad_byte, is_blank, is_too_deep, json_text, line_at


def test_byte_order_mark():
    """A UTF-8 byte order mark is taken off; all other bytes stay."""
    assert json_text(b'\xef\xbb\xbf {"a":1}\n') == b' {"a":1}\n'
    assert json_text(b"[1]") == b"[1]"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\x00" * 512, "NUL"),
        ("\ufeff{}".encode("utf-16-le"), "UTF-16"),
        ("\ufeff{}".encode("utf-16-be"), "UTF-16"),
        ('{"a":1}'.encode("utf-16-le"), "UTF-16"),
        ("[1]".encode("utf-16-be"), "UTF-16"),
        (gzip.compress(b"{}", mtime=0), "gzip"),
        (b"PK\x03\x04rest", "zip"),
        (b"SQLite format 3\x00rest", "SQLite"),
        (b"\x7fELF\x02\x00\x00\x00{", "binary"),
    ],
)
def test_foreign_bytes(data, said):
    """What is no UTF-8 text is refused with what it is."""
    with pytest.raises(ReadError, match=said) as caught:
        json_text(data)
    assert caught.value.line is None


def test_leading_nul_bytes():
    """NUL bytes before a JSON text are left for the reader, which knows what to do with them."""
    assert json_text(b"\x00\x00{}") == b"\x00\x00{}"


@pytest.mark.parametrize(("raw", "where"), [(b"plain", None), ("é漢".encode(), None), (b"ab\xff", 2), (b"a\xc3", 1)])
def test_first_bad_byte(raw, where):
    """The first byte that is no UTF-8 is found."""
    assert first_bad_byte(raw) == where


def test_line_at():
    """Lines count from 1, and a line feed ends its own line."""
    text = b"one\ntwo\nthree"
    assert [line_at(text, position) for position in (0, 3, 4, 8)] == [1, 1, 2, 3]


@pytest.mark.parametrize(("depth", "expected"), [(256, False), (257, True)])
def test_is_too_deep(depth, expected):
    """256 levels are the most; brackets within strings do not count."""
    assert is_too_deep(b"[" * depth + b"]" * depth) is expected
    assert not is_too_deep(json.dumps(["[{" * 500, '"' + "[" * 500]).encode())


def test_many_brackets():
    """Wide JSON is not deep."""
    assert not is_too_deep(b"[" + b"{}," * 1000 + b"{}]")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (rb'"a\ud83d"', rb'"a\ufffd"'),
        (rb'"\uDE00a"', rb'"\ufffda"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"\u00e9"', rb'"\u00e9"'),
    ],
)
def test_without_lone_escapes(raw, expected):
    """Only lone surrogates are replaced, by something equally long."""
    assert without_lone_escapes(raw) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", True), (" \n\t", True), ("\u00a0\u2003", True), ("a", False), ("  x ", False), ("漢", False), ("\\", False)],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_is_blank(text, expected, ascii_only):
    """A text is blank when nothing in it can be seen, however it is escaped."""
    assert is_blank(json.dumps(text, ensure_ascii=ascii_only).encode()) is expected


def test_lone_surrogate_is_not_blank():
    """A broken character is still something."""
    assert not is_blank(rb'"\ud83d"')
