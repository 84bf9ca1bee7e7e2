"""Telling anchors: which of the anchors that a fold hides its pointer shows.

An anchor that later work never names again is dead weight in every later call. How often anchors are named again
was measured on recorded sessions (docs/planner.md): most when the agent has typed them before, more for names and
phrases than for places and other marks, hardly ever for numbers of old output; and it fades with the calls since
an anchor was last seen. Of what is left out the pointer still tells tool and subject, and how to have it back.
"""

import re
from functools import cached_property

import msgspec

from selfgc.model.snapshot import Snapshot
from selfgc.model.spans import Effect

LEAST = 0.003
"""An anchor of less worth is not shown."""
READ, TOLD = 0.6, 0.1
"""What an anchor is worth that the agent never typed: from a file it read, or from any other result."""
UNTYPED_PLACE = 2.7
"""Paths and files are opened without having been typed before: of that, so many times as much."""
FADING, UNTYPED_FADING = 22, 7
"""Calls after which half of the worth is left, then a third, a fourth."""
LONG_AGO, LONG_AGO_SHARE = 320, 0.25
"""What was seen last before so many calls is worth this share of what its age says."""
PHRASE, PLACE, MARK, NUMBER = 0.9, 0.5, 0.2, 0.015
"""What other forms are worth, against a name of code."""
_NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[$€£¥]?[\d.,:%-]+")
_FILE = re.compile(r"[\w.-]+\.[a-z]{1,5}")


class Telling(msgspec.Struct, frozen=True, dict=True):
    """Tells the anchors of one snapshot apart."""

    snapshot: Snapshot

    def tells(self, anchor: str) -> bool:
        """Whether a pointer shows the anchor."""
        return self.worth(anchor) >= LEAST

    def worth(self, anchor: str) -> float:
        """Return what showing the anchor is worth: 1 for a name that the agent typed just now."""
        last, typed, read = self._seen
        age = len(self.snapshot.spans) - last.get(anchor, 0)
        form = _worth_of_form(anchor)
        ago = LONG_AGO_SHARE if age > LONG_AGO else 1.0
        if anchor in typed:
            return form * ago * FADING / (FADING + age)
        known = (READ if anchor in read else TOLD) * (UNTYPED_PLACE if form == PLACE else 1.0)
        return known * form * ago * UNTYPED_FADING / (UNTYPED_FADING + age)

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
        return NUMBER
    if " " in anchor:
        return PHRASE
    return PLACE if "/" in anchor or _FILE.fullmatch(anchor) else MARK
