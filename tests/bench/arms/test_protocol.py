"""The wire between the bench and an arm."""

import pytest

from bench_world import agent, user
from selfgc.bench.arms.protocol import Ask, Failed, encode, kept_what_it_must, read_answer, read_ask
from selfgc.bench.governed import Governed, Restorable
from selfgc.errors import UsageError

ASK = Ask("anthropic", {"model": "m", "messages": [user("a"), agent("b"), user("c")]}, rate=0.44, protected=1)


def test_asks_and_answers_come_back_as_they_went():
    """Payload bytes too, whatever they are."""
    assert read_ask(encode(ASK)) == ASK
    governed = Governed((user("a"),), (Restorable("x", b"\x00\xff", "0"),), "plan", "note")
    assert read_answer(encode(governed)) == governed
    assert read_answer(encode(Failed("no"))) == Failed("no")


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"messages": 1}', b"\xff"])
def test_a_line_that_is_no_answer_is_a_failure(line):
    """It says what came."""
    answer = read_answer(line)
    assert isinstance(answer, Failed)
    assert "no answer that can be read" in answer.error


def test_a_line_that_is_no_ask_is_refused():
    """With what was expected."""
    with pytest.raises(UsageError, match="expected an ask"):
        read_ask(b"{}")
    with pytest.raises(UsageError, match="expected a list of messages, got str"):
        Ask("anthropic", {"messages": "x"}).messages  # noqa: B018 - the property is what raises


def test_the_protected_end_must_be_as_it_was():
    """And so must a system message, wherever it stands."""
    assert kept_what_it_must(ASK, Governed((user("…"), user("c"))))
    assert not kept_what_it_must(ASK, Governed((user("a"), agent("b"), user("changed"))))
    system = {"role": "system", "content": "be brief"}
    asked = Ask("anthropic", {"messages": [system, user("a")]}, protected=0)
    assert not kept_what_it_must(asked, Governed((user("a"),)))
