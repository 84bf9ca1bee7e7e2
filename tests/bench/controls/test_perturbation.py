"""Plans that hold still, and planners that do not."""

import hashlib
import json

from control_cases import needing
from selfgc.bench.controls.perturbation import future_perturbation, serialised

CASES = [needing("one"), needing("two", ("gallery_door",))]


def steady(body):
    return hashlib.sha256(body).digest()


class Remembering:
    """Plans by the longest request of a session that it ever saw."""

    def __init__(self):
        self._longest = b""

    def __call__(self, body):
        self._longest = max(self._longest, body, key=len)
        return self._longest


class Counting:
    """Plans otherwise at every call."""

    def __init__(self):
        self._calls = 0

    def __call__(self, body):
        self._calls += 1
        return str(self._calls).encode()


def test_a_plan_of_the_prefix_alone_holds_still():
    """Whatever was shown in between."""
    (record,) = future_perturbation(CASES, {"steady": steady}, size=9, seed=1)
    assert record.holds
    assert (record.name, record.found) == ("future perturbation, steady", "0 of 2 plans differ; 2 cases, seed 1")


def test_a_planner_that_remembers_is_caught():
    """Having seen the continuation, it plans the prefix otherwise; so does one that draws lots."""
    plans = {"remembering": Remembering(), "counting": Counting()}
    records = future_perturbation(CASES[:1], plans, size=9, seed=1)
    assert [record.holds for record in records] == [False, False]
    assert "first: one at" in records[0].found


def test_noise_has_the_speakers_and_lengths_of_the_continuation():
    """A planner is shown a valid request, of about the true size."""
    shown = []
    future_perturbation(CASES[:1], {"steady": lambda body: shown.append(body) or b""}, size=9, seed=1)
    prefix, whole, again, noise, last = shown
    assert prefix == again == last == serialised(CASES[0].cut)
    true, made = (json.loads(body)["messages"][len(json.loads(prefix)["messages"]) :] for body in (whole, noise))
    assert [message["role"] for message in made] == [message["role"] for message in true]
    assert json.loads(prefix)["model"] == "m"
    assert "reserve_seat" not in str(made)


def test_without_cases_nothing_is_shown():
    """And without subjects there is no record."""
    assert [record.holds for record in future_perturbation([], {"steady": steady}, size=9, seed=1)] == [False]
    assert future_perturbation(CASES, {}, size=9, seed=1) == []
