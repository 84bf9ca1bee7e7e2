"""Planted facts: a unique string in a random result of the prefix, used in a continuation that is made up for it.

Each kind of anchor has its fact and its way to be used; a long line of odd words stands for verbatim text, and one
fact is said by the user. A fact is recalled when it is a need, the whole prefix shows it, and without the message
that holds it it is lost, in the category that its kind has (or as state, when the result is that of a command that
does something).
"""

import random
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from selfgc.bench.cases import Case
from selfgc.bench.controls.prepared import Cut, Judges, Prepared, dice, sampled, share, told, with_first
from selfgc.bench.judge.needs import Corpus, Need, needs_of
from selfgc.bench.judge.typed import Kind
from selfgc.bench.judge.verbatim import Held, Span, windows
from selfgc.bench.records import Category, ControlRecord, Loss
from selfgc.bench.texts import Decoded, has_result

LEAST_RECALL = 0.98
FACTS = 3
"""Of each kind in each case."""


class Fact(NamedTuple):
    """One planted string: what it is, how it stands in the prefix, and the argument that uses it."""

    kind: str
    text: str
    key: str
    value: str


class Plant(NamedTuple):
    """How facts of one kind are made and used."""

    kind: str
    make: Callable[[random.Random], str]
    key: str
    form: str
    category: Category


PLANTS = (
    Plant(
        Kind.URL,
        lambda r: f"https://{_word(r)}.test/{_word(r)}/{_word(r)}?tab={_digits(r, 3)}",
        "command",
        "curl {}",
        Category.LOCATOR,
    ),
    Plant(Kind.PATH, lambda r: f"/srv/{_word(r)}/{_word(r)}_{_word(r)}.py", "file_path", "{}", Category.LOCATOR),
    Plant(Kind.ID, lambda r: f"{r.getrandbits(64):016x}7a1e", "command", "git show {}", Category.LOCATOR),
    Plant(Kind.NUMBER, lambda r: f"{_digits(r, 6)}.{r.randint(1, 9)}", "command", "plan --limit {}", Category.EVIDENCE),
    Plant(Kind.QUOTED, lambda r: f"the {_word(r)} seat is {_word(r)} twice", "command", 'grep "{}"', Category.EVIDENCE),
    Plant(Kind.IDENTIFIER, lambda r: f"{_word(r)}_{_word(r)}", "command", "grep {}", Category.EVIDENCE),
    Plant(Kind.ERROR, lambda r: f"SeatError: row {_word(r)} is gone", "query", "search {}", Category.STATE),
    Plant(Kind.LINE, lambda r: f"return {_word(r)}[row] - {_word(r)}", "old_string", "    {}\n", Category.VERBATIM),
    Plant("span", lambda r: " ".join(_word(r) for _ in range(14)), "query", "{}", Category.VERBATIM),
)
USER = "user"
"""The kind of the fact that the user says: a rule with an odd name in it, which is used later."""


def planted_facts(
    cases: Sequence[Prepared], corpus: Corpus, judges: Callable[[], Judges], *, size: int, seed: int
) -> ControlRecord:
    """Return how many planted facts of each kind are recalled. `judges` gives new judges for a changed session."""
    chosen = sampled((case for case in cases if _hosts(case.cut)), size, seed)
    recalled: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    wrong = []
    for case in chosen:
        field = _Field(case.cut, dice("planted", seed, case.cut.place))
        for fact, fault in field.faults(corpus, judges()):
            planted[fact.kind] += 1
            recalled[fact.kind] += not fault
            if fault:
                wrong.append(f"{fact.kind} {fact.text!r} in {case.cut.session.name} at {case.cut.case.cut} {fault}")
    found = ", ".join(f"{kind} {recalled[kind]} of {of}" for kind, of in planted.items())
    total = f"{share(recalled.total(), planted.total())} recalled: {found}; {told(chosen, seed)}"
    holds = bool(planted) and all(recalled[kind] >= LEAST_RECALL * of for kind, of in planted.items())
    return ControlRecord("planted facts", "recall at least 98 % of each kind", with_first(total, wrong), holds)


