"""selfgc governs the context of long-running LLM agents.

The library in one line: `ContextEngine` observes the client's messages, gives the view to send, maintains it, and
restores what it folded.
"""

from selfgc.engine.context import ContextEngine
from selfgc.engine.report import Report
from selfgc.model.plan import Fold, Mask, Plan, Prune
from selfgc.model.policy import Boundary, Policy
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore

__all__ = [
    "Boundary",
    "ContextEngine",
    "Fold",
    "Mask",
    "MemoryStore",
    "Plan",
    "Policy",
    "Prune",
    "Report",
    "SqliteStore",
]
