"""The index: from messages to objects with ids and facts, grown message by message.

An index only grows; for a fork or a rewind another one is built from the same entries, which costs no
tokenising and no scan for anchors.
"""

import hashlib
import re
from collections.abc import Sequence

import msgspec

from selfgc.model.anchors import anchors_of
from selfgc.model.dialect import Dialect
from selfgc.model.ids import Allocator, ObjectId, ObjectKind, Tokens
from selfgc.model.message import Message, PartKind, PartRef
from selfgc.model.objects import PART_OVERHEAD, CallFacts, Entry, PartFacts, Span, Turn
from selfgc.model.protocols import TokenCounter
from selfgc.model.spans import Effect, Outcome, SpanFacts, facts_of, read_outcome, with_outcome

_SHORTEST_BODY = 200
_SKILL_FILE = re.compile(r"(?:^|.*[/\\\\])([^/\\\\]+)[/\\\\]SKILL\.md$|^SKILL\.md$", re.IGNORECASE)
_SKILL_BLOCK = re.compile(
    r"\s*(?:Base directory for this skill: \S*?([\w.-]+)/?\s|<skill[^>]{0,200}?name=\"([\w.-]{1,64})\")"
)


def short_digest(text: str) -> bytes:
    """Return 12 bytes that tell a text's content; empty for texts that are too short to matter."""
    if len(text) < _SHORTEST_BODY:
        return b""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).digest()[:12]


def read_entry(message: Message, dialect: Dialect, counter: TokenCounter, seen: dict[str, str]) -> Entry:
    """Find out everything about one message. `seen` holds each anchor string once, for all entries."""
    texts = dialect.texts(message)
    parts: list[PartFacts] = []
    calls: list[CallFacts] = []
    outcomes: list[tuple[int, Outcome]] = []
    skills: list[tuple[int, str]] = []
    for number, (part, text) in enumerate(zip(message.parts, texts, strict=True)):
        tokens = counter.count(text) + part.media_tokens + PART_OVERHEAD
        anchors = tuple(sorted(seen.setdefault(anchor, anchor) for anchor in anchors_of(text)))
        parts.append(PartFacts(tokens, anchors, short_digest(text)))
        if part.kind is PartKind.TOOL_CALL:
            calls.append(_read_call(message, number, dialect, text))
        elif part.kind is PartKind.TOOL_RESULT:
            outcomes.append((number, read_outcome(text, is_error=part.is_error)))
        elif part.kind is PartKind.USER_TEXT and (name := _skill_of(text)):
            skills.append((number, name))
    return Entry(message, tuple(parts), tuple(calls), tuple(outcomes), tuple(skills))


def _skill_of(text: str) -> str:
    found = _SKILL_BLOCK.match(text)
    return next((group for group in found.groups() if group), "") if found else ""


def _read_call(message: Message, number: int, dialect: Dialect, text: str) -> CallFacts:
    arguments = dialect.arguments(message, number)
    tool = message.parts[number].tool
    written = max(arguments.values(), key=len, default="")
    return CallFacts(number, tool, facts_of(tool, arguments, text), short_digest(written))


class Index:
    """Objects of one lineage of messages, in order. Grown by `add`; read through `spans` and `turns`."""

    def __init__(self, allocator: Allocator | None = None) -> None:
        self.entries: list[Entry] = []
        self.spans: list[Span] = []
        self.turns: list[Turn] = []
        self.allocator = allocator or Allocator()
        self._open: dict[str, int] = {}

    def add(self, entry: Entry, ids: Sequence[ObjectId] | None = None) -> tuple[ObjectId, ...]:
        """Take one more message in and return the ids of the objects that begin in it.

        `ids` are those a store remembers for this very message; without them new ones are allocated.
        """
        position = len(self.entries)
        self.entries.append(entry)
        given = list(ids) if ids is not None else None
        began: list[ObjectId] = []
        if entry.opens_turn:
            began.append(self._open_turn(position, given))
        elif self.turns:
            self.turns[-1] = msgspec.structs.replace(self.turns[-1], end=position + 1)
        began.extend([self._open_span(position, call, given) for call in entry.calls])
        began.extend([self._add_skill_text(PartRef(position, part), name, given) for part, name in entry.skill_parts])
        for part, outcome in entry.outcomes:
            self._close_span(PartRef(position, part), outcome)
        return tuple(began)

    def _take_id(self, given: list[ObjectId] | None, kind: ObjectKind, name: str) -> ObjectId:
        if given:
            taken = given.pop(0)
            self.allocator = self.allocator.past(taken)
        elif kind is ObjectKind.CONVERSATION:
            taken, self.allocator = self.allocator.turn()
        else:
            taken, self.allocator = self.allocator.span(kind, name)
        return taken

    def _open_turn(self, position: int, given: list[ObjectId] | None) -> ObjectId:
        taken = self._take_id(given, ObjectKind.CONVERSATION, "user")
        self.turns.append(Turn(taken, position, position + 1, len(self.spans), len(self.spans)))
        return taken

    def _open_span(self, position: int, call: CallFacts, given: list[ObjectId] | None) -> ObjectId:
        kind, name = _kind_of_call(call)
        taken = self._take_id(given, kind, name)
        entry = self.entries[position]
        call_id = entry.message.parts[call.part].call_id
        self._append_span(
            Span(
                id=taken,
                kind=kind,
                tool=call.tool,
                call=PartRef(position, call.part),
                result=None,
                facts=call.facts,
                turn=len(self.turns) - 1,
                call_tokens=Tokens(entry.parts[call.part].tokens),
                result_tokens=Tokens(0),
                body=call.written,
            )
        )
        self._open[call_id] = len(self.spans) - 1
        return taken

    def _add_skill_text(self, ref: PartRef, name: str, given: list[ObjectId] | None) -> ObjectId:
        taken = self._take_id(given, ObjectKind.SKILL, name)
        part = self.entries[ref.message].parts[ref.part]
        facts = SpanFacts(Effect.SKILL, name)
        turn = len(self.turns) - 1
        self._append_span(
            Span(taken, ObjectKind.SKILL, "", ref, ref, facts, turn, Tokens(0), Tokens(part.tokens), part.body)
        )
        return taken

    def _append_span(self, span: Span) -> None:
        self.spans.append(span)
        if self.turns:
            turn = self.turns[-1]
            self.turns[-1] = msgspec.structs.replace(turn, past_span=len(self.spans))

    def _close_span(self, ref: PartRef, outcome: Outcome) -> None:
        call_id = self.entries[ref.message].message.parts[ref.part].call_id
        number = self._open.pop(call_id, None)
        if number is None:
            return
        span = self.spans[number]
        part = self.entries[ref.message].parts[ref.part]
        keeps_written = span.facts.effect in {Effect.WRITE, Effect.EDIT}
        self.spans[number] = msgspec.structs.replace(
            span,
            result=ref,
            facts=with_outcome(span.facts, outcome),
            result_tokens=Tokens(part.tokens),
            body=span.body if keeps_written else part.body,
        )


def _kind_of_call(call: CallFacts) -> tuple[ObjectKind, str]:
    if call.facts.effect is Effect.SKILL:
        return ObjectKind.SKILL, call.facts.target
    if call.facts.effect is Effect.READ and (found := _SKILL_FILE.match(call.facts.target)):
        return ObjectKind.SKILL, found.group(1) or "skill"
    return ObjectKind.FUNCTION, call.tool
