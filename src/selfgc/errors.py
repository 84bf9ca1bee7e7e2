"""The one exception tree of selfgc.

    SelfGCError
    ├── UsageError            the caller asked for something that cannot be (bad argument, unknown name)
    ├── PlanError             a plan cannot be read or applied; carries findings
    │   └── StalePlan         the plan was made from another snapshot than the current one
    ├── WireError             wire bytes are not what the dialect defines; carries a JSON path
    ├── ReadError             a session file cannot be read; carries the line number
    └── StoreError            the sidecar could not do what was asked
        ├── PayloadMissing    no such payload in this session
        └── PayloadCorrupt    bytes are there, but their SHA-256 is another one

Every message says what was expected, what came, and what to do. Declining to commit is no error: it is a
`Decision` value.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Finding(NamedTuple):
    """One thing that is wrong with a plan: the object, the rule it breaks, and a sentence for a person."""

    object_id: str
    rule: str
    sentence: str


class SelfGCError(Exception):
    """Base of every error that selfgc raises on purpose."""


class UsageError(SelfGCError):
    """The caller asked for something that cannot be done; the message says what would be right."""


class PlanError(SelfGCError):
    """A plan that cannot be read at all. `findings` lists what is wrong, one entry an object."""

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class StalePlan(PlanError):
    """The plan, or a commit made from it, belongs to another snapshot; plan again from the current one."""


class WireError(SelfGCError):
    """Bytes that are not valid in the dialect. `path` is the JSON path of the offending value."""

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class ReadError(SelfGCError):
    """A session file that cannot be read. `line` counts from 1; None when the file as a whole is meant."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


class StoreError(SelfGCError):
    """The store could not read or write; what was stored before is intact."""


class PayloadMissing(StoreError):
    """No payload for that object in this session (unknown, foreign or pruned ids are answered alike)."""


class PayloadCorrupt(StoreError):
    """The stored bytes no longer have the SHA-256 they were stored under; they are not returned."""
