"""Telling anchors: which of the anchors that a fold hides its pointer shows.

An anchor that later work never names again is dead weight in every later call. How likely it is named again was
measured on recorded sessions (docs/planner.md): most when the agent has typed it before, more for names and
phrases than for paths and other marks, hardly ever for numbers of old output; and it fades with the calls since
it was last seen. Of what is left out the pointer still tells tool and subject, and how to have it back.
"""

import re
from functools import cached_property

import msgspec

from selfgc.model.snapshot import Snapshot
from selfgc.model.spans import Effect

LEAST = 0.01
"""An anchor of less worth is not shown."""
UNTYPED = 0.1
"""Share of the worth that is left when the agent never typed an anchor itself."""
UNTYPED_OF_BODY = 0.4
"""As above, for an anchor that stood in a file the agent read."""
FADING = 20
"""Calls after which half of the worth is left, then a third, a fourth."""
LONG_AGO = 320
"""Calls; what was seen last before that is worth a fourth of what its age says."""
_NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[$€£¥]?[\d.,:%-]+")
_FILE = re.compile(r"[\w.-]+\.[a-z]{1,5}")
_PLACE = 0.5
_MARK = 0.2


class Telling(msgspec.Struct, frozen=True, dict=True):
    """Tells the anchors of one snapshot apart."""

    snapshot: Snapshot

    def tells(self, anchor: str) -> bool:
        """Whether a pointer shows the anchor."""
        return self.worth(anchor) >= LEAST

    def worth(self, anchor: str) -> float:
        """Return how likely the anchor is named again, 1 for a name that the agent typed just now."""
        last, typed, read = self._seen
        age = len(self.snapshot.spans) - last.get(anchor, 0)
        is_place = "/" in anchor and " " not in anchor or _FILE.fullmatch(anchor) is not None
        known = 1.0 if anchor in typed or is_place else UNTYPED_OF_BODY if anchor in read else UNTYPED
        fresh = FADING / (FADING + age) * (0.25 if age > LONG_AGO else 1)
        return known * fresh * _worth_of_form(anchor)

    @cached_property
    def _seen(self) -> tuple[dict[str, int], set[str], set[str]]:
        """The last call that shows each anchor, and the anchors that were typed, and read."""
        last: dict[str, int] = {}
        typed: set[str] = set()
        read: set[str] = set()
        for number, span in enumerate(self.snapshot.spans):
            asked = self.snapshot.entries[span.call.message].parts[span.call.part].anchors
            typed.update(asked)
            last.update(dict.fromkeys(asked, number))
            if span.result is not None:
                told = self.snapshot.entries[span.result.message].parts[span.result.part].anchors
                last.update(dict.fromkeys(told, number))
                if span.facts.effect is Effect.READ:
                    read.update(told)
        return last, typed, read


def _worth_of_form(anchor: str) -> float:
    if _NAME.fullmatch(anchor):
        return 1.0
    if _NUMBER.fullmatch(anchor):
        return 0.05
    if " " in anchor:
        return 0.5
    return _PLACE if "/" in anchor or _FILE.fullmatch(anchor) else _MARK
