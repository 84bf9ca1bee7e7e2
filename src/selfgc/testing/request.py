"""One request as a scripted provider received it."""

import json
from collections.abc import Mapping
from functools import cached_property

import msgspec


class Request(msgspec.Struct, frozen=True, dict=True):
    """Path, headers and body, just as they came in."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @cached_property
    def fields(self) -> Mapping[str, object]:
        """The decoded body; ValueError when it is no JSON object."""
        value = json.loads(self.body)
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object as the request's body, got {type(value).__name__}")  # noqa: TRY004 - json raises ValueError too, so there is one thing to catch
        return value

    @property
    def is_stream(self) -> bool:
        """Whether the answer is to be streamed."""
        return self.fields.get("stream") is True
