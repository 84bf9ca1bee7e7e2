"""Determinism: needs and verdicts have the same digest again, in another order, and in a process with other hashes.

`python -m selfgc.bench.controls` prints the digest of the world that it reads from standard input. Sets have another
order there, as on another machine.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

import msgspec

from selfgc.bench.cases import Boundary, Case
from selfgc.bench.controls.prepared import Cut, Judges, Prepared, dice, sampled, units, without
from selfgc.bench.governed import Counter
from selfgc.bench.judge.needs import Corpus, Needs, asked_windows, needs_of
from selfgc.bench.judge.rarity import rarity_of
from selfgc.bench.judge.verbatim import Held, shares_of
from selfgc.bench.records import ControlRecord
from selfgc.bench.session import Session

_ABOUT = 4
"""Characters that stand for a token here."""


class Place(msgspec.Struct, frozen=True):
    """Where one case is cut."""

    session: int
    """The session's place in its world."""
    cut: int
    end: int
    """Index of the message after the continuation."""
    boundary: Boundary


class World(msgspec.Struct, frozen=True):
    """A few sessions and where they are cut: all that needs and verdicts are made from."""

    sessions: tuple[Session, ...]
    cuts: tuple[Place, ...]
    seed: int


def determinism(
    cases: Sequence[Prepared], judges: Callable[[Counter], Judges], *, size: int, seed: int
) -> ControlRecord:
    """Return whether the digest is the same twice, with sessions and cases shuffled, and in another process.

    `judges` gives new judges, and is given what counts their tokens.
    """
    world = world_of(sampled(cases, size, seed), seed)
    shuffled = _shuffled(world)
    digests = {
        "first": digest_of(world, judges(about)),
        "again": digest_of(world, judges(about)),
        "shuffled": digest_of(shuffled, judges(about)),
        "other process": _elsewhere(shuffled),
    }
    differ = [name for name, digest in digests.items() if digest != digests["first"]]
    found = f"{digests['first'][:16]} of {len(world.cuts)} cases of {len(world.sessions)} sessions, seed {seed}"
    told = f"{found}; another one: {', '.join(differ)}" if differ else found
    expected = "the same digest twice, shuffled, and with other hashes"
    return ControlRecord("determinism", expected, told, bool(world.cuts) and not differ)


def about(text: str) -> int:
    """Return roughly the tokens of a text: another process need not load a vocabulary for a digest."""
    return len(text) // _ABOUT


def world_of(cases: Sequence[Prepared], seed: int) -> World:
    """Return the sessions of some cases, and their cuts."""
    sessions = {(case.cut.set, case.cut.session.name): case.cut.session for case in cases}
    order = list(sessions)
    cuts = []
    for case in cases:
        end = case.cut.case.cut + len(case.cut.case.continuation)
        session = order.index((case.cut.set, case.cut.session.name))
        cuts.append(Place(session, case.cut.case.cut, end, case.cut.case.boundary))
    return World(tuple(sessions.values()), tuple(cuts), seed)


def digest_of(world: World, judges: Judges) -> str:
    """Return one digest of all needs, and of the verdicts of new judges on views with random gaps."""
    held = [Held(session.messages) for session in world.sessions]
    cuts = [_cut(world, place, held) for place in world.cuts]
    asked = {window for cut in cuts for window in asked_windows(cut.case, known_text=cut.session.system, held=cut.held)}
    named = [(session.name, session.messages) for session in world.sessions]
    corpus = Corpus(rarity_of(named), shares_of(named, asked))
    found = [(cut.place, _result(Prepared(cut, _needs(cut, corpus)), judges, world.seed)) for cut in cuts]
    return hashlib.sha256(msgspec.json.encode(sorted(found))).hexdigest()


def _cut(world: World, place: Place, held: Sequence[Held]) -> Cut:
    session = world.sessions[place.session]
    prefix, continuation = session.messages[: place.cut], session.messages[place.cut : place.end]
    case = Case(session.name, place.cut, prefix, continuation, place.boundary)
    return Cut("world", session, case, held[place.session])


def _needs(cut: Cut, corpus: Corpus) -> Needs:
    return needs_of(cut.case, known_text=cut.session.system, held=cut.held, corpus=corpus)


def _result(case: Prepared, judges: Judges, seed: int) -> str:
    chance = dice("determinism", seed, case.cut.place)
    gone = [number for unit in units(case.cut) if chance.random() < 1 / 2 for number in unit]
    judgement = judges.judge(case, without(case, gone))
    return msgspec.json.encode((case.needs, judgement)).decode()


def _shuffled(world: World) -> World:
    chance = dice("order", world.seed)
    order = chance.sample(range(len(world.sessions)), len(world.sessions))
    places = chance.sample(world.cuts, len(world.cuts))
    cuts = [msgspec.structs.replace(place, session=order.index(place.session)) for place in places]
    return World(tuple(world.sessions[place] for place in order), tuple(cuts), world.seed)


def _elsewhere(world: World) -> str:
    """Return the digest that another interpreter finds, whose hashes of strings are others."""
    command = [sys.executable, "-m", "selfgc.bench.controls"]
    environment = {**os.environ, "PYTHONHASHSEED": str(world.seed % 4_000_000_000 + 1)}
    body = msgspec.json.encode(world)
    ran = subprocess.run(command, input=body, capture_output=True, check=False, env=environment)  # noqa: S603 -- ourselves
    return ran.stdout.decode() or f"nothing; it said: {ran.stderr.decode()[-200:]}"
