"""What a commit is worth, as one pure function.

With D tokens of the view removed net of pointers, S in it after the first changed byte, N calls to come, and
prices u (input), w (cache write), r (cache read):

    warm: benefit = N r D - (w - r)(S - D) - planning - reasoning - restores
    cold: benefit = w D + (N - 1) r D      - planning - reasoning - restores
    break-even on a warm cache: N* = k (S / D - 1) + (planning + reasoning + restores) / (r D), k = w / r - 1
"""

import msgspec

from selfgc.economics.catalog import Money, Row
from selfgc.errors import UsageError
from selfgc.model.ids import Tokens

_MILLION = 1_000_000


class Terms(msgspec.Struct, frozen=True):
    """Everything that a commit's benefit depends on."""

    removed: Tokens
    """D: tokens the view loses, pointers already counted."""
    suffix: Tokens
    """S: tokens of the present view from the first changed byte on."""
    calls_to_come: float
    """N: expected calls until the session ends or its cache is cold anyway, whichever is sooner."""
    is_cold: bool
    planning: Money = Money(0.0)
    reasoning: Tokens = Tokens(0)
    """Tokens of reasoning that the commit takes out; counted as output that is to be thought again."""
    restores: float = 0.0
    """Expected number of restores of what is folded."""


class Benefit(msgspec.Struct, frozen=True):
    """The worth of a commit in dollars, with every term that went into it."""

    total: Money
    saved: Money
    cache_break: Money
    planning: Money
    reasoning: Money
    restores: Money
    break_even: float
    """N*: calls to come at which a commit on a warm cache pays; 0 on a cold one."""


REASONING_WEIGHT = 0.25
"""Share of dropped reasoning that a model is taken to think again; an estimate, not a measurement."""
RESTORE_TOKENS = 1500
"""Tokens that one restore brings back on average; an estimate, replaced by measurements when there are some."""


def commit_benefit(terms: Terms, prices: Row) -> Benefit:
    """Return what committing now is worth against never committing. UsageError when nothing would be removed."""
    if terms.removed <= 0:
        raise UsageError(f"expected a plan that removes tokens, got {terms.removed} removed; drop such a plan")
    u_write, read = prices.write / _MILLION, prices.read / _MILLION
    kept = terms.suffix - terms.removed
    reasoning = terms.reasoning * REASONING_WEIGHT * prices.output / _MILLION
    restores = terms.restores * (RESTORE_TOKENS * u_write + terms.suffix * read)
    other = terms.planning + reasoning + restores
    if terms.is_cold:
        saved = u_write * terms.removed + max(0.0, terms.calls_to_come - 1) * read * terms.removed
        cache_break = break_even = 0.0
    else:
        saved = terms.calls_to_come * read * terms.removed
        cache_break = (u_write - read) * kept
        break_even = (cache_break + other) / (read * terms.removed)
    return Benefit(
        total=Money(saved - cache_break - other),
        saved=Money(saved),
        cache_break=Money(cache_break),
        planning=terms.planning,
        reasoning=Money(reasoning),
        restores=Money(restores),
        break_even=break_even,
    )
