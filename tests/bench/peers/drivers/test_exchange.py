"""The exchange: which lines are requests, and what an answer holds."""

import base64
import hashlib
import json

import pytest

from selfgc.bench.peers.drivers.exchange import NotUnderstood, answer, read_request


def test_a_request_is_read():
    """The body's other members are kept apart from its messages; rate and protected end are as given."""
    body = {"model": "m", "system": "s", "messages": [{"role": "user", "content": "x"}]}
    request = read_request(json.dumps({"dialect": "anthropic", "body": body, "rate": 0.44, "protected": 1}))
    assert request.fields == {"model": "m", "system": "s"}
    assert (request.messages, request.rate, request.protected) == (body["messages"], 0.44, 1)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "one JSON object a line"),
        ("[]", "expected"),
        ('{"body": {}}', "expected"),
        ('{"dialect": "chat", "body": {"messages": []}}', "'chat'"),
    ],
)
def test_what_is_no_request_is_told(line, told):
    """The message says what was expected."""
    with pytest.raises(NotUnderstood, match=told):
        read_request(line)


def test_payloads_are_written_with_their_digest():
    """Every byte of the original is there, half character pairs too."""
    written = answer([], {"h1": "caf\u00e9 \ud800"}, ("a", "b"))
    (payload,) = written["payloads"]
    held = base64.b64decode(payload["payload"])
    assert held.decode("utf-8", "surrogatepass") == "caf\u00e9 \ud800"
    assert payload["sha256"] == hashlib.sha256(held).hexdigest()
    assert (payload["id"], written["note"], written["plan"]) == ("h1", "a; b", "")
