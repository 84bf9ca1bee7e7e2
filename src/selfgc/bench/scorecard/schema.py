"""What the judge must answer: the paper's listings 3 and 4 as published JSON schemas, and reading them strictly.

An answer that is not of its schema is no answer; nothing in it is mended or guessed.
"""

import re
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

import msgspec

_Read = TypeVar("_Read")


class Standing(StrEnum):
    """How one dimension stands."""

    PASS = "pass"  # noqa: S105 - a mark, no password
    WARN = "warn"
    FAIL = "fail"


class Dimension(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One dimension's score, from 0 (lost) to 5 (untouched)."""

    score: Annotated[int, msgspec.Meta(ge=0, le=5)]
    status: Standing


class Dimensions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The four dimensions of the paper."""

    goal_retention: Dimension
    evidence_retention: Dimension
    continuation_readiness: Dimension
    compression_safety: Dimension

    def each(self) -> tuple[Dimension, ...]:
        """Return the four in the order of their names."""
        return (self.goal_retention, self.evidence_retention, self.continuation_readiness, self.compression_safety)


class Culprit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The object whose removal hurt most; null when none did."""

    target_id: str | None


class Scores(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vote on one governed view (listing 3)."""

    valid: bool
    """Whether the material allowed a judgement at all."""
    uncertain: bool
    overall_score: Annotated[float, msgspec.Meta(ge=0, le=5)]
    summary: str
    dimension_scores: Dimensions
    failure_culprit: Culprit


class Verdict(StrEnum):
    """Which of two views serves the future turn better."""

    A = "A_better"
    B = "B_better"
    TIE = "tie"


class Preference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vote on a pair of views (listing 4)."""

    verdict: Verdict
    rationale: str
    stronger_aspects: tuple[str, ...]
    risks: tuple[str, ...]
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]


class Form(Generic[_Read]):
    """One of the two answers: its name, its published schema, and how it is read."""

    def __init__(self, name: str, kind: type[_Read]) -> None:
        self.name = name
        self._decoder = msgspec.json.Decoder(kind)
        self.schema: dict[str, Any] = msgspec.json.schema(kind)
        """The published JSON schema."""
        self.sent_schema: dict[str, Any] = _inlined(self.schema, self.schema["$defs"])
        """The schema as endpoints take it: without references and ranges, which not all of them know."""

    def read(self, text: str) -> _Read | str:
        """Return the answer, or a sentence that says why it is none. A code fence around the whole is no part of it."""
        fenced = _FENCED.fullmatch(text)
        try:
            return self._decoder.decode(fenced[1] if fenced else text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            return f"not of the schema: {error}"


_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n```\s*", re.DOTALL)
_DROPPED = ("minimum", "maximum", "title", "description", "$defs")


def _inlined(node: object, definitions: dict[str, Any]) -> Any:  # noqa: ANN401 - a JSON schema is any JSON
    """Return a schema with its references written out."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(definitions[node["$ref"].rpartition("/")[2]], definitions)
    found = {key: _inlined(value, definitions) for key, value in node.items() if key not in _DROPPED}
    return {"type": "string", **found} if "enum" in found else found


SCORES = Form("scorecard", Scores)
PREFERENCE = Form("preference", Preference)
