"""Anchors on clear cases: what everybody would call one, what nobody would, and no text that is slow."""

import string

import pytest

from selfgc.model.anchors import MAX_LENGTH, anchors_of, implied, stands_in

DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


@pytest.mark.parametrize(
    "anchor",
    [
        "https://example.org/docs/a-page?x=1&y=2",
        "http://localhost:8080/health",
        "/usr/local/bin/tool",
        "/src/app/main.py",
        "~/notes/plan.md",
        "src/app/main.py",
        "pyproject.toml",
        "parse_request_body",
        "parseRequestBody",
        "HttpClientFactory",
        "MAX_BODY_BYTES",
        DIGEST,
        DIGEST[:12],
        "550e8400-e29b-41d4-a716-446655440000",
        "toolu_01A09q90qw90lq917835lq9",
        "48213",
        "someone@example.org",
    ],
)
@pytest.mark.parametrize("around", ["see {} now", "{}", "({}),", 'is "{}".', "a\n{}\nb", "path: {}\tx"])
def test_an_exact_string_is_an_anchor(anchor, around):
    """URLs, paths, names of code, ids, hashes and numbers, whatever stands around them."""
    assert anchor in anchors_of(around.format(anchor))


@pytest.mark.parametrize("mark", ["'", '"', "`"])
def test_a_quoted_phrase_is_an_anchor(mark):
    """A message that is quoted word for word."""
    assert "the cart is empty" in anchors_of(f"it says {mark}the cart is empty{mark} here")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the quick brown fox jumps over the lazy dog",
        "Please run the tests again, then tell me what you see.",
        "It's a dog's life, isn't it?",
        "e.g. this, i.e. that, etc.",
        "well-known facts",
        'a "word" in quotes',
        "----- ===== ..... /////",
        "1 2 3 4 5 6 7",
    ],
)
def test_plain_words_hold_no_anchor(text):
    """Nobody needs them verbatim."""
    assert anchors_of(text) == set()


@pytest.mark.parametrize("moment", ["2026-01-05T10:11:12Z", "2026-01-05 10:11:12.123", "10:11:12", "350ms"])
def test_a_moment_is_no_anchor(moment):
    """Logs are full of them, and no later work repeats one."""
    assert moment not in anchors_of(f"at {moment} it started")


def test_the_end_of_a_sentence_is_not_part_of_an_anchor():
    """Marks that belong to the sentence are left off."""
    found = anchors_of("Open src/app/main.py, then https://example.org/a. Done.")
    assert found >= {"src/app/main.py", "https://example.org/a"}


def test_escapes_in_a_json_text_part_the_anchors():
    r"""`\n` in an escaped text is a line break, not a letter of the next name."""
    assert "read_all_files" in anchors_of(r"first\nread_all_files\tlast")
    assert "read_all_files" in anchors_of("\x1b[32mread_all_files\x1b[0m")


def test_a_run_that_is_too_long_is_no_anchor():
    """Base64 and minified code are repeated by nobody."""
    assert anchors_of("x1" * MAX_LENGTH) == set()


def test_the_same_text_has_the_same_anchors():
    """Extraction is a function of the text, and of each of its halves."""
    first, second = "see src/app/main.py and\n", "call parse_request_body\n"
    assert anchors_of(first + second) == anchors_of(first) | anchors_of(second) == anchors_of(first + second)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        " ",
        "\n",
        '"',
        "'",
        "\\n",
        "\x1b[0;",
        "http://",
        "1,000",
        "a_",
        "a/",
        "漢字",
        string.ascii_letters + string.digits + "+/",
    ],
)
def test_a_megabyte_of_anything_is_read_once(piece):
    """No text makes the extraction slow, and such texts hold next to nothing."""
    assert len(anchors_of(piece * (1_000_000 // len(piece)))) < 10


# -- what is visible with an anchor ----------------------------------------------------------------------


def test_a_path_makes_its_endings_visible():
    """Who sees the whole path sees the file's name, too."""
    assert {"src/app/main.py", "app/main.py", "main.py"} <= set(implied("src/app/main.py"))
    assert {"repo/src/main.py", "src/main.py", "main.py"} <= set(implied("/repo/src/main.py"))


@pytest.mark.parametrize("anchor", ["parse_request_body", "https://example.org/a/b", "main.py"])
def test_what_is_no_path_makes_nothing_else_visible(anchor):
    """A URL is not cut."""
    assert list(implied(anchor)) == []


def test_an_absolute_path_makes_the_folders_above_it_visible():
    """All but the first, which says nothing."""
    assert {"/repo/app/src", "/repo/app"} <= set(implied("/repo/app/src/main.py"))
    assert "src" not in implied("src/app/main.py")


@pytest.mark.parametrize(
    ("anchor", "visible"),
    [
        ("parse_request_body", {"parse_request_body"}),
        ("./src/main.py", {"src/main.py"}),
        ("/repo/app/src/core/main.py", {"/repo/app", "src/core/main.py"}),
        ("/repo/app/src/core/main.py", {"/repo/app/src/core/main.py"}),
    ],
)
def test_an_anchor_is_visible_itself_or_in_two_parts(anchor, visible):
    """A folder and a path inside it make up the whole path."""
    assert stands_in(anchor, visible)


@pytest.mark.parametrize(
    ("anchor", "visible"),
    [
        ("parse_request_body", {"parse_request"}),
        ("./src/main.py", {"main.py"}),
        ("/repo/app/src/core/main.py", {"/repo/app"}),
        ("/repo/app/src/core/main.py", {"src/core/main.py"}),
        ("/repo/app/src/core/main.py", {"/other/app", "src/core/main.py"}),
        ("repo/app/src/core/main.py", {"repo/app", "src/core/main.py"}),
        ("/repo/app/a file/core/main.py", {"/repo/app", "a file/core/main.py"}),
    ],
)
def test_an_anchor_is_not_visible_in_one_part_of_it(anchor, visible):
    """Half of a path is not the path, and only absolute ones are put together."""
    assert not stands_in(anchor, visible)
