"""What OpenAI Chat Completions accepts, rule by rule; the numbers are those that violations carry.

C1   Calls of an assistant message are answered by tool messages, each once, before a message of any other
     role; a request cannot end with an open call.
C2   A tool message answers a message with `tool_calls` before it.
C3   A call has an id of at most 40 characters, a function name, and arguments that are a string of JSON; a
     tool message names the id of such a call.
C4   Content is a string or a list of parts. It may be null in an assistant message with `tool_calls`,
     `refusal`, `audio` or `function_call`. `tool_calls` is not empty. Empty strings pass.
C5   Roles are system, developer, user, assistant, tool and function, in any order; there is a message.
C6   A tool message's content is a string or a list of text parts.
C7   Members that compatible servers add pass as they are.
C8   A legacy function message has the name of the `function_call` in the assistant message before it.
C9   One id on calls of several messages passes: an answer belongs to the nearest call before it. Within one
     message it is refused, as no answer could be told from the other.
V7   Strict JSON, strict UTF-8.
V17  The body is under the provider's size.

`shape` is made once for each message; `check` walks shapes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from selfgc.dialects.chat_shape import Shape, shape
from selfgc.dialects.json_rules import field_values, oversize, placed
from selfgc.model.profile import Profile, Violation

__all__ = ["Shape", "check", "shape"]


def check(shapes: Sequence[Shape], fields: Mapping[str, bytes], profile: Profile) -> list[Violation]:
    """Return every rule that a request of these messages and other top-level members breaks, in no order."""
    _, found = field_values(fields, "V7")
    found.extend(oversize(sum([one.size for one in shapes]), len(shapes), fields, profile, "V17"))
    if not shapes:
        found.append(Violation("C5", "$", "`messages` is empty; send at least one message"))
    for index, one in enumerate(shapes):
        if one.violations:
            found.extend(placed(one.violations, index))
    found.extend(_pair_violations(shapes))
    found.extend(_function_violations(shapes))
    return found


def _pair_violations(shapes: Sequence[Shape]) -> Iterator[Violation]:
    asker = 0
    waiting: set[str] = set()
    for index, one in enumerate(shapes):
        if one.role == "tool":
            if one.answers in waiting:
                waiting.remove(one.answers)
            elif one.answers:
                yield _stray(index, one.answers, shapes[asker].calls)
            continue
        if waiting:
            yield from _unanswered(asker, shapes[asker].calls, waiting)
        asker = index
        waiting = set(one.calls)
    if waiting:
        yield from _unanswered(asker, shapes[asker].calls, waiting)


def _unanswered(asker: int, calls: Sequence[str], waiting: Collection[str]) -> Iterator[Violation]:
    for call_id in dict.fromkeys(calls):
        if call_id in waiting:
            sentence = (
                f"the call {call_id} has no tool message before the next message of another role; add its answer "
                "there, or take the call out"
            )
            yield Violation("C1", f"messages.{asker}", sentence, asker, call_id)


def _stray(index: int, call_id: str, calls: Sequence[str]) -> Violation:
    path = f"messages.{index}"
    if not calls:
        sentence = (
            "a tool message answers an assistant message with `tool_calls` before it; remove it or bring that back"
        )
        return Violation("C2", path, sentence, index, call_id)
    if call_id in calls:
        sentence = f"the call {call_id} is answered more than once; keep one tool message for each call"
        return Violation("C1", path, sentence, index, call_id)
    sentence = f"`tool_call_id` {call_id} is the id of no call in the message before; correct it or remove the answer"
    return Violation("C3", path, sentence, index, call_id)


def _function_violations(shapes: Sequence[Shape]) -> Iterator[Violation]:
    called = ""
    for index, one in enumerate(shapes):
        if one.role == "assistant":
            called = one.function
        elif one.function and one.function != called:
            sentence = (
                f"no `function_call` to {one.function} in the assistant message before; bring it back or remove this"
            )
            yield Violation("C8", f"messages.{index}", sentence, index)
