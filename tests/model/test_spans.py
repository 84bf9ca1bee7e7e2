"""What tool calls do, and how they ended: tools and result texts of many harnesses."""

import pytest

from builders import call, calls, index_of, result
from selfgc.model.spans import Effect, Outcome, SpanFacts, facts_of, read_outcome, with_outcome

PATCH = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** End Patch"
HEREDOC = f"apply_patch <<'EOF'\n{PATCH}\nEOF"
DIFF = "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-a\n+b\n"
OLD_NEW = {"old_string": "a", "new_string": "b"}


def effect_and_target(tool, arguments):
    facts = facts_of(tool, arguments)
    return facts.effect.value, facts.target


def ended(text, effect=Effect.RUN, *, is_error=False):
    return with_outcome(SpanFacts(effect, "x"), read_outcome(text, is_error=is_error))


# -- what a call does ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Read", {"file_path": "/a/b.py"}, ("read", "/a/b.py")),
        ("Write", {"file_path": "/a/b.py", "content": "x"}, ("write", "/a/b.py")),
        ("Edit", {"file_path": "/a/b.py", **OLD_NEW}, ("edit", "/a/b.py")),
        ("MultiEdit", {"file_path": "/a", "edits.0.old_string": "x", "edits.0.new_string": "y"}, ("edit", "/a")),
        ("NotebookRead", {"notebook_path": "/a.ipynb"}, ("read", "/a.ipynb")),
        ("NotebookEdit", {"notebook_path": "/a.ipynb", "new_source": "x"}, ("edit", "/a.ipynb")),
        ("Bash", {"command": "make test", "description": "Run tests"}, ("run", "make test")),
        ("BashOutput", {"bash_id": "bash_1"}, ("other", "bash_1")),
        ("Grep", {"pattern": "foo", "path": "src", "output_mode": "content"}, ("search", "foo in src")),
        ("Grep", {"pattern": "foo"}, ("search", "foo")),
        ("Glob", {"pattern": "**/*.py"}, ("search", "**/*.py")),
        ("LS", {"path": "/a"}, ("read", "/a")),
        ("Task", {"description": "look around", "prompt": "find it"}, ("agent", "look around")),
        ("Agent", {"prompt": "find it", "subagent_type": "Explore"}, ("agent", "Explore")),
        ("TaskOutput", {"task_id": "7"}, ("other", "7")),
        ("TaskCreate", {"subject": "build", "description": "the parser"}, ("note", "build")),
        ("TaskUpdate", {"taskId": "3", "status": "done"}, ("note", "3")),
        ("TodoWrite", {"todos.0.content": "x", "todos.0.status": "pending"}, ("note", "")),
        ("WebFetch", {"url": "https://example.org/a", "prompt": "sum up"}, ("fetch", "https://example.org/a")),
        ("WebSearch", {"query": "cats"}, ("search", "cats")),
        ("Skill", {"skill": "pdf"}, ("skill", "pdf")),
        ("Skill", {"command": "pdf"}, ("skill", "pdf")),
        ("ExitPlanMode", {"plan": "# Plan\n\n1. build"}, ("other", "# Plan 1. build")),
        ("ListMcpResources", {}, ("other", "")),
    ],
)
def test_tools_of_claude_code(tool, arguments, expected):
    """Effect and target of each."""
    assert effect_and_target(tool, arguments) == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("shell", {"command.0": "bash", "command.1": "-lc", "command.2": "make test"}, ("run", "make test")),
        ("shell", {"command.0": "git", "command.1": "status"}, ("run", "git status")),
        ("shell", {"command.0": "bash", "command.1": "-lc", "command.2": "cat src/a.py"}, ("read", "src/a.py")),
        ("shell", {"command.0": "bash", "command.1": "-lc", "command.2": HEREDOC}, ("edit", "src/app.py")),
        ("shell", {"command.0": "apply_patch", "command.1": PATCH}, ("edit", "src/app.py")),
        ("container.exec", {"cmd.0": "bash", "cmd.1": "-c", "cmd.2": "ls"}, ("run", "ls")),
        ("exec_command", {"cmd": "ls"}, ("run", "ls")),
        ("shell_command", {"command": HEREDOC}, ("edit", "src/app.py")),
        ("apply_patch", {"input": PATCH}, ("edit", "src/app.py")),
        ("apply_patch", {"patch": DIFF}, ("edit", "src/app.py")),
        ("apply_patch", {"input": "*** Add File: new.py\n+x"}, ("edit", "new.py")),
        ("update_plan", {"plan.0.step": "x", "explanation": "y"}, ("note", "")),
        ("view_image", {"path": "a.png"}, ("read", "a.png")),
        ("write_stdin", {"session_id": "1", "chars": "y\n"}, ("other", "1")),
    ],
)
def test_tools_of_codex(tool, arguments, expected):
    """Commands come as lists of words, and patches name their files."""
    assert effect_and_target(tool, arguments) == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("str_replace_editor", {"command": "view", "path": "/a.py"}, ("read", "/a.py")),
        ("str_replace_editor", {"command": "create", "path": "/a.py", "file_text": "x"}, ("write", "/a.py")),
        ("str_replace_editor", {"command": "str_replace", "path": "/a.py", "old_str": "x"}, ("edit", "/a.py")),
        ("str_replace_editor", {"command": "insert", "path": "/a.py", "new_str": "x"}, ("edit", "/a.py")),
        ("str_replace_based_edit_tool", {"command": "insert", "path": "/a.py", "insert_text": "x"}, ("edit", "/a.py")),
        ("str_replace_editor", {"command": "undo_edit", "path": "/a.py"}, ("edit", "/a.py")),
        ("memory", {"command": "create", "path": "/memories/a.md", "file_text": "x"}, ("note", "/memories/a.md")),
        ("memory", {"command": "view", "path": "/memories"}, ("note", "/memories")),
        ("save_memory", {"fact": "x"}, ("note", "")),
        ("read_file", {"path": "a.py"}, ("read", "a.py")),
        ("read_file", {"target_file": "a.py"}, ("read", "a.py")),
        ("read_file", {"absolute_path": "/a.py"}, ("read", "/a.py")),
        ("view", {"filePath": "a.py"}, ("read", "a.py")),
        ("mcp__files__read_text_file", {"path": "a.py"}, ("read", "a.py")),
        ("write_to_file", {"path": "a.py", "content": "x"}, ("write", "a.py")),
        ("create_file", {"path": "a.py", "content": "x"}, ("write", "a.py")),
        ("fs_put", {"path": "a.py", "content": "x"}, ("edit", "a.py")),
        ("replace_in_file", {"path": "a.py", "diff": "x"}, ("edit", "a.py")),
        ("edit_file", {"target_file": "a.py", "code_edit": "x"}, ("edit", "a.py")),
        ("insert_edit_into_file", {"filePath": "a.py", "code": "x"}, ("edit", "a.py")),
        ("delete_file", {"path": "a.py"}, ("edit", "a.py")),
        ("patch", {"patchText": PATCH}, ("edit", "src/app.py")),
        ("search_files", {"path": "src", "regex": "x"}, ("search", "x in src")),
        ("codebase_search", {"query": "x"}, ("search", "x")),
        ("execute_command", {"command": "ls"}, ("run", "ls")),
        ("run_terminal_cmd", {"command": "ls"}, ("run", "ls")),
        ("python", {"code": "print(1)"}, ("run", "print(1)")),
        ("fetch", {"url": "https://example.org"}, ("fetch", "https://example.org")),
        ("browser_navigate", {"url": "https://example.org"}, ("fetch", "https://example.org")),
        ("dispatch_agent", {"prompt": "find it"}, ("agent", "")),
        ("load_skill", {"name": "pdf"}, ("skill", "pdf")),
        ("use_skill", {"path": "skills/pdf"}, ("skill", "skills/pdf")),
        ("todo_write", {"todos": "x"}, ("note", "")),
        ("create_issue", {"title": "a bug", "body": "long"}, ("other", "a bug")),
        ("update_issue", {"id": "3"}, ("other", "3")),
        ("think", {"thought": "hm"}, ("other", "hm")),
    ],
)
def test_tools_of_other_harnesses(tool, arguments, expected):
    """Names of arguments count first, names of tools second."""
    assert effect_and_target(tool, arguments) == expected


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat a.py", "a.py"),
        (" cat src/a.py\n", "src/a.py"),
        ("cd /repo && cat src/a.py", "src/a.py"),
        ("cd /repo; cat src/a.py", "src/a.py"),
        ("cat 'src/my file.py'", "src/my file.py"),
        ('cat "src/(auth)/page.tsx"', "src/(auth)/page.tsx"),
        ("cat $HOME/a.py", "$HOME/a.py"),
        ("head -n 50 src/a.py", "src/a.py"),
        ("tail -20 src/a.py", "src/a.py"),
        ("sed -n '1,200p' src/a.py", "src/a.py"),
        ("sed -n '/def f/,/^$/p' src/a.py", "src/a.py"),
        ("nl -ba src/a.py", "src/a.py"),
        ("Get-Content src\\a.py", "src\\a.py"),
    ],
)
def test_a_command_that_shows_one_file_is_a_read_of_it(command, path):
    """Agents without a reading tool read so."""
    assert effect_and_target("Bash", {"command": command}) == ("read", path)


