"""ContextEngine: observe, view, maintain, restore. The one place that wires the rooms below together.

The order of a commit stands in `_commit` and nowhere else: payloads durable and read back, then the commit
record (one transaction with them), then the new view. The file is long so that this order, the fallbacks of a
view and the rounds of maintenance can be read in one place. Whatever fails in governance leaves the agent with
its ungoverned request, a ledger entry where the store allows one, and a log line.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

import msgspec

from selfgc.dialects.anthropic import AnthropicDialect
from selfgc.economics.catalog import Catalog, LifetimeIs, Row, read_catalog
from selfgc.economics.horizon import calls_to_come
from selfgc.economics.tokens import VocabularyCounter
from selfgc.engine.lineage import Lineage
from selfgc.engine.report import Report, report_of
from selfgc.engine.state import CommitBody, CommitState
from selfgc.engine.views import ViewKeeper
from selfgc.errors import Finding, PayloadMissing, PlanError, SelfGCError, StalePlan, StoreError, UsageError
from selfgc.governance.born_small import draft_born_small
from selfgc.governance.decide import Circumstances, Decision, decide, is_boundary
from selfgc.governance.lineage import find_repairs
from selfgc.governance.oracle import check_view
from selfgc.governance.project import project
from selfgc.governance.rehearse import rehearse, view_tokens
from selfgc.model.anchors import anchors_of
from selfgc.model.dialect import Dialect
from selfgc.model.ids import ObjectId, SessionKey
from selfgc.model.legality import Legality
from selfgc.model.outcome import Rehearsal, Repair, View
from selfgc.model.plan import Action, Plan, parse_id
from selfgc.model.policy import Policy
from selfgc.model.profile import Profile, Violation
from selfgc.model.protocols import Store, TokenCounter
from selfgc.model.records import Edit, EntryKind, JournalEntry, NewEntry, Payload
from selfgc.model.snapshot import Planner, Snapshot
from selfgc.model.wire import Body, decode, encode, encode_exact, members, split_body, without_lone_escapes
from selfgc.planners.reachability import ReachabilityPlanner
from selfgc.sidecar.memory import MemoryStore


def _chat() -> Dialect:
    from selfgc.dialects.chat import ChatDialect  # noqa: PLC0415 - its rules are loaded when somebody speaks it

    return ChatDialect()


DIALECTS: Mapping[str, Callable[[], Dialect]] = {"anthropic": AnthropicDialect, "chat": _chat}
"""How to make a dialect, by name."""


_CLEANED = "half of a character pair stands alone in it; the view has U+FFFD there"
_TRIES = 5
"""So often new ids are tried when other writers keep taking them."""


@cache
def load_catalog() -> Catalog:
    """Read the data file of prices, cache rules and profiles that the package ships, once a process."""
    return read_catalog(Path(__file__).parents[1].joinpath("economics/data/models.toml").read_bytes())


class ContextEngine:
    """Governs one session.

    Call `observe` with the client's whole history at every step, send what `view` returns, and call
    `maintain` when it suits (a turn's end is best). `restore` gives a folded object's exact payload.
    """

    def __init__(
        self,
        *,
        store: Store | None = None,
        session: str = "default",
        dialect: str = "anthropic",
        policy: Policy | None = None,
        planner: Planner | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if dialect not in DIALECTS:
            raise UsageError(f"unknown dialect {dialect!r}; there are {', '.join(sorted(DIALECTS))}")
        _check_given(store=store, session=session, policy=policy, planner=planner)
        self.policy = policy or Policy()
        self.planner: Planner = planner or ReachabilityPlanner()
        self.session = SessionKey(session)
        self.store: Store = store if store is not None else MemoryStore()
        self._clock = clock
        self._dialect = DIALECTS[dialect]()
        self._counter: TokenCounter = VocabularyCounter()
        self._catalog = load_catalog()
        self._state = CommitState(self.store.ledger(self.session))
        self._body = Body(b'{"messages":[', (), b",", b"]}", {})
        self._original: bytes = b""
        self._model = ""
        self._system: tuple[bytes, int, frozenset[str]] = (b"", 0, frozenset())
        self._views = ViewKeeper()
        self._edits: tuple[tuple[int, int, int], dict[ObjectId, Edit]] = ((-1, 0, 0), {})
        self._seen_upto = 0
        self._unjournaled: list[JournalEntry] = []
        self._last_call: float | None = None
        self._fault = ""
        self._is_blind = False

    @cached_property
    def _lineage(self) -> Lineage:
        """The session's messages. Read from the store when they are needed: a restore needs the ledger only."""
        try:
            journal = self.store.journal(self.session)
        except StoreError as error:  # the agent goes on with its own requests; nothing is committed any more
            self._is_blind = True
            self._note_fault("journal", error)
            journal = []
        return Lineage(self._dialect, self._counter, journal)

    # -- observe ---------------------------------------------------------------------------------------

    def observe(self, messages: Sequence[Mapping[str, object]], **fields: object) -> None:
        """Take the client's whole history in. `fields` are other request members (model, system, tools).

        WireError when a message is none of this dialect; nothing has changed then.
        """
        raws = [encode_exact(message) for message in messages]
        head = {key: encode_exact(value) for key, value in fields.items()}
        prefix = encode_exact({key: msgspec.Raw(value) for key, value in head.items()})[:-1] if head else b"{"
        start = prefix + (b"," if head else b"") + b'"messages":['
        self._observe(Body(start, tuple(raws), b",", b"]}", head), start + b",".join(raws) + b"]}")

    def observe_body(self, raw: bytes) -> None:
        """Take a request body in, as the client would send it. WireError when it is none of this dialect."""
        self._observe(split_body(raw), raw)

    def _observe(self, body: Body, original: bytes) -> None:
        system = self._dialect.system_text(body.fields)
        model = decode(body.fields["model"]) if "model" in body.fields else ""
        new = self._lineage.advance(body.messages)
        self._body, self._original = body, original
        self._model = model if isinstance(model, str) else ""
        self._unjournaled += new
        self._seen_upto = min(self._seen_upto, len(self._lineage.chains))
        key = hashlib.sha256(system.encode("utf-8", "surrogatepass")).digest()
        if self._system[0] != key:
            self._system = (key, self._counter.count(system), frozenset(anchors_of(system)))
        self._write_journal()

    def _write_journal(self) -> None:
        """Put observed messages into the store; a store that fails only stops new commits."""
        if not self._unjournaled or self._is_blind:
            return
        try:
            if not any(self._journaled() for _ in range(_TRIES)):
                self._note_fault("journal", StalePlan(f"other writers came first {_TRIES} times; give each a session"))
        except StoreError as error:
            self._note_fault("journal", error)

    def _journaled(self) -> bool:
        """Write the journal; False when another writer's messages took our ids, and ours have new ones now."""
        try:
            self.store.append(self.session, journal=self._unjournaled)
        except StalePlan:
            self._start_over()
            return not self._unjournaled
        self._unjournaled = []
        return True

    def _start_over(self) -> None:
        """Take in what another writer did to this session, and observe the present history anew."""
        self._state = CommitState(self.store.ledger(self.session))
        self._lineage = Lineage(self._dialect, self._counter, self.store.journal(self.session))
        self._unjournaled = self._lineage.advance(self._body.messages)
        self._views = ViewKeeper()
        self._edits = ((-1, 0, 0), {})

    # -- snapshot and view -----------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the session's present state as planners see it."""
        return Snapshot(
            dialect=self._dialect,
            entries=tuple(self._lineage.index.entries),
            chains=tuple(self._lineage.hex_chains),
            spans=tuple(self._lineage.index.spans),
            turns=tuple(self._lineage.index.turns),
            edits=self._edits_in_force(),
            policy=self.policy,
            profile=self._profile(),
            version=self._state.version,
            system_tokens=self._system[1],
            system_anchors=self._system[2],
        )

    def _edits_in_force(self) -> dict[ObjectId, Edit]:
        """Return the edits on this lineage, found anew only when a commit or another lineage may change them."""
        key = (self._state.version, self._lineage.rewinds, len(self._lineage.chains))
        known, edits = self._edits
        if key[:2] != known[:2] or len(edits) < len(self._state.edits()):
            edits = self._state.edits_on(frozenset(self._lineage.hex_chains))
        self._edits = (key, edits)
        return edits

    def _profile(self) -> Profile:
        return self._catalog.row(self._model).profile(self._model)

    def view(self) -> list[dict[str, object]]:
        """Return the messages to send now, decoded; those that are not edited equal the client's own."""
        return [dict(value) for raw in self._governed().messages if isinstance(value := decode(raw), dict)]

    def view_body(self) -> bytes:
        """Return the request body to send now; with nothing edited, the very bytes that came in."""
        view = self._governed()
        if view.messages == self._body.messages:
            return self._original
        return self._body.joined(view.messages)

    def view_tokens(self) -> int:
        """Return the tokens of the view, system prompt and tools included."""
        snapshot = self.snapshot()
        return view_tokens(snapshot, snapshot.edits)

    def _governed(self) -> View:
        self._last_call = self._clock()
        try:
            view = self._checked_view()
        except Exception as error:  # noqa: BLE001 - outer edge: a bug of ours must not stop the agent (invariant 10)
            self._note_fault("view", error)
            view = View(self._body.messages, tuple(range(len(self._body.messages))))
        self._seen_upto = len(self._lineage.chains)
        return view

    def _checked_view(self) -> View:
        """Project, check, and fall back: without repairs, then without edits."""
        snapshot = self.snapshot()
        if self._is_held():
            return View(self._body.messages, tuple(range(len(self._body.messages))))
        if self._is_blind:
            return View(self._body.messages, tuple(range(len(self._body.messages))))
        if self._born_small(snapshot):
            snapshot = self.snapshot()
        raws, fields = self._lineage.raws, self._body.fields
        view = self._views.view(snapshot, raws, self._lineage.rewinds)
        if not _severe(snapshot, view, check_view(snapshot, view, fields)):
            return view
        return self._repaired(snapshot, raws, fields)

    def _repaired(self, snapshot: Snapshot, raws: Sequence[bytes], fields: Mapping[str, bytes]) -> View:
        """Return a view whose history came in broken: repaired, or with our edits, or as the client sent it."""
        before = self._dialect.check(raws, fields, snapshot.profile)
        known = frozenset((item.rule, item.call_id) for item in before)
        repairs, clean = find_repairs(snapshot), [without_lone_escapes(raw) for raw in raws]
        cleaned = [number for number, raw in enumerate(raws) if clean[number] != raw]
        if repairs or cleaned:
            view = project(snapshot, snapshot.edits, clean, repairs, self._views.cache)
            found = check_view(snapshot, view, fields)
            if len(found) < len(before) and all((item.rule, item.call_id) in known for item in found):
                self._note_repairs(snapshot, [*repairs, *(Repair(n, "", None, "", _CLEANED) for n in cleaned)])
                return view
        view = project(snapshot, snapshot.edits, raws, (), self._views.cache)
        found = check_view(snapshot, view, fields, known=known)
        if not found:
            return view
        self._note_fault("oracle", StoreError(f"{found[0].rule} at {found[0].path}: {found[0].sentence}"))
        return View(self._body.messages, tuple(range(len(self._body.messages))))

    def _note_repairs(self, snapshot: Snapshot, repairs: Sequence[Repair]) -> None:
        entries = []
        for repair in repairs:
            key = f"{snapshot.chains[repair.message]}/{repair.path}/{repair.call_id}"
            if key not in self._state.repaired:
                self._state.repaired.add(key)
                body = {"key": key, "message": repair.message, "sentence": repair.sentence}
                entries.append(self._entry(EntryKind.REPAIR, body))
        self._note(entries)

    # -- maintain --------------------------------------------------------------------------------------

    def maintain(
        self,
        plan: Plan | None = None,
        *,
        findings: Sequence[Finding] = (),
        dry_run: bool = False,
        is_cold: bool | None = None,
    ) -> Report:
        """Plan, rehearse, and commit or defer. `plan` takes the place of the planner's own.

        `is_cold` says whether the provider's cache is cold; by default that follows from the time since this
        engine's last view, and before the first one it counts as warm. With `dry_run` nothing is written. A planner
        that fails gives an empty plan and a warning.
        Away from a boundary the planner is not even asked, and nothing is written.
        """
        snapshot = self.snapshot()
        warnings: list[str] = []
        if self._is_blind:
            return self._not_now(
                snapshot, f"the journal of session {self.session!r} cannot be read: run `selfgc verify`"
            )
        if plan is None and not dry_run and not is_boundary(snapshot):
            return self._not_now(snapshot, f"unsafe boundary: no {self.policy.boundary} boundary here")
        if plan is None and not self._is_held() and self._state.last == (snapshot.digest, self._order()):
            return self._not_now(snapshot, "nothing to commit: nothing new since the last commit")
        is_given = plan is not None
        if plan is None:
            plan = self._planned(snapshot, warnings)
        rehearsal = rehearse(
            snapshot, plan, self._counter, fields=self._body.fields, findings=findings, cache=self._views.cache
        )
        prices = self._catalog.row(self._model)
        cold = self._is_cold(prices) if is_cold is None else is_cold
        calls = sum(entry.message.role == "assistant" for entry in snapshot.entries)
        now = Circumstances(cold, calls_to_come(calls), self._body.fields)
        decision = decide(snapshot, rehearsal, prices, now)
        if not plan.actions and plan.summary:
            decision = msgspec.structs.replace(decision, reason=f"nothing to commit: {plan.summary}")
        committed = False
        if not dry_run:
            committed = self._carry_out(snapshot, rehearsal, decision, warnings, is_given=is_given)
        pins = Legality(snapshot).pins
        decision = self._with_missed_budget(decision, rehearsal, is_applied=committed or dry_run)
        report = report_of(rehearsal, decision, snapshot.transcript_tokens, pins, committed=committed)
        return msgspec.structs.replace(report, warnings=tuple(warnings))

    def _is_held(self) -> bool:
        """Whether the server holds this history, so that it cannot be edited here."""
        return any(name in self._body.fields for name in self._profile().server_state)

    def _order(self) -> str:
        """Name what was asked for: the same planner under the same policy."""
        return hashlib.sha256(self.planner.name.encode() + encode(self.policy)).hexdigest()

    def _with_missed_budget(self, decision: Decision, rehearsal: Rehearsal, *, is_applied: bool) -> Decision:
        """Tell in the decision's reason when the view stays over the budget that the policy sets."""
        tokens = rehearsal.tokens_after if is_applied else rehearsal.tokens_before
        if self.policy.budget is None or tokens <= self.policy.budget:
            return decision
        missed = f"the budget of {self.policy.budget:,} tokens is not met: the view has {tokens:,}"
        return msgspec.structs.replace(decision, reason=f"{decision.reason}; {missed}")

    def _not_now(self, snapshot: Snapshot, reason: str) -> Report:
        now = snapshot.transcript_tokens if self._is_blind else view_tokens(snapshot, snapshot.edits)
        return Report(
            planner=self.planner.name,
            committed=False,
            reason=reason,
            tokens_transcript=snapshot.transcript_tokens,
            tokens_before=now,
            tokens_after=now,
            tokens_planned=now,
            actions=(),
            refused=(),
            pinned=Legality(snapshot).pins,
            decision=Decision(commit=False, reason=reason),
        )

    def _planned(self, snapshot: Snapshot, warnings: list[str]) -> Plan:
        try:
            plan = _checked_plan(self.planner.plan(snapshot))
        except Exception as error:  # noqa: BLE001 - outer edge: a planner may be anybody's code; it may not stop the agent
            warnings.append(f"the planner {self.planner.name} failed: {error}")
            self._note_fault("planner", error)
            return Plan(planner=self.planner.name)
        return plan

    def _is_cold(self, prices: Row) -> bool:
        """Whether the provider's cache is gone for sure; what is unknown, or lives at least so long, counts as warm."""
        if self._last_call is None or prices.lifetime_is is LifetimeIs.MINIMUM:
            return False
        return self._clock() - self._last_call > prices.lifetime

    def _carry_out(
        self, snapshot: Snapshot, rehearsal: Rehearsal, decision: Decision, warnings: list[str], *, is_given: bool
    ) -> bool:
        notes = [self._plan_entry(rehearsal)]
        if rehearsal.refused:
            rows = [
                dict(zip(("id", "action", "rule", "sentence"), refused, strict=True)) for refused in rehearsal.refused
            ]
            notes.append(self._entry(EntryKind.REFUSAL, {"refused": rows}))
        if not decision.commit:
            self._note([*notes, self._entry(EntryKind.DEFER, decision)])
            return False
        try:
            self._commit(snapshot, rehearsal, decision.reason, notes, is_given=is_given)
        except StalePlan as error:  # another engine committed first: go on from what it made
            warnings.append(str(error))
            self._start_over()
            self._write_journal()
            return False
        except StoreError as error:
            warnings.append(str(error))
            self._note_fault("commit", error)
            return False
        return True

    def _commit(
        self, snapshot: Snapshot, rehearsal: Rehearsal, reason: str, notes: Sequence[NewEntry], *, is_given: bool
    ) -> None:
        """Make a rehearsal durable, then let the view follow. StoreError or StalePlan: nothing has changed."""
        pins = "\n".join(sorted(Legality(snapshot).pins))
        body = CommitBody(
            planner=rehearsal.planner,
            digest=rehearsal.digest,
            boundary=self.policy.boundary,
            tokens_before=rehearsal.tokens_before,
            tokens_after=rehearsal.tokens_after,
            edits=rehearsal.edits,
            decision=reason,
            pins=hashlib.sha256(pins.encode()).hexdigest(),
            order="" if is_given else self._order(),
        )
        self._write_commit(rehearsal.payloads, body, notes)

    def _write_commit(self, payloads: Sequence[Payload], body: CommitBody, notes: Sequence[NewEntry]) -> None:
        self.store.append(
            self.session,
            journal=self._unjournaled,
            payloads=payloads,
            entries=[*notes, self._entry(EntryKind.COMMIT, body)],
            expected_commits=self._state.version,
        )
        self._unjournaled = []
        self._state.add(body.edits, (body.digest, body.order))

    def _born_small(self, snapshot: Snapshot) -> bool:
        """Fold or mask results that were never sent; whether anything was committed."""
        sent = max(self._seen_upto, Legality(snapshot).last_assistant)
        draft = draft_born_small(snapshot, self._counter, sent, self._body.fields)
        if draft is None:
            return False
        before = view_tokens(snapshot, snapshot.edits)
        body = CommitBody(
            planner="born small",
            digest=snapshot.digest,
            boundary="unsent",
            tokens_before=before,
            tokens_after=before - draft.saving,
            edits=draft.edits,
            decision="never sent before: no cache to break",
        )
        try:
            self._write_commit(draft.payloads, body, ())
        except SelfGCError as error:
            self._note_fault("born small", error)
            return False
        return True

    def roll_back(self) -> None:
        """Take the last commit back; the view is as before it, and its payloads stay restorable.

        UsageError when nothing is committed.
        """
        if not self._state.edits():
            raise UsageError(f"nothing is committed in session {self.session!r} that could be taken back")
        entry = self._entry(EntryKind.ROLLBACK, {"version": self._state.version})
        self.store.append(self.session, entries=[entry], expected_commits=self._state.version)
        self._state.roll_back()

    # -- restore ---------------------------------------------------------------------------------------

    def restore(self, object_id: str, part: str | None = None) -> bytes:
        """Return the exact payload of a folded or masked object; `part` names one piece of several.

        PayloadMissing for ids that this session never folded (unknown, foreign and pruned ids alike),
        PayloadCorrupt when the stored bytes are damaged, UsageError for what is no id or no piece.
        """
        wanted = parse_id(object_id)
        edit = self._state.restorable(wanted)
        if edit is None:
            near = ", ".join(_nearest(wanted, self._state.restorable_ids)) or "nothing is folded in this session"
            raise PayloadMissing(f"no payload for {wanted} in session {self.session!r}; there is: {near}")
        payload = self.store.payload(self.session, edit.payload)
        wanted_bytes = payload if part is None else piece_of(payload, edit, part)
        self._note([self._entry(EntryKind.RESTORE, {"id": wanted, "part": part, "bytes": len(wanted_bytes)})])
        self._state.restored.append(wanted)
        return wanted_bytes

    def restorable_ids(self) -> list[ObjectId]:
        """Return every id that `restore` answers in this session, in order of commit."""
        return self._state.restorable_ids

    # -- ledger and faults -----------------------------------------------------------------------------

    def _entry(self, kind: EntryKind, body: object) -> NewEntry:
        return NewEntry(kind, self._clock(), encode(body))

    def _plan_entry(self, rehearsal: Rehearsal) -> NewEntry:
        body = {
            "planner": rehearsal.planner,
            "digest": rehearsal.digest,
            "accepted": len(rehearsal.edits),
            "refused": len(rehearsal.refused),
        }
        return self._entry(EntryKind.PLAN, body)

    def _note(self, entries: Sequence[NewEntry]) -> None:
        if not entries:
            return
        try:
            self.store.append(self.session, entries=entries)
        except StoreError as error:
            _warn("the ledger could not be written: %s", error)

    def _note_fault(self, where: str, error: Exception) -> None:
        """Tell a fault once: in the log, and in the ledger when the store can be written."""
        sentence = f"{where}: {type(error).__name__}: {error}"
        if sentence == self._fault:
            return
        self._fault = sentence
        _warn("governance fault, the request goes on ungoverned: %s", sentence)
        self._note([self._entry(EntryKind.FAULT, {"where": where, "error": sentence})])


def _check_given(*, store: object, session: object, policy: object, planner: object) -> None:
    """Refuse arguments of the wrong kind before anything is done with them."""
    checks = (
        (store is None or hasattr(store, "append"), "store", "a store, such as SqliteStore(path)", store),
        (isinstance(session, str) and session != "", "session", "a name", session),
        (policy is None or isinstance(policy, Policy), "policy", "a Policy", policy),
        (planner is None or hasattr(planner, "plan"), "planner", "a planner with a method `plan`", planner),
    )
    for holds, name, wanted, value in checks:
        if not holds:
            raise UsageError(f"{name} must be {wanted}, got {value!r:.80}")


def _checked_plan(answer: object) -> Plan:
    """Return a planner's answer when it is a plan; PlanError otherwise: planners may be anybody's code."""
    if not isinstance(answer, Plan) or not all(isinstance(action, Action) for action in answer.actions):
        raise PlanError(f"expected a Plan of Fold, Mask and Prune, got {type(answer).__name__}; nothing is applied")
    return answer


def _warn(message: str, *values: object) -> None:
    """Log a warning under the name `selfgc`; the logging package is loaded when there is something to say."""
    import logging  # noqa: PLC0415 - a tenth of the time that `import selfgc` takes

    logging.getLogger("selfgc").warning(message, *values)


def _severe(snapshot: Snapshot, view: View, found: Sequence[Violation]) -> bool:
    """Whether violations go beyond calls of a last assistant message, whose results are still to come."""
    last = len(view.messages) - 1
    is_waiting = last >= 0 and snapshot.entries[view.origins[last]].message.role == "assistant"
    return any(not (is_waiting and item.call_id and item.message == last) for item in found)


def piece_of(payload: bytes, edit: Edit, part: str) -> bytes:
    """Return one piece of a payload: a text as its UTF-8 bytes, anything else as its raw JSON."""
    if edit.media != "application/json" or not payload.startswith(b"{"):
        raise UsageError(f"{edit.id} has one piece only; leave the part out")
    pieces = members(payload)
    if part not in pieces:
        raise UsageError(f"{edit.id} has no piece {part!r}; there are {', '.join(pieces)}")
    value = decode(pieces[part])
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else pieces[part]


def _nearest(wanted: ObjectId, known: Sequence[ObjectId]) -> list[ObjectId]:
    """Return the restorable ids that are most like the wanted one: of its kind and tool first, then by number."""
    head, _, number = wanted.rpartition(":")

    def unlike(other: ObjectId) -> tuple[bool, int]:
        return other.rpartition(":")[0] != head, abs(int(other.rpartition(":")[2]) - int(number))

    return sorted(known, key=unlike)[:5]
