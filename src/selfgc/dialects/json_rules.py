"""Rules that hold for the bytes of every request, whatever its dialect.

1. Strict JSON (V7, A33): RFC 8259 and UTF-8, no NaN, no lone surrogate, no nesting deeper than `MAX_DEPTH`.
2. Size (V17, A32): the body stays under the provider's cap.

The number under which a rule is reported is the caller's: dialects number these two differently.
"""

from collections.abc import Iterable, Mapping

import msgspec

from selfgc.errors import WireError
from selfgc.model.profile import Profile, Violation
from selfgc.model.wire import MAX_DEPTH, decode

_STRICT = msgspec.json.Decoder()
_OUTER_DEPTH = 2
"""A message stands two levels deep: in the list of messages, in the body."""


def strict_value(raw: bytes, rule: str, path: str = "") -> tuple[object, Violation | None]:
    """Return the value of one JSON text, and the violation of rule 1 if there is one.

    With lone surrogates the value is returned all the same, so that other rules can be looked at;
    otherwise a text that breaks rule 1 has the value None.
    """
    try:
        value = _STRICT.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _lenient_value(raw, rule, path)
    if _may_be_deep(raw) and _is_deep(value):
        return None, _too_deep(rule, path)
    return value, None


def _lenient_value(raw: bytes, rule: str, path: str) -> tuple[object, Violation | None]:
    try:
        value = decode(raw, path or "$")
    except WireError as error:
        return None, Violation(rule, path, f"not strict JSON: {error}")
    if _is_deep(value):
        return None, _too_deep(rule, path)
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return value, Violation(
            rule,
            path,
            "a string holds a lone surrogate, which no JSON reader of a provider accepts; cut strings between "
            "code points, and replace what is left of a cut pair by U+FFFD",
        )
    return value, None


def _too_deep(rule: str, path: str) -> Violation:
    return Violation(
        rule, path, f"the request nests deeper than {MAX_DEPTH} levels; flatten the value or send it as text"
    )


def _may_be_deep(raw: bytes) -> bool:
    """Whether there are enough brackets for nesting that is too deep; far cheaper than looking."""
    return raw.count(b"{") + raw.count(b"[") > MAX_DEPTH - _OUTER_DEPTH


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH - _OUTER_DEPTH):
        level = [child for container in level for child in _members(container) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _members(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def field_values(fields: Mapping[str, bytes], rule: str) -> tuple[dict[str, object], list[Violation]]:
    """Return the decoded members of a request beside its messages, and the violations of rule 1 in them."""
    values: dict[str, object] = {}
    found: list[Violation] = []
    for key, raw in fields.items():
        value, violation = strict_value(raw, rule, key)
        if violation is not None:
            found.append(violation)
        values[key] = value
    return values, found


def placed(violations: Iterable[Violation], message: int) -> list[Violation]:
    """Return violations found in one message, their paths told from the top of the request."""
    return [
        msgspec.structs.replace(
            violation,
            message=message,
            path=f"messages.{message}.{violation.path}" if violation.path else f"messages.{message}",
        )
        for violation in violations
    ]


def oversize(
    message_bytes: int, messages: int, fields: Mapping[str, bytes], profile: Profile, rule: str
) -> list[Violation]:
    """Return the violation of rule 2, if the body of these messages and fields is larger than the profile allows."""
    around = len('{"messages":[]}') + sum(len(key) + len(raw) + len('"":,') for key, raw in fields.items())
    total = message_bytes + max(messages - 1, 0) + around
    if total <= profile.max_body_bytes:
        return []
    sentence = f"the body has {total} bytes, the provider takes {profile.max_body_bytes}; fold large results or media"
    return [Violation(rule, "$", sentence)]
