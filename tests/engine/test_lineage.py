"""The lineage of a session: what is recognised, what is new, and which ids objects keep."""

import hashlib

from builders import WordCounter, assistant, call, raw, result, user
from selfgc.dialects.anthropic import AnthropicDialect
from selfgc.engine.lineage import Lineage, next_chain

MARK = {"cache_control": {"type": "ephemeral"}}


def messages(*paths):
    """A question, and one read for each path."""
    made = [
        message
        for n, path in enumerate(paths)
        for message in (call(f"call_{n}", "Read", file_path=path), result(f"call_{n}", f"text of {path}"))
    ]
    return [raw(message) for message in (user("Read."), *made)]


def lineage(journal=()):
    return Lineage(AnthropicDialect(), WordCounter(), journal)


def ids_of(held):
    return [item.id for item in (*held.index.turns, *held.index.spans)]


class CountingDialect(AnthropicDialect):
    """Counts how many messages were taken apart."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def split(self, raw):
        self.count += 1
        return super().split(raw)


def test_chains():
    """A chain digest is the hash of the parent's chain and the message's digest."""
    held = lineage()
    entries = held.advance(messages("/a"))
    parent = b""
    for entry, known in zip(entries, held.index.entries, strict=True):
        assert entry.parent == parent
        assert entry.chain == next_chain(parent, known.message.digest)
        assert entry.chain == hashlib.sha256(parent + known.message.digest).digest()
        parent = entry.chain
    assert [chain.hex() for chain in held.chains] == list(held.hex_chains)


def test_only_new_messages_are_told():
    """A grown history gives journal entries for what is new, with the ids that begin there."""
    held = lineage()
    assert [entry.ids for entry in held.advance(messages("/a"))] == [("conversation:user:1",), ("function:Read:1",), ()]
    assert held.advance(messages("/a")) == []
    assert [entry.ids for entry in held.advance(messages("/a", "/b"))] == [("function:Read:2",), ()]


def test_only_new_messages_are_taken_apart():
    """What was seen is recognised by its bytes, on forks and after rewinds too."""
    dialect = CountingDialect()
    held = Lineage(dialect, WordCounter())
    held.advance(messages("/a", "/b"))
    held.advance(messages("/a", "/b", "/c"))
    held.advance(messages("/a"))
    held.advance(messages("/a", "/b"))
    assert dialect.count == 7


def test_a_rewind_keeps_ids():
    """Back to a shorter history and forward again gives the same ids; another way on gives new ones."""
    held = lineage()
    held.advance(messages("/a", "/b"))
    before = ids_of(held)
    assert held.advance(messages("/a")) == []
    assert len(held.chains) == len(held.index.entries) == 3
    held.advance(messages("/a", "/b"))
    assert ids_of(held) == before
    assert [entry.ids for entry in held.advance(messages("/a", "/c"))] == [("function:Read:3",), ()]


def test_the_same_text_elsewhere_is_another_object():
    """Identity is position, lineage and content together."""
    held = lineage()
    held.advance([raw(user("x")), raw(assistant("y")), raw(user("x"))])
    assert ids_of(held) == ["conversation:user:1", "conversation:user:2"]
    assert len(set(held.chains)) == 3


def test_from_a_journal():
    """A lineage read from a journal gives the ids it remembers, and no number a second time."""
    first = lineage()
    journal = [*first.advance(messages("/a", "/b")), *first.advance(messages("/c"))]
    held = lineage(journal)
    assert held.advance(messages("/a", "/b")) == []
    assert ids_of(held) == ["conversation:user:1", "function:Read:1", "function:Read:2"]
    assert [entry.ids for entry in held.advance(messages("/d"))] == [("function:Read:4",), ()]


def test_cache_markers():
    """A marker that wanders changes no identity; the bytes of this very call are kept to send."""
    held = lineage()
    plain = messages("/a")
    held.advance(plain)
    marked = [raw(user({"type": "text", "text": "Read."} | MARK)), *plain[1:]]
    assert held.advance(marked) == []
    assert held.raws == marked
    assert held.index.entries[0].message.raw == plain[0]
    held.advance(plain)
    assert held.raws == plain


def test_an_empty_history():
    """No message at all is a history too, first and later."""
    held = lineage()
    assert held.advance([]) == []
    held.advance(messages("/a"))
    assert held.advance([]) == []
    assert (held.chains, held.raws, ids_of(held)) == ([], [], [])
