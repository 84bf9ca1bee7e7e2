"""Drafts: what one action on one object would put in the view, and the payload it would take out.

A draft is made against what is visible elsewhere: an anchor that stands nowhere else in the view goes into
the pointer, so that folding a body hides its words but not its handles.
"""

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from selfgc.governance import pointers
from selfgc.governance.excerpt import Excerpt, Seen, excerpt
from selfgc.governance.telling import Telling
from selfgc.model.anchors import anchors_of, implied, stands_in
from selfgc.model.ids import ObjectId
from selfgc.model.legality import Legality
from selfgc.model.message import PartRef
from selfgc.model.objects import PART_OVERHEAD, Span, Turn, is_document
from selfgc.model.pins import states_constraint
from selfgc.model.plan import Action
from selfgc.model.protocols import TokenCounter
from selfgc.model.records import Edit, Payload, Replacement
from selfgc.model.snapshot import Snapshot
from selfgc.model.spans import Effect
from selfgc.model.wire import decode, encode_exact, join_members, without_lone_surrogates

SHORTEST_LEAF = 240
"""A string argument of fewer characters stays as it is."""
SHORTEST_RESULT = 60
"""A result of fewer tokens stays as it is."""
SMALLEST_ROW = 100
"""A swallowed span of fewer tokens gets no row of its own in a turn's pointer, unless it failed."""
_COMMAND_KEYS = frozenset({"command", "cmd", "script", "code", "CommandLine"})


class Draft(msgspec.Struct, frozen=True):
    """One action worked out: the edits it makes (a turn's fold makes one a span, too) and their payloads."""

    edits: tuple[Edit, ...]
    payloads: tuple[Payload, ...]
    shown: frozenset[str]
    """Anchors that its pointers show."""

    @property
    def saving(self) -> int:
        """Tokens that the view loses, net of pointers."""
        return sum(edit.tokens_before - edit.tokens_after for edit in self.edits)


class Piece(msgspec.Struct, frozen=True):
    """One stretch of text that leaves: a result, or one string argument."""

    name: str
    """`content` for a result, `input.<path>` for an argument."""
    raw: bytes
    """The raw JSON value."""
    text: str
    is_text: bool


