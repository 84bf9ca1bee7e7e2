"""The catalogue of models: price sheets, cache rules and profiles, parsed from the dated data file.

The file's bytes are passed in; the engine reads them. Rows are tried in order, and the first whose
pattern matches a model's name counts.
"""

import tomllib
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NewType

import msgspec

from selfgc.errors import UsageError
from selfgc.model.profile import Profile, Thinking

Money = NewType("Money", float)
"""Dollars."""


class LifetimeIs(StrEnum):
    """Whether a cache entry is gone after its lifetime (maximum), or may be gone only then (minimum)."""

    MAXIMUM = "maximum"
    MINIMUM = "minimum"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the data file. Prices in dollars for a million tokens, lifetime in seconds."""

    pattern: str
    input: float
    write: float
    write_long: float
    read: float
    output: float
    lifetime: int
    lifetime_is: LifetimeIs
    minimum: int
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
        """Return the first row whose pattern matches a model's name."""
        name = model.lower().rpartition("/")[2]
        return next(row for row in self.model if fnmatchcase(name, row.pattern))


def read_catalog(data: bytes) -> Catalog:
    """Parse the data file. UsageError when a row lacks a figure or no row matches every name."""
    try:
        catalog = msgspec.convert(tomllib.loads(data.decode()), Catalog)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"the model catalogue cannot be read: {error}") from error
    if not catalog.model or catalog.model[-1].pattern != "*":
        raise UsageError('the last row of the model catalogue must have the pattern "*", so that every name has a row')
    return catalog
