"""The Dialect protocol: what governance needs to know of a wire format."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from selfgc.model.message import Message
from selfgc.model.profile import Profile, Violation


class Change(msgspec.Struct, frozen=True):
    """What stands at one part of a message in the view."""

    text: str | None = None
    """The new text of a result or text part; None with no arguments: the part is left out."""
    arguments: Mapping[str, str] | None = None
    """For calls: new values for string arguments, by dotted path (`content`, `edits.0.new_string`)."""
    call_id: str | None = None
    """Another id for a call or result; only to repair ids that came in doubled."""

    @property
    def is_removal(self) -> bool:
        """Whether the part leaves the view."""
        return self.text is None and self.arguments is None and self.call_id is None


class Dialect(Protocol):
    """One wire format: takes messages apart, puts changed ones together, and knows what is valid."""

    @property
    def name(self) -> str:
        """`anthropic` or `chat`."""
        ...

    def split(self, raw: bytes) -> Message:
        """Take one wire message apart. WireError when it is no message of this dialect."""
        ...

    def texts(self, message: Message) -> tuple[str, ...]:
        """Return the decoded text of each part, in the order of `message.parts`."""
        ...

    def arguments(self, message: Message, part: int) -> dict[str, str]:
        """Return the string leaves of a call's arguments by dotted path; empty when they are no JSON object."""
        ...

    def content(self, message: Message, part: int) -> bytes:
        """Return the raw JSON value that holds a result's or text's content: a string, or a list of blocks."""
        ...

    def rewrite(self, raw: bytes, changes: Mapping[str, Change]) -> bytes | None:
        """Return a message with the parts at these paths changed; all else byte-equal. None: nothing is left."""
        ...

    def tag(self, raw: bytes, header: str, tags: Mapping[str, str]) -> bytes:
        """Return a message with a text before the user's words and a tag behind the results of these call ids."""
        ...

    def merge(self, first: bytes, second: bytes) -> bytes:
        """Return two neighbouring messages of one role as one."""
        ...

    def move_marker(self, source: bytes, target: bytes) -> bytes | None:
        """Put the cache marker of a message that leaves onto `target`. None: there is none, or no place for it."""
        ...

    def answer(self, call_ids: Sequence[str], text: str) -> tuple[bytes, ...]:
        """Return messages that answer open calls with an error text; for histories that came in broken."""
        ...

    def system_text(self, fields: Mapping[str, bytes]) -> str:
        """Return the text of the request's system prompt and tool definitions outside of the messages."""
        ...

    def check(self, messages: Sequence[bytes], fields: Mapping[str, bytes], profile: Profile) -> list[Violation]:
        """Return every rule of the provider that such a request would break; work grows with new messages."""
        ...
