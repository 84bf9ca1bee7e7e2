"""The protocols of what higher rooms give: the stand-ins that tests use fit them."""

import inspect

from builders import WordCounter
from selfgc.model.protocols import Store, TokenCounter
from selfgc.sidecar.memory import MemoryStore


def test_a_counter_gives_the_same_number_for_the_same_text():
    """Counting is deterministic, and nothing has no tokens."""
    counter: TokenCounter = WordCounter()
    assert (counter.count(""), counter.count("x" * 40), counter.count("x" * 40)) == (0, 10, 10)


def test_the_memory_store_has_every_method_of_the_protocol_with_its_parameters():
    """A caller may pass each argument by the name that the protocol gives it."""
    for name, method in inspect.getmembers(Store, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(MemoryStore, name)).parameters.keys() == (
                inspect.signature(method).parameters.keys()
            )
