"""Offline counting with one vocabulary."""

import pytest

from selfgc.economics.tokens import VocabularyCounter
from selfgc.model.protocols import TokenCounter

COUNTER = VocabularyCounter()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
        ("\x00", 1),
        ("a\x00b", 3),
    ],
)
def test_known_counts(text, tokens):
    """Counts that the publisher of the vocabulary gives, and odd characters."""
    assert COUNTER.count(text) == tokens


def test_chinese_takes_few_tokens():
    """Common words are one token: fewer tokens than characters."""
    assert 0 < COUNTER.count("你好，世界，今天天气很好") < 12


def test_control_tokens_are_plain_text():
    """What looks like a control token inside a transcript has no power and is counted letter by letter."""
    assert COUNTER.count("<|endoftext|>") > 1


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d cut"])
def test_a_lone_surrogate_counts_as_what_is_sent_for_it(text):
    """One replacement character each."""
    sent = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)
    assert COUNTER.count(text) == COUNTER.count(sent) > 0


@pytest.mark.parametrize("letter", ["a", " ", "=", "\n", "é", "你"])
def test_a_megabyte_of_one_letter(letter):
    """Long runs end in reasonable time, and no letter is more than its bytes."""
    assert 0 < COUNTER.count(letter * 1_000_000) <= 1_000_000 * len(letter.encode())


def test_counting_is_deterministic():
    """Two counters agree, as before and after are compared across sessions."""
    other: TokenCounter = VocabularyCounter()
    assert other.count("def main() -> None: ...") == COUNTER.count("def main() -> None: ...")
