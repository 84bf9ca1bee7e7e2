"""Offline token counting: one vocabulary for every message, so that before and after compare.

The vocabulary comes inside its package; nothing is fetched. Providers count differently by a factor that
hardly changes within a session; shares and ratios are exact, absolute figures are estimates.
"""

from splintr import Tokenizer

from selfgc.model.wire import without_lone_surrogates

VOCABULARY = "o200k_base"


class VocabularyCounter:
    """Counts tokens with the o200k vocabulary."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_pretrained(VOCABULARY)

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`; lone surrogates count as one replacement character."""
        try:
            return len(self._tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:
            return len(self._tokenizer.encode_ordinary(without_lone_surrogates(text)))
