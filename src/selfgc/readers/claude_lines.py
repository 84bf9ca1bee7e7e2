"""The lines of a Claude Code session file, each as a value: JSONL in, lines and skipped lines out.

What the lines mean together (branches, compaction, messages) is not known here.
"""

from enum import Enum
from typing import Any, NamedTuple

import msgspec

from selfgc.errors import ReadError
from selfgc.model.wire import elements, without_lone_escapes
from selfgc.readers.json_text import first_bad_byte, is_blank, is_too_deep
from selfgc.readers.recording import Skipped, Usage
from selfgc.readers.recovery import fault_of, salvage

_SKIP = "to leave it out, pass --skip-bad"
_MESSAGE_TYPES = ("user", "assistant")
_FOREIGN_CONTENT = "parts"
"""Qwen Code writes the same envelope around Gemini messages, whose content has this name."""


class Block(msgspec.Struct, frozen=True, gc=False):
    """One content block of a line, as its bytes and what pairing needs of it."""

    raw: bytes
    kind: str
    call_id: str = ""
    """The id of a call, or the call that a result answers."""
    is_blank: bool = False
    """A text without a visible character."""
    is_empty: bool = False
    """A result without content."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of the file. `blocks` is empty for everything but user and assistant lines."""

    number: int
    """The line's number in the file, from 1."""
    kind: str
    """`user`, `assistant`, or what else the file says; system lines and attachments say more: `system:api_error`."""
    uuid: str = ""
    parent: str | None = None
    """The parent's uuid. None: the line starts a tree; empty: the line names no parent at all."""
    session: str = ""
    timestamp: str | None = None
    agent: str = ""
    """The subagent that wrote a sidechain line."""
    is_sidechain: bool = False
    is_aside: bool = False
    """Written by the harness or a team member, so never the end of the live branch by itself."""
    is_summary: bool = False
    is_api_error: bool = False
    has_result_aside: bool = False
    """The harness kept a structured result beside the message."""
    preserved: "Preserved | None" = None
    """What a compaction boundary kept of the messages before it."""
    blocks: tuple[Block, ...] = ()
    is_plain: bool = False
    """The content was one string."""
    message_id: str = ""
    model: str = ""
    usage: Usage | None = None

    @property
    def is_message(self) -> bool:
        """Whether the line is part of the conversation, or tells of a failed part of it."""
        return self.kind in _MESSAGE_TYPES

    @property
    def is_boundary(self) -> bool:
        """Whether the conversation was compacted here."""
        return self.kind == "system:compact_boundary"


class Preserved(msgspec.Struct, frozen=True):
    """Messages that a compaction kept, by uuid: a list, or a segment from head to tail."""

    anchor: str = ""
    """Behind which line they stand: the summary, or the boundary itself."""
    uuids: tuple[str, ...] = ()
    head: str = ""
    tail: str = ""


class Lines(NamedTuple):
    """All lines of a file that could be read, and what could not."""

    lines: list[Line]
    skipped: list[Skipped]


class _Segment(msgspec.Struct, rename="camel"):
    head_uuid: str | None = None
    anchor_uuid: str | None = None
    tail_uuid: str | None = None
    uuids: list[str] | None = None


class _Compaction(msgspec.Struct, rename="camel"):
    preserved_segment: _Segment | None = None
    preserved_messages: _Segment | None = None


class _Attachment(msgspec.Struct):
    type: str | None = None


class _Raw(msgspec.Struct, rename="camel"):
    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | msgspec.UnsetType | None = msgspec.UNSET
    session_id: str | None = None
    agent_id: str | None = None
    team_name: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    compact_metadata: _Compaction | None = None
    tool_use_result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    attachment: _Attachment | None = None
    message: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Creation(msgspec.Struct):
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: _Creation | None = None


class _Message(msgspec.Struct):
    content: msgspec.Raw
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


class _Block(msgspec.Struct):
    type: str
    id: str | None = None
    tool_use_id: str | None = None
    text: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    content: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_RAW = msgspec.json.Decoder(_Raw)
_MESSAGE = msgspec.json.Decoder(_Message)
_BLOCK = msgspec.json.Decoder(_Block)
_PLAIN_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Sign(Enum):
    """What one line says of the file it stands in."""

    SURE = "a message of a Claude Code session"
    LIKELY = "a line in the envelope of such a session, without a message"
    FOREIGN = "the same envelope around another agent's message"
    NONE = "something else"


def sign_of(line: bytes) -> Sign:
    """Return what a line says: those of a Claude Code session name it, and stand in a tree of lines."""
    if not line.lstrip().startswith(b"{"):
        return Sign.NONE
    try:
        fields = _PLAIN_OBJECT.decode(without_lone_escapes(line))
        message = bytes(fields.get("message", b""))
        inner = _PLAIN_OBJECT.decode(message) if message.startswith(b"{") else {}
    except (msgspec.DecodeError, RecursionError):
        return Sign.NONE
    if not {"type", "sessionId"} <= fields.keys() or not {"uuid", "parentUuid"} & fields.keys():
        return Sign.NONE
    if _FOREIGN_CONTENT in inner:
        return Sign.FOREIGN
    return Sign.SURE if "content" in inner else Sign.LIKELY


def is_session_record(value: dict[str, Any]) -> bool:
    """Whether a decoded object is a whole line of such a session; records nested in one do not name the session."""
    return {"type", "sessionId", "uuid"} <= value.keys()


