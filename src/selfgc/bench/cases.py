"""Cases: sessions cut at user turns, each a prefix and what really followed.

A planner is given the prefix of a case and nothing else; the judge alone sees the continuation.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec

from selfgc.bench.texts import Decoded, has_result, has_text, raw_text

MIN_PREFIX_TOKENS = 8_000
"""A shorter prefix is no case: there is nothing to govern yet."""
MAX_STEPS = 40
"""At so many assistant messages the continuation ends, if the next user turn has not come before."""


class Case(msgspec.Struct, frozen=True):
    """One session cut at one user turn."""

    session: str
    cut: int
    """Index of the user message that opens the continuation."""
    prefix: Sequence[Decoded]
    """Every message before the cut."""
    continuation: Sequence[Decoded]
    """The messages from the cut on, up to the next user turn, with at most `MAX_STEPS` assistant messages."""

    @property
    def protected(self) -> Sequence[Decoded]:
        """The last complete turn of the prefix, which every method must keep."""
        return last_turn(self.prefix)


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
