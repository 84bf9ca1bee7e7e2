"""What `tools/check_docs.py` finds in pages, with a command line of two commands."""

from pathlib import Path

import check_docs
import click
import pytest

SOUND = "Use `selfgc` with `selfgc govern` or `selfgc config show` (see `selfgc config`).\n"


@click.group()
def cli() -> None:
    """Govern contexts."""


@cli.command()
def govern() -> None:
    """Fold what is not needed."""


@cli.group()
def config() -> None:
    """Read settings."""


@config.command()
def show() -> None:
    """Print settings."""


@cli.command(hidden=True)
def inner() -> None:
    """Do what nobody asks for."""


def check(root: Path, *arguments: str, **pages: str) -> int:
    """Write `README.md` or `docs/<name>.md`, and run the check on them."""
    (root / "docs").mkdir(exist_ok=True)
    for name, text in pages.items():
        (root / f"{name}.md" if name == "README" else root / "docs" / f"{name}.md").write_text(text)
    return check_docs.main(list(arguments), root, cli)


def test_sound_pages_pass(tmp_path, capsys):
    """Every command named, every link sound."""
    assert check(tmp_path, README=SOUND + "[more](docs/more.md#two-words)", more="# More\n\n## Two `words`!\n") == 0
    assert capsys.readouterr().out == "2 pages, 4 commands, 0 findings\n"


def test_commands_that_no_page_names(tmp_path, capsys):
    """A command is named by its whole name; hidden commands need no words."""
    assert check(tmp_path, README="`selfgc govern-all`, `selfgc config show`\n") == 1
    assert capsys.readouterr().out.startswith("no page names `selfgc govern`\n1 pages")


@pytest.mark.parametrize("link", ["docs/no.md", "#nothing", "docs/more.md#nothing", "../outside.md", "/etc/hosts"])
def test_links_that_lead_nowhere(tmp_path, capsys, link):
    """Missing files, missing headings and files outside of the project are told."""
    (tmp_path.parent / "outside.md").touch()
    assert check(tmp_path, README=f"{SOUND}[a]({link})", more="# More") == 1
    assert f"README.md: the link {link} names no" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://example.org/x)",
        "[a](mailto:a@example.org)",
        "`[a](no.md)`",
        "```\n[a](no.md)\n```",
        '[a](docs/more.md "title")',
        "[a](<docs/more.md>)",
        "[a][b]\n\n[b]: docs/more.md",
        "[a](docs)",
    ],
)
def test_links_that_are_left_alone(tmp_path, text):
    """Links to the outside are not followed, code is no link, and every way to write a link is read."""
    assert check(tmp_path, README=SOUND + text, more="# More") == 0


def test_a_missing_definition_is_found(tmp_path):
    """A reference's definition is a link too."""
    assert check(tmp_path, README=f"{SOUND}[a][b]\n\n[b]: docs/no.md") == 1


def test_like_headings_are_numbered():
    """The second heading of one name ends in a number, and code blocks hold no headings."""
    assert check_docs.anchors("# A b\n## A b\n```\n# No\n```\n### [Link](x.md)\n") == {"a-b", "a-b-1", "link"}


def test_help_texts_are_written_and_checked(tmp_path, capsys):
    """A stale help text is a finding; `--write` puts the real one there, once and for all."""
    page = "<!-- help: config show -->\nold\n<!-- end of help -->\n"
    assert check(tmp_path, README=SOUND + page) == 1
    assert "README.md: a help text is not the command's" in capsys.readouterr().out
    assert check(tmp_path, "--write") == 0
    assert "Usage: selfgc config show [OPTIONS]\n\n  Print settings." in (tmp_path / "README.md").read_text()
    assert "wrote README.md" in capsys.readouterr().out
    assert check(tmp_path, "--write") == 0
    assert "wrote" not in capsys.readouterr().out


def test_help_of_an_unknown_command(tmp_path):
    """A help text of a command that is gone says so in the page."""
    assert (
        check_docs.renew_help("<!-- help: gone -->\n<!-- end of help -->", {}).splitlines()[2]
        == "no command selfgc gone"
    )
