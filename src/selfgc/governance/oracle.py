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
    for raw, origin in zip(view.messages, view.origins, strict=True):
        if origin in view.edited:
            found += _check_edited(snapshot, raw, origin)
    return found


def input_violations(
    snapshot: Snapshot, raws: Sequence[bytes], fields: Mapping[str, bytes]
) -> frozenset[tuple[str, str]]:
    """Return the violations (rule, call id) that a request has before anything is edited."""
    return frozenset((item.rule, item.call_id) for item in snapshot.dialect.check(raws, fields, snapshot.profile))


def _check_edited(snapshot: Snapshot, raw: bytes, origin: int) -> list[Violation]:
    before = snapshot.entries[origin].message
    after = snapshot.dialect.split(raw)
    found = []
    if before.is_signed and _signed(snapshot, after) and _signed(snapshot, after) != _signed(snapshot, before):
        found.append(
            Violation("V4", f"messages.{origin}", "a signed block would change; it stays or goes whole", origin)
        )
    if before.role == "user" and not snapshot.policy.may_remove_user_text:
        skills = {before.parts[part].path for part, _ in snapshot.entries[origin].skill_parts}
        lost = _user_texts(snapshot, before, skills) - _user_texts(snapshot, after, set())
        if lost:
            found.append(Violation("V9", f"messages.{origin}", "the user's words would change", origin))
    return found


def _signed(snapshot: Snapshot, message: Message) -> list[tuple[int, str]]:
    texts = snapshot.dialect.texts(message)
    return [(n, texts[n]) for n, part in enumerate(message.parts) if part.is_signed]


def _user_texts(snapshot: Snapshot, message: Message, skills: set[str]) -> set[str]:
    texts = snapshot.dialect.texts(message)
    is_user = [part.kind is PartKind.USER_TEXT and part.path not in skills for part in message.parts]
    return {text for text, holds in zip(texts, is_user, strict=True) if holds}