class Drafter(msgspec.Struct, frozen=True, dict=True):
    """Makes drafts for one snapshot."""

    snapshot: Snapshot
    counter: TokenCounter
    legality: Legality

    @cached_property
    def telling(self) -> Telling:
        """Which anchors the pointers show."""
        return Telling(self.snapshot)

    def draft(self, action: Action, visible: Container[str]) -> Draft:
        """Work an action out. `visible` are the anchors that stand elsewhere in the view to come."""
        span = self.snapshot.spans_by_id.get(action.id)
        if span is None:
            return self._turn(self.snapshot.turns_by_id[action.id], action, visible)
        if action.verb == "prune":
            return self._pruned(span, action)
        return self._shortened(span, action, visible)

    def edited_refs(self, action: Action) -> Iterable[PartRef]:
        """Return the parts that an action may take text from."""
        span = self.snapshot.spans_by_id.get(action.id)
        if span is not None:
            return _refs(span)
        turn = self.snapshot.turns_by_id[action.id]
        return [ref for span in self.legality.swallowable(turn, action.spare) for ref in _refs(span)]

    def visible_outside(self, actions: Iterable[Action]) -> set[str]:
        """Return the anchors that stay in view whatever becomes of these actions."""
        snapshot = self.snapshot
        leaving = {(ref.message, ref.part) for action in actions for ref in self.edited_refs(action)}
        visible = set(snapshot.system_anchors)
        for number, entry in enumerate(snapshot.entries):
            for part, facts in enumerate(entry.parts):
                if (number, part) in leaving:
                    continue
                replaced = snapshot.replacements.get((snapshot.chains[number], entry.message.parts[part].path))
                if replaced is None:
                    visible.update(facts.anchors)
                else:
                    visible |= anchors_of("\n".join([replaced.text or "", *(replaced.arguments or {}).values()]))
        return visible | {ending for anchor in visible for ending in implied(anchor)}

    def draft_result(self, span: Span, action: Action, visible: Container[str], original: str = "") -> Draft | None:
        """Work an action out on a span's result alone. `original` names the object that shows the same text."""
        if span.result is None:
            return None
        made = self._short_result(span, span.result, action, visible, original)
        if made is None:
            return None
        replacement, taken, anchors = made
        payload, media = pack(taken)
        before = self._current_tokens(span.result)
        edit = Edit(
            span.id,
            action.verb,
            (replacement,),
            before,
            replacement.tokens,
            payload.sha256,
            media,
            reason=action.reason,
        )
        return Draft((edit,), (payload,), frozenset(anchors))

    def _current_tokens(self, ref: PartRef) -> int:
        entry = self.snapshot.entries[ref.message]
        key = (self.snapshot.chains[ref.message], entry.message.parts[ref.part].path)
        replaced = self.snapshot.replacements.get(key)
        return replaced.tokens if replaced is not None else entry.parts[ref.part].tokens

    def _replacement(
        self, ref: PartRef, text: str | None = None, arguments: dict[str, str] | None = None, tokens: int = 0
    ) -> Replacement:
        path = self.snapshot.entries[ref.message].message.parts[ref.part].path
        if text is not None:
            text = without_lone_surrogates(text)
        if arguments is not None:
            arguments = {leaf: without_lone_surrogates(new) for leaf, new in arguments.items()}
        return Replacement(self.snapshot.chains[ref.message], path, text, arguments, tokens)

    def _shortened(self, span: Span, action: Action, visible: Container[str]) -> Draft:
        """Fold or mask one span: its result, and the large string arguments of its call."""
        pieces: list[Piece] = []
        replacements: list[Replacement] = []
        seen = Seen(visible)
        before = after = 0
        for ref, make in ((span.result, self._short_result), (span.call, self._short_call)):
            if ref is None or (ref == span.call and ref == span.result and replacements):
                continue
            made = make(span, ref, action, seen) or self._as_it_stands(span, ref)
            if made is None:
                continue
            replacement, taken, anchors = made
            before += self._current_tokens(ref)
            after += replacement.tokens
            pieces += taken
            replacements.append(replacement)
            seen.shown |= anchors
        payload, media = pack(pieces)
        edit = Edit(
            span.id, action.verb, tuple(replacements), before, after, payload.sha256, media, reason=action.reason
        )
        return Draft((edit,), (payload,), frozenset(seen.shown))

    def _as_it_stands(self, span: Span, ref: PartRef) -> tuple[Replacement, list[Piece], set[str]] | None:
        """Return what an earlier edit of the span put at a part; a new edit takes the earlier one's place."""
        entry, earlier = self.snapshot.entries[ref.message], self.snapshot.edits.get(span.id)
        key = (self.snapshot.chains[ref.message], entry.message.parts[ref.part].path)
        replacements = earlier.replacements if earlier is not None else ()
        held = next((item for item in replacements if (item.chain, item.path) == key), None)
        if held is None:
            return None
        if held.arguments is None:
            return held, [self._result_piece(ref)], set()
        return held, self._argument_pieces(ref, held.arguments), set()

    def _argument_pieces(self, ref: PartRef, paths: Iterable[str]) -> list[Piece]:
        leaves = self.snapshot.dialect.arguments(self.snapshot.entries[ref.message].message, ref.part)
        return [Piece(f"input.{path}", encode_exact(leaves[path]), leaves[path], is_text=True) for path in paths]

    def _short_result(
        self, span: Span, ref: PartRef, action: Action, visible: Container[str], original: str = ""
    ) -> tuple[Replacement, list[Piece], set[str]] | None:
        if self.snapshot.part_tokens(ref) < SHORTEST_RESULT:
            return None
        piece = self._result_piece(ref)
        found = self._excerpt(span, ref, piece.text, visible, action.keep)
        text = self._render(span, piece.text, found.shown, action.verb, "")
        if original:
            text = pointers.repeat_pointer(span, piece.text, original, self.snapshot.policy.recovery)
        tokens = self.counter.count(text) + PART_OVERHEAD
        if tokens >= self._current_tokens(ref):
            return None
        return self._replacement(ref, text=text, tokens=tokens), [piece], set(found.anchors)

    def _short_call(
        self, span: Span, ref: PartRef, action: Action, visible: Container[str]
    ) -> tuple[Replacement, list[Piece], set[str]] | None:
        message = self.snapshot.entries[ref.message].message
        if ref == span.result or (message.is_signed and not self.legality.may_strip):
            return None
        leaves = self.snapshot.dialect.arguments(message, ref.part)
        large = {path: text for path, text in leaves.items() if len(text) >= SHORTEST_LEAF}
        kept = Seen(visible)
        changed: dict[str, str] = {}
        tokens = self.snapshot.part_tokens(ref)
        for path, text in large.items():
            found = self._excerpt(span, ref, text, kept, action.keep)
            short = self._render(span, text, found.shown, action.verb, path)
            saved = self.counter.count(text) - self.counter.count(short)
            if saved > 0:
                changed[path] = short
                tokens -= saved
                kept.shown |= found.anchors
        if not changed or tokens >= self._current_tokens(ref):
            return None
        return (
            self._replacement(ref, arguments=changed, tokens=tokens),
            self._argument_pieces(ref, changed),
            kept.shown,
        )

    def _result_piece(self, ref: PartRef) -> Piece:
        raw = self.snapshot.dialect.content(self.snapshot.entries[ref.message].message, ref.part)
        return Piece("content", raw, self.snapshot.text(ref), is_one_text(raw))

    def _render(self, span: Span, text: str, shown_lines: Sequence[str], verb: str, path: str) -> str:
        recovery = self.snapshot.policy.recovery
        if verb == "mask" and text:
            shown = pointers.masked_text(span, text, (), recovery)
            missing = [line for line in shown_lines if line not in shown]
            return pointers.masked_text(span, text, missing, recovery)
        if not path:
            return pointers.result_pointer(span, text, shown_lines, recovery)
        make = pointers.command_pointer if path in _COMMAND_KEYS else pointers.argument_pointer
        return make(span, text, shown_lines, recovery)

    def _excerpt(self, span: Span, ref: PartRef, text: str, visible: Container[str], keep: Sequence[str]) -> Excerpt:
        known = self.snapshot.entries[ref.message].parts[ref.part].anchors
        unseen = [anchor for anchor in known if not stands_in(anchor, visible) and self.telling.tells(anchor)]
        if ref == span.call:  # a call's anchors are those of all its arguments together
            unseen = [anchor for anchor in unseen if anchor in text]
        return excerpt(text, unseen, keep, is_document=is_document(span))

    def _pruned(self, span: Span, action: Action) -> Draft:
        refs = _refs(span)
        edit = Edit(
            span.id,
            "prune",
            tuple(self._replacement(ref) for ref in refs),
            sum(map(self._current_tokens, refs)),
            0,
            reason=action.reason,
        )
        return Draft((edit,), (), frozenset())

    def _turn(self, turn: Turn, action: Action, visible: Container[str]) -> Draft:
        spans = self.legality.swallowable(turn, action.spare)
        if action.verb == "mask":
            return self._masked_turn(turn, spans, action, visible)
        refs = [ref for span in spans for ref in _refs(span)]
        before = sum(map(self._current_tokens, refs))
        swallowed = tuple(span.id for span in spans)
        if action.verb == "prune":
            dropped = tuple(self._replacement(ref) for ref in [*refs, *self._user_refs(turn)])
            edit = Edit(turn.id, "prune", dropped, before, 0, reason=action.reason, swallowed=swallowed)
            return Draft((edit,), (), frozenset())
        return self._folded_turn(turn, spans, action, visible)

    def _user_refs(self, turn: Turn) -> list[PartRef]:
        """Return the user's own parts when a policy lets a prune take them along.

        The first turn's always stay, and so do words that forbid, allow or rule something.
        """
        if not self.snapshot.policy.may_remove_user_text or turn is self.snapshot.turns[0]:
            return []
        refs = [PartRef(turn.start, n) for n in range(len(self.snapshot.entries[turn.start].message.parts))]
        return [] if any(states_constraint(self.snapshot.text(ref)) for ref in refs) else refs

    def _folded_turn(self, turn: Turn, spans: Sequence[Span], action: Action, visible: Container[str]) -> Draft:
        """All spans of a turn become one: the first, whose result is the pointer with a row for each."""
        rows = pointers.span_rows([span for span in spans if span.tokens >= SMALLEST_ROW or span.facts.has_failed])
        seen = Seen(visible)
        seen.shown |= shown_by_rows(rows)
        shown: list[str] = []
        for owner, ref in [(span, ref) for span in spans for ref in _refs(span)]:
            found = self._excerpt(owner, ref, self.snapshot.text(ref), seen, action.keep)
            shown += found.shown
            seen.shown |= found.anchors
            seen.shown.update(ending for anchor in found.anchors for ending in implied(anchor))
        text = pointers.turn_pointer(turn.id, len(spans), rows, shown, self.snapshot.policy.recovery)
        carrier = spans[0]
        replacements = [*self._carrier(carrier, text)]
        replacements += [self._replacement(ref) for span in spans[1:] for ref in _refs(span)]
        before = sum(self._current_tokens(ref) for span in spans for ref in _refs(span))
        payload = _turn_payload([self.snapshot.entries[n].message.raw for n in range(turn.start + 1, turn.end)])
        edit = Edit(
            turn.id,
            "fold",
            tuple(replacements),
            before,
            sum(item.tokens for item in replacements),
            payload.sha256,
            "application/json",
            reason=action.reason,
            swallowed=tuple(span.id for span in spans),
        )
        inner = [made for span in spans if (made := self._inner(span, turn.id)) is not None]
        edits = (edit, *(inner_edit for inner_edit, _ in inner))
        return Draft(edits, (payload, *(inner_payload for _, inner_payload in inner)), frozenset(seen.shown))

    def _carrier(self, span: Span, text: str) -> list[Replacement]:
        assert span.result is not None  # noqa: S101 - legality refuses turns with open calls
        leaves = self.snapshot.dialect.arguments(self.snapshot.entries[span.call.message].message, span.call.part)
        short = {path: f"{leaf[:100]}…" for path, leaf in leaves.items() if len(leaf) >= SHORTEST_LEAF}
        tokens = self.snapshot.part_tokens(span.call)
        tokens -= sum(self.counter.count(leaves[path]) - self.counter.count(new) for path, new in short.items())
        result = self._replacement(span.result, text=text, tokens=self.counter.count(text) + PART_OVERHEAD)
        return [self._replacement(span.call, arguments=short, tokens=tokens), result] if short else [result]

    def _has_payload(self, object_id: ObjectId) -> bool:
        edit = self.snapshot.edits.get(object_id)
        return edit is not None and edit.payload != ""

    def _inner(self, span: Span, turn_id: ObjectId) -> tuple[Edit, Payload] | None:
        """Keep the whole payload of a span that a turn's fold swallows; None when an earlier edit keeps it.

        The call leaves with its result, so what its row does not show of the arguments belongs to the payload.
        """
        leaves = self.snapshot.dialect.arguments(self.snapshot.entries[span.call.message].message, span.call.part)
        shown = pointers.row_subject(span)
        least = 1 if span.facts.effect is Effect.EDIT else pointers.ROW_SUBJECT
        hidden = [path for path, text in leaves.items() if len(text) >= least and text != shown]
        pieces = [self._result_piece(_refs(span)[-1]), *self._argument_pieces(span.call, hidden)]
        payload, media = pack(pieces)
        earlier = self.snapshot.edits.get(span.id)
        if earlier is not None and earlier.payload == payload.sha256:
            return None
        reason = "in a folded turn"
        return Edit(span.id, "fold", (), 0, 0, payload.sha256, media, reason=reason, within=turn_id), payload

    def _masked_turn(self, turn: Turn, spans: Sequence[Span], action: Action, visible: Container[str]) -> Draft:
        edits: list[Edit] = []
        payloads: list[Payload] = []
        seen = Seen(visible)
        for span in spans:
            draft = self._shortened(span, msgspec.structs.replace(action, id=span.id), seen)
            if draft.saving > 0 and not self._has_payload(span.id):
                edits += draft.edits
                payloads += draft.payloads
                seen.shown |= draft.shown
        marker = Edit(turn.id, "mask", (), 0, 0, reason=action.reason)
        return Draft((marker, *edits) if edits else (), tuple(payloads), frozenset(seen.shown))


