"""The texts that stand where payloads stood."""

import pytest

from builders import assistant, session, snapshot_of, user
from selfgc.governance import pointers
from selfgc.model.policy import Recovery

COMMAND, TOOL = Recovery.COMMAND, Recovery.TOOL
LINES = "\n".join(f"row {n}" for n in range(1, 41))


def spans_of(*made):
    """The spans of a turn with these calls."""
    return snapshot_of([*session([("do it", made, "done")]), user("go on"), assistant("ok")]).spans


def span_of(tool="Read", text="text", **arguments):
    return spans_of((tool, arguments or {"file_path": "/a/b.py"}, text))[0]


# -- results and arguments -------------------------------------------------------------------------------


def test_a_pointer_says_the_size_and_the_way_back():
    """By the command line, or by the tool: the operator's choice."""
    assert pointers.result_pointer(span_of(), LINES, [], COMMAND) == "[folded 40 lines: selfgc restore function:Read:1]"
    by_tool = pointers.result_pointer(span_of(), "one line", [], TOOL)
    assert by_tool == '[folded 8 characters: restore_context("function:Read:1")]'


def test_large_sizes_are_grouped_by_thousands():
    """A person reads them."""
    assert pointers.size_of("x" * 12_345) == "12,345 characters"
    assert pointers.size_of("\n" * 1_233) == "1,234 lines"


def test_a_pointer_says_how_a_command_ended():
    """The exit code and the error line, word for word."""
    span = span_of("Bash", "boom\nValueError: bad port\nExit code: 3", command="make")
    pointer = pointers.result_pointer(span, LINES, ["48080"], COMMAND)
    assert pointer.split("\n")[1:] == ["Exit code: 3; ValueError: bad port", "48080"]


def test_a_repeat_names_the_object_that_shows_the_text():
    """Nothing of the text is told again."""
    pointer = pointers.repeat_pointer(span_of(), LINES, "function:Read:7", COMMAND)
    assert pointer == "[folded 40 lines, the same text as function:Read:7: selfgc restore function:Read:1]"


def test_an_argument_is_replaced_by_a_pointer_and_its_anchors():
    """Without anchors by the pointer alone."""
    bare = "[folded 40 lines: selfgc restore function:Read:1]"
    assert pointers.argument_pointer(span_of(), LINES, [], COMMAND) == bare
    assert pointers.argument_pointer(span_of(), LINES, ["48080", "two words"], COMMAND) == f"{bare}\n48080\ntwo words"


def test_a_folded_command_keeps_its_beginning():
    """The first line up to 120 characters tells what was run."""
    pointer = pointers.command_pointer(span_of(), "make test\nmake lint", [], COMMAND)
    assert pointer == "make test [folded 2 lines: selfgc restore function:Read:1]"
    assert pointers.command_pointer(span_of(), "x" * 300, [], COMMAND).startswith("x" * 120 + " [folded")


# -- masks -----------------------------------------------------------------------------------------------


def test_a_mask_keeps_twelve_lines_at_each_end():
    """The middle is counted and can be had back."""
    masked = pointers.masked_text(span_of(), LINES, [], COMMAND).split("\n")
    assert masked[:12] == [f"row {n}" for n in range(1, 13)]
    assert masked[12] == "[… 16 lines masked: selfgc restore function:Read:1]"
    assert masked[13:] == [f"row {n}" for n in range(29, 41)]


def test_a_mask_shows_the_anchors_of_its_middle():
    """They stand between head and tail."""
    assert pointers.masked_text(span_of(), LINES, ["48080"], COMMAND).split("\n")[13] == "48080"


def test_one_long_line_is_cut_inside_the_line():
    """Head and tail of 400 characters."""
    text = "a" * 1000 + "b" * 1000
    masked = pointers.masked_text(span_of(), text, [], COMMAND).split("\n")
    assert masked == ["a" * 400, "[… 1,200 characters masked: selfgc restore function:Read:1]", "b" * 400]


