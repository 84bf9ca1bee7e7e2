"""The catalogue of models: price sheets, cache rules and profiles, parsed from the dated data file.

The file's bytes are passed in; the engine reads them. Rows are tried in order, and the first whose
pattern matches a model's name counts.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, NewType

import msgspec

from selfgc.errors import UsageError
from selfgc.model.profile import Profile, Thinking

Money = NewType("Money", float)
"""Dollars."""

Price = Annotated[float, msgspec.Meta(gt=0)]
"""Dollars for a million tokens. Free models have a price too: shares of it are what decides."""
Whole = Annotated[int, msgspec.Meta(gt=0)]

_VENDOR = re.compile(r"[a-z-]+[.:]")


class LifetimeIs(StrEnum):
    """Whether a cache entry is gone after its lifetime (maximum), or may be gone only then (minimum)."""

    MAXIMUM = "maximum"
    MINIMUM = "minimum"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the data file. Prices in dollars for a million tokens, lifetime in seconds."""

    pattern: str
    input: Price
    write: Price
    write_long: Price
    read: Price
    output: Price
    lifetime: Whole
    lifetime_is: LifetimeIs
    minimum: Whole
    thinking: Thinking
    source: str
    binds_prefix: bool = False
    allows_prefill: bool = True

    def profile(self, model: str) -> Profile:
        """Return what governance needs to know of a model of this row."""
        return Profile(
            name=model or "unknown",
            thinking=self.thinking,
            binds_prefix=self.binds_prefix,
            allows_prefill=self.allows_prefill,
        )


class Catalog(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All rows, with the day they were read."""

    dated: str
    model: tuple[Row, ...]

    def row(self, model: str) -> Row:
        """Return the first row whose pattern matches a model's name, with or without what clouds put before it."""
        full = model.lower()
        short = tuple(_without_vendor(full.rpartition("/")[2]))
        return next(
            row
            for row in self.model
            if any(fnmatchcase(name, row.pattern) for name in ((full,) if "/" in row.pattern else short))
        )


def _without_vendor(name: str) -> Iterator[str]:
    """Yield a name, and what is left when regions and vendors go: `us.anthropic.claude-x`, `ft:gpt-x`."""
    yield name
    while (vendor := _VENDOR.match(name)) is not None:
        name = name[vendor.end() :]
        yield name


def read_catalog(data: bytes) -> Catalog:
    """Parse the data file. UsageError when a row lacks a figure or no row matches every name."""
    import tomllib  # noqa: PLC0415 - the first engine needs it, not the import of the package

    try:
        catalog = msgspec.convert(tomllib.loads(data.decode()), Catalog)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"the model catalogue cannot be read: {error}; correct the file") from error
    if not catalog.model or catalog.model[-1].pattern != "*":
        raise UsageError('the last row of the model catalogue must have the pattern "*", so that every name has a row')
    return catalog