@pytest.mark.parametrize(
    "command",
    [
        "cat a/b.py | grep x",
        "cat a/b.py && rm a/b.py",
        "cat a/b.py; rm a/b.py",
        "cat a/b.py\nrm a/b.py",
        "cd /repo\nrm a.py && cat b.py",
        "cat a/x.py b/y.py",
        "cat a/x.py > b/y.py",
        "cat > a.py <<'EOF'\nx\nEOF",
        "cat <<EOF",
        "cat $(ls src/a)",
        "cat `ls src/a`",
        "cat",
        "cat Makefile",
        "sed -i s/a/b/ src/a.py",
        "ls src/a.py",
        "concat src/a.py",
    ],
)
def test_a_command_that_does_more_is_a_run(command):
    """What it changed or left out cannot be told, so it is no copy of a file."""
    assert effect_and_target("Bash", {"command": command}) == ("run", " ".join(command.split()))


def test_a_target_is_one_short_line():
    """It stands in pointers and tables."""
    assert facts_of("Bash", {"command": "echo a\n\t b  " + "c" * 500}).target == "echo a b " + "c" * 151


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": "/a", "offset": "5"}),
        ("read_file", {"path": "a", "start_line": "1"}),
        ("Bash", {"command": "head -n 5 src/a.py"}),
        ("Bash", {"command": "tail src/a.py"}),
        ("shell", {"command.0": "bash", "command.1": "-lc", "command.2": "sed -n 1,5p src/a.py"}),
    ],
)
def test_a_read_of_some_lines_is_partial(tool, arguments):
    """It is no full copy of the file."""
    assert facts_of(tool, arguments).is_partial


