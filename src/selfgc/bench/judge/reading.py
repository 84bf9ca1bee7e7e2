"""Views as the judge reads them: texts and windows of each message, worked out once however often it is met.

One `Reading` serves all cases and subjects of one session: most messages of a governed view are the session's own.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from selfgc.bench.governed import Counter, Restorable
from selfgc.bench.judge.needs import Need
from selfgc.bench.judge.uses import Use, visible
from selfgc.bench.judge.verbatim import Span, bare_windows, message_windows
from selfgc.bench.texts import Decoded, normal, raw_text, view_text


class Seen(msgspec.Struct, frozen=True):
    """What stands in some text: as matcher A and as matcher B look it up."""

    text: str
    windows: Sequence[frozenset[str]]

    def holds_use(self, use: Use) -> bool:
        """Whether a typed anchor stands there."""
        return visible(use, self.text)

    def missing(self, span: Span) -> list[str]:
        """Return the needed windows of a span that do not stand there."""
        return [window for window in span.windows if not any(window in found for found in self.windows)]

    def holds(self, need: Need) -> bool:
        """Whether the need is met there."""
        return not self.missing(need) if isinstance(need, Span) else self.holds_use(need)


class Reading:
    """Reads messages and payloads, and remembers what it read."""

    def __init__(self, count: Counter) -> None:
        """`count` counts the tokens of a text."""
        self._count = count
        self._tokens: dict[bytes, int] = {}
        self._sizes: dict[str, int] = {}
        self._texts: dict[bytes, str] = {}
        self._windows: dict[bytes, frozenset[str]] = {}
        self._payloads: dict[str, Seen] = {}

    def view(self, messages: Iterable[Decoded]) -> Seen:
        """Return what a list of messages shows."""
        keys = [self._known(message) for message in messages]
        return Seen(
            "\n".join(self._texts[key] for key in keys), tuple({key: self._windows[key] for key in keys}.values())
        )

    def windows(self, message: Decoded) -> frozenset[str]:
        """Return the windows of one message."""
        return self._windows[self._known(message)]

    def payload(self, item: Restorable) -> Seen:
        """Return what a payload holds; nothing when it is not what the index promises."""
        if not item.is_whole:
            return Seen("", ())
        if item.sha256 not in self._payloads:
            text = item.text()
            self._payloads[item.sha256] = Seen(normal(text), (frozenset(bare_windows(text)),))
        return self._payloads[item.sha256]

    def size(self, item: Restorable) -> int:
        """Return the tokens that restoring a payload brings back."""
        if item.sha256 not in self._sizes:
            self._sizes[item.sha256] = self._count(item.text())
        return self._sizes[item.sha256]

    def tokens(self, messages: Iterable[Decoded]) -> int:
        """Return the tokens of the messages' texts."""
        total = 0
        for message in messages:
            key = message_key(message)
            if key not in self._tokens:
                self._tokens[key] = self._count(raw_text(message))
            total += self._tokens[key]
        return total

    def _known(self, message: Decoded) -> bytes:
        key = message_key(message)
        if key not in self._texts:
            self._texts[key] = view_text([message])
            self._windows[key] = frozenset(message_windows(message))
        return key


def message_key(message: Mapping[str, object]) -> bytes:
    """Return a digest that names a decoded message, whatever the order of its members."""
    return hashlib.sha256(msgspec.json.encode(message, order="sorted")).digest()
