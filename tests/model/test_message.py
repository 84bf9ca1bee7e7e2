"""Messages and parts as values."""

from selfgc.model.message import Message, Part, PartKind, PartRef


def message(*parts):
    return Message(b"{}", b"", "assistant", parts)


def test_a_message_with_a_signed_part_is_signed():
    """One signature binds everything beside it."""
    thinking = Part(PartKind.THINKING, "content.0", is_signed=True)
    assert message(thinking, Part(PartKind.TOOL_CALL, "content.1", "a", "Read")).is_signed


def test_a_message_without_a_signature_is_not_signed():
    """Plain reasoning binds nothing."""
    assert not message(Part(PartKind.THINKING, "content.0"), Part(PartKind.ASSISTANT_TEXT, "content.1")).is_signed
    assert not message().is_signed


def test_part_addresses_sort_in_the_order_of_the_transcript():
    """By message first, by part second."""
    refs = [PartRef(2, 0), PartRef(1, 3), PartRef(1, 2)]
    assert sorted(refs) == [PartRef(1, 2), PartRef(1, 3), PartRef(2, 0)]
