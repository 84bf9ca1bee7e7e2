"""The official clients behind one protocol: Anthropic Messages, and OpenAI Chat Completions or what is compatible.

The only file that imports them; they come with the extra `selfgc[llm]`. Their own retries are off: repetitions are
counted and bounded in one place (`asking.py`). The key is read here, once, and blotted out of every error text.
"""

import os
from collections.abc import Callable
from typing import Any

from selfgc.bench.scorecard.calls import Ask, Endpoint, Failed, Said
from selfgc.bench.scorecard.replies import read_completion, read_message
from selfgc.bench.scorecard.settings import JudgeSettings, Wire
from selfgc.errors import UsageError

try:
    import anthropic
    import openai
except ImportError as error:
    _missing = str(error)
else:
    _missing = ""

_AGAIN = frozenset({408, 409, 429})
_FINAL = frozenset({401, 403, 404})
OPTIONAL = {
    "temperature": ("temperature",),
    "schema": ("output_config", "response_format", "json_schema", "structured output"),
    "max_completion_tokens": ("max_completion_tokens",),
}
"""Fields that not every endpoint takes, by how it names them in its 400."""
_SHOWN = 300


def connect(settings: JudgeSettings) -> Endpoint:
    """Return the endpoint. UsageError when the clients are not installed or the key is not there."""
    if _missing:
        raise UsageError(
            f'the LLM judge needs the clients of Anthropic and OpenAI, but {_missing}; run pip install "selfgc[llm]"'
        )
    key = os.environ.get(settings.api_key_env, "") if settings.api_key_env else "none"
    if not key:
        raise UsageError(f"expected the key in the environment variable {settings.api_key_env}, but it is not set")
    return _Messages(settings, key) if settings.dialect is Wire.MESSAGES else _Chat(settings, key)


class _Messages:
    """Anthropic Messages. The prompt carries a cache mark, so that the second vote reads what the first wrote."""

    def __init__(self, settings: JudgeSettings, key: str) -> None:
        self._settings, self._key = settings, key
        address = settings.base_url or None
        self._client = anthropic.Anthropic(api_key=key, base_url=address, timeout=settings.timeout, max_retries=0)

    def ask(self, ask: Ask, without: frozenset[str]) -> Said | Failed:
        """Ask once."""
        block: dict[str, Any] = {"type": "text", "text": ask.prompt}
        if self._settings.votes > 1:
            block["cache_control"] = {"type": "ephemeral"}
        fields: dict[str, Any] = {"messages": [{"role": "user", "content": [block]}]}
        if self._settings.temperature is not None and "temperature" not in without:
            fields["extra_body"] = {"temperature": self._settings.temperature}
        if self._settings.structured and "schema" not in without:
            fields["output_config"] = {"format": {"type": "json_schema", "schema": ask.schema}}

        def call() -> bytes:
            raw = self._client.messages.with_raw_response.create(
                model=self._settings.model,
                max_tokens=self._settings.max_output_tokens,
                system=ask.rules,
                **fields,
            )
            return raw.http_response.content

        return _asked(call, read_message, self._key)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()


class _Chat:
    """OpenAI Chat Completions, and every endpoint that speaks it."""

    def __init__(self, settings: JudgeSettings, key: str) -> None:
        self._settings, self._key = settings, key
        address = settings.base_url or None
        self._client = openai.OpenAI(api_key=key, base_url=address, timeout=settings.timeout, max_retries=0)

    def ask(self, ask: Ask, without: frozenset[str]) -> Said | Failed:
        """Ask once."""
        limit = "max_tokens" if "max_completion_tokens" in without else "max_completion_tokens"
        fields: dict[str, Any] = {limit: self._settings.max_output_tokens}
        if self._settings.temperature is not None and "temperature" not in without:
            fields["temperature"] = self._settings.temperature
        if self._settings.structured and "schema" not in without:
            schema = {"name": ask.form, "schema": ask.schema, "strict": True}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}

        def call() -> bytes:
            raw = self._client.chat.completions.with_raw_response.create(
                model=self._settings.model,
                messages=[{"role": "system", "content": ask.rules}, {"role": "user", "content": ask.prompt}],
                **fields,
            )
            return raw.http_response.content

        return _asked(call, read_completion, self._key)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()


def _asked(call: Callable[[], bytes], read: Callable[[bytes], Said | None], key: str) -> Said | Failed:
    """Make one call, and return what came of it; every error of the two clients is mapped here."""
    try:
        body = call()
    except (anthropic.APITimeoutError, openai.APITimeoutError):
        return Failed("no answer within the time of one call", is_worth_repeating=True)
    except (anthropic.APIConnectionError, openai.APIConnectionError) as error:
        return Failed(f"the connection failed: {_safe(error.__cause__ or error, key)}", is_worth_repeating=True)
    except (anthropic.APIStatusError, openai.APIStatusError) as error:
        return _refused(error.status_code, _safe(error, key), error.response.headers.get("retry-after", ""))
    except (anthropic.AnthropicError, openai.OpenAIError) as error:
        return Failed(f"the client gave up: {_safe(error, key)}")
    said = read(body)
    return said if said is not None else Failed("the body is no answer of this format", is_worth_repeating=True)


def _refused(status: int, why: str, retry_after: str) -> Failed:
    """Return what an HTTP error means for the next call."""
    if status in _AGAIN or status >= 500:
        seconds = float(retry_after) if retry_after.replace(".", "", 1).isdecimal() else None
        return Failed(f"HTTP {status}: {why}", is_worth_repeating=True, retry_after=seconds)
    named = [field for field, words in OPTIONAL.items() if any(word in why.lower() for word in words)]
    refused = named[0] if status in {400, 422} and named else ""
    return Failed(f"HTTP {status}: {why}", refused=refused, is_final=status in _FINAL)


def _safe(error: object, key: str) -> str:
    """Return an error's text, short and without the key."""
    return str(error).replace(key, "[key]")[:_SHOWN]
