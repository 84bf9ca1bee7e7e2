"""What both formats share."""

from selfgc.testing.wire import PIECE, compact, mappings, pieces


def test_pieces_make_the_text():
    """A streamed text comes in pieces of a fixed length and is whole at the end; an empty one has none."""
    text = "äb" * PIECE
    found = list(pieces(text))
    assert "".join(found) == text
    assert [len(piece) for piece in found] == [PIECE, PIECE]
    assert list(pieces("")) == []


def test_only_the_objects_of_an_array_are_read():
    """Anything else in its place counts as nothing."""
    assert mappings([{"a": 1}, "x", None]) == [{"a": 1}]
    assert mappings("text") == mappings(None) == mappings({"a": 1}) == []


def test_compact_json_keeps_order_and_characters():
    """As a provider writes it: no spaces, no escapes that are not needed."""
    assert compact({"b": 1, "a": "ä"}) == '{"b":1,"a":"ä"}'
