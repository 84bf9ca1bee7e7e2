"""What a reader hands on: one request body with what the file told beside it. Values only, nothing is read here."""

import msgspec


class Usage(msgspec.Struct, frozen=True):
    """What the provider billed for one assistant message, in tokens."""

    input: int = 0
    """Input tokens that were neither read from the cache nor written to it."""
    output: int = 0
    cache_read: int = 0
    cache_creation: int = 0
    """All tokens written to the cache; the two members below split them by lifetime where the file says so."""
    cache_creation_5m: int = 0
    cache_creation_1h: int = 0


class Skipped(msgspec.Struct, frozen=True):
    """One thing that could not be read. `line` counts from 1; 0 means no line in particular."""

    line: int
    reason: str


class Notes(msgspec.Struct, frozen=True):
    """What the reader met and how often. All zero for request bodies."""

    sidechains: int = 0
    """Conversations of subagents in the same file; they are no part of the body."""
    sidechain_lines: int = 0
    compactions: int = 0
    """Compaction boundaries in the file, whether or not the live view goes back to one."""
    compacted_lines: int = 0
    """Message lines before the last boundary that the live view no longer shows."""
    microcompactions: int = 0
    """Places where the harness cleared old results: the file still holds them in full, and so does the body."""
    abandoned_branches: int = 0
    """Branches that a rewind or a retry left behind."""
    abandoned_lines: int = 0
    api_errors: int = 0
    """Lines that only tell of a failed request; they were never part of the conversation."""
    duplicate_lines: int = 0
    """Lines whose uuid had been there already; the first one counts."""
    broken_links: int = 0
    """Lines whose parent is not in the file; they were put behind the line before them."""
    blank_texts: int = 0
    """Text blocks without a visible character; no provider takes them, so they are left out."""
    empty_results: int = 0
    """Results without content although the harness kept a structured one beside the message."""
    open_calls: int = 0
    """Calls without a result."""
    orphan_results: int = 0
    """Results without a call in view; they are left out."""
    repeated_results: int = 0
    """Second results of one call; they are left out."""
    other_lines: dict[str, int] = {}
    """Lines that are no messages, counted by type; system lines and attachments by their own kind."""


class Recording(msgspec.Struct, frozen=True):
    """One session as a request body, ready for a dialect."""

    dialect: str
    """`anthropic` or `chat`."""
    body: bytes
    """The request body: the very bytes of the file where it holds one, else made from its messages."""
    source: str
    """What the file is: `anthropic request`, `chat request`, `session with meta` or `claude code session`."""
    name: str = ""
    """The session's name where the file says one."""
    timestamps: tuple[str | None, ...] = ()
    """As the file writes them, one a message, or none at all. A merged user message carries the time of its
    last line, an assistant message that of its first."""
    usage: tuple[Usage | None, ...] = ()
    """What was billed, one a message, or none at all."""
    skipped: tuple[Skipped, ...] = ()
    """What could not be read and was left out, or was read in an unusual way; only with `skip_bad`."""
    notes: Notes = Notes()
