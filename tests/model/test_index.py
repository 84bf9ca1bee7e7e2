"""The index: which objects a row of messages has, with their ids, places and facts."""

import pytest

from builders import (
    WordCounter,
    assistant,
    call,
    call_block,
    calls,
    chat_assistant,
    chat_call,
    chat_result,
    chat_user,
    dialect_named,
    index_of,
    raw,
    result,
    result_block,
    results,
    session,
    text_block,
    user,
)
from selfgc.model.ids import Allocator, ObjectId, ObjectKind
from selfgc.model.index import Index, read_entry, short_digest
from selfgc.model.message import PartRef
from selfgc.model.spans import Effect

CODE = "def main() -> None:\n    print('hello')\n" * 20


def entries(*messages, dialect="anthropic"):
    wire_format, seen = dialect_named(dialect), {}
    return [read_entry(wire_format.split(raw(message)), wire_format, WordCounter(), seen) for message in messages]


def ids(index):
    return [span.id for span in index.spans]


# -- digests and entries ---------------------------------------------------------------------------------


def test_a_short_text_has_no_digest():
    """Repeats of short texts are not worth finding."""
    assert (short_digest("x" * 199), len(short_digest("x" * 200))) == (b"", 12)


def test_blanks_around_a_text_do_not_change_its_digest():
    """A file read has a newline at its end that the written body had not."""
    assert short_digest("x" * 300) == short_digest("\n" + "x" * 300 + "\n")
    assert short_digest("x" * 300) != short_digest("x" * 301)


def test_a_lone_surrogate_does_not_stop_a_digest():
    """Clients cut strings anywhere."""
    assert len(short_digest("\ud83d" * 200)) == 12


def test_an_anchor_is_held_once_for_all_entries():
    """The same path in a thousand results is one string."""
    first, second = entries(user("see src/app/main.py"), user("open src/app/main.py"))
    (held,) = [anchor for anchor in first.parts[0].anchors if anchor == "src/app/main.py"]
    assert any(anchor is held for anchor in second.parts[0].anchors)


def test_an_entry_knows_each_call_and_how_each_result_ended():
    """Facts stand beside the part they are of."""
    asked, answered = entries(
        calls("I look", call_block("a", "Read", {"file_path": "/a.py"}), call_block("b", "Bash", {"command": "ls"})),
        results(result_block("a", "ok"), result_block("b", "Exit code 2", is_error=True)),
    )
    assert [(made.part, made.tool, made.facts.effect) for made in asked.calls] == [
        (1, "Read", Effect.READ),
        (2, "Bash", Effect.RUN),
    ]
    assert [(part, outcome.is_failed) for part, outcome in answered.outcomes] == [(0, False), (1, True)]


def test_a_call_without_arguments_has_no_written_body():
    """Nothing was written."""
    assert entries(call("a", "list"))[0].calls[0].written == b""


# -- turns -----------------------------------------------------------------------------------------------


def test_a_turn_reaches_to_the_next_user_message():
    """Each turn has its messages and the spans made in it."""
    read = ("Read", {"file_path": "/a.py"}, "text")
    index = index_of(session([("one", [read, read], "done"), ("two", [read], "done"), ("three", [], "")]))
    assert [(turn.id, turn.start, turn.end, turn.first_span, turn.past_span) for turn in index.turns] == [
        ("conversation:user:1", 0, 6, 0, 2),
        ("conversation:user:2", 6, 10, 2, 3),
        ("conversation:user:3", 10, 11, 3, 3),
    ]
    assert [span.turn for span in index.spans] == [0, 0, 1]


def test_what_comes_before_the_first_user_message_is_in_no_turn():
    """A history that a client cut may begin with an answer."""
    index = index_of([assistant("hello"), call("a", "Bash", command="ls"), result("a", "x"), user("go")])
    assert (index.spans[0].turn, index.turns[0].start, len(index.turns)) == (-1, 3, 1)


# -- spans -----------------------------------------------------------------------------------------------


