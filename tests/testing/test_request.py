"""Requests as they were received."""

import pytest

from selfgc.testing import Request


def test_fields_are_the_decoded_body():
    """The body stays as it came; the fields are what it says."""
    request = Request("/v1/messages", {"x-api-key": "k"}, b'{"model": "m", "stream": true}')
    assert request.fields == {"model": "m", "stream": True}
    assert request.is_stream


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff"])
def test_a_body_that_is_no_object_has_no_fields(body):
    """Whatever is wrong with it, a ValueError says so."""
    with pytest.raises(ValueError, match=r"."):
        _ = Request("/", {}, body).fields
    assert Request("/", {}, b"{}").is_stream is False
