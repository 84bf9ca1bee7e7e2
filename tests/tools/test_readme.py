"""The README's blocks come from commands."""

import readme


def test_the_readme_shows_what_the_commands_print():
    """The picture, the loop's output and the figures are those of a run of now."""
    text = (readme.ROOT / "README.md").read_text("utf-8")
    assert readme.filled(text) == text


def test_a_changed_block_is_found(tmp_path):
    """A figure that somebody wrote by hand does not survive."""
    text = (readme.ROOT / "README.md").read_text("utf-8")
    assert readme.filled(text.replace("mean prune rate", "mean magic rate")) == text
