"""The oracle: checks on every view before it goes out, in tests and in production.

V1 to V3, V5, V6, V8, V17  the dialect's own validity check finds nothing that the input did not have already
V4   signed blocks of a kept message are byte-equal and in place, or all of them are gone; the latest
     assistant message is not edited (but for stripped reasoning)
V7   strict JSON and strict UTF-8 (part of the dialect's check)
V9   user text is byte-equal, unless a policy names it
V10  the view before the first message edited by a new commit equals the view before that commit
V11  a commit makes the view strictly smaller
V12  each pointer's payload is held, under the hash of its bytes
V13  the transcript outside the view is whole (checked by `selfgc verify` over the journal's chain)
V14  the same state governs to the same view (a property of `project`; tests hold it)
V19  a plan is applied to the snapshot it was made from
V20  pointers name the restore tool only where the request offers it

V19 is enforced by `rehearse`, V12 by the engine, which knows the store; the rest is here.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from selfgc.model.message import Message, PartKind
from selfgc.model.outcome import View
from selfgc.model.profile import Violation
from selfgc.model.snapshot import Snapshot


def check_view(
    snapshot: Snapshot, view: View, fields: Mapping[str, bytes], *, known: frozenset[tuple[str, str]] = frozenset()
) -> list[Violation]:
    """Return what is wrong with a view. `known` are the violations (rule, call id) that came in with the input."""
    found = [
        item
        for item in snapshot.dialect.check(view.messages, fields, snapshot.profile)
        if (item.rule, item.call_id) not in known
    ]
    for place, origin in enumerate(view.origins):
        if origin in view.edited and snapshot.entries[origin].message.is_signed:
            found += _check_signed(snapshot, view, place)
    if not snapshot.policy.may_remove_user_text:
        for origin in sorted(view.edited):
            found += _check_words(snapshot, view, origin)
    return found


def input_violations(
    snapshot: Snapshot, raws: Sequence[bytes], fields: Mapping[str, bytes]
) -> frozenset[tuple[str, str]]:
    """Return the violations (rule, call id) that a request has before anything is edited."""
    return frozenset((item.rule, item.call_id) for item in snapshot.dialect.check(raws, fields, snapshot.profile))


def _check_signed(snapshot: Snapshot, view: View, place: int) -> list[Violation]:
    before = snapshot.entries[view.origins[place]].message
    kept = _signed(snapshot, snapshot.dialect.split(view.messages[place]))
    if not kept or kept == _signed(snapshot, before):
        return []
    return [Violation("V4", f"messages.{place}", "a signed block would change; it stays or goes whole", place)]


def _check_words(snapshot: Snapshot, view: View, origin: int) -> list[Violation]:
    """Find the user's words of one edited message in the view, be it by itself or merged into a later one."""
    entry = snapshot.entries[origin]
    skills = {entry.message.parts[part].path for part, _ in entry.skill_parts}
    words = _user_texts(snapshot, entry.message, skills)
    if not words:
        return []
    place = bisect_left(view.origins, origin)
    found = snapshot.dialect.split(view.messages[place]) if place < len(view.messages) else None
    left = _user_texts(snapshot, found, set()) if found is not None else set()
    if words <= left or (view.origins[place : place + 1] != (origin,) and _are_inside(words, left)):
        return []
    return [Violation("V9", f"messages.{place}", "the user's words would change", min(place, len(view.messages) - 1))]


def _are_inside(words: set[str], texts: set[str]) -> bool:
    """Whether each of these texts stands within one of the others: Chat joins the texts of merged messages."""
    return all(any(word in text for text in texts) for word in words)


def _signed(snapshot: Snapshot, message: Message) -> list[tuple[int, str]]:
    texts = snapshot.dialect.texts(message)
    return [(n, texts[n]) for n, part in enumerate(message.parts) if part.is_signed]


def _user_texts(snapshot: Snapshot, message: Message, skills: set[str]) -> set[str]:
    texts = snapshot.dialect.texts(message)
    is_user = [part.kind is PartKind.USER_TEXT and part.path not in skills for part in message.parts]
    return {text for text, holds in zip(texts, is_user, strict=True) if holds}