@pytest.mark.parametrize("line", ["offset: 5", "limit: 100", "view_range: [1,20]", "start_line: 0", "head: 10"])
def test_a_read_is_partial_by_a_number_too(line):
    """Numbers are no string arguments; the call's text tells of them."""
    assert facts_of("Read", {"file_path": "/a.py"}, f"Read\nfile_path: /a.py\n{line}").is_partial


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("Read", {"file_path": "/a.py"}, "Read\nfile_path: /a.py"),
        ("Read", {"file_path": "/a.py"}, "Read\nfile_path: /a.py\noffset: null"),
        ("Read", {"file_path": "/the limit: 5.py"}, "Read\nfile_path: /the limit: 5.py"),
        ("Bash", {"command": "cat src/a.py"}, ""),
        ("Bash", {"command": "make | head"}, ""),
        ("Grep", {"pattern": "x", "offset": "3"}, "head: 3"),
        ("Write", {"file_path": "/a", "content": "x", "limit": "3"}, "limit: 3"),
    ],
)
def test_other_calls_are_not_partial(tool, arguments, text):
    """Whole reads, and calls that are no reads."""
    assert not facts_of(tool, arguments, text).is_partial


@pytest.mark.parametrize(
    "command",
    [
        "cat " + "a" * 200_000,
        "cat " + "a/" * 100_000 + "|",
        "cat " + " " * 200_000 + "|",
        "cd " + "a" * 200_000,
        "cat '" * 50_000,
        "cat " + "\"'" * 50_000 + "|",
        "*** Update File: " * 20_000,
    ],
)
def test_a_long_command_is_read_in_linear_time(command):
    """Agents paste bodies into commands; none of them costs more than one pass."""
    assert facts_of("Bash", {"command": command}).effect in {Effect.RUN, Effect.READ}


