"""Request bodies of both dialects, bare or beside a `meta` member, and bare lists of messages.

A body goes on as the very bytes that stand in the file. What is broken is refused with its line; with
`skip_bad` messages that are none are left out, and of a file that is cut off the whole messages are read.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from selfgc.errors import ReadError, WireError
from selfgc.model.wire import decode, elements, members, without_lone_escapes
from selfgc.readers.json_text import first_bad_byte, is_too_deep, line_at
from selfgc.readers.recording import Notes, Recording, Skipped
from selfgc.readers.recovery import Fault, fault_of, whole_messages
from selfgc.readers.signs import dialect_of

READABLE = "a Messages or Chat Completions request body, a list of messages, or a Claude Code session file"
"""What can be read, for error messages."""
_OPENING = b'{"messages":'
_CONVERT = "convert it to one of these"
_SKIP = "to read what is whole, pass --skip-bad"
_KNOWN = {
    "input": "an OpenAI Responses request",
    "contents": "a Gemini request",
    "simulations": "a tau2 results file",
    "trajectory": "a SWE-agent trajectory",
    "conversations": "a ShareGPT conversation",
    "projectHash": "a Gemini CLI chat",
    "resourceSpans": "an OpenTelemetry export",
    "schema_version": "an ATIF trajectory",
    "samples": "an Inspect log",
    "payload": "a Codex rollout",
    "response": "a reply and no request",
}


class _Found(NamedTuple):
    """A body within a file, with what its wrapper says of it."""

    body: bytes
    has_meta: bool = False
    name: str = ""
    timestamps: tuple[str | None, ...] = ()


def read_request(text: bytes, *, skip_bad: bool = False) -> Recording:
    """Return the recording of a file that holds one JSON value. ReadError when it is no request body."""
    position = first_bad_byte(text)
    if position is not None:
        raise ReadError(f"expected UTF-8, found another byte at {position}; re-encode", line_at(text, position))
    fault = fault_of(text) if _is_broken(text) else None
    if fault is None:
        return _recording(text, _found(text), (), skip_bad=skip_bad)
    line = line_at(text, fault.position)
    whole = whole_messages(text[: fault.position])
    if whole is None or _is_broken(whole):
        raise _unreadable(text, fault, line)
    if not skip_bad:
        raise ReadError(f"expected one JSON value, but {fault.reason}; {_SKIP}", line)
    skipped = (Skipped(line, f"{fault.reason}; the messages before that were read"),)
    return _recording(whole, _found(whole), skipped, skip_bad=True)


def _unreadable(text: bytes, fault: Fault, line: int) -> ReadError:
    """Return the error for a file of which not even a part can be read."""
    if text.lstrip()[:1] not in (b"{", b"["):
        return ReadError(f"expected {READABLE}, but it is no JSON; give the session file itself", line)
    kind = _kind_of_first(text)
    if kind:
        return ReadError(f"expected {READABLE}, got {kind}; {_CONVERT}")
    return ReadError(f"expected {READABLE}, but {fault.reason}, and no whole message stands before that", line)


def _kind_of(keys: Iterable[str]) -> str:
    """Return what a file with these top-level keys is, as far as it is known; else an empty string."""
    there = frozenset(keys)
    return next((kind for key, kind in _KNOWN.items() if key in there), "")


def _kind_of_first(text: bytes) -> str:
    """Return what a file of lines is by its first line, or an empty string when that is no JSON object."""
    first = text.lstrip().split(b"\n", 1)[0]
    try:
        keys = list(members(without_lone_escapes(first)))
    except WireError:
        return ""
    return _kind_of(keys) or f"lines of JSON with the keys {sorted(keys)[:8]}"


def _is_broken(text: bytes) -> bool:
    try:
        decode(without_lone_escapes(text))
    except WireError:
        return True
    return False


def _found(text: bytes) -> _Found:
    """Return the body in one JSON value."""
    if is_too_deep(text):
        raise ReadError("expected JSON that nests at most 256 deep; no provider takes more")
    if text.lstrip()[:1] == b"[":
        return _Found(_of_list(text))
    fields = members(text) if text.lstrip()[:1] == b"{" else {}
    if "messages" in fields:
        return _Found(text)
    if fields.get("request", b"").startswith(b"{") and "messages" in members(fields["request"]):
        return _of_meta(text, fields)
    if fields.get("traj", b"").startswith(b"["):
        return _Found(_body_of(_exact(text, "traj")))
    kind = _kind_of(fields) or f"JSON with the keys {sorted(fields)[:8]}"
    raise ReadError(f"expected {READABLE}, got {kind}; {_CONVERT}")


def _of_list(text: bytes) -> bytes:
    """Return the body of a list: of messages, or of records with one dialogue in all."""
    items = elements(text)
    dialogues = [item for item in items if item.startswith(b"{") and {"traj", "messages"} & members(item).keys()]
    if not dialogues:
        return _body_of(text)
    if len(items) > 1:
        key = "traj" if "traj" in members(dialogues[0]) else "messages"
        raise ReadError(
            f"expected one dialogue, found {len(dialogues)} in one list; take one out, such as with "
            f"`jq '.[0].{key}' FILE`, and read that"
        )
    fields = members(dialogues[0])
    return _body_of(fields["traj"]) if "traj" in fields else dialogues[0]


def _body_of(messages: bytes) -> bytes:
    return _OPENING + messages + b"}"


def _of_meta(text: bytes, fields: Mapping[str, bytes]) -> _Found:
    meta = decode(fields.get("meta", b"{}"))
    told = meta if isinstance(meta, dict) else {}
    name, times = told.get("id"), told.get("timestamps")
    timestamps = tuple(time if isinstance(time, str) else None for time in times) if isinstance(times, list) else ()
    return _Found(
        _exact(text, "request"), has_meta=True, name=name if isinstance(name, str) else "", timestamps=timestamps
    )


def _exact(text: bytes, key: str) -> bytes:
    """Return the bytes of a top-level member, even where lone surrogates keep the parser from them."""
    same_length = without_lone_escapes(text)
    value = members(same_length)[key]
    start = _place(same_length, key, value)
    return text[start : start + len(value)]


def _place(text: bytes, key: str, value: bytes) -> int:
    """Return where the raw value of a member stands."""
    start = text.find(value, max(text.find(f'"{key}"'.encode()), 0))
    return start if start >= 0 else text.index(value)


class _Pieces(NamedTuple):
    """A body around its messages: raw messages with their places, and the other members."""

    messages: list[bytes]
    places: list[int]
    fields: dict[str, bytes]


def _pieces(body: bytes) -> _Pieces:
    same_length = without_lone_escapes(body)
    fields = members(same_length)
    array = fields.pop("messages")
    end = _place(same_length, "messages", array)
    messages: list[bytes] = []
    places: list[int] = []
    for value in elements(array, "$.messages"):
        places.append(same_length.index(value, end))
        end = places[-1] + len(value)
        messages.append(body[places[-1] : end])
    return _Pieces(messages, places, fields)


def _start_of(body: bytes, text: bytes) -> int:
    """Return where a body begins in its file; for one made around a list of messages, where it would begin."""
    start = text.find(body)
    return start if start >= 0 else text.find(body[len(_OPENING) : -1]) - len(_OPENING)


def _without(body: bytes, pieces: _Pieces, kept: Sequence[int]) -> bytes:
    """Return the body with the kept messages only; all around them stays."""
    first, last = pieces.places[0], pieces.places[-1] + len(pieces.messages[-1])
    return body[:first] + b",".join(pieces.messages[index] for index in kept) + body[last:]


def _recording(text: bytes, found: _Found, skipped: tuple[Skipped, ...], *, skip_bad: bool) -> Recording:
    try:
        body = _pieces(found.body)
    except WireError as error:
        raise ReadError(f"expected {READABLE}, but at {error}") from error
    faults = {index: fault for index, raw in enumerate(body.messages) if (fault := _message_fault(raw))}
    kept = [index for index in range(len(body.messages)) if index not in faults]
    if not kept:
        kind = _kind_of(body.fields)
        what = f"got {kind}; {_CONVERT}" if kind else "but there is no message in it; record the session again"
        raise ReadError(f"expected {READABLE}, {what}")
    if faults and not skip_bad:
        index, fault = next(iter(faults.items()))
        line = line_at(text, max(_start_of(found.body, text) + body.places[index], 0))
        raise ReadError(f"expected message {index} to be an object with a role, got {fault}; {_SKIP}", line)
    left_out = [Skipped(0, f"message {index} is no message: {fault}") for index, fault in faults.items()]
    messages = [body.messages[index] for index in kept]
    dialect = dialect_of(messages, body.fields)
    return Recording(
        dialect=dialect,
        body=_without(found.body, body, kept) if faults else found.body,
        source="session with meta" if found.has_meta else f"{dialect} request",
        name=found.name,
        timestamps=_times(found.timestamps, len(body.messages), kept, is_cut=bool(skipped)),
        skipped=(*skipped, *left_out),
        notes=Notes(),
    )


def _message_fault(raw: bytes) -> str:
    if not raw.startswith(b"{"):
        return "null" if raw == b"null" else type(decode(raw)).__name__
    return "" if members(raw).get("role", b"").startswith(b'"') else "an object without one"


def _times(times: tuple[str | None, ...], count: int, kept: Sequence[int], *, is_cut: bool) -> tuple[str | None, ...]:
    """Return the times of the kept messages; none when there is not one a message."""
    if len(times) != count and not (is_cut and len(times) > count):
        return ()
    return tuple(times[index] for index in kept)
