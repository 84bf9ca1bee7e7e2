"""What a reader hands on."""

import msgspec
import pytest

from selfgc.readers.recording import Notes, Recording, Usage


def test_defaults():
    """A recording of a bare body knows no times, no usage and nothing that was left out."""
    recording = Recording("chat", b"{}", "chat request")
    assert (recording.name, recording.timestamps, recording.usage, recording.skipped) == ("", (), (), ())
    assert recording.notes == Notes()
    assert Usage().cache_creation == 0


def test_frozen():
    """A recording does not change after it was read."""
    recording = Recording("chat", b"{}", "chat request")
    with pytest.raises(AttributeError):
        recording.name = "other"


def test_notes_as_json():
    """Notes can be printed as JSON, with every count by its name."""
    notes = msgspec.json.decode(msgspec.json.encode(Notes(sidechains=2, other_lines={"progress": 3})))
    assert notes["sidechains"] == 2
    assert notes["other_lines"] == {"progress": 3}
