"""From folders of sessions to cases with their needs, in worker processes; kept on disk until a session changes.

1. Each session is read, cut, and asked which windows decide something in it.
2. What is common is counted over all sessions of all folders.
3. The needs of each case follow. The set is named by a digest of its files, cuts and needs.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import msgspec

from selfgc.bench.cases import Boundary, Case, all_cases_of, is_user_turn
from selfgc.bench.governed import tokens_of
from selfgc.bench.judge.needs import Corpus, Needs, asked_windows, needs_of
from selfgc.bench.judge.rarity import rarity_of
from selfgc.bench.judge.verbatim import Held, Shares, shares_of
from selfgc.bench.records import CaseRecord
from selfgc.bench.session import Session
from selfgc.bench.sessions import read_session
from selfgc.economics.tokens import VocabularyCounter
from selfgc.errors import ReadError

HARD_SHARE = 0.1
"""The hard set: this share of the cases, those with the most needs for what followed and for the tools in it."""
HARD_CUTS = 3
"""Of one session at most so many."""
FORM = 6
"""Number of the form of what is kept; another number makes it anew."""


class SetOfCases(msgspec.Struct, frozen=True):
    """The cases of one folder."""

    name: str
    """The folder's name."""
    folder: str
    digest: str
    """Names files, cuts and needs: two runs on the same set have the same."""
    cases: tuple[CaseRecord, ...]
    needs: tuple[Needs, ...]
    """One a case, in the same order."""
    densities: tuple[float, ...]
    """Needs for a thousand tokens of the continuation, times the share of tool tokens in the prefix: what is hard."""


class _Cut(NamedTuple):
    """What is found out about a case before its needs are known."""

    record: CaseRecord
    future_tokens: int
    tool_share: float


_worker_corpus: list[Corpus] = []
"""The corpus of the pool's workers, who inherit it: it is too large to be sent to each."""


def sessions_below(folder: Path) -> list[Path]:
    """Return the session files of a folder in order. ReadError when there are none."""
    found = sorted(path for path in folder.glob("*.json*") if path.is_file())
    if not found:
        raise ReadError(f"{folder}: expected a folder with session files (*.json, *.jsonl), found none")
    return found


def prepare(
    folders: Sequence[Path], others: Sequence[Path], *, workers: int, store: Path | None, step: Callable[[str], None]
) -> list[SetOfCases]:
    """Return the cases of each folder. `others` are folders that only tell what is common.

    `store` is a folder where the result is kept. `step` is told what is being done.
    """
    files = {folder: sessions_below(folder) for folder in (*folders, *others)}
    kept = store / f"cases-{_digest_of_files(files)}.msgpack" if store is not None else None
    if kept is not None and kept.exists():
        return msgspec.msgpack.decode(kept.read_bytes(), type=list[SetOfCases])
    made = _prepared({folder: files[folder] for folder in folders}, files, workers, step)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(msgspec.msgpack.encode(made))
    return made


