"""Which sessions worked on one repository: told from the rare text that they share, not from names.

1. Of the windows of each session a sixteenth is looked at, chosen by a checksum of their text.
2. A window is rare when at most a quarter of the sessions hold it (and two may always).
3. Two sessions belong together when the rare windows of both are at least `LEAST_SHARE` of the windows of the smaller
   one; so do all sessions between which such pairs lead.
"""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from selfgc.bench.judge.verbatim import Held

LEAST_SHARE = 0.05
"""Pairs of one repository share 8 % and more, others at most half a per cent (24 sessions of 10 repositories)."""
RARE_SHARE = 0.25
_SAMPLED = 16


def repositories_of(sessions: Mapping[str, tuple[Held, int]]) -> dict[str, str]:
    """Return for each session the name of its repository: that of its first session.

    `sessions` are the windows of each session by name, with the number of its messages.
    """
    windows = {name: _sample(held, length) for name, (held, length) in sorted(sessions.items())}
    counts = Counter(window for found in windows.values() for window in found)
    most = max(2, int(RARE_SHARE * len(windows)))
    rare = {name: {window for window in found if counts[window] <= most} for name, found in windows.items()}
    group = {name: name for name in windows}
    for one, other in combinations(windows, 2):
        least = LEAST_SHARE * min(len(windows[one]), len(windows[other]))
        if group[one] != group[other] and len(rare[one] & rare[other]) >= max(1, least):
            _join(group, one, other)
    return group


def _sample(held: Held, length: int) -> set[str]:
    return {window for window in held.between(0, length) if zlib.crc32(window.encode()) % _SAMPLED == 0}


def _join(group: dict[str, str], one: str, other: str) -> None:
    first, last = sorted((group[one], group[other]))
    for name, of in group.items():
        if of == last:
            group[name] = first


def members(group: Mapping[str, str], name: str) -> Sequence[str]:
    """Return the other sessions of a session's repository."""
    return [other for other, of in group.items() if of == group[name] and other != name]
