"""Messages and their parts, over the raw wire bytes.

A part is one addressable piece of a message. It does not hold its text: the text is read from the
message's bytes by the dialect when somebody needs it, so that a long transcript is held once.
"""

from enum import StrEnum

import msgspec


class PartKind(StrEnum):
    """What a part is. Anything a dialect does not know is OPAQUE, and opaque parts are never edited."""

    SYSTEM = "system"
    USER_TEXT = "user_text"
    ASSISTANT_TEXT = "assistant_text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    MEDIA = "media"
    SERVER_TOOL = "server_tool"
    OPAQUE = "opaque"


COMPACTION = "compaction"
"""The `tool` of an opaque part that stands for a provider's own compaction: nothing before it is edited."""


class Part(msgspec.Struct, frozen=True, gc=False):
    """One piece of a message."""

    kind: PartKind
    path: str
    """Where it stands in the message: `content`, `content.3`, `tool_calls.0`, `reasoning_content`."""
    call_id: str = ""
    """The provider's id of the tool call, for calls and results."""
    tool: str = ""
    """The tool's name, for calls (results get it from their call)."""
    is_error: bool = False
    is_signed: bool = False
    """Signed or encrypted by the provider: kept byte-equal or dropped whole."""
    media_tokens: int = 0
    """Estimate for images and documents inside; their base64 is never counted as text."""


class Message(msgspec.Struct, frozen=True, gc=False):
    """One wire message: its bytes, its identity and its parts."""

    raw: bytes
    digest: bytes
    """SHA-256 over the message without what clients change between calls (cache markers)."""
    role: str
    parts: tuple[Part, ...]

    @property
    def is_signed(self) -> bool:
        """Whether any part is signed, so that nothing beside it may be edited while it stays."""
        return any(part.is_signed for part in self.parts)


class PartRef(msgspec.Struct, frozen=True, gc=False, order=True):
    """The address of a part in a transcript: message index and index into `Message.parts`."""

    message: int
    part: int
