"""Rehearsal: a plan is replayed on a local copy, action by action, before anything is written.

Order of the checks; each refusal carries the rule's name:

1  stale_plan   the plan was made from this snapshot, or from an earlier moment of the same transcript
2  conflict     one action an object; what lies inside a turn that is acted on whole is covered by it
3  the rules L1 to L10 of `legality`
4  too_many     at most `max_share` of the objects in one plan
5  no_saving    the action saves at least `min_saving` tokens, pointer included
6  V1 to V20    the view with all accepted edits passes the oracle; what breaks it is refused
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from selfgc.errors import Finding
from selfgc.governance.drafts import Draft, Drafter
from selfgc.governance.oracle import check_view, input_violations
from selfgc.governance.project import Cache, project, reasoning_changes
from selfgc.model.ids import ObjectId, Tokens
from selfgc.model.legality import Legality, Refusal
from selfgc.model.message import PartKind
from selfgc.model.objects import PART_OVERHEAD
from selfgc.model.outcome import Refused, Rehearsal, View
from selfgc.model.plan import Action, Plan
from selfgc.model.protocols import TokenCounter
from selfgc.model.records import Edit
from selfgc.model.snapshot import Snapshot


def view_tokens(snapshot: Snapshot, edits: Mapping[ObjectId, Edit], view: View | None = None) -> Tokens:
    """Return the tokens of the request under these edits, system prompt and tools included.

    `view` is the projection under these edits, when it is at hand.
    """
    if not edits:
        return snapshot.transcript_tokens
    view = view if view is not None else project(snapshot, edits)
    position = {chain: number for number, chain in enumerate(snapshot.chains)}
    replaced = {(item.chain, item.path): item for edit in edits.values() for item in edit.replacements}
    total = snapshot.transcript_tokens - PART_OVERHEAD * (len(snapshot.entries) - len(view.messages))
    for (chain, path), item in replaced.items():
        number = position.get(chain)
        if number is None:
            continue
        entry = snapshot.entries[number]
        part = next(n for n, part in enumerate(entry.message.parts) if part.path == path)
        total -= entry.parts[part].tokens - item.tokens
    return Tokens(total)


def rehearse(
    snapshot: Snapshot,
    plan: Plan,
    counter: TokenCounter,
    *,
    fields: Mapping[str, bytes] | None = None,
    findings: Sequence[Finding] = (),
    cache: Cache | None = None,
) -> Rehearsal:
    """Replay a plan on a snapshot. Never raises for what a plan holds: whatever cannot be is refused.

    `cache` keeps renderings for the view after the commit.
    """
    refused = [Refused(item.object_id, "", item.rule, item.sentence) for item in findings]
    legality = Legality(snapshot)
    actions, turned_down = _legal(legality, plan)
    refused += turned_down
    drafter = Drafter(snapshot, counter, legality)
    drafts, without_saving = _drafts(drafter, actions)
    refused += without_saving
    present = project(snapshot, snapshot.edits, cache=cache)
    kept, broken, view = _pass_oracle(snapshot, drafts, fields or {}, cache)
    return _result(snapshot, plan, kept, [*refused, *broken], (present, view or present))


def _is_stale(snapshot: Snapshot, plan: Plan) -> bool:
    if plan.version is not None and plan.version != snapshot.version:
        return True
    return plan.digest != "" and plan.digest not in snapshot.chains


def _legal(legality: Legality, plan: Plan) -> tuple[list[Action], list[Refused]]:
    if _is_stale(legality.snapshot, plan):
        sentence = "the plan was made from another state of this session; plan again"
        return [], [Refused(action.id, action.verb, "stale_plan", sentence) for action in plan.actions]
    accepted: dict[ObjectId, Action] = {}
    refused: list[Refused] = []
    limit = legality.snapshot.policy.max_share * (len(legality.snapshot.spans) + len(legality.snapshot.turns))
    for action in _as_planned(legality.snapshot, plan):
        found = legality.refusal(action.id, action.verb, action.spare)
        if found is None and action.id in accepted:
            found = Refusal("conflict", "the plan names this object twice; the first action counts")
        elif found is None and len(accepted) >= limit:
            found = Refusal("too_many", f"a plan may touch {legality.snapshot.policy.max_share:.0%} of the objects")
        if found is None:
            accepted[action.id] = action
        else:
            refused.append(Refused(action.id, action.verb, found.rule, found.sentence))
    covered = _covered(legality, accepted)
    for object_id, turn_id in covered.items():
        verb = accepted.pop(object_id).verb
        refused.append(Refused(object_id, verb, "conflict", f"{turn_id} is acted on whole and covers it"))
    return list(accepted.values()), refused


def _as_planned(snapshot: Snapshot, plan: Plan) -> Iterable[Action]:
    """Yield the plan's actions; one on a turn leaves alone what came into the turn after the plan was made."""
    later = [] if plan.digest in {"", snapshot.digest} else _came_after(snapshot, snapshot.chains.index(plan.digest))
    for action in plan.actions:
        is_turn = later and action.id in snapshot.turns_by_id
        yield msgspec.structs.replace(action, spare=(*action.spare, *later)) if is_turn else action


def _came_after(snapshot: Snapshot, message: int) -> list[ObjectId]:
    return [span.id for span in snapshot.spans if span.result is None or span.result.message > message]


def _covered(legality: Legality, accepted: Mapping[ObjectId, Action]) -> dict[ObjectId, ObjectId]:
    snapshot = legality.snapshot
    return {
        span.id: turn.id
        for turn in snapshot.turns
        if turn.id in accepted
        for span in legality.swallowable(turn, accepted[turn.id].spare)
        if span.id in accepted
    }


