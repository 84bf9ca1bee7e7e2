"""What the judge's calls cost, in dollars."""

from importlib.resources import files

from selfgc.bench.scorecard.calls import Ask, Said
from selfgc.bench.scorecard.settings import JudgeSettings
from selfgc.economics.catalog import read_catalog
from selfgc.economics.tokens import VocabularyCounter

_MILLION = 1e6


class Prices:
    """The prices of the judge's model: the settings' own, else the catalogue's.

    A price of the settings' own holds for every input token, cached or not.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        row = read_catalog(files("selfgc.economics").joinpath("data/models.toml").read_bytes()).row(settings.model)
        own = settings.price_input
        self._uncached, self._written, self._read = (own,) * 3 if own is not None else (row.input, row.write, row.read)
        self._output = row.output if settings.price_output is None else settings.price_output
        self._most_output = settings.max_output_tokens
        self._count = VocabularyCounter()

    def cost(self, said: Said) -> float:
        """Return what an answer billed."""
        money = said.uncached * self._uncached + said.written * self._written + said.read * self._read
        return (money + said.output * self._output) / _MILLION

    def most(self, ask: Ask) -> float:
        """Return what a call may cost: its words written to the cache, and the longest output."""
        tokens = self._count.count(ask.rules) + self._count.count(ask.prompt)
        return (tokens * max(self._uncached, self._written) + self._most_output * self._output) / _MILLION
