"""Replies: values that a script is written in."""

import pytest

from selfgc.testing import Answer, Call, Cut, Failure, Hang, Junk


@pytest.mark.parametrize("reply", [Answer("a"), Failure(429), Hang(1), Cut(Answer("a"), 2), Junk(b"x")])
def test_replies_are_values(reply):
    """Two replies that say the same are the same, and none can be changed by whoever gets it."""
    assert reply == type(reply)(*(getattr(reply, name) for name in reply.__struct_fields__))
    with pytest.raises(AttributeError):
        setattr(reply, reply.__struct_fields__[0], None)


def test_a_bare_answer_says_nothing():
    """Nothing is there that the script did not say."""
    assert Answer() == Answer("", (), "", "", is_truncated=False, delay=0.0)
    assert Call("read").arguments == {}
