"""Are payloads compared with the session itself?"""

import json

from selfgc import ContextEngine, Fold, Plan
from selfgc.bench.recovery import count_restored


def call(number, arguments, name="Read"):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}],
    }


def result(number, content):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": content}]}


def lines(name):
    return "\n".join(f"{name} line {number} says something of its own" for number in range(60))


def session(content, arguments=None):
    return [
        {"role": "user", "content": "look"},
        call(1, arguments or {"file_path": "/a/b.py"}),
        result(1, content),
        {"role": "assistant", "content": "seen"},
        *(
            message
            for number in range(2, 9)
            for message in (
                {"role": "user", "content": f"go on {number}"},
                call(number, {"command": "true"}),
                result(number, "ok"),
                {"role": "assistant", "content": "done"},
            )
        ),
    ]


def governed(messages, *ids):
    engine = ContextEngine()
    engine.observe(messages)
    assert engine.maintain(Plan(tuple(Fold(object_id) for object_id in ids)), is_cold=True).committed
    return engine


def test_a_text_result_counts_as_restored():
    """A folded text is compared with the result's text."""
    messages = session(lines("alpha"))
    assert count_restored(governed(messages, "function:Read:1"), messages) == (1, 1)


def test_one_text_block_counts_as_restored():
    """A result of one text block comes back as its text."""
    messages = session([{"type": "text", "text": lines("alpha")}])
    assert count_restored(governed(messages, "function:Read:1"), messages) == (1, 1)


def test_pieces_and_turns_count_as_restored():
    """Several pieces are compared one by one, and a turn with the run of messages that it was."""
    messages = session(lines("alpha"), {"file_path": "/a/b.py", "edits": [{"new": lines("beta")}]})
    assert count_restored(governed(messages, "function:Read:1"), messages) == (1, 1)
    assert count_restored(governed(messages, "conversation:user:1"), messages) == (2, 2)


def test_another_session_does_not_match():
    """Payloads that are not what the messages hold are not counted as restored."""
    engine = governed(session(lines("alpha")), "function:Read:1")
    assert count_restored(engine, session(lines("other"))) == (1, 0)
    turn = governed(session(lines("alpha")), "conversation:user:1")
    assert count_restored(turn, session(lines("other")))[1] == 0


def test_ids_that_are_used_again_pair_with_the_nearest_call():
    """Two calls of one id in Chat form: each keeps its own result."""

    def pair(text):
        function = {"name": "look", "arguments": json.dumps({"at": "x"})}
        asked = {"id": "c", "type": "function", "function": function}
        return [
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": "c", "content": text},
            {"role": "assistant", "content": "seen"},
        ]

    asked = [{"role": "user", "content": "one"}, *pair(lines("alpha")), {"role": "user", "content": "two"}]
    asked += [*pair(lines("beta")), {"role": "user", "content": "three"}]
    asked += [message for text in "cdef" for message in pair(text)]
    engine = ContextEngine(dialect="chat")
    engine.observe(asked)
    plan = Plan((Fold("function:look:1"), Fold("function:look:2")))
    assert engine.maintain(plan, is_cold=True).committed
    assert count_restored(engine, asked) == (2, 2)
