"""The verdict: what became of each need in a governed view, and the levels that follow.

1. Visible: it stands in the view, anywhere.
2. Recoverable: a pointer of the view routes to a payload that holds it; the payload was read and its hash checked.
3. Unroutable: a payload holds it, and nothing leads there.
4. Re-derivable: its last source is a read that can be made again, whose key is visible, and nothing was written since.
5. Lost: none of these.

S0: all visible. S1: all visible or recoverable, with at most `MOST_RESTORES` restores. S2: as S1, or re-derivable.
"""

import hashlib
from collections.abc import Sequence

from selfgc.bench.governed import Governed, Restorable
from selfgc.bench.judge.needs import STRICT_WEIGHT, Need, Needs
from selfgc.bench.judge.produced import Place
from selfgc.bench.judge.reading import Reading, Seen, message_key
from selfgc.bench.judge.routes import Cover, Routes, cover
from selfgc.bench.judge.sources import Call, Origin, calls_of, is_stale
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.uses import Use
from selfgc.bench.judge.verbatim import Span
from selfgc.bench.records import Category, Judgement, Levels, Loss, Status
from selfgc.bench.session import Session
from selfgc.bench.texts import Decoded, Source, leaves, normal

MOST_RESTORES = 2
"""More restores than this in one horizon are an impact."""
SHOWN = 200
"""Characters of a lost text that a record holds."""

_CATEGORIES = {Kind.URL: Category.LOCATOR, Kind.PATH: Category.LOCATOR, Kind.ID: Category.LOCATOR}


class Judge:
    """Judges governed views of one session's cases."""

    def __init__(self, set_name: str, session: Session, reading: Reading) -> None:
        self._set = set_name
        self._session = session
        self._reading = reading
        self._calls = calls_of(session.messages)
        self._keys = [message_key(message) for message in session.messages]
        self._seen = [reading.view([message]) for message in session.messages]
        self._by_message = {number: call for call in self._calls for number in (call.asked, call.answered)}
        self._system = self._reading.tokens([{"role": "system", "content": session.system}]) if session.system else 0

    def judge(self, needs: Needs, governed: Governed, *, subject: str, rate: float | None = None) -> Judgement:
        """Return the judgement of one governed prefix."""
        prefix = self._session.messages[: needs.cut]
        seen = self._reading.view(governed.messages)
        missed = [need for need in needs.every if not seen.holds(need)]
        found = _Found(self, needs, governed, seen)
        statuses = [found.status(need) for need in missed]
        own = self.own_keys(needs.cut)
        levels = {name: _levels_of(name, needs, missed, statuses, found) for name in ("A", "B", "AB", "face")}
        covered = levels["AB"][1]
        return Judgement(
            set=self._set,
            session=needs.session,
            cut=needs.cut,
            subject=subject,
            rate=rate,
            tokens=self._system + self._reading.tokens(prefix),
            tokens_view=self._system + self._reading.tokens(governed.messages),
            restored_tokens=covered.tokens,
            a=levels["A"][0],
            b=levels["B"][0],
            both=levels["AB"][0],
            face=levels["face"][0],
            survival=_survival(needs, missed),
            contracts=len(needs.contracts),
            contracts_kept=sum(sentence in seen.text for sentence in needs.contracts),
            losses=tuple(found.loss(need, statuses[n], covered.by_need.get(n, "")) for n, need in enumerate(missed)),
            pointer_tokens=self._reading.tokens(
                message for message in governed.messages if message_key(message) not in own
            ),
            plan_digest=hashlib.sha256(governed.plan.encode()).hexdigest(),
        )

    def origin(self, need: Need, cut: int) -> Origin | None:
        """Return the last place before a cut where a need was met; None when no single message holds it."""
        for number in range(cut - 1, -1, -1):
            if self._seen[number].holds(need):
                return Origin(number, _source(self._session.messages[number]), self._by_message.get(number))
        return None

    @property
    def calls(self) -> Sequence[Call]:
        """The calls of the session in order."""
        return self._calls

    def own_keys(self, cut: int) -> set[bytes]:
        """Return the keys of the session's own messages before a cut."""
        return set(self._keys[:cut])

    @property
    def reading(self) -> Reading:
        """What was read of this session."""
        return self._reading


