"""What a case needed of its prefix, by both matchers: worked out once a case, before any subject is looked at."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.judge.produced import Place, pieces
from selfgc.bench.judge.rarity import Rarity
from selfgc.bench.judge.typed import Kind, anchors
from selfgc.bench.judge.uses import Use, needed_uses
from selfgc.bench.judge.verbatim import Held, Shares, Span, message_windows, needed_spans, shared_windows, windows
from selfgc.bench.texts import Decoded, Source, compatible, leaves, normal

STRICT_WEIGHT = 0.5
"""Needs of less weight (mentions in prose, thinking) do not count in verdicts."""

_RULE = re.compile(
    r"\b(?:never|don['’]?t|do not|must|only|always|may not|forbidden|not allowed)\b|不要|必须|只能|不得|禁止|务必",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]{6,400}[.!?。！？]?")


Need: TypeAlias = Use | Span
"""One needed use, of either matcher."""


class Needs(msgspec.Struct, frozen=True):
    """The needed uses of one case, and the user's rules in its prefix."""

    session: str
    cut: int
    uses: tuple[Use, ...]
    """Of matcher A."""
    spans: tuple[Span, ...]
    """Of matcher B."""
    contracts: tuple[str, ...]
    """Sentences of the user's that state a rule, in the spelling of `view_text`."""
    sites: Mapping[int, tuple[str, ...]] = {}
    """By step, the file names and URLs that the agent's message names: what it knows when it looks for something."""

    @property
    def every(self) -> tuple[Need, ...]:
        """All of them, matcher A's first."""
        return (*self.uses, *self.spans)

    @property
    def strict_uses(self) -> list[Use]:
        """Uses that count in verdicts."""
        return [use for use in self.uses if use.weight >= STRICT_WEIGHT]

    @property
    def strict_spans(self) -> list[Span]:
        """Spans that count in verdicts."""
        return [span for span in self.spans if span.weight >= STRICT_WEIGHT]


class Corpus(msgspec.Struct, frozen=True):
    """What is common in the sessions at hand: the rarity filters of both matchers."""

    rarity: Rarity = Rarity()
    shares: Shares = Shares()


def needs_of(case: Case, *, known_text: str, held: Held, corpus: Corpus) -> Needs:
    """Return the needs of a case. `held` are the windows of its session's messages."""
    known = known_windows(case, known_text=known_text, held=held)
    return Needs(
        session=case.session,
        cut=case.cut,
        uses=tuple(needed_uses(case, known_text=known_text, protected=case.protected, rarity=corpus.rarity)),
        spans=tuple(needed_spans(case, held, known, corpus.shares)),
        contracts=tuple(dict.fromkeys(_contracts(case.prefix))),
        sites=_sites(case),
    )


def known_windows(case: Case, *, known_text: str, held: Held) -> set[str]:
    """Return the windows that every view holds: of system texts, tool definitions and the protected tail."""
    known = set(windows(known_text)) | held.between(case.cut - len(case.protected), case.cut)
    for message in case.prefix:
        if any(leaf.source is Source.SYSTEM for leaf in leaves(message)):
            known |= message_windows(message)
    return known


def asked_windows(case: Case, *, known_text: str, held: Held) -> set[str]:
    """Return the windows whose rarity decides something in this case."""
    known = known_windows(case, known_text=known_text, held=held)
    return {window for _, _, _, run in shared_windows(case, held, known) for window in run}


def _contracts(prefix: Sequence[Decoded]) -> Iterator[str]:
    for message in prefix:
        if message.get("role") != "user":
            continue
        for piece in pieces(message):
            if piece.place is Place.USER:
                yield from (normal(found) for found in _SENTENCE.findall(piece.text) if _RULE.search(found))


def _sites(case: Case) -> dict[int, tuple[str, ...]]:
    sites: dict[int, tuple[str, ...]] = {}
    step = 0
    for message in case.continuation:
        step += message.get("role") == "assistant"
        if message.get("role") == "assistant":
            sites[step] = tuple(dict.fromkeys(_names(message)))
    return sites


def _names(message: Decoded) -> Iterator[str]:
    for piece in pieces(message):
        if piece.place in {Place.ARGUMENT, Place.PROSE, Place.ANSWER}:
            for anchor in anchors(compatible(piece.text)):
                if anchor.kind is Kind.URL:
                    yield anchor.text
                elif anchor.kind is Kind.PATH:
                    yield anchor.text.rpartition("/")[2]