# -- how it ended ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Exit code 1\nboom", "Exit code 1"),
        ("exit code: 2", "exit code: 2"),
        ("boom\nexit status 3", "exit status 3"),
        ("exit code -1", "exit code -1"),
        ("Exit Code: 3221225786\nOutput:\n", "Exit Code: 3221225786"),
        ("Wall time: 0.1 seconds\nProcess exited with code 127\nOutput:\n", "exited with code 127"),
        ("boom\n[Command finished with exit code 1]", "exit code 1"),
        ("boom\n[The command completed with exit code 2.]", "exit code 2"),
        ("Command failed with exit code 137", "exit code 137"),
        ("error: process didn't exit successfully: `target/debug/app` (exit status: 101)", "exit status: 101"),
        ("boom\nreturn code: 4", "return code: 4"),
        ("returncode=1", "returncode=1"),
        ("<returncode>1</returncode>\n<output>boom</output>", "returncode>1"),
        ("<exit_code>1</exit_code>", "exit_code>1"),
        ('{"output":"boom","metadata":{"exit_code":1,"duration_seconds":0.1}}', 'exit_code":1'),
        ('{"stdout": "", "exitCode": 9}', 'exitCode": 9'),
        ("boom\n[exit 1]", "exit 1"),
        ("boom\nexit=1", "exit=1"),
    ],
)
def test_an_exit_code_that_is_not_0_is_a_failure(text, shown):
    """In every spelling that harnesses use; the outcome holds it as it is written."""
    facts = ended(text)
    assert facts.has_failed
    assert facts.outcome.split("; ")[0] == shown


@pytest.mark.parametrize(
    "text",
    [
        "Exit code 0\nfine",
        "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nexit code 1\n",
        "fine\n[Command finished with exit code 0]",
        '{"output":"fine","metadata":{"exit_code":0}}',
        "<returncode>0</returncode>",
        "step one: exit=1\nexit=1\nexit=0",
    ],
)
def test_exit_code_0_is_no_failure(text):
    """The header counts first, else the last one that is told."""
    assert not ended(text).has_failed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fine",
        "usage: app\n\nIt returns exit code 2 when nothing is found.\n",
        "  exit code 1: nothing found\n  exit code 2: broken",
        "#!/bin/sh\nmake || exit 1\nexit 1\n",
        "Exit codes are told below.",
        "3 failed, 97 passed",
    ],
)
def test_a_text_that_speaks_of_exit_codes_has_not_failed(text):
    """Only the harness tells how the call ended."""
    assert not ended(text).has_failed


@pytest.mark.parametrize("effect", list(Effect))
def test_a_result_that_is_marked_as_an_error_has_failed(effect):
    """The mark counts for every tool."""
    assert ended("anything", effect, is_error=True).has_failed


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('Traceback (most recent call last):\n  File "a.py", line 1\nValueError: bad value', "ValueError: bad value"),
        ("E   AssertionError\n1 passed", "E AssertionError"),
        ("src/a.ts(1,2): error TS2322: Type 'a'", "src/a.ts(1,2): error TS2322: Type 'a'"),
        ("error[E0308]: mismatched types\n --> a.rs", "error[E0308]: mismatched types"),
        ("thread 'main' panicked at src/main.rs:2", "thread 'main' panicked at src/main.rs:2"),
        ("cat: x: No such file or directory", "cat: x: No such file or directory"),
        ("one\nbash: foo: command not found\ntwo", "bash: foo: command not found"),
        ("java.lang.NullPointerException\n\tat A.b", "java.lang.NullPointerException"),
        ("FAILED tests/test_a.py::test_b\n= 1 failed, 3 passed =", "= 1 failed, 3 passed ="),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("open /x: Permission denied", "open /x: Permission denied"),
        ("all is well", ""),
    ],
)
def test_the_outcome_of_a_command_is_its_last_telling_line(text, line):
    """What a person would look for in the output."""
    assert ended(text).outcome == line


