"""The official clients over real HTTP, in both formats: what is sent, and what each kind of failure becomes."""

import subprocess
import sys

import pytest

from bench.scorecard.scorecards import KEY, ask, settings
from selfgc.bench.scorecard.calls import Failed, Said
from selfgc.bench.scorecard.clients import connect
from selfgc.bench.scorecard.settings import Wire
from selfgc.errors import UsageError
from selfgc.testing import Answer, Cut, Failure, Hang, Junk, ScriptedProvider

WIRES = pytest.mark.parametrize("dialect", list(Wire))


def asked(script, tmp_path, dialect, without=(), **changes):
    """Ask once; return what came and the provider."""
    with ScriptedProvider(script) as provider:
        endpoint = connect(settings(tmp_path, provider, dialect, **changes))
        came = endpoint.ask(ask(), frozenset(without))
        endpoint.close()
    return came, provider


@WIRES
def test_an_answer_comes_with_its_usage(dialect, tmp_path):
    """Text, and tokens by what became of them."""
    came, _ = asked(["an answer of some length"], tmp_path, dialect)
    assert isinstance(came, Said)
    assert came.text == "an answer of some length"
    assert came.uncached > 0 < came.output


def test_what_a_messages_endpoint_is_sent(tmp_path):
    """Rules as the system prompt, temperature 0, the schema, and a mark when there is more than one vote."""
    _, provider = asked(["a"], tmp_path, Wire.MESSAGES, votes=3)
    fields = provider.requests[0].fields
    assert (fields["system"], fields["temperature"], fields["max_tokens"]) == ("the rules", 0.0, 4_000)
    assert fields["output_config"]["format"] == {"type": "json_schema", "schema": ask().schema}
    assert fields["messages"][0]["content"][0] == {
        "type": "text",
        "text": "which?",
        "cache_control": {"type": "ephemeral"},
    }
    _, provider = asked(["a"], tmp_path, Wire.MESSAGES, votes=1)
    assert "cache_control" not in provider.requests[0].fields["messages"][0]["content"][0]


def test_what_a_chat_endpoint_is_sent(tmp_path):
    """Rules as the system message, temperature 0, the schema."""
    _, provider = asked(["a"], tmp_path, Wire.CHAT)
    fields = provider.requests[0].fields
    assert fields["messages"] == [{"role": "system", "content": "the rules"}, {"role": "user", "content": "which?"}]
    assert (fields["temperature"], fields["max_completion_tokens"]) == (0.0, 4_000)
    assert fields["response_format"]["json_schema"] == {"name": "scorecard", "schema": ask().schema, "strict": True}


@WIRES
def test_optional_fields_can_be_left_out(dialect, tmp_path):
    """By the settings, or because the endpoint does not take them."""
    optional = {"temperature", "output_config", "response_format", "max_completion_tokens"}
    _, plain = asked(["a"], tmp_path, dialect, temperature=None, structured=False)
    assert not (optional - {"max_completion_tokens"}) & set(plain.requests[0].fields)
    _, plain = asked(["a"], tmp_path, dialect, without=("temperature", "schema", "max_completion_tokens"))
    assert not optional & set(plain.requests[0].fields)
    assert plain.requests[0].fields["max_tokens"] == 4_000


@WIRES
@pytest.mark.parametrize(
    ("reply", "again", "words"),
    [
        (Failure(429, "slow down", retry_after=1.5), True, "HTTP 429"),
        (Failure(500), True, "HTTP 500"),
        (Failure(529), True, "HTTP 529"),
        (Failure(413, "too long"), False, "too long"),
        (Cut(Answer("x" * 500), 100), True, "connection failed"),
        (Junk(b"<html>", content_type="text/html"), True, "no answer of this format"),
        (Junk(b'{"half": '), True, "no answer of this format"),
        (Hang(), True, "within the time"),
    ],
)
def test_failures_say_whether_to_repeat(dialect, reply, again, words, tmp_path):
    """Overload, broken connections, silence and junk may pass; a request that is wrong stays wrong."""
    came, provider = asked([reply], tmp_path, dialect, timeout=0.3)
    assert isinstance(came, Failed)
    assert (came.is_worth_repeating, came.is_final, came.refused) == (again, False, "")
    assert words in came.why
    assert len(provider.requests) == 1
    assert came.retry_after == getattr(reply, "retry_after", None)


@WIRES
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_is_final(dialect, status, tmp_path):
    """No other call would fare better."""
    came, _ = asked([Failure(status)], tmp_path, dialect)
    assert came.is_final
    assert not came.is_worth_repeating


@WIRES
@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model", "temperature"),
        ("response_format json_schema is not available", "schema"),
        ("output_config: Extra inputs are not permitted", "schema"),
        ("Unrecognized request argument: max_completion_tokens", "max_completion_tokens"),
        ("messages: at least one is needed", ""),
    ],
)
def test_a_field_that_is_not_taken_is_named(dialect, message, field, tmp_path):
    """A 400 names it in one way or another."""
    came, _ = asked([Failure(400, message)], tmp_path, dialect)
    assert came.refused == field


@WIRES
def test_the_key_comes_from_the_environment_and_is_never_told(dialect, tmp_path, monkeypatch):
    """It goes into the request's header and nowhere else, also when the endpoint repeats it."""
    monkeypatch.setenv(KEY, "sk-very-secret")
    came, provider = asked([Failure(401, "bad key sk-very-secret")], tmp_path, dialect, api_key_env=KEY)
    assert "sk-very-secret" in str(provider.requests[0].headers)
    assert "sk-very-secret" not in str(came)
    assert "[key]" in came.why


def test_a_missing_key_is_named(tmp_path, monkeypatch):
    """The message tells the variable."""
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(UsageError, match=KEY):
        connect(settings(tmp_path, api_key_env=KEY))


PROGRAM = """
import sys
sys.modules["openai"] = None
from selfgc.bench.scorecard.score import score_cases
from selfgc.bench.scorecard.clients import connect
from selfgc.bench.scorecard.settings import JudgeSettings
from selfgc.errors import UsageError
settings = JudgeSettings(model="m", cache_folder="nowhere", offline=True)
assert score_cases([], {}, settings) == []
try:
    connect(settings)
except UsageError as error:
    print(error)
"""


def test_without_the_clients_the_extra_is_named():
    """And what needs no call works all the same."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert 'pip install "selfgc[llm]"' in done.stdout
