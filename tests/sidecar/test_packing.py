"""Packed bytes come back exactly, or not at all."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfgc.errors import PayloadCorrupt, PayloadMissing, UsageError
from selfgc.sidecar import packing
from selfgc.sidecar.packing import checked, missing, pack, unpack


@given(st.binary(max_size=2000))
def test_any_bytes_come_back(data):
    """What was packed is unpacked byte for byte."""
    assert unpack(pack(data), len(data), "it") == data


def test_repetitive_text_becomes_small():
    """Tool output of like lines takes a fraction of its size."""
    assert len(pack(b"ok  src/module.py  12 passed\n" * 1000)) < 200


@pytest.mark.parametrize("size", [0, 4, 6, 10**6])
def test_another_size_than_recorded_is_corrupt(size):
    """A frame that holds more or fewer bytes than recorded is refused."""
    with pytest.raises(PayloadCorrupt, match=f"expected {size} bytes"):
        unpack(pack(b"12345"), size, "it")


@pytest.mark.parametrize("size", [-1, packing.MAX_BYTES + 1])
def test_an_impossible_size_is_corrupt(size):
    """A recorded size outside of what a store takes is not even tried."""
    with pytest.raises(PayloadCorrupt, match="recorded size"):
        unpack(pack(b""), size, "it")


def test_a_bomb_is_not_unpacked():
    """A small frame that unpacks to 256 MB stops right after the recorded size."""
    bomb = pack(bytes(2**28))
    with pytest.raises(PayloadCorrupt, match="expected 10 bytes"):
        unpack(bomb, 10, "it")


def test_what_follows_a_frame_is_corrupt():
    """Bytes after the frame's end are no part of it."""
    with pytest.raises(PayloadCorrupt):
        unpack(pack(b"12345") + b"x", 5, "it")


def test_a_cut_frame_is_corrupt():
    """Every cut of a frame is refused."""
    frame = pack(b"12345" * 100)
    for length in range(len(frame)):
        with pytest.raises(PayloadCorrupt):
            unpack(frame[:length], 500, "it")


def test_no_frame_is_corrupt():
    """Bytes that are no zstd frame are refused with the reason."""
    with pytest.raises(PayloadCorrupt, match="do not decompress"):
        unpack(b"plain text, no frame", 20, "it")


def test_too_large_a_piece_is_refused(monkeypatch):
    """More than the limit is a UsageError that names it."""
    monkeypatch.setattr(packing, "MAX_BYTES", 10)
    with pytest.raises(UsageError, match="at most 10"):
        pack(bytes(11))


def test_bytes_with_another_hash_are_not_given():
    """The SHA-256 decides."""
    assert checked(b"a", hashlib.sha256(b"a").hexdigest(), "it") == b"a"
    with pytest.raises(PayloadCorrupt, match="it: expected SHA-256"):
        checked(b"b", hashlib.sha256(b"a").hexdigest(), "it")


def test_a_missing_payload_names_payload_and_session():
    """The answer to an unknown payload names what was asked for."""
    assert isinstance(missing("s", "ab"), PayloadMissing)
    assert "'ab' of session 's'" in str(missing("s", "ab"))
