"""Governs generated and recorded sessions call by call, and reads what came out without help of the engine.

`drive` plays a transcript as a client would send it; each `Step` is one model call. `Desk` keeps the store and opens
engines on it, so that a restart is another engine on the same store.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from selfgc.engine.context import ContextEngine
from selfgc.engine.report import Report
from selfgc.model.plan import Fold, Mask, Plan, Prune
from selfgc.model.policy import Policy
from selfgc.model.snapshot import Snapshot
from selfgc.sidecar.memory import MemoryStore
from selfgc.sidecar.sqlite import SqliteStore
from transcripts import Schedule, Transcript

POINTER = re.compile(r"(?:folded|masked)[^\]\n]*?: selfgc restore ([a-z]+:[A-Za-z0-9_.-]+:\d+)[\],]")
"""The way back that a pointer names."""


class Desk:
    """One store, and engines on it; every engine of a durable store has a connection of its own."""

    def __init__(self, kind: str, folder: str) -> None:
        self.kind = kind
        self._path = Path(folder) / "store.db"
        self._memory = MemoryStore()
        self._opened: list[SqliteStore] = []

    def store(self):
        if self.kind == "memory":
            return self._memory
        self._opened.append(SqliteStore(self._path))
        return self._opened[-1]

    def engine(self, dialect: str, policy: Policy | None = None, session: str = "s", **others: Any) -> ContextEngine:
        return ContextEngine(store=self.store(), session=session, dialect=dialect, policy=policy, **others)

    def close(self) -> None:
        for store in self._opened:
            store.close()


class desk:  # noqa: N801  (used as a statement: `with desk("memory") as held`)
    """A desk for the time of a `with` block."""

    def __init__(self, kind: str) -> None:
        self._folder = TemporaryDirectory(prefix="selfgc-")
        self._desk = Desk(kind, self._folder.name)

    def __enter__(self) -> Desk:
        return self._desk

    def __exit__(self, *exception) -> None:
        self._desk.close()
        self._folder.cleanup()


class Step(NamedTuple):
    """One model call: what came in, what went out, and what maintenance before it reported."""

    engine: ContextEngine
    length: int
    """Number of messages of the transcript that the client sent."""
    body: bytes
    """The client's request."""
    before: bytes | None
    """The view of the same request before a maintenance that committed; None when nothing was committed."""
    view: bytes
    """The governed request."""
    report: Report | None

    @property
    def came(self) -> list[dict[str, Any]]:
        return json.loads(self.body)["messages"]

    @property
    def went(self) -> list[dict[str, Any]]:
        return json.loads(self.view)["messages"]


def drive(transcript: Transcript, schedule: Schedule, held: Desk, **others: Any) -> Iterator[Step]:
    """Play a session: observe, do what the schedule says, and take the view that goes out."""
    engine = held.engine(transcript.dialect, schedule.policy, **others)
    for length, what in zip(transcript.calls, cycle(schedule.steps), strict=False):
        if what == "restart":
            engine = held.engine(transcript.dialect, schedule.policy, **others)
        if what == "rewind":
            engine.observe_body(transcript.body(transcript.calls[0]))
            engine.view_body()
        body = transcript.body(length)
        engine.observe_body(body)
        report = before = None
        if what in {"maintain", "plan"}:
            before = engine.view_body()
            plan = plan_of(engine.snapshot(), schedule.verbs) if what == "plan" else None
            report = engine.maintain(plan, is_cold=True)
            before = before if report.committed else None
        yield Step(engine, length, body, before, engine.view_body(), report)


def plan_of(snapshot: Snapshot, verbs: Sequence[str]) -> Plan:
    """A plan that does to each object in turn what `verbs` say, and names some that do not exist."""
    verb = cycle(verbs)
    make: dict[str, Callable[..., Any]] = {"fold": Fold, "mask": Mask, "prune": Prune}
    names = [item.id for item in (*snapshot.spans, *snapshot.turns)]
    actions = [make[named](object_id, "any") for object_id in names if (named := next(verb))]
    return Plan((*actions, Fold("function:Nothing:9999"), Prune("conversation:user:9999")), "any")


# -- reading wire messages -------------------------------------------------------------------------------


def unmarked(message: dict[str, Any]) -> dict[str, Any]:
    """A message without cache markers, a single string as the block that it becomes with a marker on it."""
    content = message.get("content")
    if isinstance(content, str) and message["role"] != "tool":
        content = [{"type": "text", "text": content}]
    if isinstance(content, list):
        content = [{key: value for key, value in block.items() if key != "cache_control"} for block in content]
    return message | {"content": content}


def texts_in(value: object) -> Iterator[str]:
    """Every string of a JSON value, keys left out; strings that are JSON objects are read as such."""
    if isinstance(value, str):
        yield value
        if value.startswith("{"):
            yield from texts_in(_parsed(value))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def _parsed(text: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def pointers_in(view: bytes) -> list[str]:
    """The ids of all pointers in a request."""
    return [name for text in texts_in(json.loads(view)["messages"]) for name in POINTER.findall(text)]


def words_of(messages: Sequence[dict[str, Any]], *roles: str) -> list[str]:
    """The texts that these roles said themselves, in order: no calls, no results, no reasoning."""
    said: list[str] = []
    for message in messages:
        if message["role"] in roles:
            content = message.get("content")
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
            said += [block["text"] for block in blocks if block.get("type") == "text" and block["text"]]
    return said


def results_in(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Content of each result by the id of its call."""
    found = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    for message in messages:
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            if block.get("type") == "tool_result":
                found[block["tool_use_id"]] = block["content"]
    return found


def calls_in(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Arguments of each call by its id."""
    found: dict[str, Any] = {}
    for message in messages:
        for made in message.get("tool_calls") or ():
            found[made["id"]] = _parsed(made["function"]["arguments"])
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            if block.get("type") == "tool_use":
                found[block["id"]] = block["input"]
    return found


def leaves_of(value: object, path: str = "") -> dict[str, str]:
    """String leaves of arguments by dotted path."""
    if isinstance(value, str):
        return {path: value}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {
        name: text
        for key, inner in items
        for name, text in leaves_of(inner, f"{path}.{key}" if path else str(key)).items()
    }


def text_of(content: object) -> str:
    """The text of a result's content."""
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content if block.get("type") == "text")
    return content if isinstance(content, str) else ""