def test_a_span_joins_a_call_with_its_result():
    """Places, facts and tokens of both halves."""
    index = index_of([user("go"), call("a", "Read", file_path="/src/app.py"), result("a", CODE)])
    (span,) = index.spans
    assert (span.id, span.kind, span.tool) == ("function:Read:1", ObjectKind.FUNCTION, "Read")
    assert (span.call, span.result, span.facts.target) == (PartRef(1, 0), PartRef(2, 0), "/src/app.py")
    assert (span.call_tokens, span.result_tokens) == (
        index.entries[1].parts[0].tokens,
        index.entries[2].parts[0].tokens,
    )
    assert span.body == short_digest(CODE)


def test_a_span_joins_a_chat_call_with_its_result():
    """The same objects in the other dialect."""
    index = index_of(
        [
            chat_user("go"),
            chat_assistant(None, chat_call("a", "read_file", {"path": "/a.py"}), chat_call("b", "sh", {"cmd": "ls"})),
            chat_result("b", "x"),
            chat_result("a", CODE),
        ],
        "chat",
    )
    assert ids(index) == ["function:read_file:1", "function:sh:2"]
    assert [span.result for span in index.spans] == [PartRef(3, 0), PartRef(2, 0)]


def test_results_of_parallel_calls_may_come_in_any_order():
    """They are matched by the provider's call id."""
    index = index_of(
        [
            calls(call_block("a", "Read", {"file_path": "/a"}), call_block("b", "Read", {"file_path": "/b"})),
            results(result_block("b", "of b"), result_block("a", "of a")),
        ]
    )
    assert [(span.facts.target, span.result) for span in index.spans] == [("/a", PartRef(1, 1)), ("/b", PartRef(1, 0))]


def test_a_call_without_its_result_is_open():
    """It has the tokens of the call alone, and no outcome yet."""
    (span,) = index_of([user("go"), call("a", "Write", file_path="/a.py", content=CODE)]).spans
    assert (span.is_open, span.result_tokens, span.body) == (True, 0, short_digest(CODE))


@pytest.mark.parametrize("call_id", ["unknown", "a"])
def test_a_result_that_answers_no_open_call_is_no_object(call_id):
    """Neither an orphan nor a second answer changes a span."""
    index = index_of([call("a", "Bash", command="ls"), result("a", "first"), result(call_id, "Exit code 1")])
    (span,) = index.spans
    assert (span.result, span.facts.has_failed) == (PartRef(1, 0), False)


def test_a_call_id_that_is_used_again_joins_the_newer_call():
    """Some clients number their calls anew in each step."""
    again = [call("a", "Bash", command="ls"), result("a", "x"), call("a", "Bash", command="pwd"), result("a", "y")]
    assert [(span.facts.target, span.result.message) for span in index_of(again).spans] == [("ls", 1), ("pwd", 3)]


def test_the_body_of_a_write_is_what_was_written():
    """So that a later read of the same text is found to repeat it."""
    index = index_of(
        [
            call("a", "Write", file_path="/a.py", content=CODE),
            result("a", "File created successfully at: /a.py" + " " * 300),
            call("b", "Read", file_path="/a.py"),
            result("b", CODE),
        ]
    )
    assert index.spans[0].body == index.spans[1].body == short_digest(CODE)


def test_a_failed_call_is_told_on_its_span():
    """The outcome comes with the result."""
    index = index_of([call("a", "Bash", command="pytest"), result("a", "E   x\nExit code 1\n1 failed in 0.1s")])
    assert (index.spans[0].facts.has_failed, index.spans[0].facts.outcome) == (True, "Exit code 1; 1 failed in 0.1s")