def read_lines(text: bytes, *, skip_bad: bool = False) -> Lines:
    """Return all lines. A line that cannot be read is a ReadError, or is skipped and what is whole in it is read."""
    read: list[Line] = []
    skipped: list[Skipped] = []
    for number, raw in enumerate(text.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            read.append(_line(number, raw))
        except ReadError as error:
            if not skip_bad:
                raise ReadError(f"{error}; {_SKIP}", number) from error
            found = salvage(raw, is_session_record)
            lines, reasons = _salvaged(number, found.records)
            read.extend(lines)
            skipped.extend(Skipped(number, reason) for reason in found.reasons + reasons)
    return Lines(read, skipped)


def _salvaged(number: int, records: list[bytes]) -> tuple[list[Line], list[str]]:
    lines: list[Line] = []
    reasons: list[str] = []
    for record in records:
        try:
            lines.append(_line(number, record))
        except ReadError as error:
            reasons.append(str(error))
    return lines, reasons


def _line(number: int, raw: bytes) -> Line:
    if first_bad_byte(raw) is not None:
        raise ReadError("expected UTF-8, found other bytes")
    safe = without_lone_escapes(raw)
    try:
        read = _RAW.decode(safe)
        if is_too_deep(safe):
            raise ReadError("expected JSON that nests at most 256 deep")
        if read.type not in _MESSAGE_TYPES:
            return _other(number, read)
        message = _MESSAGE.decode(b"null" if read.message is msgspec.UNSET else read.message)
        content = bytes(message.content)
        blocks = _blocks(content if safe is raw else _same_place(content, safe, raw))
    except msgspec.ValidationError as error:
        raise ReadError(f"expected a line of a Claude Code session, but {_lower(error)}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        fault = fault_of(raw)
        raise ReadError(f"expected a JSON object, but {fault.reason if fault else _lower(error)}") from error
    return _message_line(number, read, message, blocks)


def _lower(error: Exception) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]


def _same_place(value: bytes, safe: bytes, raw: bytes) -> bytes:
    """Return what stands in `raw` where `value` stands in the equally long `safe`."""
    start = safe.index(value)
    return raw[start : start + len(value)]


def _other(number: int, read: _Raw) -> Line:
    """Return a line that is no message."""
    kind = read.type or "untyped"
    if kind == "system" and read.subtype:
        kind = f"system:{read.subtype}"
    if kind == "attachment" and read.attachment is not None and read.attachment.type:
        kind = f"attachment:{read.attachment.type}"
    return Line(
        number=number,
        kind=kind,
        uuid=read.uuid or "",
        parent=_parent(read),
        session=read.session_id or "",
        is_sidechain=read.is_sidechain is True,
        agent=read.agent_id or "",
        preserved=_preserved(read.compact_metadata),
    )


def _parent(read: _Raw) -> str | None:
    return "" if read.parent_uuid is msgspec.UNSET else read.parent_uuid


def _preserved(told: _Compaction | None) -> Preserved | None:
    segment = told and (told.preserved_messages or told.preserved_segment)
    if not told or not segment:
        return None
    ends = told.preserved_segment or segment
    return Preserved(
        anchor=segment.anchor_uuid or "",
        uuids=tuple(segment.uuids or ()),
        head=ends.head_uuid or "",
        tail=ends.tail_uuid or "",
    )


def _message_line(number: int, read: _Raw, message: _Message, blocks: tuple[Block, ...]) -> Line:
    return Line(
        number=number,
        kind=read.type or "",
        uuid=read.uuid or "",
        parent=_parent(read),
        session=read.session_id or "",
        timestamp=read.timestamp,
        agent=read.agent_id or "",
        is_sidechain=read.is_sidechain is True,
        is_aside=read.is_meta is True or bool(read.team_name),
        is_summary=read.is_compact_summary is True,
        is_api_error=read.is_api_error_message is True,
        has_result_aside=read.tool_use_result is not msgspec.UNSET and bytes(read.tool_use_result) != b"null",
        blocks=blocks,
        is_plain=bytes(message.content).startswith(b'"'),
        message_id=message.id or "",
        model=message.model or "",
        usage=_usage(message.usage),
    )


def _blocks(content: bytes) -> tuple[Block, ...]:
    if content.startswith(b'"'):
        return (Block(b'{"type":"text","text":' + content + b"}", "text", is_blank=is_blank(content)),)
    if content == b"null":
        return ()
    return tuple(_block(raw) for raw in elements(content))


def _block(raw: bytes) -> Block:
    read = _BLOCK.decode(without_lone_escapes(raw))
    text = b"" if read.text is msgspec.UNSET else bytes(read.text)
    content = b"" if read.content is msgspec.UNSET else bytes(read.content)
    return Block(
        raw=raw,
        kind=read.type,
        call_id=(read.id if read.type == "tool_use" else read.tool_use_id) or "",
        is_blank=read.type == "text" and (not text or is_blank(text)),
        is_empty=read.type == "tool_result" and (content in (b"", b"null", b"[]") or is_blank(content)),
    )


def _usage(told: _Usage | None) -> Usage | None:
    if told is None:
        return None
    split = told.cache_creation or _Creation()
    return Usage(
        input=told.input_tokens or 0,
        output=told.output_tokens or 0,
        cache_read=told.cache_read_input_tokens or 0,
        cache_creation=told.cache_creation_input_tokens or 0,
        cache_creation_5m=split.ephemeral_5m_input_tokens or 0,
        cache_creation_1h=split.ephemeral_1h_input_tokens or 0,
    )