class _Field:
    """One case with facts planted in its prefix."""

    def __init__(self, cut: Cut, chance: random.Random) -> None:
        self._cut, self._chance = cut, chance
        self._prefix = list(cut.case.prefix)
        self._hosts: set[int] = set()
        self._facts = list(self._plant())
        self._continuation = [{"role": "user", "content": "go on"}, *self._steps()]

    def faults(self, corpus: Corpus, judges: Judges) -> Iterator[tuple[Fact, str]]:
        """Yield each fact with what is wrong with it; nothing when it is recalled."""
        case = Case(
            self._cut.case.session, len(self._prefix), self._prefix, self._continuation, self._cut.case.boundary
        )
        session = msgspec.structs.replace(self._cut.session, messages=(*self._prefix, *self._continuation))
        cut = Cut(self._cut.set, session, case, Held(session.messages))
        needs = needs_of(case, known_text=session.system, held=cut.held, corpus=Corpus(corpus.rarity))
        prepared = Prepared(cut, needs)
        losses = judges.judge(prepared, self._prefix).losses
        rest = [message for number, message in enumerate(self._prefix) if number not in self._hosts]
        later = judges.judge(prepared, rest).losses
        for fact in self._facts:
            yield fact, _fault(fact, prepared.strict, losses, later)

    def _plant(self) -> Iterator[Fact]:
        for plant in PLANTS:
            for _ in range(FACTS):
                text = plant.make(self._chance)
                yield Fact(plant.kind, text, plant.key, plant.form.format(text))
                host = self._chance.choice(_hosts(self._cut))
                self._prefix[host] = _with_result(self._prefix[host], text, self._chance)
                self._hosts.add(host)
        speaking = [n for n in _in_view(self._cut) if self._prefix[n].get("role") == "user" and n not in self._hosts]
        speaking = [n for n in speaking if not has_result(self._prefix[n])]
        if speaking:
            host, name = self._chance.choice(speaking), f"{_word(self._chance)}_{_word(self._chance)}"
            said = [*_blocks(self._prefix[host]), {"type": "text", "text": f"Never rename {name} again."}]
            self._prefix[host] = {**self._prefix[host], "content": said}
            self._hosts.add(host)
            yield Fact(USER, name, "command", f"grep {name}")

    def _steps(self) -> Iterator[Decoded]:
        for number, fact in enumerate(self._facts):
            call = {"type": "tool_use", "id": f"planted_{number}", "name": "tool", "input": {fact.key: fact.value}}
            yield {"role": "assistant", "content": [call]}
            result = {"type": "tool_result", "tool_use_id": f"planted_{number}", "content": "ok"}
            yield {"role": "user", "content": [result]}


def _fault(fact: Fact, needs: Sequence[Need], losses: Sequence[Loss], later: Sequence[Loss]) -> str:
    if not any(_is(fact, need) for need in needs):
        return "is no need"
    if any(fact.text in loss.text for loss in losses):
        return "is not visible in the whole prefix"
    of_fact = [loss for loss in later if _names(fact, loss)]
    if not of_fact:
        return "is not lost with the message that holds it"
    category, expected = of_fact[0].category, _CATEGORIES[fact.kind]
    return "" if category in {expected, Category.STATE} else f"has category {category}, not {expected}"


def _is(fact: Fact, need: Need) -> bool:
    if isinstance(need, Span):
        return fact.kind == "span" and set(windows(fact.text)) <= set(need.windows)
    return need.anchor == fact.text and fact.kind in {need.kind, USER}


def _names(fact: Fact, loss: Loss) -> bool:
    return loss.matcher == ("B" if fact.kind == "span" else "A") and loss.text == fact.text


def _hosts(cut: Cut) -> list[int]:
    """Return the messages that can hold a fact: with a tool's result, in the agent's sight, outside the tail."""
    return [number for number in _in_view(cut) if has_result(cut.case.prefix[number])]


def _in_view(cut: Cut) -> list[int]:
    first = len(cut.case.prefix) - len(cut.case.in_view)
    return [number for number in cut.deletable if number >= first]


def _with_result(message: Decoded, fact: str, chance: random.Random) -> Decoded:
    """Return a message with a fact as a line of its own in one of its results."""
    if message.get("role") == "tool":
        return {**message, "content": _with_line(message.get("content"), fact, chance)}
    blocks = _blocks(message)
    places = [n for n, block in enumerate(blocks) if str(block.get("type", "")).endswith("tool_result")]
    place = chance.choice(places)
    filled = {**blocks[place], "content": _with_line(blocks[place].get("content"), fact, chance)}
    return {**message, "content": [*blocks[:place], filled, *blocks[place + 1 :]]}


def _with_line(content: object, fact: str, chance: random.Random) -> object:
    if not isinstance(content, str):
        held = list(content) if isinstance(content, list | tuple) else []
        return [*held, {"type": "text", "text": fact}]
    lines = content.split("\n")
    place = chance.randint(0, len(lines))
    return "\n".join([*lines[:place], fact, *lines[place:]])


def _blocks(message: Decoded) -> list[Mapping[str, object]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list | tuple) else []


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(4)) + chance.choice("knrt")


def _digits(chance: random.Random, length: int) -> str:
    return "".join(chance.choice(string.digits[1:]) for _ in range(length))


_CATEGORIES = {USER: Category.CONTRACT, **{plant.kind: plant.category for plant in PLANTS}}
