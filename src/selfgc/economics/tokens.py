"""Offline token counting: one vocabulary for every message, so that before and after compare.

The vocabulary comes inside its package; nothing is fetched. Providers count differently by a factor that
hardly changes within a session; shares and ratios are exact, absolute figures are estimates.
"""

from functools import cache

from splintr import AnyTokenizer, Tokenizer

from selfgc.model.wire import without_lone_surrogates

VOCABULARY = "o200k_base"
_BYTES_A_TOKEN = 4


@cache
def _tokenizer() -> AnyTokenizer:
    """Load the vocabulary once for all counters: it takes tens of megabytes."""
    return Tokenizer.from_pretrained(VOCABULARY)


class VocabularyCounter:
    """Counts tokens with the o200k vocabulary."""

    def __init__(self) -> None:
        self._tokenizer = _tokenizer()

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`; lone surrogates count as one replacement character."""
        try:
            return self._count(text)
        except UnicodeEncodeError:
            return self._count(without_lone_surrogates(text))

    def _count(self, text: str) -> int:
        if "<|" in text:  # what looks like a control token is plain text here
            return len(self._tokenizer.encode_ordinary(text))
        return len(self._tokenizer.encode_flat(text)) // _BYTES_A_TOKEN
