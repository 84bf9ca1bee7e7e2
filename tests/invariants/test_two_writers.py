"""Several engines at once on one store: on one session whose histories part, and on sessions of their own.

Invariants 4, 12 and 13 where writers meet: an id names one message for ever, whoever gave it, and every pointer that
ever stood in a view gives the payload that it gave at first.
"""

import json
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import session
from cli_sessions import prose
from governed import Desk, desk, pointers_in
from selfgc.errors import StalePlan, UsageError
from selfgc.model.ids import SessionKey
from selfgc.model.policy import Policy
from selfgc.sidecar.verify import verify_store

POLICY = Policy(keep_spans=0)
ACTS = ("grow", "maintain", "rewind", "restart", "roll back", "view")
QUIET = settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def history(name, turns):
    """A common turn, and so many of this writer's own."""
    common = ("Go.", [("Read", {"file_path": "/common"}, prose(1, 1))], "Done.")
    own = [
        (
            f"{name} {turn}",
            [("Read", {"file_path": f"/{name}/{turn}"}, f"{name} {turn}: {prose(turn + 2, 1)}")],
            "Done.",
        )
        for turn in range(turns)
    ]
    return session([common, *own, ("And now?", [], "")])


class Writer:
    """One client with its engine, which does what it is told and notes what its pointers give."""

    def __init__(self, held: Desk, name: str, key: str, seen: dict[str, bytes]) -> None:
        self.name, self.key, self.turns, self.seen = name, key, 0, seen
        self._held = held
        self.restart()

    def restart(self) -> None:
        self.engine = self._held.engine("anthropic", POLICY, session=self.key)
        self._observe()

    def _observe(self) -> None:
        self.engine.observe(history(self.name, self.turns), model="claude-sonnet-4-5")

    def act(self, what: str) -> None:
        if what == "restart":
            self.restart()
        elif what in {"grow", "rewind"}:
            self.turns = self.turns + 1 if what == "grow" else self.turns // 2
            self._observe()
        elif what == "maintain":
            self.engine.maintain(is_cold=True)
        elif what == "roll back":
            with suppress(StalePlan, UsageError):  # another one has committed since, or nobody has
                self.engine.roll_back()
        self.look()

    def look(self) -> None:
        """Note what each pointer of the view gives; what was noted before must still be so."""
        view = self.engine.view_body()
        results = {span.id: span for span in self.engine.snapshot().spans}
        for name in pointers_in(view):
            payload = self.engine.restore(name)
            assert self.seen.setdefault(name, payload) == payload
            if name in results:
                read = results[name].facts.target
                assert payload.decode() == prose(1, 1) or payload.decode().startswith(" ".join(read.split("/")[1:]))


def check_ids(held: Desk, key: str) -> None:
    """Whether each id stands at one message of the journal only."""
    given = [name for message in held.store().journal(SessionKey(key)) for name in message.ids]
    assert len(given) == len(set(given))


@QUIET
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(ACTS)), min_size=5, max_size=30))
def test_histories_that_part(acts):
    """Three engines on one session, each with a history of its own behind a common beginning."""
    with desk("memory") as held:
        seen: dict[str, bytes] = {}
        writers = [Writer(held, name, "s", seen) for name in "ABC"]
        for number, what in [*acts, *((n, "maintain") for n in range(3))]:
            writers[number].act(what)
        check_ids(held, "s")
        for writer in writers:
            writer.restart()
            writer.look()
        assert verify_store(held.store()) == []


@QUIET
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(ACTS)), min_size=5, max_size=20))
def test_one_history(acts):
    """Two engines on one session and one history: ids are the same in both, whoever saw a message first."""
    with desk("memory") as held:
        seen: dict[str, bytes] = {}
        writers = [Writer(held, "A", "s", seen) for _ in range(2)]
        for number, what in acts:
            writers[number].act(what)
        check_ids(held, "s")
        short = min(writer.turns for writer in writers) + 1
        one, two = ([span.id for span in writer.engine.snapshot().spans][:short] for writer in writers)
        assert one == two
        assert verify_store(held.store()) == []


@QUIET
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(ACTS)), min_size=5, max_size=20))
def test_sessions_of_their_own(acts):
    """Two sessions on one store, in turn: each is governed as if it were alone."""
    with desk("memory") as held, desk("memory") as alone:
        together = [Writer(held, name, name, {}) for name in "AB"]
        apart = [Writer(alone if name == "A" else held, name, f"{name} alone", {}) for name in "AB"]
        for number, what in acts:
            together[number].act(what)
            apart[number].act(what)
        for one, two in zip(together, apart, strict=True):
            assert one.engine.view() == two.engine.view()
            assert one.seen == two.seen
        assert verify_store(held.store()) == []


def test_two_files_of_one_store():
    """On a disk, with a connection each: the one who comes second goes on from what the first has made."""
    with desk("sqlite") as held:
        seen: dict[str, bytes] = {}
        one, two = (Writer(held, name, "s", seen) for name in "AB")
        for _ in range(4):
            for writer in (one, two):
                writer.act("grow")
                writer.act("maintain")
                writer.act("maintain")
        assert len(seen) > 4
        check_ids(held, "s")
        for writer in (one, two):
            view = writer.engine.view_body()
            writer.restart()
            assert writer.engine.view_body() == view
        assert verify_store(held.store()) == []
        assert json.loads(view)["messages"][0]["content"] == "Go."