class _Found:
    """What can be found for the missed needs of one view; worked out when it is asked for."""

    def __init__(self, judge: Judge, needs: Needs, governed: Governed, seen: Seen) -> None:
        self._judge, self._needs, self._governed, self._seen = judge, needs, governed, seen
        self._routes: Routes | None = None
        self._origins: dict[Need, Origin | None] = {}
        self._held: dict[Need, tuple[list[Restorable], bool]] = {}

    def status(self, need: Need) -> Status:
        """Return what became of a missed need."""
        routed, is_held = self._holding(need)
        if routed:
            return Status.RECOVERABLE
        origin = self._origin(need)
        if origin is not None and self._is_rederivable(origin):
            return Status.REDERIVABLE
        return Status.UNROUTABLE if is_held else Status.LOST

    def size(self, item: Restorable) -> int:
        """Return the tokens that restoring a payload brings back."""
        return self._judge.reading.size(item)

    def holders(self, need: Need) -> list[Restorable]:
        """Return the payloads that hold a need and that a pointer routes to."""
        return self._holding(need)[0]

    def loss(self, need: Need, status: Status, restored_by: str) -> Loss:
        """Return the record of a missed need."""
        origin = self._origin(need)
        call = origin.call if origin is not None else None
        return Loss(
            matcher=_matcher(need),
            text=(need.anchor if isinstance(need, Use) else need.text)[:SHOWN],
            kind=need.kind.value if isinstance(need, Use) else "span",
            place=need.place.value,
            where=need.where,
            step=need.step,
            weight=need.weight,
            status=status,
            category=_category(need, status, origin),
            source=f"{call.tool} {call.key[:SHOWN]}" if call is not None else "",
            source_message=origin.message if origin is not None else -1,
            restored_by=restored_by,
        )

    def _holding(self, need: Need) -> tuple[list[Restorable], bool]:
        if need not in self._held:
            reading = self._judge.reading
            held = [item for item in self._governed.payloads if reading.payload(item).holds(need)]
            if self._routes is None:
                own = self._judge.own_keys(self._needs.cut)
                self._routes = Routes(reading, self._governed.messages, own)
            terms = self._terms(need)
            routed = [item for item in held if self._routes.lead_to(item, need, terms)]
            self._held[need] = routed, bool(held)
        return self._held[need]

    def _terms(self, need: Need) -> list[str]:
        origin = self._origin(need)
        key = origin.call.key if origin is not None and origin.call is not None else ""
        own = [key.replace("\\", "/").rpartition("/")[2]] if key and "\n" not in key else []
        return [term for term in (*own, *self._needs.sites.get(need.step, ())) if len(term) > 2]

    def _origin(self, need: Need) -> Origin | None:
        if need not in self._origins:
            self._origins[need] = self._judge.origin(need, self._needs.cut)
        return self._origins[need]

    def _is_rederivable(self, origin: Origin) -> bool:
        call = origin.call
        if call is None or origin.source is not Source.RESULT or not call.is_repeatable:
            return False
        before = [later for later in self._judge.calls if later.asked < self._needs.cut]
        key = normal(call.key.rstrip("/"))
        return bool(key) and not is_stale(call, before) and key.rpartition("/")[2] in self._seen.text


def _counts(name: str, need: Need) -> bool:
    """Whether a need decides the verdict of that name."""
    if name == "face":
        return (need.weight if isinstance(need, Use) else need.face_weight) >= STRICT_WEIGHT
    return _matcher(need) in name and need.weight >= STRICT_WEIGHT


def _levels_of(
    name: str, needs: Needs, missed: Sequence[Need], statuses: Sequence[Status], found: "_Found"
) -> tuple[Levels, Cover]:
    counted = [n for n, need in enumerate(missed) if _counts(name, need)]
    holders = {n: found.holders(missed[n]) for n in counted if statuses[n] is Status.RECOVERABLE}
    restores = cover(holders, found.size, MOST_RESTORES)
    needed = sum(_counts(name, need) for need in needs.every)
    within = len(restores.ids) <= MOST_RESTORES
    kept = all(statuses[n] is Status.RECOVERABLE for n in counted)
    eased = all(statuses[n] in {Status.RECOVERABLE, Status.REDERIVABLE} for n in counted)
    return Levels(
        needed=needed,
        visible=needed - len(counted),
        s0=not counted,
        s1=kept and within,
        s2=eased and within,
        kept=kept,
        restores=len(restores.ids),
    ), restores


def _survival(needs: Needs, missed: Sequence[Need]) -> float:
    total = sum(need.weight for need in needs.every)
    return 1 - sum(need.weight for need in missed) / total if total else 1.0


def _matcher(need: Need) -> str:
    return "A" if isinstance(need, Use) else "B"


def _source(message: Decoded) -> Source:
    sources = {leaf.source for leaf in leaves(message)}
    order = (Source.RESULT, Source.ARGUMENT, Source.USER, Source.PROSE, Source.THINKING, Source.SYSTEM)
    return next((source for source in order if source in sources), Source.SYSTEM)


def _category(need: Need, status: Status, origin: Origin | None) -> Category:
    if status is Status.UNROUTABLE:
        return Category.ROUTING
    if origin is not None and origin.source is Source.USER:
        return Category.CONTRACT
    if isinstance(need, Span) or need.kind is Kind.LINE or need.place is Place.EXACT:
        return Category.VERBATIM
    if need.kind in _CATEGORIES:
        return _CATEGORIES[need.kind]
    if need.kind is Kind.ERROR or (origin is not None and origin.call is not None and _tells_state(origin)):
        return Category.STATE
    return Category.EVIDENCE


def _tells_state(origin: Origin) -> bool:
    """Whether a need came from the result of a command that does something: how the world stands now."""
    call = origin.call
    return call is not None and origin.source is Source.RESULT and call.is_write
