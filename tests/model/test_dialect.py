"""Changes to one part: what is a removal, and that both dialects are dialects."""

import pytest

from builders import chat_user, dialect_named, raw, user
from selfgc.model.dialect import Change


def test_a_change_that_says_nothing_takes_the_part_out():
    """An empty change is a removal."""
    assert Change().is_removal


@pytest.mark.parametrize("change", [Change(text="x"), Change(text=""), Change(arguments={}), Change(call_id="a")])
def test_a_change_that_says_something_leaves_the_part(change):
    """An empty text or no changed argument is still no removal."""
    assert not change.is_removal


@pytest.mark.parametrize(("name", "wire"), [("anthropic", user("hello")), ("chat", chat_user("hello"))])
def test_a_dialect_gives_one_text_a_part(name, wire):
    """Texts stand in the order of the parts."""
    dialect = dialect_named(name)
    message = dialect.split(raw(wire))
    assert (dialect.name, len(message.parts), dialect.texts(message)) == (name, 1, ("hello",))
