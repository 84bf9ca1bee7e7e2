"""What the operator wants: protection, goals and pins, as one frozen value."""

from enum import StrEnum

import msgspec


class Boundary(StrEnum):
    """Where a commit is safe: before the next user input is answered, or between two steps of a turn."""

    TURN = "turn"
    STEP = "step"


class Recovery(StrEnum):
    """How a pointer says that its payload can be had: by the tool, or by the command line."""

    TOOL = "tool"
    COMMAND = "command"


class Carrier(StrEnum):
    """How ids are made visible: as tags in the live view, or as an index that only a planner's fork gets."""

    TAGS = "tags"
    INDEX = "index"


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Protection, goals and pins. The defaults are those of `selfgc govern`."""

    boundary: Boundary = Boundary.TURN
    keep_spans: int = 3
    """So many of the newest spans are never touched."""
    target_prune: float | None = None
    """Stop when this share of the view's tokens is saved; None: save what can be saved well."""
    budget: int | None = None
    """Stop when the view has at most so many tokens; None: no budget."""
    min_saving: int = 24
    """An action that saves fewer tokens than this is refused."""
    recovery: Recovery = Recovery.COMMAND
    carrier: Carrier = Carrier.INDEX
    """With tags every tool result and user input costs about a dozen tokens more; the index costs nothing."""
    pinned_ids: tuple[str, ...] = ()
    """Objects that are never touched, by id."""
    pinned_tools: tuple[str, ...] = ()
    """Tools whose spans are never touched; `*` and `?` match as in file names."""
    pinned_paths: tuple[str, ...] = ()
    """Files whose newest read is never touched, beside AGENTS.md, CLAUDE.md and the like."""
    pins_instructions: bool = True
    pins_memory: bool = True
    pins_skills: bool = True
    may_remove_user_text: bool = False
    """Let a prune of a turn take the user's words along; only baselines want that."""
    born_small_repeats: bool = True
    """Fold a result before it is first sent when the same text is in view already."""
    born_small_tokens: int | None = None
    """Mask a result before it is first sent when it has more tokens than this; None: never."""
    max_share: float = 1.0
    """One plan may touch at most this share of the objects; more is refused action by action."""