def _digest_of_files(files: dict[Path, list[Path]]) -> str:
    digest = hashlib.sha256(f"form {FORM}".encode())
    for folder, paths in files.items():
        for path in paths:
            digest.update(f"{folder.name}/{path.name}".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _prepared(
    wanted: dict[Path, list[Path]], files: dict[Path, list[Path]], workers: int, step: Callable[[str], None]
) -> list[SetOfCases]:
    pool_of = get_context("fork")
    paths = [path for found in wanted.values() for path in found]
    step("reading and cutting sessions")
    with ProcessPoolExecutor(workers, mp_context=pool_of) as pool:
        asked = frozenset().union(*pool.map(_asked, paths, chunksize=4))
        step("counting what is common")
        every = [path for found in files.values() for path in found]
        shares = pool.submit(_shares, every, asked)
        rarity = rarity_of((str(path), read_session(path).messages) for path in every)
        corpus = Corpus(rarity, shares.result())
    _worker_corpus[:] = [corpus]
    step("working out what each case needed")
    with ProcessPoolExecutor(workers, mp_context=pool_of) as pool:
        found = dict(zip(paths, pool.map(_needs, paths, chunksize=2), strict=True))
    _worker_corpus.clear()
    return [_set_of(folder, [found[path] for path in held]) for folder, held in wanted.items()]


def _asked(path: Path) -> frozenset[str]:
    session = read_session(path)
    held = Held(session.messages)
    cases = all_cases_of(session.name, session.messages, VocabularyCounter().count)
    return frozenset().union(*(asked_windows(case, known_text=session.system, held=held) for case in cases))


def _shares(paths: Iterable[Path], asked: frozenset[str]) -> Shares:
    return shares_of(((str(path), read_session(path).messages) for path in paths), asked)


def _needs(path: Path) -> list[tuple[_Cut, Needs]]:
    session = read_session(path)
    held = Held(session.messages)
    count = VocabularyCounter().count
    cases = all_cases_of(session.name, session.messages, count)
    found = []
    for case in cases:
        named = msgspec.structs.replace(case, session=str(path))
        needs = needs_of(named, known_text=session.system, held=held, corpus=_worker_corpus[0])
        needs = msgspec.structs.replace(needs, session=session.name)
        found.append((_cut(path.parent.name, session, case, needs, count), needs))
    return found


def _cut(set_name: str, session: Session, case: Case, needs: Needs, count: Callable[[str], int]) -> _Cut:
    tokens = tokens_of(session.fields, case.prefix, count)
    tools = tokens_of({}, [message for message in case.prefix if not is_user_turn(message)], count)
    record = CaseRecord(
        set=set_name,
        session=session.name,
        cut=case.cut,
        kind=session.kind,
        user_turns=sum(map(is_user_turn, session.messages)),
        boundary=case.boundary.value,
        is_headline=False,
        is_hard=False,
        tokens=tokens,
        protected_tokens=tokens_of({}, case.protected, count),
        needed_a=len(needs.strict_uses),
        needed_b=len(needs.strict_spans),
    )
    return _Cut(record, tokens_of({}, case.continuation, count), tools / max(1, tokens))


def _set_of(folder: Path, found: Sequence[Sequence[tuple[_Cut, Needs]]]) -> SetOfCases:
    cuts = [cut for session in found for cut, _ in session]
    needs = tuple(need for session in found for _, need in session)
    densities = tuple(
        1000 * (cut.record.needed_a + cut.record.needed_b) / max(1, cut.future_tokens) * cut.tool_share for cut in cuts
    )
    records = _marked([cut.record for cut in cuts], densities)
    digest = hashlib.sha256(msgspec.json.encode([records, needs])).hexdigest()[:16]
    return SetOfCases(folder.name, str(folder), digest, records, needs, densities)


def _marked(records: Sequence[CaseRecord], densities: Sequence[float]) -> tuple[CaseRecord, ...]:
    """Mark the headline cut of each session (by a digest, so that nobody chose it) and the hard cases."""
    chosen: dict[str, int] = {}
    for record in records:
        best = chosen.get(record.session)
        if best is None or _lot(record.session, record.cut) < _lot(record.session, best):
            chosen[record.session] = record.cut
    hard: set[int] = set()
    by_session: dict[str, int] = {}
    for place in sorted(range(len(records)), key=lambda place: (-densities[place], place)):
        name = records[place].session
        if len(hard) >= HARD_SHARE * len(records) or densities[place] == 0:
            break
        if by_session.get(name, 0) < HARD_CUTS:
            hard.add(place)
            by_session[name] = by_session.get(name, 0) + 1
    return tuple(
        msgspec.structs.replace(record, is_headline=chosen[record.session] == record.cut, is_hard=place in hard)
        for place, record in enumerate(records)
    )


def _lot(session: str, cut: int) -> str:
    return hashlib.sha256(f"{session}:{cut}".encode()).hexdigest()


def case_of(session: Session, record: CaseRecord) -> Case:
    """Return the case that a record speaks of, cut anew from its session."""
    cases = all_cases_of(session.name, session.messages, VocabularyCounter().count)
    return next(case for case in cases if case.cut == record.cut and case.boundary is Boundary(record.boundary))
