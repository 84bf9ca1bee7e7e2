"""Checks the pages: links that lead somewhere, commands that are described, help texts that are the real ones.

Usage: `python tools/check_docs.py [--write]`, from the project's root. Pages are `*.md` there and in `docs/`.

1. A relative link names a file of the project, and its `#anchor` a heading of that page.
2. Each command of `selfgc --help`, and each command below it, is named somewhere as `selfgc COMMAND`.
3. Between `<!-- help: COMMAND -->` and `<!-- end of help -->` stands what `selfgc COMMAND --help` prints
   (no COMMAND: what `selfgc --help` prints); `--write` puts it there.
"""

import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import click

HELP_WIDTH = 100
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*\s*$", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_HELP = re.compile(r"(<!-- help:(?P<command>[^>]*?)-->\n).*?(<!-- end of help -->)", re.DOTALL)


def main(arguments: list[str], root: Path, group: click.Group) -> int:
    """Check every page under `root`, print what is wrong, and return the exit code."""
    pages = find_pages(root)
    commands = dict(walk_commands(group, "selfgc"))
    if "--write" in arguments:
        for page in pages:
            text = page.read_text("utf-8")
            if (renewed := renew_help(text, commands)) != text:
                page.write_text(renewed, "utf-8")
                print(f"wrote {page.relative_to(root)}")
    texts = {page: page.read_text("utf-8") for page in pages}
    findings = [finding for page, text in texts.items() for finding in check_links(page, text, root)]
    findings += [
        f"{page.relative_to(root)}: a help text is not the command's; run check_docs.py --write"
        for page, text in texts.items()
        if renew_help(text, commands) != text
    ]
    findings += [f"no page names `{name}`" for name in missing_commands(commands, texts.values())]
    print("\n".join([*findings, f"{len(pages)} pages, {len(commands)} commands, {len(findings)} findings"]))
    return 1 if findings else 0


def find_pages(root: Path) -> list[Path]:
    """Return the pages: those at the root first, then those of the docs."""
    return [*sorted(root.glob("*.md")), *sorted(root.glob("docs/**/*.md"))]


def check_links(page: Path, text: str, root: Path) -> Iterator[str]:
    """Yield a sentence for each relative link of the page that leads nowhere."""
    for match in _LINK.finditer(_INLINE_CODE.sub("", _FENCE.sub("", text))):
        target = match[1] or match[2]
        if _OUTSIDE.match(target):
            continue
        name, _, anchor = unquote(target).partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.is_relative_to(root.resolve()) or not path.exists():
            yield f"{page.relative_to(root)}: the link {target} names no file of the project"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text("utf-8")):
            yield f"{page.relative_to(root)}: the link {target} names no heading of that page"


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, by the rule of the usual forges."""
    found: set[str] = set()
    for match in _HEADING.finditer(_FENCE.sub("", text)):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", match[1]).lower()).replace(" ", "-")
        number = next(count for count in range(len(found) + 1) if (f"{slug}-{count}" if count else slug) not in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found


def walk_commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the command and all below it, each by its full name; hidden ones are left out."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for child_name in command.list_commands(context):
            child = command.get_command(context, child_name)
            if child and not child.hidden:
                yield from walk_commands(child, f"{name} {child_name}")


def missing_commands(commands: Mapping[str, click.Command], texts: Iterable[str]) -> list[str]:
    """Return the commands that no page names."""
    everything = "\n".join(texts)
    return [name for name in commands if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", everything)]


def renew_help(text: str, commands: Mapping[str, click.Command]) -> str:
    """Return the page with every help text as its command prints it; an unknown command's is left empty."""

    def renewed(match: re.Match[str]) -> str:
        name = " ".join(["selfgc", *match["command"].split()])
        body = help_text(name, commands[name]) if name in commands else f"no command {name}"
        return f"{match[1]}```text\n{body}\n```\n{match[3]}"

    return _HELP.sub(renewed, text)


def help_text(name: str, command: click.Command) -> str:
    """Return what `NAME --help` prints, at a fixed width."""
    context = click.Context(command, info_name=name, max_content_width=HELP_WIDTH, terminal_width=HELP_WIDTH)
    return command.get_help(context)


def load_group() -> click.Group:
    """Return the command line's group."""
    main_command = importlib.import_module("selfgc.cli.main").main
    if not isinstance(main_command, click.Group):
        raise TypeError(f"selfgc.cli.main:main should be a click.Group, but is {type(main_command).__name__}")
    return main_command


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd(), load_group()))
