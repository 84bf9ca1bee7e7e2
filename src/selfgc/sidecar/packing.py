"""How bytes lie in a store: compressed with zstd, and given back only when they are exactly what was stored."""

import hashlib
import sys

from selfgc.errors import PayloadCorrupt, PayloadMissing, UsageError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3
"""zstd's own default: 3 to 4 times smaller on tool output, at several hundred megabytes a second."""

MAX_BYTES = 2**30
"""No single payload or message is larger, uncompressed; what claims to be is not unpacked."""


def pack(data: bytes) -> bytes:
    """Return `data` as one zstd frame."""
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"{len(data)} bytes in one piece; a store takes at most {MAX_BYTES}; split it or leave it in view"
        )
    return zstd.compress(data, LEVEL)


def unpack(frame: bytes, size: int, name: str) -> bytes:
    """Return the `size` bytes of a frame; PayloadCorrupt when it is broken or holds more or fewer.

    Never more than `size` + 1 bytes are unpacked, whatever the frame claims. `name` says in the error what it was.
    """
    if not 0 <= size <= MAX_BYTES:
        raise PayloadCorrupt(
            f"{name}: its recorded size is {size} bytes, outside of 0 to {MAX_BYTES}; run `selfgc verify`"
        )
    opened = zstd.ZstdDecompressor()
    try:
        data = opened.decompress(frame, size + 1)
    except zstd.ZstdError as error:
        raise PayloadCorrupt(f"{name}: the stored bytes do not decompress ({error}); run `selfgc verify`") from error
    if len(data) != size or not opened.eof or opened.unused_data:
        raise PayloadCorrupt(f"{name}: expected {size} bytes, but the stored frame holds others; run `selfgc verify`")
    return data


def checked(data: bytes, sha256: str, name: str) -> bytes:
    """Return `data` when it has this hex SHA-256; else PayloadCorrupt."""
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise PayloadCorrupt(f"{name}: expected SHA-256 {sha256[:16]}…, got {found[:16]}…; run `selfgc verify`")
    return data


def payload_name(session: str, sha256: str) -> str:
    """Return how messages call a payload."""
    return f"payload {sha256[:16]!r} of session {session!r}"


def missing(session: str, sha256: str) -> PayloadMissing:
    """Return the one answer to every payload that a session does not hold: unknown, foreign or malformed."""
    return PayloadMissing(
        f"{payload_name(session, sha256)}: there is none; check the id and the session, or run `selfgc verify`"
    )
