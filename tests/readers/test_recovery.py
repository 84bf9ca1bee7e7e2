"""Saving what is whole in broken JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfgc.readers.recovery import fault_of, salvage, whole_messages


def record(**fields):
    return json.dumps({"type": "user", "sessionId": "s", **fields}, separators=(",", ":")).encode()


def is_record(value):
    return "type" in value and "sessionId" in value


def test_whole_json_has_no_fault():
    """JSON of any kind is in order."""
    assert fault_of(b'{"a":[1,"\xc3\xa9"]}') is None
    assert fault_of(b"3") is None


@pytest.mark.parametrize("end", range(1, 33))
def test_every_cut_is_a_cut(end):
    """Wherever a value is cut off, that is what is said."""
    whole = rb'{"a":[tru,-1,"x\u00e9\n"],"b":{}}'.replace(b"tru", b"true")
    fault = fault_of(whole[:end])
    assert fault is not None
    assert fault.is_cut
    assert fault.position == end


@pytest.mark.parametrize(
    ("raw", "position", "said"),
    [
        (b'{"a":1}{"b":2}', 7, "extra data"),
        (b'{"a":bad,"c":1}', 5, "expecting value"),
        (b'{"a":"x\x00\x00"}', 7, "NUL"),
        (b'{"a":NaN}', 0, "NaN"),
        (b"[" * 100_000, 0, "deeply"),
        (b'{"a":"\\q stands here"}', 6, "escape"),
    ],
)
def test_faults(raw, position, said):
    """A fault says where and what."""
    fault = fault_of(raw)
    assert fault is not None
    assert (fault.position, fault.is_cut) == (position, False)
    assert said in fault.reason


def test_glued_records():
    """Two records without a line break between them are both read."""
    found = salvage(record(uuid="1") + record(uuid="2"), is_record)
    assert found.records == [record(uuid="1"), record(uuid="2")]
    assert found.reasons == ["2 records on one line; each was read"]


@pytest.mark.parametrize("cut", [1, 5, 9, 20, 33, 41, 43])
def test_spliced_record(cut):
    """A whole record behind one that is cut off is read, wherever the cut is."""
    first = record(uuid="1", n=12, text="long text")
    found = salvage(first[:cut] + record(uuid="2"), is_record)
    assert found.records == [record(uuid="2")]
    assert found.reasons == ["a record that is cut off or broken"]


def test_three_splices():
    """Whole and cut records are told apart however many there are."""
    whole, cut = record(uuid="1", message={"type": "text"}), record(uuid="2", message={"type": "text", "text": "a b"})
    found = salvage(cut[:-9] + whole + cut[:-4] + whole + cut[:-1], is_record)
    assert found.records == [whole, whole]
    assert found.reasons[:2] == ["a record that is cut off or broken"] * 2


def test_nul_run():
    """NUL bytes are counted, and what stands around them is read."""
    found = salvage(b"\x00" * 300 + record(uuid="1") + b"\x00" * 212 + record(uuid="2"), is_record)
    assert found.records == [record(uuid="1"), record(uuid="2")]
    assert found.reasons[0] == "512 NUL bytes"
    assert salvage(b"\x00\x00", is_record).records == []


def test_nested_objects_are_no_records():
    """An object within a cut record is not taken for a record."""
    found = salvage(b'{"type":"user","sessionId":"s","message":{"type":"text","text":"a"}', is_record)
    assert found.records == []


def test_hopeless_line():
    """On a line of nothing but beginnings the search gives up."""
    found = salvage(b'x{"type":1,' * 10_000 + record(uuid="1"), is_record)
    assert found.records == []
    assert found.reasons == ["a record that is cut off or broken"]


def test_not_an_object():
    """What is no object at all gives nothing, however long it is."""
    assert salvage(b"[1,2]", is_record).records == []
    assert salvage(b'{"type":' * 5000, is_record).records == []
    assert salvage(b"[" * 100_000, is_record).records == []


MESSAGES = [{"role": "user", "content": 'brackets ]}{[ and \\" quotes'}, {"role": "assistant", "content": [{"a": [1]}]}]
BODIES = {
    "request": {"model": "m", "messages": MESSAGES, "system": "s", "tools": [{}]},
    "meta": {"meta": {"messages": [0]}, "request": {"messages": MESSAGES, "model": "m"}},
    "list": MESSAGES,
    "traj": {"traj": MESSAGES},
}


@pytest.mark.parametrize("name", BODIES)
@given(st.data())
def test_whole_messages(name, data):
    """What is recovered is JSON, and its messages are the first ones of the whole body."""
    text = json.dumps(BODIES[name], indent=data.draw(st.sampled_from([None, 1]))).encode()
    cut = text[: data.draw(st.integers(0, len(text)))]
    found = whole_messages(cut)
    if found is None:
        assert cut.count(b"}") <= (1 if name != "meta" else 2)
        return
    value = json.loads(found)
    value = value.get("request", value) if isinstance(value, dict) else value
    messages = value if isinstance(value, list) else value.get("messages", value.get("traj"))
    assert messages == MESSAGES[: len(messages)]
    assert len(messages) >= 1


def test_no_list_of_messages():
    """Without a list of messages there is nothing to recover."""
    assert whole_messages(b'{"input":[{"role":"user"},{"ro') is None
    assert whole_messages(b'}]"messages": [') is None


def test_members_behind_the_messages():
    """Whole members behind the messages are kept, a cut one is not."""
    found = whole_messages(b'{"messages":[{"role":"user"}],"model":"m","system":"cut o')
    assert json.loads(found) == {"messages": [{"role": "user"}], "model": "m"}
