"""One recorded session: decoded for the judge, whole for whoever governs it."""

from collections.abc import Iterator, Mapping

import msgspec

from selfgc.bench.texts import Decoded


class Session(msgspec.Struct, frozen=True):
    """One session file, decoded for the judge and raw for the engine."""

    name: str
    dialect: str
    fields: Mapping[str, object]
    """The request's members but for its messages."""
    messages: tuple[Decoded, ...]
    timestamps: tuple[str | None, ...] = ()
    """ISO moments, one a message; empty when the file tells none."""
    kind: str = ""
    """What it is about, or which agent ran it, where the file says so."""

    @property
    def system(self) -> str:
        """The system prompt and tool definitions as text: every view holds them."""
        return "\n".join(_strings([self.fields.get("system"), self.fields.get("tools")]))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
