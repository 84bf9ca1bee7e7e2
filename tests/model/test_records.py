"""Records of a store: what is left out when it says nothing, and what reads back."""

import msgspec

from selfgc.model.ids import ObjectId
from selfgc.model.records import Edit, EntryKind, Replacement


def test_a_record_leaves_out_what_says_nothing():
    """Ledger rows hold no empty fields."""
    edit = Edit(ObjectId("function:Read:1"), "prune", (Replacement("ab", "content.0"),), 90, 0)
    assert msgspec.json.encode(edit) == (
        b'{"id":"function:Read:1","action":"prune","replacements":[{"chain":"ab","path":"content.0"}],'
        b'"tokens_before":90,"tokens_after":0}'
    )


def test_a_record_reads_back_equal():
    """What a crash leaves in the ledger is enough to go on."""
    replacement = Replacement("ab", "content.1", arguments={"content": "[folded]"}, tokens=7)
    edit = Edit(
        ObjectId("conversation:user:1"),
        "fold",
        (replacement,),
        900,
        20,
        payload="00" * 32,
        media="application/json",
        reason="old",
        swallowed=(ObjectId("function:Read:1"),),
    )
    assert msgspec.json.decode(msgspec.json.encode(edit), type=Edit) == edit


def test_a_replacement_without_text_and_arguments_leaves_the_part_out():
    """None is not the empty string."""
    left_out, empty = Replacement("ab", "content.0"), Replacement("ab", "content.0", text="")
    assert msgspec.json.decode(msgspec.json.encode(left_out), type=Replacement).text is None
    assert msgspec.json.decode(msgspec.json.encode(empty), type=Replacement).text == ""


def test_the_ledger_tells_every_step_of_the_lifecycle():
    """Kinds are stored by these words; renaming one would orphan old ledgers."""
    assert {str(kind) for kind in EntryKind} == {
        "plan",
        "refusal",
        "commit",
        "defer",
        "restore",
        "repair",
        "rollback",
        "fault",
    }
