"""Scripted planner and scripted provider: what users test their harness with, and what our own tests run against.

    with ScriptedProvider(["hello", Failure(429, retry_after=1), Hang()]) as provider:
        client = anthropic.Anthropic(base_url=provider.anthropic_url, api_key="any")

No key, no network beyond the loopback, no dependency.
"""

from selfgc.testing.planner import ScriptedPlanner
from selfgc.testing.prefix_cache import CacheRules
from selfgc.testing.provider import ScriptedProvider
from selfgc.testing.replies import Answer, Call, Cut, Failure, Hang, Junk, Reply
from selfgc.testing.request import Request

__all__ = [
    "Answer",
    "CacheRules",
    "Call",
    "Cut",
    "Failure",
    "Hang",
    "Junk",
    "Reply",
    "Request",
    "ScriptedPlanner",
    "ScriptedProvider",
]
