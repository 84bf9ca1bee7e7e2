"""OpenAI Chat Completions, spoken to the official client over real HTTP."""

import json

import openai
import pytest

from selfgc.testing import Answer, CacheRules, Call, Failure, ScriptedProvider
from testing.clients import ASKED, ask_chat, chat_client

FULL = Answer("I read it. " * 6, (Call("read", {"path": "/a", "deep": {"n": 1}}), Call("ls", id="mine")), "let me see")


def test_an_answer_has_text_and_calls():
    """Arguments are JSON text; calls without an id get one."""
    with ScriptedProvider([FULL]) as provider, chat_client(provider) as client:
        completion = ask_chat(client)
    choice = completion.choices[0]
    assert (choice.message.content, choice.finish_reason) == (FULL.text, "tool_calls")
    called = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls]
    assert called == [("call_1_0", "read", {"path": "/a", "deep": {"n": 1}}), ("mine", "ls", {})]


def test_a_stream_adds_up_to_the_same_answer():
    """Text and arguments come in pieces; the usage comes last, when it is asked for."""
    with ScriptedProvider([FULL, FULL]) as provider, chat_client(provider) as client:
        whole = ask_chat(client)
        chunks = list(ask_chat(client, stream=True, stream_options={"include_usage": True}))
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == FULL.text
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    arguments = "".join(call.function.arguments for call in calls if call.index == 0)
    assert json.loads(arguments) == FULL.calls[0].arguments
    assert [call.function.name for call in calls if call.id] == ["read", "ls"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


def test_a_stream_has_no_usage_unless_asked():
    """As with the real provider."""
    with ScriptedProvider(["hello"]) as provider, chat_client(provider) as client:
        assert all(chunk.usage is None for chunk in ask_chat(client, stream=True))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Answer("done"), "stop"), (Answer("cut o", is_truncated=True), "length"), (Answer(refusal="I cannot"), "stop")],
)
def test_finish_reasons(answer, reason):
    """A refusal has a member of its own."""
    with ScriptedProvider([answer, answer]) as provider, chat_client(provider) as client:
        choice = ask_chat(client).choices[0]
        deltas = [chunk.choices[0].delta for chunk in ask_chat(client, stream=True)]
    assert (choice.message.content, choice.message.refusal) == (answer.text or None, answer.refusal or None)
    assert choice.finish_reason == reason
    assert "".join(delta.refusal or "" for delta in deltas) == answer.refusal


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
def test_errors_are_the_providers(status, error):
    """The client makes of them the exceptions that it makes of the real ones."""
    with (
        ScriptedProvider([Failure(status, "not now")]) as provider,
        chat_client(provider) as client,
        pytest.raises(error, match="not now"),
    ):
        ask_chat(client)


def test_the_longest_common_prefix_is_cached_by_itself():
    """No mark is needed; tokens are rounded down to the step, and short prefixes are not cached."""
    rules = CacheRules(minimum=100, step=64)
    turn = [{"role": "user", "content": "question " * 60}, {"role": "assistant", "content": "answer " * 60}]
    with ScriptedProvider(lambda _request: "a", rules=rules) as provider, chat_client(provider) as client:
        short = [ask_chat(client).usage.prompt_tokens_details.cached_tokens for _ in range(2)]
        ask_chat(client, messages=turn)
        usage = ask_chat(client, messages=[*turn, *ASKED]).usage
        other = ask_chat(client, messages=[*reversed(turn), *ASKED]).usage
    assert short == [0, 0]
    assert usage.prompt_tokens_details.cached_tokens % 64 == 0 < usage.prompt_tokens_details.cached_tokens
    assert usage.prompt_tokens > usage.prompt_tokens_details.cached_tokens
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert other.prompt_tokens_details.cached_tokens == 0


def test_structured_output_is_accepted():
    """The field goes into the record; what is answered is the script's affair."""
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": True}}
    with ScriptedProvider(['{"a": 1}']) as provider, chat_client(provider) as client:
        completion = ask_chat(client, response_format=form)
    assert completion.choices[0].message.content == '{"a": 1}'
    assert provider.requests[0].fields["response_format"] == form
