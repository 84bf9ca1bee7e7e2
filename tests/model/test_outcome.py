"""What governance hands on, as values."""

from selfgc.model.dialect import Change
from selfgc.model.outcome import Refused, Repair, View


def test_a_view_has_nothing_edited_unless_it_says_so():
    """A view made of what came in names no edited message."""
    assert View((b"{}",), (0,)).edited == frozenset()


def test_a_repair_either_changes_a_part_or_puts_an_answer_in():
    """Without a change the repair is an answer after the message."""
    assert Repair(3, "content.1", None, "call_1", "an open call is answered").change is None
    assert Repair(3, "content.1", Change(), "call_1", "an orphan leaves").change == Change()


def test_a_refusal_of_rehearsal_names_object_verb_and_rule():
    """The rule is its short name, the sentence is for a person."""
    refused = Refused("function:Read:1", "fold", "pinned", "it is pinned: memory")
    assert (refused.object_id, refused.verb, refused.rule) == ("function:Read:1", "fold", "pinned")
