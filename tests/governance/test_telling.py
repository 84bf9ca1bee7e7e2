"""Telling anchors: what a pointer shows of what it hides, and what it does not."""

import pytest

from builders import WordCounter, call, session, snapshot_of, user
from selfgc.governance import telling
from selfgc.governance.rehearse import rehearse
from selfgc.governance.telling import Telling
from selfgc.model.plan import Fold, Plan
from selfgc.model.policy import Policy

QUIET = ("Bash", {"command": "true"}, "nothing to see here")


def world(*calls, later=0):
    """Telling over these calls with so many quiet ones behind them."""
    return Telling(snapshot_of(session([("one", [*calls, *[QUIET] * later], "done"), ("two", [], "ok")])))


def run(command, output):
    return ("Bash", {"command": command}, output)


def read(path, text):
    return ("Read", {"file_path": path}, text)


def test_what_the_agent_typed_is_worth_more_than_what_it_was_shown():
    """A name in a command counts for itself; the same name in an output counts for a tenth."""
    typed, shown = world(run("grep price_table", "x")), world(run("grep", "price_table"))
    assert typed.worth("price_table") == pytest.approx(22 / 23)
    assert shown.worth("price_table") == pytest.approx(0.1 * 7 / 8)


def test_what_stood_in_a_file_is_worth_more_than_what_a_command_printed():
    """Names of a body that was read are used in code that is written against it."""
    assert world(read("/a", "price_table")).worth("price_table") == pytest.approx(0.6 * 7 / 8)


def test_a_call_that_is_still_open_counts_as_typed():
    """Its result has not come; what it asked for is known."""
    snapshot = snapshot_of([user("go"), call("c1", "Bash", command="grep price_table")])
    assert Telling(snapshot).worth("price_table") == pytest.approx(22 / 23)


def test_worth_fades_with_the_calls_since():
    """A typed anchor has half of its worth after 22 calls; what was shown only, after 7."""
    typed = [world(run("grep price_table", "x"), later=later).worth("price_table") for later in (0, 21, 43)]
    assert typed == pytest.approx([22 / 23, 1 / 2, 22 / 66])
    assert world(run("ls", "price_table"), later=6).worth("price_table") == pytest.approx(0.1 / 2)


def test_what_was_seen_again_is_as_fresh_as_its_last_sight():
    """The last call that shows an anchor counts, not the first."""
    again = world(run("grep price_table", "x"), *[QUIET] * 30, run("ls", "price_table"))
    assert again.worth("price_table") == pytest.approx(22 / 23)


def test_what_was_seen_long_ago_falls_further():
    """More than 320 calls ago: a fourth of what the age says."""
    old = world(run("grep price_table", "x"), later=320)
    assert old.worth("price_table") == pytest.approx(0.25 * 22 / (22 + 321))


@pytest.mark.parametrize(
    ("anchor", "worth"),
    [
        ("price_table", 1.0),
        ("the seat is taken", 0.9),
        ("src/shop/prices.py", 0.5),
        ("prices.py", 0.5),
        ("v1-beta:42", 0.2),
        ("48213.71", 0.015),
    ],
)
def test_names_and_phrases_tell_more_than_places_marks_and_numbers(anchor, worth):
    """The forms, as they were measured."""
    assert world(run(f'x "{anchor}" y', "z")).worth(anchor) == pytest.approx(worth * 22 / 23)


def test_a_place_that_was_only_listed_is_still_worth_something():
    """Paths are opened without having been typed before."""
    assert world(run("ls", "src/shop/prices.py")).worth("src/shop/prices.py") == pytest.approx(0.1 * 2.7 * 0.5 * 7 / 8)


def test_an_unknown_anchor_counts_as_shown_at_the_very_beginning():
    """Nothing raises: what no call holds is as old as the session."""
    assert world(QUIET).worth("price_table") == pytest.approx(0.1 * 7 / 8)


def test_a_pointer_shows_what_tells_and_leaves_the_rest_to_the_payload():
    """An old output's number is not shown, the name that the agent typed is; both are in the payload."""
    body = "the total of price_table was 48213.7 and some more words to make it long enough\n" * 12
    calls = [run("sum price_table", body), *[QUIET] * 60]
    snapshot = snapshot_of(session([("one", calls, "done"), ("two", [], "ok")]), policy=Policy(keep_spans=0))
    done = rehearse(snapshot, Plan((Fold(snapshot.spans[0].id),)), WordCounter())
    (replacement,) = done.edits[0].replacements
    assert "price_table" in snapshot.text(snapshot.spans[0].call)
    assert "48213.7" not in replacement.text
    assert b"48213.7" in bytes(done.payloads[0].data)


def test_the_least_worth_keeps_most_of_what_was_typed():
    """A typed name is shown for the whole of a long session; an old number of an output is not."""
    assert 0.25 * telling.FADING / (telling.FADING + 1500) > telling.LEAST
    assert telling.TOLD * telling.NUMBER < telling.LEAST