def _drafts(drafter: Drafter, actions: Sequence[Action]) -> tuple[list[Draft], list[Refused]]:
    """Work the actions out from the newest object to the oldest: an anchor goes to the newest pointer."""
    snapshot = drafter.snapshot
    visible = drafter.visible_outside(actions)
    drafts: list[Draft] = []
    refused: list[Refused] = []
    for action in sorted(actions, key=lambda action: max(drafter.edited_refs(action)), reverse=True):
        draft = drafter.draft(action, visible)
        if draft.saving >= max(1, snapshot.policy.min_saving):
            drafts.append(draft)
            visible |= draft.shown
        else:
            sentence = f"it would save {draft.saving} tokens; at least {snapshot.policy.min_saving} are asked for"
            refused.append(Refused(action.id, action.verb, "no_saving", sentence))
            for ref in drafter.edited_refs(action):
                visible.update(snapshot.entries[ref.message].parts[ref.part].anchors)
    return drafts, refused


def merged_edits(snapshot: Snapshot, drafts: Sequence[Draft]) -> dict[ObjectId, Edit]:
    """Return the committed edits with those of the drafts put in; later ones take an object over."""
    merged = dict(snapshot.edits)
    for draft in drafts:
        for edit in draft.edits:
            merged.pop(edit.id, None)
            merged[edit.id] = edit
    return merged


def _stripped(snapshot: Snapshot) -> list[Draft]:
    """Return the removal of bound reasoning that a commit on a prefix-binding model brings with it."""
    if not snapshot.profile.binds_prefix:
        return []
    gone = tuple(
        item
        for item in reasoning_changes(snapshot, len(snapshot.entries))
        if (item.chain, item.path) not in snapshot.replacements
    )
    if not gone:
        return []
    object_id = ObjectId(f"reasoning:stripped:{snapshot.version + 1}")
    chains = {item.chain for item in gone}
    tokens = sum(
        facts.tokens
        for chain, entry in zip(snapshot.chains, snapshot.entries, strict=True)
        if chain in chains
        for part, facts in zip(entry.message.parts, entry.parts, strict=True)
        if part.kind is PartKind.THINKING and (chain, part.path) not in snapshot.replacements
    )
    return [Draft((Edit(object_id, "prune", gone, tokens, 0, reason="bound to the prefix"),), (), frozenset())]


def _pass_oracle(
    snapshot: Snapshot, drafts: list[Draft], fields: Mapping[str, bytes], cache: Cache | None
) -> tuple[list[Draft], list[Refused], View | None]:
    """Drop drafts until the view passes; at worst all of them: None, the view stays as it is."""
    refused: list[Refused] = []
    known = input_violations(snapshot, [entry.message.raw for entry in snapshot.entries], fields) if drafts else None
    while drafts:
        together = [*_stripped(snapshot), *drafts]
        view = project(snapshot, merged_edits(snapshot, together), cache=cache)
        found = check_view(snapshot, view, fields, known=known or frozenset())
        if not found:
            return together, refused, view
        places = {view.origins[item.message] for item in found if 0 <= item.message < len(view.origins)}
        chains = {
            snapshot.chains[near] for n in places for near in (n - 1, n, n + 1) if 0 <= near < len(snapshot.chains)
        }
        guilty = [draft for draft in drafts if any(r.chain in chains for e in draft.edits for r in e.replacements)]
        guilty = guilty or drafts
        refused += [
            Refused(draft.edits[0].id, draft.edits[0].action, found[0].rule, found[0].sentence) for draft in guilty
        ]
        drafts = [draft for draft in drafts if draft not in guilty]
    return [], refused, None


def _result(
    snapshot: Snapshot, plan: Plan, drafts: Sequence[Draft], refused: Sequence[Refused], views: tuple[View, View]
) -> Rehearsal:
    """Return what a plan comes to; `views` are the present one, and the one with the drafts in it."""
    before = view_tokens(snapshot, snapshot.edits, views[0])
    merged = merged_edits(snapshot, drafts)
    edits = tuple(edit for draft in drafts for edit in draft.edits)
    after = view_tokens(snapshot, merged, views[1])
    if drafts and after >= before:
        sentence = "all actions together would not make the view smaller"
        refused = [*refused, *(Refused(edit.id, edit.action, "no_saving", sentence) for edit in edits)]
        return _result(snapshot, plan, (), refused, (views[0], views[0]))
    reasoning = sum(edit.tokens_before for edit in edits if edit.id.startswith("reasoning:"))
    return Rehearsal(
        planner=plan.planner,
        version=snapshot.version,
        digest=snapshot.digest,
        edits=edits,
        payloads=tuple({p.sha256: p for draft in drafts for p in draft.payloads}.values()),
        refused=tuple(refused),
        tokens_before=before,
        tokens_after=after,
        reasoning_tokens=Tokens(reasoning),
        first_changed=_first_changed(snapshot, *views),
        view=views[1],
    )


def _first_changed(snapshot: Snapshot, before: View, after: View) -> int:
    """Return the index behind the last message in which both views begin alike: a merge changes its first half too."""
    pairs = zip(before.messages, after.messages, strict=False)
    same = next((n for n, (old, new) in enumerate(pairs) if old != new), len(after.messages))
    if same == len(before.messages):
        return len(snapshot.chains)
    return before.origins[same - 1] + 1 if same else 0
