"""Asking, within limits: the cache first, then the endpoint, with repetitions, a time and a sum of money.

1. What is in the cache is never asked again, and costs nothing.
2. Offline nothing is asked.
3. After `max_seconds`, or when a call could exceed `max_cost`, nothing more is asked. A call is reckoned beforehand
   as its prompt uncached and its output as long as it may be; afterwards as what it billed.
4. A call is repeated up to `retries` times, after a wait that doubles, or as long as the endpoint says (at most
   `LONGEST_WAIT`, and never beyond the time of the run). An optional field that the endpoint refuses is left out of
   the repetition and of every later call.
5. When the endpoint refuses key or model, or `MOST_FAILURES` questions in a row stay without an answer, nothing more
   is asked.
"""

import threading
import time
from types import TracebackType
from typing import Self

import msgspec

from selfgc.bench.scorecard.answers import Answers
from selfgc.bench.scorecard.calls import Ask, Endpoint, Failed, Lack, Missed, Said
from selfgc.bench.scorecard.clients import connect
from selfgc.bench.scorecard.money import Prices
from selfgc.bench.scorecard.settings import JudgeSettings

LONGEST_WAIT = 120.0
MOST_FAILURES = 5


class Asker:
    """Answers questions from the cache or the endpoint; one for a whole run, usable from several threads.

    A context manager: leaving it closes the connections.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._answers = Answers(settings)
        self._prices = Prices(settings)
        self._end = time.monotonic() + settings.max_seconds
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._endpoint: Endpoint | None = None
        self._without: frozenset[str] = frozenset()
        self._failures = 0
        self._stopped = ""
        self._reserved = 0.0
        self.cost = 0.0
        """Dollars that the calls of this run have billed."""
        self.calls = 0
        """Answers that this run has had from the endpoint."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._endpoint is not None:
            self._endpoint.close()

    def ask(self, ask: Ask) -> Said | Missed:
        """Return the answer, or why there is none. UsageError when nothing can be asked at all: no client, no key."""
        with self._lock:
            turn = self._turns.setdefault(ask.digest(self._settings), threading.Lock())
        with turn:  # the same question from two threads is asked once
            kept = self._answers.find(ask)
            return self._called(ask) if kept is None else kept

    def _called(self, ask: Ask) -> Said | Missed:
        if self._settings.offline:
            return Missed(Lack.UNASKED, "offline, and there is no kept answer")
        with self._lock:
            if self._endpoint is None:
                self._endpoint = connect(self._settings)
        reserve = self._prices.most(ask)
        stop = self._reserve(reserve)
        if stop:
            return Missed(Lack.UNASKED, stop)
        said = self._repeated(self._endpoint, ask)
        self._settle(reserve, said)
        if isinstance(said, Said):
            self._answers.keep(ask, said)
            return said
        return Missed(Lack.FAILED, said.why)

    def _reserve(self, reserve: float) -> str:
        """Set money for one call aside; return why it must not be made."""
        with self._lock:
            if time.monotonic() >= self._end:
                self._stopped = self._stopped or f"the run's {self._settings.max_seconds:g} seconds are over"
            if not self._stopped and self.cost + self._reserved + reserve > self._settings.max_cost:
                return f"the call could exceed the run's {self._settings.max_cost:g} dollars"
            if not self._stopped:
                self._reserved += reserve
            return self._stopped

    def _settle(self, reserve: float, said: Said | Failed) -> None:
        with self._lock:
            self._reserved -= reserve
            if isinstance(said, Said):
                self.cost += self._prices.cost(said)
                self.calls += 1
                self._failures = 0
                return
            self._failures += 1
            if said.is_final:
                self._stopped = f"the endpoint takes no calls: {said.why}"
            elif self._failures >= MOST_FAILURES:
                self._stopped = f"{MOST_FAILURES} questions in a row had no answer; the last: {said.why}"

    def _repeated(self, endpoint: Endpoint, ask: Ask) -> Said | Failed:
        said = self._once(endpoint, ask)
        for tried in range(self._settings.retries):
            if isinstance(said, Said) or not said.is_worth_repeating:
                break
            wait = self._settings.backoff * 2**tried if said.retry_after is None else said.retry_after
            if time.monotonic() + min(wait, LONGEST_WAIT) >= self._end:
                break
            time.sleep(min(wait, LONGEST_WAIT))
            said = self._once(endpoint, ask)
        return said

    def _once(self, endpoint: Endpoint, ask: Ask) -> Said | Failed:
        """Ask once, and once more for each optional field that the endpoint turns out not to take."""
        while True:
            without = self._without
            said = endpoint.ask(ask, without)
            if isinstance(said, Said):
                return msgspec.structs.replace(said, without=tuple(sorted(without)))
            if not said.refused or said.refused in without:
                return said
            with self._lock:
                self._without |= {said.refused}
