"""Cases: sessions cut at user turns (or, where there is but one, at steps), each a prefix and what really followed.

A planner is given the prefix of a case and nothing else; the judge alone sees the continuation.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise

import msgspec

from selfgc.bench.texts import Decoded, Source, has_call, has_result, has_text, leaves, raw_text

MIN_PREFIX_TOKENS = 8_000
"""A shorter prefix is no case: there is nothing to govern yet."""
STEP_TAIL = 3
"""At a step cut the newest messages with calls, so many, are kept by every method."""
MOST_STEP_CUTS = 3
LEAST_STEPS = 5
MAX_STEPS = 40
"""At so many assistant messages the continuation ends, if the next user turn has not come before."""


class Boundary(StrEnum):
    """Where a session was cut."""

    TURN = "turn"
    STEP = "step"


class Case(msgspec.Struct, frozen=True):
    """One session cut at one user turn or step."""

    session: str
    cut: int
    """Index of the message that opens the continuation: a user's at a turn, an agent's at a step."""
    prefix: Sequence[Decoded]
    """Every message before the cut."""
    continuation: Sequence[Decoded]
    """The messages from the cut on, up to the next user turn, with at most `MAX_STEPS` assistant messages."""
    boundary: Boundary = Boundary.TURN

    @property
    def in_view(self) -> Sequence[Decoded]:
        """The part of the prefix that the recorded agent was sent itself: from the harness's last compaction on."""
        return self.prefix[_view_start(self.prefix) :]

    @property
    def protected(self) -> Sequence[Decoded]:
        """What every method must keep: the last complete turn, or at a step cut the newest calls with their results."""
        if self.boundary is Boundary.TURN:
            return last_turn(self.prefix)
        return self.prefix[_newest_calls(self.prefix, STEP_TAIL) :]


_COMPACTED = re.compile(
    r"\A\s*(?:This session is being continued from a previous conversation"
    r"|Another language model started to solve this problem)"
)
"""How harnesses begin the message that stands for everything before it."""


def _view_start(messages: Sequence[Decoded]) -> int:
    """Return the index of the last message in which a harness summed up what came before; 0 when there is none."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if any(leaf.source is Source.USER and _COMPACTED.match(leaf.text) for leaf in leaves(message)):
            return index
    return 0


def is_user_turn(message: Decoded) -> bool:
    """Whether a turn begins here: a user message with text (a harness's text counts too) and without a tool result."""
    return message.get("role") == "user" and has_text(message) and not has_result(message)


def last_turn(messages: Sequence[Decoded]) -> Sequence[Decoded]:
    """Return the messages from the last user turn on; all of them when no turn begins among them."""
    starts = [index for index, message in enumerate(messages) if is_user_turn(message)]
    return messages[starts[-1] :] if starts else messages


def cases_of(name: str, messages: Sequence[Decoded], count: Callable[[str], int]) -> list[Case]:
    """Return a case for each user turn of the session whose prefix has `MIN_PREFIX_TOKENS` by `count`.

    A turn that the agent never answered gives no case: nothing in it could show an impact.
    """
    turns = [index for index, message in enumerate(messages) if is_user_turn(message)]
    first = _first_cut(messages, count)
    cases = []
    for cut, end in pairwise([*turns, len(messages)]):
        continuation = tuple(_steps(messages[cut:end]))
        if cut >= first and any(message.get("role") == "assistant" for message in continuation):
            cases.append(Case(name, cut, messages[:cut], continuation))
    return cases


def step_cases_of(name: str, messages: Sequence[Decoded], count: Callable[[str], int]) -> list[Case]:
    """Return up to `MOST_STEP_CUTS` cases of a session with one turn, cut at steps that lie evenly apart.

    A step begins with an assistant message whose calls before are all answered. The first cut has enough tokens
    before it, the last at least `LEAST_STEPS` assistant messages after it.
    """
    first = _first_cut(messages, count)
    steps = [n for n, message in enumerate(messages) if message.get("role") == "assistant"]
    allowed = [n for place, n in enumerate(steps) if n >= first and len(steps) - place >= LEAST_STEPS]
    wanted = min(MOST_STEP_CUTS, len(allowed))
    cuts = [allowed[(2 * place + 1) * len(allowed) // (2 * wanted)] for place in range(wanted)]
    return [Case(name, cut, messages[:cut], tuple(_steps(messages[cut:])), Boundary.STEP) for cut in cuts]


def all_cases_of(name: str, messages: Sequence[Decoded], count: Callable[[str], int]) -> list[Case]:
    """Return the cases of a session: at its user turns, or at steps when those give none."""
    return cases_of(name, messages, count) or step_cases_of(name, messages, count)


def _newest_calls(messages: Sequence[Decoded], calls: int) -> int:
    """Return the index of the message from which on the newest calls stand; 0 when there are not so many."""
    for index in range(len(messages) - 1, -1, -1):
        calls -= has_call(messages[index])
        if calls <= 0:
            return index
    return 0


def _first_cut(messages: Sequence[Decoded], count: Callable[[str], int]) -> int:
    """Return the least index before which there are enough tokens; past the end when there never are."""
    tokens = 0
    for index, message in enumerate(messages):
        if tokens >= MIN_PREFIX_TOKENS:
            return index
        tokens += count(raw_text(message))
    return len(messages)


def _steps(messages: Sequence[Decoded]) -> Iterator[Decoded]:
    """Yield the messages up to the last allowed assistant message, with the results that answer it."""
    steps = 0
    for message in messages:
        steps += message.get("role") == "assistant"
        if steps > MAX_STEPS:
            return
        yield message
