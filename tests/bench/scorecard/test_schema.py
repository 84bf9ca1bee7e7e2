"""The judge's answers: schema, and strict reading."""

import json

import pytest

from bench.scorecard.scorecards import DIMENSIONS, answer, preference
from selfgc.bench.scorecard.schema import PREFERENCE, SCORES, Preference, Scores, Standing, Verdict


def test_a_whole_answer_is_read():
    """All of listing 3."""
    scores = SCORES.read(answer(4, 4.5, "warn", uncertain=True, culprit="function:Read:1"))
    assert isinstance(scores, Scores)
    assert (scores.valid, scores.uncertain, scores.overall_score) == (True, True, 4.5)
    assert [(one.score, one.status) for one in scores.dimension_scores.each()] == [(4, Standing.WARN)] * 4
    assert scores.failure_culprit.target_id == "function:Read:1"


def test_a_whole_preference_is_read():
    """All of listing 4."""
    found = PREFERENCE.read(preference("tie"))
    assert found == Preference(Verdict.TIE, "r", ("s",), (), 0.9)


def without(name):
    plain = json.loads(answer())
    del plain[name]
    return json.dumps(plain)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I think it is fine.",
        answer()[:-20],
        answer() + answer(),
        f"Here you are: {answer()}",
        without("valid"),
        without("dimension_scores"),
        answer(6),
        answer(-1),
        answer(5, 5.5),
        answer(status="good"),
        answer(goal_retention="5"),
        answer(goal_retention=4.5),
        json.dumps({**json.loads(answer()), "extra": 1}),
        "[" * 100_000,
        "\ud800",
    ],
)
def test_what_is_not_of_the_schema_is_no_answer(text):
    """Half a JSON, other words around it, a missing or foreign member, a score out of range: nothing is guessed."""
    assert isinstance(SCORES.read(text), str)


def test_a_fence_around_the_whole_is_no_part_of_it():
    """Models without structured output like to put one."""
    assert isinstance(SCORES.read(f"```json\n{answer()}\n```\n"), Scores)
    assert isinstance(SCORES.read(f"```json\n{answer()}"), str)


def test_the_published_schema_has_every_member():
    """With ranges; what is sent has neither ranges nor references, and forbids what is not named."""
    published = SCORES.schema["$defs"]
    assert list(published["Dimensions"]["properties"]) == list(DIMENSIONS)
    assert published["Dimension"]["properties"]["score"] == {"type": "integer", "minimum": 0, "maximum": 5}
    sent = json.dumps(SCORES.sent_schema)
    assert "$ref" not in sent
    assert "minimum" not in sent
    assert SCORES.sent_schema["additionalProperties"] is False
    assert SCORES.sent_schema["required"] == list(SCORES.sent_schema["properties"])
    assert PREFERENCE.sent_schema["properties"]["verdict"] == {
        "type": "string",
        "enum": ["A_better", "B_better", "tie"],
    }
