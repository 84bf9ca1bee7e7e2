"""Environments of peers: made once, exact versions, what pip says when it fails; and the real peers, where they are."""

import base64
import hashlib
import json
import os
import platform
import subprocess
import zipfile

import pytest

from peer_stand_ins import prefix
from selfgc.bench.peers.environments import (
    PINNED,
    STAMP,
    default_folder,
    ensure,
    existing,
    prepared,
    python_of,
)
from selfgc.bench.peers.registry import PEERS
from selfgc.errors import UsageError


def wheel(folder):
    """A package of one module, as pip can install it without a network."""
    path = folder / "tiny_peer-1.0-py3-none-any.whl"
    info = "tiny_peer-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("tiny_peer.py", "NAME = 'tiny'\n")
        opened.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-peer\nVersion: 1.0\n")
        opened.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        opened.writestr(f"{info}/RECORD", "")
    return str(path)


def test_an_environment_is_made_once(tmp_path):
    """It holds what was asked for; the second time it is there already."""
    pins, folder = [wheel(tmp_path)], tmp_path / "env"
    python = prepared(pins, folder)
    asked = [str(python), "-I", "-c", "import tiny_peer; print(tiny_peer.NAME)"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "tiny\n"
    mark = folder / "mark"
    mark.touch()
    assert prepared(pins, folder) == python
    assert mark.exists()


def test_a_failing_pip_is_quoted(tmp_path):
    """The error names the folder and what pip said, and nothing passes for made afterwards."""
    folder = tmp_path / "env"
    with pytest.raises(UsageError, match="could not be made") as raised:
        prepared([str(tmp_path / "missing-1.0-py3-none-any.whl")], folder)
    assert "missing-1.0" in str(raised.value)
    assert str(folder) in str(raised.value)
    assert not (folder / STAMP).exists()


def test_an_unknown_peer_is_a_usage_error(tmp_path):
    """Before anything is made."""
    with pytest.raises(UsageError, match="expected the name of a peer"):
        ensure("other", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_peer_that_is_there_is_not_made_again(tmp_path, monkeypatch):
    """By its stamp, in the cache folder unless another place is named."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = default_folder("tracegc")
    assert folder == tmp_path / "selfgc" / "peers" / "tracegc"
    assert existing("tracegc") is None
    python_of(folder).parent.mkdir(parents=True)
    python_of(folder).touch()
    prepared_stamp(folder, PINNED["tracegc"])
    assert ensure("tracegc") == existing("tracegc") == python_of(folder)
    prepared_stamp(folder, ["tracegc==0.5.0"])
    assert existing("tracegc") is None


def prepared_stamp(folder, pins):
    """The stamp of a finished environment, taken from a made one's form."""
    (folder / STAMP).write_text(json.dumps({"python": platform.python_version(), "pins": list(pins)}), "utf-8")


def test_versions_are_exact():
    """Every requirement of every peer."""
    assert all(pin.count("==") == 1 for pins in PINNED.values() for pin in pins)


LONG = "\n".join(f"2026-12-01 12:00:{n:02d} INFO worker {n} did its part of the work" for n in range(60))


def long_prefix():
    """Reads of a file that is edited later, the same call twice, long logs; the last turn is short."""
    messages = prefix(40)
    for n, message in enumerate(messages[:-5]):
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                block["name"], block["input"] = ("Read", {"file_path": f"/a/{n}.py"})
            if block["type"] == "tool_result":
                block["content"] = f"file {n}\n{LONG}"
    call = {"type": "tool_use", "id": "e", "name": "Edit", "input": {"file_path": "/a/1.py", "old_string": "a"}}
    done = {"type": "tool_result", "tool_use_id": "e", "content": "edited"}
    edit = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [done]}]
    return [*messages[:-5], *edit, *messages[-5:]]


@pytest.mark.slow
@pytest.mark.parametrize("rate", [None, 0.44])
@pytest.mark.parametrize("name", list(PEERS))
def test_the_real_peer_answers(name, rate):
    """Where its environment is there: the protected end is as it came, every payload stands in the view."""
    python = existing(name)
    if python is None:
        pytest.skip(f"the environment of {name} is not there")
    messages = long_prefix()
    line = json.dumps(
        {"dialect": "anthropic", "body": {"model": "claude-opus-4-6", "messages": messages}, "rate": rate}
    )
    command, env = PEERS[name].argv(python), dict(os.environ)
    done = subprocess.run(command, input=line + "\n" + line, capture_output=True, text=True, check=True, env=env)
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == second
    assert first["messages"][-4:] == messages[-4:]
    for payload in first["payloads"]:
        assert payload["id"] in json.dumps(first["messages"])
        assert hashlib.sha256(base64.b64decode(payload["payload"])).hexdigest() == payload["sha256"]
    if name == "langchain-context-editing" and rate is not None:
        assert "removed 0.4" in first["note"]
    if name == "headroom":
        assert first["payloads"]
