"""The answers on disk."""

import pytest

from bench.scorecard.scorecards import ask, settings
from selfgc.bench.scorecard.answers import Answers
from selfgc.bench.scorecard.calls import Said
from selfgc.errors import UsageError

SAID = Said("text ä", read=3, uncached=4, output=5)


def test_an_answer_is_found_again(tmp_path):
    """By the same question only, in another process too."""
    Answers(settings(tmp_path)).keep(ask(), SAID)
    assert Answers(settings(tmp_path)).find(ask()) == SAID
    assert Answers(settings(tmp_path)).find(ask(vote=1)) is None


def test_a_kept_file_tells_what_it_is(tmp_path):
    """Model, form and vote stand beside the answer; nothing half-written lies around."""
    answers = Answers(settings(tmp_path))
    answers.keep(ask(), Said("old"))
    answers.keep(ask(), SAID)
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    text = path.read_text("utf-8")
    assert path.name == f"{ask().digest(settings(tmp_path))}.json"
    assert '"model": "gpt-5.5"' in text
    assert "text ä" in text


def test_a_broken_file_is_named(tmp_path):
    """It is neither used nor silently asked anew."""
    answers = Answers(settings(tmp_path))
    answers.keep(ask(), SAID)
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UsageError, match="delete it") as caught:
        answers.find(ask())
    assert str(path) in str(caught.value)
