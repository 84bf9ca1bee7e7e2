"""What a model's provider allows and binds: one row of the data file, as a value."""

from enum import StrEnum

import msgspec


class Thinking(StrEnum):
    """How a model hands out reasoning: not at all, with a manual budget, or adaptively."""

    NONE = "none"
    MANUAL = "manual"
    ADAPTIVE = "adaptive"


class Profile(msgspec.Struct, frozen=True):
    """The rules of one model or family. The defaults are the conservative ones for unknown names."""

    name: str = "unknown"
    thinking: Thinking = Thinking.MANUAL
    binds_prefix: bool = False
    """Signed thinking is bound to the exact messages before it (oracle.md, signed reasoning, 2)."""
    allows_prefill: bool = True
    """The conversation may end with an assistant message."""
    allows_system_messages: bool = True
    """`role: "system"` is accepted in the middle of the messages (Anthropic Messages only)."""
    server_state: tuple[str, ...] = ("previous_response_id", "conversation", "thread", "previous_interaction_id")
    """Request fields that keep history on the server: such requests are passed through."""
    max_body_bytes: int = 32 * 1024 * 1024


class Violation(msgspec.Struct, frozen=True):
    """One rule that a request breaks: the rule's number, where, and a sentence that says what to do."""

    rule: str
    path: str
    """JSON path: `messages.3.content.1`, `system.0`, or `$` for the request as a whole."""
    sentence: str
    message: int = -1
    """Index of the message, or -1."""
    call_id: str = ""
    """The tool call it is about, when it is about one."""