# -- skills ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "taken"),
    [
        ("Skill", {"skill": "pdf-forms"}, "skill:pdf-forms:1"),
        ("Read", {"file_path": "/home/a/skills/docx/SKILL.md"}, "skill:docx:1"),
        ("Read", {"file_path": "C:\\skills\\docx\\SKILL.md"}, "skill:docx:1"),
        ("read_file", {"path": "SKILL.md"}, "skill:skill:1"),
        ("Bash", {"command": "cat /skills/xlsx/SKILL.md"}, "skill:xlsx:1"),
        ("Write", {"file_path": "/skills/docx/SKILL.md", "content": "x"}, "function:Write:1"),
        ("Read", {"file_path": "/skills/docx/SKILL.md.bak"}, "function:Read:1"),
    ],
)
def test_a_skill_is_an_object_of_its_own_kind(tool, arguments, taken):
    """The skill tool, or a read of a skill's file; a write of one is a write."""
    index = index_of([user("go"), call("a", tool, **arguments)])
    assert ids(index) == [taken]
    assert (index.spans[0].kind is ObjectKind.SKILL) == taken.startswith("skill")


@pytest.mark.parametrize(
    "text",
    [
        "Base directory for this skill: /home/a/.claude/skills/pdf\n\n# PDF",
        "Base directory for this skill: /home/a/.claude/skills/pdf/\n\n# PDF",
        '<skill name="pdf">\n# PDF\n</skill>',
        '\n<skill location="/x" name="pdf">',
    ],
)
def test_a_text_that_a_harness_puts_in_for_a_skill_is_skill_state(text):
    """It is an object with a result and no call."""
    index = index_of([user("go"), call("a", "Skill", skill="pdf"), user(result_block("a", "ok"), text_block(text))])
    span = index.spans[1]
    assert (span.id, span.kind, span.tool, span.facts.effect) == ("skill:pdf:2", ObjectKind.SKILL, "", Effect.SKILL)
    assert (span.call, span.result, span.call_tokens) == (PartRef(2, 1), PartRef(2, 1), 0)
    assert span.result_tokens == index.entries[2].parts[1].tokens


@pytest.mark.parametrize("text", ["<skill>pdf</skill>", "the Base directory for this skill: /a/pdf ", "<skills>"])
def test_a_text_that_only_speaks_of_skills_is_user_text(text):
    """The sign stands at the beginning, and it has a name."""
    index = index_of([user(text)])
    assert (index.spans, len(index.turns)) == ([], 1)


# -- ids -------------------------------------------------------------------------------------------------


def test_adding_a_message_tells_the_ids_that_begin_in_it():
    """The turn first, then calls, then skill texts; results begin nothing."""
    index = Index()
    taken = [
        index.add(entry)
        for entry in entries(
            user('<skill name="pdf">', "go"),
            calls(call_block("a", "Read", {"path": "/a"}), call_block("b", "my tool", {})),
            results(result_block("a", "x"), result_block("b", "y")),
        )
    ]
    assert taken == [("conversation:user:1", "skill:pdf:1"), ("function:Read:2", "function:my_tool:3"), ()]


def test_ids_that_a_store_remembers_are_taken_as_they_are():
    """After a restart every object has the id it had, and numbers go on behind them."""
    index = Index()
    remembered = [ObjectId("conversation:user:4"), ObjectId("skill:pdf:9")]
    (first, *rest) = entries(user('<skill name="pdf">', "go"), user("on"), call("a", "Read", path="/a"))
    assert index.add(first, remembered) == tuple(remembered)
    assert [index.add(entry) for entry in rest] == [("conversation:user:5",), ("function:Read:10",)]
    assert remembered == ["conversation:user:4", "skill:pdf:9"]


def test_objects_that_a_store_does_not_remember_get_new_ids():
    """A list that is too short is filled up."""
    index = Index(Allocator(1, 5))
    (entry,) = entries(calls(call_block("a", "Read", {"path": "/a"}), call_block("b", "Bash", {"command": "ls"})))
    assert index.add(entry, [ObjectId("function:Read:7")]) == ("function:Read:7", "function:Bash:8")


def test_an_index_built_again_from_the_same_entries_has_the_same_objects():
    """A rewind costs no tokens counted anew."""
    made = session([("one", [("Read", {"path": "/a"}, CODE), ("Bash", {"command": "ls"}, "x")], "done")])
    index, again = index_of(made), Index()
    for entry in index.entries:
        again.add(entry)
    assert (again.spans, again.turns, again.allocator) == (index.spans, index.turns, index.allocator)
