"""The scripted provider: answers from a script, over real HTTP, and keeps every request.

It speaks Anthropic Messages and OpenAI Chat Completions at once, by path. A fault in the script itself (it is over,
or its function raised) is answered with a 400, which clients do not repeat, and is raised when the provider closes.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeAlias

import msgspec

from selfgc.errors import UsageError
from selfgc.testing.completions import Completions
from selfgc.testing.messages import Messages
from selfgc.testing.prefix_cache import CacheRules, PrefixCache, quarter
from selfgc.testing.replies import Answer, Cut, Failure, Hang, Junk, Reply
from selfgc.testing.request import Request
from selfgc.testing.server import Loopback, Response
from selfgc.testing.wire import Format, Made, compact

Script: TypeAlias = Iterable[Reply] | Callable[[Request], Reply]
"""Replies in the order of the requests, or a function of each request (called in several threads at once)."""

_FORMATS: Mapping[str, Format] = {"/v1/messages": Messages(), "/v1/chat/completions": Completions()}
_JSON = {"content-type": "application/json"}
_EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class ScriptedProvider:
    """A provider for tests: `with ScriptedProvider(script) as provider`, then clients at its address.

    `count` counts tokens (default: a quarter of the characters), `rules` say how the prefix cache behaves. Every
    connection has a thread of its own; each request takes the next reply of the script.
    """

    def __init__(
        self, script: Script, *, count: Callable[[str], int] = quarter, rules: CacheRules | None = None
    ) -> None:
        self._script = script if callable(script) else _in_turn(script)
        self._count = count
        self._cache = PrefixCache(rules or CacheRules(), count)
        self._lock = threading.Lock()
        self._received: list[Request] = []
        self._faults: list[BaseException] = []
        self._made = 0
        self._server: Loopback | None = None

    def __enter__(self) -> Self:
        self._server = Loopback(self._respond, self._faults.append)
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None
        if error is None and self._faults:
            raise self._faults[0]

    @property
    def anthropic_url(self) -> str:
        """What Anthropic's client takes as its base URL. UsageError outside the `with` block."""
        if self._server is None:
            raise UsageError("the provider is not running; open it with `with ScriptedProvider(...) as provider`")
        return self._server.url

    @property
    def openai_url(self) -> str:
        """What OpenAI's client takes as its base URL. UsageError outside the `with` block."""
        return f"{self.anthropic_url}/v1"

    @property
    def requests(self) -> Sequence[Request]:
        """Every request so far, in order of arrival."""
        with self._lock:
            return tuple(self._received)

    def _respond(self, request: Request) -> Response:
        form = _FORMATS.get(request.path.partition("?")[0])
        with self._lock:
            self._received.append(request)
        if form is None:
            known = " and ".join(_FORMATS)
            return _failure(Completions(), Failure(404, f"no such path here: {request.path}; served are {known}"))
        missing = _missing(request)
        if missing:
            return _failure(form, Failure(400, missing))
        return self._replied(self._script(request), form, request)

    def _replied(self, reply: Reply, form: Format, request: Request) -> Response:
        match reply:
            case Hang(seconds):
                return Response(delay=seconds, is_silent=True)
            case Junk(body, status, content_type):
                return Response(status, {"content-type": content_type}, body)
            case Failure():
                return _failure(form, reply)
            case Cut(answer, after):
                return self._answered(answer, form, request)._replace(cut=after)
            case _:
                answer = Answer(reply) if isinstance(reply, str) else reply
                return self._answered(answer, form, request)

    def _answered(self, answer: Answer, form: Format, request: Request) -> Response:
        made = self._make(answer, form, request.fields)
        if request.is_stream:
            return Response(200, _EVENTS, form.events(made, request.fields), answer.delay)
        return Response(200, _JSON, compact(form.body(made)).encode(), answer.delay)

    def _make(self, answer: Answer, form: Format, fields: Mapping[str, object]) -> Made:
        """Return an answer with ids and usage; the request's prefix is cached from now on."""
        model = str(fields["model"])
        usage = self._cache.use(model, form.segments(fields), is_automatic=form.is_automatic)
        with self._lock:
            self._made += 1
            number = self._made
        calls = tuple(
            call if call.id else msgspec.structs.replace(call, id=f"call_{number}_{place}")
            for place, call in enumerate(answer.calls)
        )
        said = [answer.thinking, answer.text, answer.refusal, *(compact(dict(call.arguments)) for call in calls)]
        output = max(1, sum(map(self._count, said)))
        return Made(msgspec.structs.replace(answer, calls=calls), f"reply_{number}", model, usage, output)


def _in_turn(script: Iterable[Reply]) -> Callable[[Request], Reply]:
    replies, lock = iter(script), threading.Lock()

    def reply(request: Request) -> Reply:
        with lock:
            found = next(replies, None)
        if found is None:
            raise UsageError(f"the script is over, but one more request came to {request.path}; add a reply for it")
        return found

    return reply


def _missing(request: Request) -> str:
    """Return what makes a body no request of either format; nothing when it is one."""
    try:
        fields = request.fields
    except ValueError as error:
        return f"the body is no JSON object: {error}"
    wrong = [name for name, kind in (("model", str), ("messages", list)) if not isinstance(fields.get(name), kind)]
    return f"field required: {', '.join(wrong)}" if wrong else ""


def _failure(form: Format, failure: Failure) -> Response:
    headers = dict(_JSON)
    if failure.retry_after is not None:
        headers["retry-after"] = f"{failure.retry_after:g}"
    return Response(failure.status, headers, compact(form.error(failure)).encode())
