"""Sessions as the bench reads them."""

import json

import bench_world as world
from selfgc.bench.sessions import read_session, read_sessions


def test_a_session_has_its_messages_fields_and_kind(tmp_path):
    """The kind is what the file says of itself, else the agent, else the source."""
    session = read_session(world.write_session(tmp_path, kind="office", agent="x"))
    assert (session.name, session.dialect, session.kind) == ("one", "anthropic", "office")
    assert list(session.messages) == world.messages()
    assert session.fields == {"model": "claude-sonnet-4"}
    assert read_session(world.write_session(tmp_path, "two", agent="codex")).kind == "codex"
    assert read_session(world.write_session(tmp_path, "three")).kind == ""


def test_a_plain_request_has_no_kind(tmp_path):
    """It has no meta member; its system prompt is what every view holds."""
    path = tmp_path / "plain.json"
    path.write_text(json.dumps({"model": "m", "system": "be brief", "messages": world.messages()}))
    session = read_session(path)
    assert session.kind == ""
    assert "be brief" in session.system
    assert read_session(world.write_session(tmp_path)).system == ""


def test_a_folder_is_read_in_order(tmp_path):
    """By name."""
    for name in ("b", "a"):
        world.write_session(tmp_path, name)
    assert [session.name for session in read_sessions(tmp_path)] == ["a", "b"]
