"""Planted facts are recalled, and what keeps one from being recalled is told."""

import msgspec
import pytest

from control_cases import agent, judges, noise, prepared_of, session_of, user, vacuous
from selfgc.bench.controls.planted import PLANTS, USER, planted_facts
from selfgc.bench.controls.prepared import dice
from selfgc.bench.judge.needs import Corpus, Needs
from selfgc.bench.judge.rarity import Rarity
from selfgc.bench.records import Status
from selfgc.bench.session import Session


def chat_case():
    """In OpenAI Chat form, with a result that is a list of texts beside plain ones."""
    called = [{"id": f"t{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}} for n in range(3)]
    prefix = [user("look around")]
    for number, call in enumerate(called):
        content = [{"type": "text", "text": "row"}] if number else "first\nsecond"
        prefix += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": content},
        ]
    prefix += [agent("done"), user("and now"), agent("ready")]
    return prepared_of(Session("chat", "openai", {}, (*prefix, user("go on"), agent("ok"))), len(prefix))


def long_case():
    return prepared_of(*session_of("one", [noise(n, 9) for n in range(6)], ("command", "list")))


@pytest.mark.parametrize("case", [long_case(), chat_case(), vacuous()], ids=["noise", "chat", "short"])
def test_every_kind_is_recalled(case):
    """URLs, paths, ids, numbers, quotes, names, errors, lines, verbatim text, and what the user said."""
    record = planted_facts([case], Corpus(), judges, size=1, seed=1)
    assert record.holds, record.found
    for kind in (*(plant.kind for plant in PLANTS), USER):
        assert f"{kind} {1 if kind == USER else 3} of" in record.found


def test_the_same_seed_plants_the_same():
    """Facts, places and what is found repeat."""
    one, again = (planted_facts([long_case()], Corpus(), judges, size=1, seed=7) for _ in range(2))
    assert one == again


def test_facts_are_unlike_each_other():
    """No two of a thousand are the same, so that a fact is a sign of its place."""
    chance = dice("facts")
    for plant in PLANTS:
        assert len({plant.make(chance) for _ in range(1_000)}) > 990


class _Blind(Rarity, frozen=True):
    """Finds everything common."""

    def is_rare(self, anchor, session):
        return False


class _Faulty:
    """Judges that report other losses than there are."""

    def __init__(self, change):
        self._judges, self._change = judges(), change

    def judge(self, case, messages, payloads=()):
        messages = list(messages)
        is_whole = len(messages) == len(case.cut.case.prefix)
        found = self._judges.judge(case, messages, payloads)
        return msgspec.structs.replace(found, losses=self._change(case, found.losses, is_whole))

    def seen(self, cut, messages):
        return self._judges.seen(cut, messages)


def _all_lost(case, losses, is_whole):
    return self_losses(case) if is_whole else losses


def self_losses(case):
    return judges().judge(case, case.cut.case.protected).losses


def _none_lost(case, losses, is_whole):
    return ()


def _other_category(case, losses, is_whole):
    return tuple(msgspec.structs.replace(loss, category="routing", status=Status.UNROUTABLE) for loss in losses)


@pytest.mark.parametrize(
    ("corpus", "change", "fault"),
    [
        (Corpus(_Blind()), lambda case, losses, is_whole: losses, "is no need"),
        (Corpus(), _all_lost, "is not visible in the whole prefix"),
        (Corpus(), _none_lost, "is not lost with the message that holds it"),
        (Corpus(), _other_category, "has category routing, not locator"),
    ],
)
def test_faults_are_told(corpus, change, fault):
    """A filter that drops it, a view that misses it, a deletion that changes nothing, another category."""
    record = planted_facts([long_case()], corpus, lambda: _Faulty(change), size=1, seed=1)
    assert not record.holds
    assert fault in record.found


def test_a_case_without_results_in_view_holds_no_facts():
    """Nothing is planted there, and a control without facts does not hold."""
    prefix = [user("look"), agent("done"), user("and"), agent("ready")]
    case = prepared_of(Session("bare", "anthropic", {}, (*prefix, user("go on"), agent("ok"))), len(prefix))
    assert isinstance(case.needs, Needs)
    assert not planted_facts([case], Corpus(), judges, size=1, seed=1).holds
