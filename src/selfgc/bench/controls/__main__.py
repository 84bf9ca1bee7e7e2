"""`python -m selfgc.bench.controls`: the digest of the world on standard input, for the control of determinism."""

import sys

import msgspec

from selfgc.bench.controls.determinism import World, about, digest_of
from selfgc.bench.controls.judging import SessionJudges


def main() -> int:
    """Print the digest of the world on standard input."""
    world = msgspec.json.decode(sys.stdin.buffer.read(), type=World)
    sys.stdout.write(digest_of(world, SessionJudges(about)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
