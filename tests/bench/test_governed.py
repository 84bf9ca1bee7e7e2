"""What a subject hands over: payloads with their hash, and tokens of a request."""

import hashlib

from bench_world import agent, user
from selfgc.bench.governed import Restorable, normal_payload, tokens_of


def payload(data, sha256=None):
    return Restorable("x", data, sha256 or hashlib.sha256(data).hexdigest())


def test_a_payload_is_whole_when_its_hash_is_what_was_promised():
    """Anything else holds nothing."""
    assert payload(b"text").is_whole
    assert normal_payload(payload(b"a  text")) == "a text"
    assert normal_payload(payload(b"text", "0" * 64)) == ""


def test_the_strings_of_a_json_payload_are_its_text():
    """Nested, numbers too; what is no JSON stands for itself, and so does a bare number."""
    assert payload(b'{"a": ["one", {"b": "two"}], "n": 48213, "no": null, "t": true}').text() == "one\ntwo\n48213"
    assert payload(b"plain {text").text() == "plain {text"
    assert payload(b"48213").text() == "48213"
    assert payload(b'"said"').text() == "said"


def test_a_request_is_counted_with_what_stands_beside_its_messages():
    """System prompt and tools; other members are no tokens."""
    fields = {"system": "abc", "model": "m"}
    assert tokens_of(fields, [user("four"), agent("five5")], len) == len('"abc"') + 4 + 5
