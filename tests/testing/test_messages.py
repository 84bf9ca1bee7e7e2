"""Anthropic Messages, spoken to the official client over real HTTP."""

import anthropic
import pytest

from selfgc.testing import Answer, Call, Failure, ScriptedProvider
from testing.clients import ASKED, ask_messages, messages_client

FULL = Answer("I read it. " * 6, (Call("read", {"path": "/a", "deep": {"n": 1}}), Call("ls", id="mine")), "let me see")


def test_an_answer_has_text_calls_and_thinking():
    """In this order; calls without an id get one."""
    with ScriptedProvider([FULL]) as provider, messages_client(provider) as client:
        message = ask_messages(client)
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[1].text == FULL.text
    assert [(block.id, block.name, block.input) for block in message.content[2:]] == [
        ("call_1_0", "read", {"path": "/a", "deep": {"n": 1}}),
        ("mine", "ls", {}),
    ]
    assert (message.stop_reason, message.model, message.role) == ("tool_use", "m", "assistant")


def test_a_stream_adds_up_to_the_same_message():
    """The client's own accumulation of the events gives what the unstreamed call gives."""
    with ScriptedProvider([FULL, FULL]) as provider, messages_client(provider) as client:
        whole = ask_messages(client)
        with client.messages.stream(model="m", max_tokens=50, messages=ASKED) as stream:
            kinds = {event.type for event in stream}
            streamed = stream.get_final_message()
    assert {"message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"} <= kinds
    assert [block.type for block in streamed.content] == [block.type for block in whole.content]
    for one, other in zip(streamed.content, whole.content, strict=True):
        plain = one.to_dict()
        plain.pop("id", None), plain.pop("parsed_output", None)
        assert plain == {key: value for key, value in other.to_dict().items() if key != "id"}
    assert streamed.stop_reason == "tool_use"
    assert streamed.usage.output_tokens == whole.usage.output_tokens
    assert streamed.usage.input_tokens == whole.usage.input_tokens > 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("done"), "end_turn"),
        (Answer("cut o", is_truncated=True), "max_tokens"),
        (Answer(refusal="I cannot help"), "refusal"),
    ],
)
def test_stop_reasons(answer, reason):
    """A refusal is said as text."""
    with ScriptedProvider([answer]) as provider, messages_client(provider) as client:
        message = ask_messages(client)
    assert (message.content[0].text, message.stop_reason) == (answer.text or answer.refusal, reason)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (418, anthropic.APIStatusError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (529, anthropic.OverloadedError),
    ],
)
def test_errors_are_the_providers(status, error):
    """The client makes of them the exceptions that it makes of the real ones."""
    with (
        ScriptedProvider([Failure(status, "not now")]) as provider,
        messages_client(provider) as client,
        pytest.raises(error) as caught,
    ):
        ask_messages(client)
    assert caught.value.api_message == "not now"
    assert caught.value.type.endswith("_error")


def marked(text, **mark):
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral", **mark}}


def used(message):
    usage = message.usage
    return usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens


def test_usage_tells_what_was_cached():
    """Marks may move without a break: the segments are compared without them."""
    system, history = [marked("rules " * 50)], [{"role": "user", "content": [marked("question " * 50)]}]
    answer = {"role": "assistant", "content": "an answer"}
    later = [{"role": "user", "content": "question " * 50}, answer, {"role": "user", "content": [marked("next")]}]
    with ScriptedProvider(["a", "b"]) as provider, messages_client(provider) as client:
        first = ask_messages(client, system=system, messages=history)
        second = ask_messages(client, system=system, messages=later)
    assert used(first)[0] == used(first)[2] == 0
    assert used(second)[0] == used(first)[1]
    assert used(second)[1] > 0 == used(second)[2]


def test_a_top_level_mark_stands_at_the_last_block():
    """Automatic caching: everything is written."""
    with ScriptedProvider(["a", "b"]) as provider, messages_client(provider) as client:
        first = ask_messages(client, cache_control={"type": "ephemeral", "ttl": "1h"}, system="rules")
        second = ask_messages(client, cache_control={"type": "ephemeral"}, system="rules")
    assert first.usage.cache_creation.ephemeral_1h_input_tokens == first.usage.cache_creation_input_tokens > 0
    assert used(second)[1:] == (0, 0)


def test_tools_stand_before_everything():
    """A changed tool breaks the whole prefix."""
    tool = {"name": "read", "description": "d", "input_schema": {"type": "object"}}
    system = [marked("rules " * 50)]
    with ScriptedProvider(["a", "b"]) as provider, messages_client(provider) as client:
        ask_messages(client, tools=[tool], system=system)
        assert used(ask_messages(client, tools=[{**tool, "description": "e"}], system=system))[0] == 0


def test_structured_output_is_accepted():
    """The field goes into the record; what is answered is the script's affair."""
    schema = {"type": "json_schema", "schema": {"type": "object"}}
    with ScriptedProvider(['{"a": 1}']) as provider, messages_client(provider) as client:
        message = ask_messages(client, output_config={"format": schema})
    assert message.content[0].text == '{"a": 1}'
    assert provider.requests[0].fields["output_config"] == {"format": schema}
