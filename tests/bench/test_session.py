"""One recorded session."""

from bench_world import user
from selfgc.bench.session import Session


def test_system_prompt_and_tools_are_text_that_every_view_holds():
    """Every string in them, line by line; of none, nothing."""
    fields = {
        "model": "m",
        "system": [{"type": "text", "text": "be brief"}],
        "tools": [{"name": "read", "strict": True}],
    }
    assert Session("s", "anthropic", fields, (user("x"),)).system == "text\nbe brief\nread"
    assert Session("s", "anthropic", {"system": "be\nbrief"}, ()).system == "be\nbrief"
    assert Session("s", "anthropic", {"model": "m"}, ()).system == ""