def shown_by_rows(rows: Sequence[str]) -> set[str]:
    """Return the anchors that a turn's rows make visible: their folder, and each path below it."""
    anchors = anchors_of("\n".join(rows)) | {row.partition(" ")[0] for row in rows}
    if rows and rows[0].startswith("under "):
        anchors.add(rows[0].removeprefix("under ").rstrip("/"))
    return anchors | {ending for anchor in anchors for ending in implied(anchor)}


def _refs(span: Span) -> list[PartRef]:
    return [span.call] if span.result is None or span.result == span.call else [span.call, span.result]


def _payload(data: bytes) -> Payload:
    return Payload(hashlib.sha256(data).hexdigest(), data)


def _turn_payload(raws: Sequence[bytes]) -> Payload:
    """Return raw messages as one JSON array, without copying them."""
    runs = [b"["]
    for raw in raws:
        runs += [raw, b","]
    runs[-1] = b"]"
    digest = hashlib.sha256()
    for run in runs:
        digest.update(run)
    return Payload(digest.hexdigest(), tuple(runs))


def is_one_text(raw: bytes) -> bool:
    """Whether a result's content is one text: a string, or a list of one plain text block."""
    if raw.startswith(b'"'):
        return True
    value = decode(raw)
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and value[0].keys() == _PLAIN


_PLAIN = {"type", "text"}


def pack(pieces: Sequence[Piece]) -> tuple[Payload, str]:
    """Return pieces as one payload and its media type.

    One text is its own UTF-8 bytes. Several pieces, or one that is no text, are a JSON object of the raw
    values by piece name.
    """
    if len(pieces) == 1 and pieces[0].is_text:
        return _payload(pieces[0].text.encode("utf-8", "surrogatepass")), "text/plain"
    named: Mapping[str, bytes] = {piece.name: piece.raw for piece in pieces}
    return _payload(join_members(named)), "application/json"
