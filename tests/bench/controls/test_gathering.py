"""From sessions to what the controls are run over."""

from control_cases import LINE, body, count, judges, noise, session_of
from selfgc.bench.controls.foreign import foreign_future
from selfgc.bench.controls.gathering import gather


def recorded(name):
    """A session with enough in it to be cut: a name and a line of its own, and a line that all have."""
    outputs = [noise(name, 700), body(f"{name}_door"), f"{name} says that {LINE}"]
    session, _ = session_of(name, outputs, ("command", f"grep {name}_door"), ("old_string", f"{name} says that {LINE}"))
    return session


def test_sessions_become_cases_with_needs():
    """Named by their set in the corpus, so that sets may hold sessions of the same name."""
    gathered = gather({"set": [recorded("alpha"), recorded("beta")]}, count=count, pairs=3, seed=1)
    assert [(case.cut.place, case.needs.session) for case in gathered.prepared] == [
        (("set", "alpha", 8), "set/alpha"),
        (("set", "alpha", 10), "set/alpha"),
        (("set", "beta", 8), "set/beta"),
        (("set", "beta", 10), "set/beta"),
    ]
    assert [use.anchor for use in gathered.prepared[1].needs.strict_uses] == ["alpha_door", f"alpha says that {LINE}"]
    assert [pair.is_near for pair in gathered.pairs] == [False] * 3


def test_the_corpus_knows_the_foreign_windows():
    """The pairs can be judged with it."""
    gathered = gather({"set": [recorded("alpha"), recorded("beta")]}, count=count, pairs=3, seed=1)
    far, _ = foreign_future(gathered.pairs, gathered.prepared, gathered.corpus, judges())
    assert "of 3 pairs" in far.found


def test_others_only_tell_what_is_common():
    """A line that others hold too is not needed any more."""
    one = recorded("alpha")
    alone = gather({"set": [one]}, count=count, pairs=3, seed=1)
    among = gather({"set": [one]}, [("x", one.messages), ("y", one.messages)], count=count, pairs=3, seed=1)
    assert (len(alone.prepared), len(among.prepared)) == (2, 2)
    assert alone.prepared[1].strict
    assert not among.prepared[1].strict
