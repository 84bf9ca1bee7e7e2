"""Sources: the calls of a transcript, and which of them can be made again."""

import pytest

from bench_world import exchange, user
from selfgc.bench.judge.sources import call_texts, calls_of, is_stale, result_texts


def test_calls_have_their_key_and_their_messages():
    """Path, command or query; the message that asks and the one that answers."""
    (call,) = calls_of([user("x"), *exchange(1, "Read", {"file_path": "/a/b.py"}, "text")])
    assert (call.tool, call.key, call.asked, call.answered) == ("Read", "/a/b.py", 1, 2)


@pytest.mark.parametrize(
    ("tool", "arguments", "repeatable", "writes"),
    [
        ("Read", {"file_path": "/a"}, True, False),
        ("Grep", {"pattern": "x"}, True, False),
        ("Write", {"file_path": "/a", "content": "x"}, False, True),
        ("Bash", {"command": "cat /a | head -5"}, True, False),
        ("Bash", {"command": "cd /a && git show HEAD"}, True, False),
        ("Bash", {"command": "make all"}, False, True),
        ("Bash", {"command": "cat /a > /b"}, False, True),
        ("Bash", {"command": "curl -X POST http://x"}, False, True),
        ("Think", {"about": "x"}, False, False),
    ],
)
def test_reads_can_be_made_again_and_writes_cannot(tool, arguments, repeatable, writes):
    """A command that only looks is a read; any other command may change something."""
    (call,) = calls_of(exchange(1, tool, arguments, "text"))
    assert (call.is_repeatable, call.is_write) == (repeatable, writes)


def test_a_later_write_to_the_same_file_makes_a_read_stale():
    """By the whole path or by the file's name in a command; an earlier one does not."""
    wire = [
        *exchange(1, "Write", {"file_path": "/a/b.py", "content": "x"}, "ok"),
        *exchange(2, "Read", {"file_path": "/a/b.py"}, "text"),
        *exchange(3, "Read", {"file_path": "/a/c.py"}, "text"),
        *exchange(4, "Bash", {"command": "black b.py"}, "ok"),
    ]
    calls = calls_of(wire)
    assert is_stale(calls[1], calls)
    assert not is_stale(calls[2], calls)
    assert not is_stale(calls[1], calls[:3])


def test_chat_calls_are_read_too():
    """Their arguments are JSON in a string; what is none stands for itself."""
    ask = {
        "role": "assistant",
        "tool_calls": [
            {"id": "a", "function": {"name": "read", "arguments": '{"path": "/x"}'}},
            {"id": "b", "function": {"name": "run", "arguments": "{broken"}},
        ],
    }
    wire = [ask, {"role": "tool", "tool_call_id": "a", "content": "text"}]
    assert [(call.key, call.answered) for call in calls_of(wire)] == [("/x", 1), ("{broken", -1)]
    assert call_texts(ask) == {"a": "read /x", "b": "run {broken"}
    assert result_texts(wire[1]) == {"a": "text"}


def test_texts_of_calls_and_results_by_id():
    """Nested arguments flat, one after the other."""
    call, result = exchange(1, "Find", {"where": ["/a", {"b": 2}]}, "found")
    assert call_texts(call) == {"c1": "Find /a 2"}
    assert result_texts(result) == {"c1": "found"}
    assert calls_of([call])[0].key == ""
