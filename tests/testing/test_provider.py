"""The scripted provider over real HTTP: scripts, what it records, and everything that can go wrong on purpose."""

import http.client
import threading
import time

import anthropic
import httpx2
import openai
import pytest

from selfgc.errors import UsageError
from selfgc.testing import Answer, Cut, Failure, Hang, Junk, ScriptedProvider
from testing.clients import ASKED, ask_chat, ask_messages, chat_client, messages_client


def test_a_script_is_answered_in_order_in_both_formats():
    """One provider speaks both; each request takes the next reply."""
    with ScriptedProvider(["one", Answer("two")]) as provider:
        with messages_client(provider) as client:
            assert ask_messages(client).content[0].text == "one"
        with chat_client(provider) as client:
            assert ask_chat(client).choices[0].message.content == "two"
    assert [request.path for request in provider.requests] == ["/v1/messages", "/v1/chat/completions"]


def test_every_request_is_recorded_as_it_came():
    """Path, headers in lower case, and the very bytes of the body."""
    with ScriptedProvider(["one"]) as provider, messages_client(provider) as client:
        ask_messages(client, extra_headers={"X-Extra": "yes"}, extra_query={"beta": "true"})
    (request,) = provider.requests
    assert request.path == "/v1/messages?beta=true"
    assert request.headers["authorization"] == "Bearer key-1"
    assert request.headers["x-extra"] == "yes"
    assert request.headers["content-length"] == str(len(request.body))
    assert request.fields["messages"] == ASKED


def test_a_script_may_be_a_function_of_the_request():
    """It sees the whole request, and may say any reply."""

    def loud(request):
        return request.fields["messages"][0]["content"].upper()

    with ScriptedProvider(loud) as provider, chat_client(provider) as client:
        assert ask_chat(client).choices[0].message.content == "WHAT IS IN THE FILE?"


def test_a_client_repeats_what_is_worth_it():
    """429 with `retry-after` and a broken connection are repeated by the client itself."""
    script = [Failure(429, retry_after=0.05), Cut(Answer("lost" * 50), 40), "at last"]
    with ScriptedProvider(script) as provider, messages_client(provider, max_retries=4) as client:
        start = time.monotonic()
        assert ask_messages(client).content[0].text == "at last"
    assert time.monotonic() - start >= 0.05
    assert len(provider.requests) == 3


def test_a_stream_that_is_cut_raises_in_the_client():
    """What came before the cut was seen."""
    with (
        ScriptedProvider([Cut(Answer("word " * 200), 2_000)]) as provider,
        messages_client(provider) as client,
        client.messages.stream(model="m", max_tokens=5, messages=ASKED) as stream,
    ):
        with pytest.raises(httpx2.RemoteProtocolError):
            list(stream)
        text = stream.current_message_snapshot.content[0].text
    assert text.startswith("word word")


def test_a_hanging_provider_runs_into_the_clients_limit():
    """And closing the provider does not wait for it."""
    start = time.monotonic()
    with (
        ScriptedProvider([Hang()]) as provider,
        chat_client(provider, timeout=0.2) as client,
        pytest.raises(openai.APITimeoutError),
    ):
        ask_chat(client)
    assert time.monotonic() - start < 5


def test_a_hang_may_end():
    """Then the connection ends without an answer."""
    with (
        ScriptedProvider([Hang(0.01)]) as provider,
        chat_client(provider) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        ask_chat(client)


def test_an_answer_may_come_late():
    """The delay is before the first byte."""
    with ScriptedProvider([Answer("late", delay=0.1)]) as provider, chat_client(provider) as client:
        start = time.monotonic()
        assert ask_chat(client).choices[0].message.content == "late"
    assert time.monotonic() - start >= 0.1


def test_junk_is_sent_as_it_stands():
    """Status, type and body are the script's."""
    junk = Junk(b"<html>bad gateway</html>", 502, "text/html")
    with (
        ScriptedProvider([junk]) as provider,
        chat_client(provider) as client,
        pytest.raises(openai.InternalServerError) as caught,
    ):
        ask_chat(client)
    assert caught.value.status_code == 502
    assert caught.value.response.headers["content-type"] == "text/html"
    assert caught.value.response.content == junk.body


def test_a_script_that_is_over_is_a_fault_of_the_test():
    """The client gets a 400, which it does not repeat; leaving the block raises what was wrong."""
    provider = ScriptedProvider([])
    with (
        pytest.raises(UsageError, match="the script is over"),
        provider,
        messages_client(provider, max_retries=3) as client,
        pytest.raises(anthropic.BadRequestError),
    ):
        ask_messages(client)
    assert len(provider.requests) == 1


def test_an_error_of_the_test_goes_before_a_fault_of_the_script():
    """What the block itself raised is not hidden."""
    with (
        pytest.raises(anthropic.BadRequestError),
        ScriptedProvider([]) as provider,
        messages_client(provider) as client,
    ):
        ask_messages(client)


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v1/nowhere", b"{}", 404, b"/v1/messages and /v1/chat/completions"),
        ("/v1/messages", b"{", 400, b"no JSON object"),
        ("/v1/messages", b"[]", 400, b"no JSON object"),
        ("/v1/chat/completions", b'{"model": "m"}', 400, b"field required: messages"),
        ("/v1/messages", b'{"messages": []}', 400, b"field required: model"),
    ],
)
def test_what_is_no_request_takes_no_reply(path, body, status, words):
    """It is answered as the provider would, and the script goes on with the next one."""
    with ScriptedProvider(["unused"]) as provider:
        connection = http.client.HTTPConnection(provider.anthropic_url.removeprefix("http://"))
        connection.request("POST", path, body)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        with chat_client(provider) as client:
            assert ask_chat(client).choices[0].message.content == "unused"
    assert response.status == status
    assert words in text


def test_requests_are_answered_at_the_same_time():
    """Two that wait for each other are both answered."""
    both = threading.Barrier(2, timeout=5)

    def reply(_request):
        both.wait()
        return "met"

    found = []
    with ScriptedProvider(reply) as provider, chat_client(provider) as client:
        threads = [threading.Thread(target=lambda: found.append(ask_chat(client))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [completion.choices[0].message.content for completion in found] == ["met", "met"]
    assert len({completion.id for completion in found}) == 2


def test_tokens_are_counted_as_it_is_told():
    """Input and output alike."""
    words = ScriptedProvider(["a b c"], count=lambda text: len(text.split()))
    with words as provider, messages_client(provider) as client:
        usage = ask_messages(client).usage
    assert (usage.input_tokens, usage.output_tokens) == (6, 3)


def test_outside_its_block_it_has_no_address():
    """The message says what to do."""
    with pytest.raises(UsageError, match="with ScriptedProvider"):
        _ = ScriptedProvider([]).openai_url
    with ScriptedProvider([]) as provider:
        assert provider.openai_url == f"{provider.anthropic_url}/v1"
    with pytest.raises(UsageError):
        _ = provider.anthropic_url