def test_a_telling_line_at_the_head_is_found_when_the_tail_has_none():
    """Long output is looked at from both ends only."""
    middle = "all is well\n" * 2000
    assert ended(f"ValueError: at the head\n{middle}").outcome == "ValueError: at the head"
    assert ended(f"ValueError: at the head\n{middle}KeyError: at the end").outcome == "KeyError: at the end"
    assert ended(f"{middle}ValueError: inside\n{middle}").outcome == ""


def test_an_outcome_has_exit_code_and_line_in_one():
    """Both are short."""
    assert ended("Exit code 1\nValueError: " + "x" * 500).outcome == "Exit code 1; ValueError: " + "x" * 148


@pytest.mark.parametrize(
    "text",
    [
        "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>",
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        "Found 3 matches of the string to replace, but replace_all is false.",
        "Error: old_string was not found in the file",
        "No replacement was performed, old_str `x` did not appear verbatim in /a.py.",
        "Error: Found multiple matches for oldString",
        "Failed to edit, could not find the string to replace.",
        "apply_patch verification failed: Failed to find expected lines in src/a.py",
        "Error: the SEARCH block does not match anything in the file:\n```x```",
        "InputValidationError: Edit failed",
        "File has been modified since read, either by the user or by a linter.",
        "The user doesn't want to proceed with this tool use.",
        "The edit is not unique",
    ],
)
@pytest.mark.parametrize("effect", [Effect.EDIT, Effect.WRITE])
def test_an_edit_that_was_refused_has_failed(text, effect):
    """Not every harness marks it as an error; the file is as it was."""
    assert ended(text, effect).has_failed


@pytest.mark.parametrize("effect", [Effect.RUN, Effect.SEARCH, Effect.AGENT, Effect.FETCH])
def test_the_words_of_a_refusal_mean_nothing_from_other_tools(effect):
    """A search without a hit is an answer."""
    assert not ended("No matches found", effect).has_failed


@pytest.mark.parametrize(
    "text",
    [
        "The file /a.py has been updated.",
        "The file /a.py has been updated. Here is a snippet:\n\n  10\tif x:\n  11\t    raise KeyError('no match')",
        "Success. Updated the following files:\nM src/app.py",
        "Applied 1 edit to /a.py",
        "",
    ],
)
def test_an_edit_that_was_done_has_not_failed(text):
    """A snippet of the new text is not looked at."""
    facts = ended(text, Effect.EDIT)
    assert (facts.has_failed, facts.outcome) == (False, "")


def test_a_file_that_speaks_of_errors_was_read_well():
    """Neither the words of errors nor those of refusals nor those of exit codes make a read a failure."""
    body = "def fail():\n    # no match: exit code 1\n    raise ValueError('file does not exist')\n"
    for text in (body, body * 200):
        facts = ended(text, Effect.READ)
        assert (facts.has_failed, facts.outcome) == (False, "")


def test_a_read_of_a_file_that_is_not_there_has_failed():
    """The reading tool says so in one line."""
    assert ended("File does not exist. Did you mean app.py?", Effect.READ).has_failed


def test_an_outcome_is_read_without_knowing_the_call():
    """Results can be read before their call is looked up."""
    assert read_outcome("fine", is_error=False) == Outcome()
    assert read_outcome("Error: no match", is_error=True) == Outcome(
        error_line="Error: no match", is_failed=True, is_refused=True
    )


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10**6,
        " " * 10**6,
        "\n" * 10**6,
        "exit code " * 10**5,
        "old_string " * 181,
        "error " * 2000,
        "process " * 10**5,
    ],
)
def test_a_long_result_is_read_in_linear_time(text):
    """Only its two ends are looked at."""
    assert not ended(text, Effect.EDIT).has_failed


# -- through the index -----------------------------------------------------------------------------------


def test_the_facts_of_a_span_come_from_both_halves():
    """Effect and target from the call, the ending from the result."""
    (span,) = index_of([call("a", "Edit", file_path="/a.py", **OLD_NEW), result("a", "No match", is_error=True)]).spans
    assert span.facts == SpanFacts(Effect.EDIT, "/a.py", has_failed=True)


def test_the_facts_of_an_open_span_come_from_its_call():
    """Nothing has failed yet."""
    (span,) = index_of([calls({"type": "tool_use", "id": "a", "name": "LS", "input": {"path": "/a"}})]).spans
    assert span.facts == SpanFacts(Effect.READ, "/a")