def test_long_lines_at_the_ends_are_cut_too():
    """A log of few enormous lines does not escape the mask."""
    lines = ["a" * 900 + "z", *["middle"] * 30, "y" + "b" * 900]
    masked = pointers.masked_text(span_of(), "\n".join(lines), [], COMMAND).split("\n")
    assert (masked[0], masked[-1]) == ("a" * 800, "b" * 800)


# -- what is shown ---------------------------------------------------------------------------------------


def test_short_strings_share_a_line_and_quoted_lines_have_their_own():
    """Paths first, then words, then lines; each group in order."""
    shown = ["port = 48080", "db-main-01", "/a/b.py", "48080"]
    assert pointers.anchor_lines(shown) == "/a/b.py db-main-01 48080\nport = 48080"


def test_paths_of_one_deep_folder_are_put_in_braces():
    """As a shell would write them."""
    paths = ["/srv/app/src/a/one.py", "/srv/app/src/two.py"]
    assert pointers.anchor_lines(paths) == "/srv/app/src/{a/one.py,two.py}"


@pytest.mark.parametrize("paths", [["/srv/a.py", "/srv/b.py"], ["/srv/app/src/a.py"], ["/a/b/c/d.py", "/x/b/c/d.py"]])
def test_paths_without_a_deep_common_folder_stay_as_they_are(paths):
    """Braces would save nothing."""
    assert pointers.anchor_lines(paths) == " ".join(paths)


def test_nothing_to_show_gives_no_line():
    """An empty text."""
    assert pointers.anchor_lines([]) == ""


# -- turns -----------------------------------------------------------------------------------------------


def test_a_turn_tells_its_calls_then_its_anchors():
    """Each call can be restored by its own id."""
    bare = pointers.turn_pointer("conversation:user:1", 2, ["a.py Read:1"], [], COMMAND)
    assert bare == "[folded 2 calls of this turn: selfgc restore conversation:user:1, or one by its id]\na.py Read:1"
    assert pointers.turn_pointer("conversation:user:1", 2, ["a.py Read:1"], ["48080"], COMMAND) == f"{bare}\n48080"


def test_calls_on_one_file_share_a_row_below_their_common_folder():
    """The numbers of one tool stand together."""
    read, edit = (
        ("Read", {"file_path": "/srv/app/src/a.py"}),
        ("Edit", {"file_path": "/srv/app/src/a.py", "old_string": "x"}),
    )
    made = [(*read, "t"), (*edit, "t"), (*read, "t"), ("Read", {"file_path": "/srv/app/src/b/c.py"}, "t")]
    assert pointers.span_rows(spans_of(*made)) == ["under /srv/app/src/", "a.py Read:1,3 Edit:2", "b/c.py Read:4"]


def test_other_calls_have_a_row_each_with_how_they_ended():
    """A failed read stands there too, with its error."""
    made = [
        ("Bash", {"command": "make"}, "Exit code: 2"),
        ("Bash", {"command": "ls"}, "fine"),
        ("Read", {"file_path": "/a/b.py"}, "File does not exist."),
        ("Grep", {"pattern": "x" * 200}, "fine"),
    ]
    rows = pointers.span_rows(spans_of(*made))
    assert rows[:3] == ["Bash:1 make → Exit code: 2", "Bash:2 ls", "Read:3 /a/b.py → failed"]
    assert rows[3] == f"Grep:4 {'x' * 80}"


def test_relative_paths_have_no_common_folder():
    """Each stands as it was given."""
    made = [("Read", {"file_path": "src/a.py"}, "t"), ("Read", {"file_path": "src/b.py"}, "t")]
    assert pointers.span_rows(spans_of(*made)) == ["src/a.py Read:1", "src/b.py Read:2"]


def test_a_call_without_a_subject_is_its_id_alone():
    """No trailing blank."""
    assert pointers.span_rows(spans_of(("Ping", {}, "pong"))) == ["Ping:1"]
