"""Names that any agent can guess."""

import pytest

from selfgc.bench.judge.guessable import (
    is_common_file,
    is_common_folder,
    is_common_identifier,
    is_common_number,
    is_common_url,
)


@pytest.mark.parametrize(
    ("path", "common"),
    [
        ("README.md", True),
        ("src/index.ts", True),
        ("orders/index.ts", False),
        ("order_service.py", False),
        ("/dev/null", True),
        ("/usr/bin/env", True),
        ("/srv/orders", False),
        ("frontend/node_modules/react/index.d.ts", True),
    ],
)
def test_files(path, common):
    """Usual names in usual folders, system paths and libraries are guessable; a project's own files are not."""
    assert is_common_file(path) is common


@pytest.mark.parametrize(
    ("number", "common"), [("404", True), ("2026", True), ("8080", True), ("1733", False), ("40901", False)]
)
def test_numbers(number, common):
    """Statuses, years, ports and powers are everybody's numbers."""
    assert is_common_number(number) is common


@pytest.mark.parametrize(
    ("url", "common"),
    [
        ("http://localhost:8000", True),
        ("https://www.w3.org/2000/svg", True),
        ("http://localhost:8000/orders", False),
        ("https://shop.test/a", False),
    ],
)
def test_urls(url, common):
    """A bare local host says nothing; a path on it does."""
    assert is_common_url(url) is common


def test_identifiers_and_folders():
    """Everyday code names and folders are common in any project."""
    assert is_common_identifier("addEventListener")
    assert not is_common_identifier("reserve_seat")
    assert is_common_folder("Controllers")
    assert not is_common_folder("billing")
