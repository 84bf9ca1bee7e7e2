"""Asking within limits, over real HTTP: cache, repetitions, time, money."""

import threading
import time

import pytest

from bench.scorecard.scorecards import ask, settings
from selfgc.bench.scorecard import asking
from selfgc.bench.scorecard.asking import MOST_FAILURES, Asker
from selfgc.bench.scorecard.calls import Lack, Missed, Said
from selfgc.bench.scorecard.settings import Wire
from selfgc.testing import Answer, Failure, Hang, ScriptedProvider

WIRES = pytest.mark.parametrize("dialect", list(Wire))


def run(script, folder, *asks, dialect=Wire.CHAT, **changes):
    """Ask these in one run; return what came, the provider and the asker."""
    with ScriptedProvider(script) as provider, Asker(settings(folder, provider, dialect, **changes)) as asker:
        return [asker.ask(one) for one in asks or (ask(),)], provider, asker


@WIRES
def test_an_answer_is_asked_for_once(dialect, tmp_path):
    """The second time it comes from the disk, whatever the price and the time."""
    with ScriptedProvider(["one"]) as provider:
        for limits in ({}, {"max_cost": 0.0, "max_seconds": 1e-9}):
            with Asker(settings(tmp_path, provider, dialect, **limits)) as asker:
                came = asker.ask(ask())
                assert isinstance(came, Said)
                assert came.text == "one"
    assert len(provider.requests) == 1


@WIRES
def test_429_is_waited_out(dialect, tmp_path):
    """For as long as the endpoint says."""
    start = time.monotonic()
    (came,), provider, asker = run([Failure(429, retry_after=0.2), "good"], tmp_path, dialect=dialect)
    assert came.text == "good"
    assert time.monotonic() - start >= 0.2
    assert (len(provider.requests), asker.calls) == (2, 1)
    assert asker.cost > 0


@WIRES
def test_500s_are_given_up(dialect, tmp_path):
    """After so many repetitions; the failure is not kept, so the next run asks anew."""
    (came,), provider, _ = run([Failure(500)] * 3, tmp_path, dialect=dialect, retries=2)
    assert came == Missed(Lack.FAILED, came.why)
    assert "HTTP 500" in came.why
    assert len(provider.requests) == 3
    assert run(["good"], tmp_path, dialect=dialect)[0][0].text == "good"


@WIRES
def test_a_hang_is_cut_off(dialect, tmp_path):
    """At the time of one call, and then repeated."""
    (came,), provider, _ = run([Hang(), "good"], tmp_path, dialect=dialect, timeout=0.2)
    assert came.text == "good"
    assert len(provider.requests) == 2


def test_waits_grow_and_end_with_the_run(tmp_path):
    """No repetition is waited for beyond the run's time; after it nothing is asked."""
    start = time.monotonic()
    came, provider, _ = run(lambda _request: Failure(500), tmp_path, ask("a"), backoff=0.1, max_seconds=0.65)
    assert came[0].lack is Lack.FAILED
    assert time.monotonic() - start < 0.65
    assert len(provider.requests) == 3
    came, provider, _ = run(["unused"], tmp_path, max_seconds=1e-9)
    assert came[0] == Missed(Lack.UNASKED, "the run's 1e-09 seconds are over")
    assert provider.requests == ()


def test_no_call_can_exceed_the_money(tmp_path):
    """It is reckoned before; what is left is spent on what fits."""
    prices = {"price_input": 0.0, "price_output": 1.0, "max_output_tokens": 100_000, "max_cost": 0.15}
    came, provider, asker = run([Answer("x" * 400_000)] * 2, tmp_path, ask("a"), ask("b"), **prices)
    assert isinstance(came[0], Said)
    assert came[1] == Missed(Lack.UNASKED, "the call could exceed the run's 0.15 dollars")
    assert asker.cost == pytest.approx(0.1)
    assert len(provider.requests) == 1


def test_money_that_was_set_aside_is_given_back(tmp_path):
    """A call that cost less leaves room for the next, and one that failed leaves all of it."""
    prices = {"price_input": 0.0, "price_output": 1.0, "max_output_tokens": 100_000, "max_cost": 0.15}
    came, _, _ = run(["a", Failure(400), "c"], tmp_path, ask("a"), ask("b"), ask("c"), **prices)
    assert [type(one) for one in came] == [Said, Missed, Said]


@WIRES
def test_optional_fields_that_are_refused_are_left_out_from_then_on(dialect, tmp_path):
    """Each costs one more request, once a run; the answer says without what it was asked."""
    script = [Failure(400, "temperature is not supported"), Failure(400, "no json_schema here"), "a", "b"]
    came, provider, _ = run(script, tmp_path, ask("a"), ask("b"), dialect=dialect, retries=0)
    assert [one.without for one in came] == [("schema", "temperature")] * 2
    assert len(provider.requests) == 4
    assert "temperature" not in provider.requests[3].fields


def test_a_field_refused_twice_is_a_failure(tmp_path):
    """An endpoint that goes on about what is no longer sent is not asked for ever."""
    (came,), provider, _ = run(lambda _request: Failure(400, "temperature"), tmp_path)
    assert came.lack is Lack.FAILED
    assert len(provider.requests) == 2


def test_a_refused_key_ends_the_run(tmp_path):
    """Nothing more is asked, and each question says why."""
    came, provider, _ = run([Failure(401, "who are you?")], tmp_path, ask("a"), ask("b"), ask("c"))
    assert [one.lack for one in came] == [Lack.FAILED, Lack.UNASKED, Lack.UNASKED]
    assert "who are you?" in came[2].why
    assert len(provider.requests) == 1


def test_an_endpoint_that_is_down_ends_the_run(tmp_path):
    """After so many questions in a row without an answer; one answer in between begins the count anew."""
    script = [Failure(500), "good", *[Failure(500)] * MOST_FAILURES]
    asks = [ask(str(number)) for number in range(len(script) + 2)]
    came, provider, _ = run(script, tmp_path, *asks, retries=0)
    assert [one.lack for one in came[-2:]] == [Lack.UNASKED] * 2
    assert len(provider.requests) == len(script)


def test_offline_nothing_is_asked(tmp_path):
    """Kept answers come, others do not, and no key is needed."""
    with ScriptedProvider(["one"]) as provider:
        plain = settings(tmp_path, provider)
        with Asker(plain) as asker:
            asker.ask(ask("a"))
        with Asker(settings(tmp_path, provider, offline=True, api_key_env="NOT_THERE")) as asker:
            assert asker.ask(ask("a")).text == "one"
            assert asker.ask(ask("b")) == Missed(Lack.UNASKED, "offline, and there is no kept answer")
    assert len(provider.requests) == 1


def test_the_same_question_from_two_threads_is_asked_once(tmp_path):
    """The second waits for the answer of the first."""
    found = []
    with ScriptedProvider([Answer("one", delay=0.1)]) as provider, Asker(settings(tmp_path, provider)) as asker:
        threads = [threading.Thread(target=lambda: found.append(asker.ask(ask()))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [one.text for one in found] == ["one"] * 3
    assert len(provider.requests) == 1


def test_a_long_wait_is_shortened(tmp_path, monkeypatch):
    """An endpoint cannot stop a run by naming an hour."""
    monkeypatch.setattr(asking, "LONGEST_WAIT", 0.05)
    (came,), _, _ = run([Failure(429, retry_after=3_600), "good"], tmp_path)
    assert came.text == "good"
