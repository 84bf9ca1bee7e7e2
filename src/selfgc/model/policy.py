"""What the operator wants: protection, goals and pins, as one frozen value."""

from enum import StrEnum

import msgspec

from selfgc.errors import UsageError
from selfgc.model.ids import ID_PATTERN


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

    def __post_init__(self) -> None:
        """Take names for what they name, and refuse what cannot be."""
        for key, kind in (("boundary", Boundary), ("recovery", Recovery), ("carrier", Carrier)):
            msgspec.structs.force_setattr(self, key, _named(kind, key, getattr(self, key)))
        for key in ("pinned_ids", "pinned_tools", "pinned_paths"):
            msgspec.structs.force_setattr(self, key, _names(key, getattr(self, key)))
        msgspec.structs.force_setattr(self, "pinned_ids", tuple(map(_whole_id, self.pinned_ids)))
        _check("keep_spans", self.keep_spans, "0 or more", _is_count(self.keep_spans, 0))
        _check("min_saving", self.min_saving, "0 or more", _is_count(self.min_saving, 0))
        _check("max_share", self.max_share, "over 0, at most 1", _is_share(self.max_share) and self.max_share > 0)
        target, budget, born = self.target_prune, self.budget, self.born_small_tokens
        _check("target_prune", target, "None, or 0 to 1", target is None or _is_share(target))
        _check("budget", budget, "None, or over 0", budget is None or _is_count(budget, 1))
        _check("born_small_tokens", born, "None, or over 0", born is None or _is_count(born, 1))


def _named(kind: type[StrEnum], key: str, value: object) -> StrEnum:
    try:
        return kind(str(value))
    except ValueError:
        raise UsageError(f"Policy.{key} must be one of {', '.join(kind)}, got {value!r}") from None


def _names(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, tuple | list):
        raise UsageError(f"Policy.{key} must be a tuple of strings, got {value!r}")
    return tuple(str(item) for item in value)


def _whole_id(text: str) -> str:
    """Return an id in full; `Read:12` is short for `function:Read:12`."""
    whole = f"function:{text}" if text.count(":") == 1 else text
    if not ID_PATTERN.fullmatch(whole):
        raise UsageError(f"Policy.pinned_ids must hold ids such as function:Read:12, got {text[:80]!r}")
    return whole


def _check(key: str, value: object, wanted: str, holds: bool) -> None:  # noqa: FBT001 - a claim, not a switch
    if not holds:
        raise UsageError(f"Policy.{key} must be {wanted}, got {value!r}")


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and value >= least
