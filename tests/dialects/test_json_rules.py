"""Strict JSON (V7, A33) and size (V17, A32), which hold for every dialect."""

import json

import pytest

from selfgc.dialects.json_rules import field_values, oversize, placed, strict_value
from selfgc.model.profile import Profile, Violation


def nested(depth):
    """A list in a list in a list, `depth` levels of them."""
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize(
    "raw",
    [b"{}", b'"\\ud83d\\ude00"', '"é 🙂"'.encode(), b" [1] ", nested(254), b"[" + b"[],[]," * 300 + b"1]", b"[1e999]"],
)
def test_strict_json_passes(raw):
    """V7, A33: valid texts have a value and no violation; many brackets are no deep nesting."""
    value, violation = strict_value(raw, "V7")
    assert violation is None
    assert value == json.loads(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"NaN",
        b'{"a": Infinity}',
        b'"\xff"',
        b'"a\x01"',
        b"\xef\xbb\xbf{}",
        b"1 2",
        nested(255),
        b'{"a":' * 255 + b"1" + b"}" * 255,
        nested(100_000),
        b'["\\ud800",' + nested(255) + b"]",
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_what_is_not_strict_json_has_no_value(raw):
    """V7, A33: broken texts, texts that are not UTF-8 and texts that nest too deep are refused."""
    value, violation = strict_value(raw, "V7", "system")
    assert value is None
    assert (violation.rule, violation.path) == ("V7", "system")


@pytest.mark.parametrize("raw", [b'"\\ud83d"', b'{"\\ud800": 1}', b'"\xed\xa0\x80"', b'["x\\udfffy"]'])
def test_lone_surrogates_are_found_and_the_value_is_kept(raw):
    """V7, A33: what a cut leaves of a pair is refused, and the other rules can still be looked at."""
    value, violation = strict_value(raw, "A33")
    assert value is not None
    assert violation.rule == "A33"
    assert "U+FFFD" in violation.sentence


def test_fields_are_decoded_and_checked():
    """V7: every top-level member is looked at; a broken one has no value."""
    values, found = field_values({"system": b'"s"', "tools": b"[NaN]"}, "V7")
    assert values == {"system": "s", "tools": None}
    assert [(violation.rule, violation.path) for violation in found] == [("V7", "tools")]


def test_paths_are_told_from_the_top_of_the_request():
    """A violation of a message gets the message's index, in the path too."""
    inner = Violation("A1", "content.2", "s", call_id="c")
    whole = Violation("A2", "", "s")
    assert placed([inner, whole], 7) == [
        Violation("A1", "messages.7.content.2", "s", 7, "c"),
        Violation("A2", "messages.7", "s", 7),
    ]


@pytest.mark.parametrize("messages", [[], [{}], [{}, {"a": 1}, {}]])
@pytest.mark.parametrize("fields", [{}, {"model": "m"}, {"model": "m", "system": "é"}])
def test_the_size_is_the_size_of_the_compact_body(messages, fields):
    """V17, A32: a body at the limit passes, one byte more is refused."""
    body = len(json.dumps({"messages": messages} | fields, separators=(",", ":"), ensure_ascii=False).encode())
    raw_messages = [json.dumps(message, separators=(",", ":")).encode() for message in messages]
    raw_fields = {key: json.dumps(value, ensure_ascii=False).encode() for key, value in fields.items()}
    size = sum(map(len, raw_messages))
    assert oversize(size, len(messages), raw_fields, Profile(max_body_bytes=body), "V17") == []
    (violation,) = oversize(size, len(messages), raw_fields, Profile(max_body_bytes=body - 1), "V17")
    assert (violation.rule, violation.path) == ("V17", "$")
