"""Plans: what a planner proposes, over existing ids only.

A plan holds no text that reaches the view; it can only name objects and say fold, mask or prune. The
JSON form is published as a schema by `plan_schema()` and read back by `read_plan()`.
"""

from typing import Any

import msgspec

from selfgc.errors import Finding, PlanError, UsageError
from selfgc.model.ids import ID_PATTERN, ObjectId


class _ActionBase(msgspec.Struct, frozen=True, tag_field="action", forbid_unknown_fields=False):
    id: ObjectId
    reason: str = ""
    keep: tuple[str, ...] = ()
    """Exact strings of the payload that the pointer must show; what the payload does not hold is ignored."""

    spare: tuple[ObjectId, ...] = ()
    """For an action on a turn: spans inside it that stay as they are."""

    @property
    def verb(self) -> str:
        """`fold`, `mask` or `prune`."""
        return str(self.__struct_config__.tag)


class Fold(_ActionBase, frozen=True, tag="fold"):
    """Move the exact payload to the sidecar; a compact recovery pointer stays."""


class Mask(_ActionBase, frozen=True, tag="mask"):
    """Keep head and tail; the low-signal middle goes to the sidecar."""


class Prune(_ActionBase, frozen=True, tag="prune"):
    """Take the object out of the view; nothing is promised, though the transcript still holds it."""


Action = Fold | Mask | Prune


class Plan(msgspec.Struct, frozen=True):
    """One proposal. `digest` and `version` name the snapshot it was made from; empty means: unbound."""

    actions: tuple[Action, ...] = ()
    planner: str = ""
    version: int | None = None
    """Number of commits that the snapshot held."""
    digest: str = ""
    """Hex digest of the snapshot's transcript."""
    summary: str = ""


MAX_KEEP = 200
"""An action that wants more strings kept than this is refused."""


class ReadPlan(msgspec.Struct, frozen=True):
    """A plan read from outside, and what of it could not be used."""

    plan: Plan
    findings: tuple[Finding, ...] = ()


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan, as an outside planner gets it."""
    return msgspec.json.schema(Plan)


MAX_ACTIONS = 100_000
"""More actions than this in one plan are refused as a whole."""


def read_plan(raw: bytes) -> ReadPlan:
    """Read a plan's JSON. An action that cannot be used becomes a finding; the others still count.

    PlanError when the text is no plan at all: broken JSON, or no `actions` list.
    """
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PlanError(f"expected a plan as JSON, but {error}; see `selfgc govern --help` for the form") from error
    if not isinstance(value, dict) or not isinstance(value.get("actions"), list):
        raise PlanError('expected a JSON object with an "actions" list; nothing was applied')
    if len(value["actions"]) > MAX_ACTIONS:
        raise PlanError(f"{len(value['actions'])} actions in one plan; at most {MAX_ACTIONS} are read")
    actions: list[Action] = []
    findings: list[Finding] = []
    for number, item in enumerate(value["actions"]):
        found = _read_action(item)
        if isinstance(found, str):
            findings.append(Finding(_named(item), "malformed", f"actions.{number}: {found}"))
        else:
            actions.append(found)
    head = {key: value[key] for key in ("planner", "version", "digest", "summary") if key in value}
    try:
        plan = msgspec.convert(head, Plan)
    except msgspec.ValidationError as error:
        raise PlanError(f"the plan's header is wrong: {error}; nothing was applied") from error
    return ReadPlan(msgspec.structs.replace(plan, actions=tuple(actions)), tuple(findings))


def _read_action(item: object) -> Action | str:
    try:
        action: Action = msgspec.convert(item, Action)
    except msgspec.ValidationError as error:
        return str(error)
    if len(action.keep) > MAX_KEEP:
        return f"{len(action.keep)} strings to keep; at most {MAX_KEEP} an action"
    try:
        return msgspec.structs.replace(action, id=parse_id(action.id))
    except UsageError as error:
        return str(error)


def _named(item: object) -> str:
    name = item.get("id") if isinstance(item, dict) else None
    return name[:80] if isinstance(name, str) else ""


def parse_id(text: str) -> ObjectId:
    """Return `text` as an id, or raise UsageError when it is not of the form `kind:name:number`.

    `Read:12` is short for `function:Read:12`, as rows of pointers have it.
    """
    if text.count(":") == 1:
        text = f"function:{text}"
    if not ID_PATTERN.fullmatch(text):
        raise UsageError(f"{text[:80]!r} is no object id; expected for example function:Read:12 or conversation:user:3")
    return ObjectId(text)
