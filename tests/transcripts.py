"""Hypothesis strategies for valid transcripts of both dialects, and for what is done with them.

A transcript has every kind of part and is drawn as wire bytes: the same text may be written compact, with blanks, or
with escapes. Texts come from few seeds, so that results repeat; they hold paths, hashes, declarations, CRLF, Chinese,
right-to-left text, NUL and escape sequences. `schedules` says what happens before each model call: nothing,
maintenance, a plan of arbitrary actions, a restart, a rewind to the first request and back.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from hypothesis import strategies as st

from builders import (
    Wire,
    assistant,
    call_block,
    chat_assistant,
    chat_call,
    chat_result,
    chat_system,
    chat_user,
    message,
    result_block,
    text_block,
    thinking_block,
    user,
)
from selfgc.model.policy import Boundary, Policy

WORDS = (
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "while",
    "nobody",
    "is",
    "in",
    "this",
    "house",
)
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MODELS = {"anthropic": ("claude-sonnet-4-5", "claude-opus-5-5", "some-model"), "chat": ("gpt-4o", "deepseek-chat")}
LONE = "cut \ud83d here"
"""A text with half of a surrogate pair, as clients send it when they cut a text between code units."""


class Transcript(NamedTuple):
    """One session as a client has it: its messages, and the other members of its requests."""

    dialect: str
    messages: tuple[bytes, ...]
    fields: Mapping[str, Any]
    moves_marker: bool = False
    """The client puts a cache marker on the last block of each request, and only there."""
    cuts: tuple[int, ...] = ()
    """Lengths of the histories that the client sends, when it is not as `calls` has it."""

    def __repr__(self) -> str:
        return f"Transcript({self.dialect}, {len(self.messages)} messages)"

    @property
    def calls(self) -> Sequence[int]:
        """Lengths of the histories that the client sends: up to each assistant message, and the whole."""
        if self.cuts:
            return self.cuts
        roles = [json.loads(raw)["role"] for raw in self.messages]
        return [*(n for n, role in enumerate(roles) if role == "assistant" and n), len(roles)]

    def sent(self, length: int) -> list[bytes]:
        """The messages of one request, the client's cache marker where it puts it."""
        messages = list(self.messages[:length])
        if self.moves_marker and messages:
            messages[-1] = marked(messages[-1])
        return messages

    def body(self, length: int | None = None) -> bytes:
        """One request."""
        sent = self.sent(len(self.messages) if length is None else length)
        head = b"".join(f"{json.dumps(key)}: {json.dumps(value)}, ".encode() for key, value in self.fields.items())
        return b"{" + head + b'"messages": [' + b", ".join(sent) + b"]}"


class Schedule(NamedTuple):
    """What is done with a session: its policy, and before each model call one of `STEPS`, in turn."""

    policy: Policy
    steps: tuple[str, ...]
    verbs: tuple[str, ...]
    """For plans of arbitrary actions: what is done to each object in turn; empty for nothing."""


STEPS = ("plan", "maintain", "nothing", "restart", "rewind")


def marked(raw: bytes) -> bytes:
    """An Anthropic message with a cache marker on its last block; a string becomes a block for it."""
    value = json.loads(raw)
    blocks = value["content"] if isinstance(value["content"], list) else [text_block(value["content"])]
    if blocks[-1].get("type") in {"thinking", "redacted_thinking"}:
        return raw
    value["content"] = [*blocks[:-1], blocks[-1] | {"cache_control": {"type": "ephemeral"}}]
    return json.dumps(value).encode()


# -- texts -----------------------------------------------------------------------------------------------


def prose(seed: int, size: int) -> str:
    """Words without an anchor in them."""
    return " ".join(WORDS[(n * n * (seed + 3) + n) % len(WORDS)] for n in range(size)) or "word"


def code(seed: int, size: int) -> str:
    lines = (f"def step_{seed}_{n}(value: int) -> int:  # /repo/pkg_{seed}/part_{n}.py" for n in range(size // 8 + 1))
    return "\n".join(lines)


def log(seed: int, size: int) -> str:
    lines = (
        f"12:0{seed % 10}:{n % 60:02} ERROR {seed * 7919 + n:08x}f3a9 /var/log/app-{n % 3}.log"
        for n in range(size // 8 + 1)
    )
    return "\n".join([*lines, "exit code 1"])


def chinese(seed: int, size: int) -> str:
    return "".join(chr(0x4E00 + (seed * 131 + n * 17) % 5000) for n in range(size + 1))


def right_to_left(seed: int, size: int) -> str:
    return " ".join(f"\u202eשלום {'ابجد'[n % 4]}{seed}\u202c" for n in range(size // 3 + 1))


def windows(seed: int, size: int) -> str:
    return "\r\n".join(f"C:\\src\\file_{seed}_{n}.cs(12,{n}): warning" for n in range(size // 8 + 1))


def terminal(seed: int, size: int) -> str:
    return "".join(f"\x1b[3{seed % 8}mok {n}\x1b[0m\r\x00" for n in range(size // 4 + 1))


def one_line(seed: int, size: int) -> str:
    return json.dumps({f"key_{seed}": [{"n": n, "url": f"https://host-{seed}.example/{n}"} for n in range(size // 8)]})


WRITERS: Sequence[Callable[[int, int], str]] = (
    prose,
    code,
    log,
    chinese,
    right_to_left,
    windows,
    terminal,
    one_line,
)


class _Text(NamedTuple):
    """A text that is not written out yet, so that a failing example can be read."""

    write: Callable[[int, int], str]
    seed: int
    size: int

    @property
    def whole(self) -> str:
        return self.write(self.seed, self.size) if self.size else ""


_TEXTS = st.builds(_Text, st.sampled_from(WRITERS), st.integers(0, 2), st.sampled_from((1, 60, 300, 600)))
_SHORT = st.builds(_Text, st.sampled_from(WRITERS), st.integers(0, 9), st.just(6))
_EMPTY = st.just(_Text(prose, 0, 0))


# -- calls and results -----------------------------------------------------------------------------------


def _arguments(tool: str, number: int, body: str) -> Mapping[str, Any]:
    path = f"/repo/src/module_{number}.py"
    return {
        "Read": {"file_path": path},
        "Write": {"file_path": path, "content": body},
        "Edit": {"file_path": path, "old_string": body[:300], "new_string": body[::-1]},
        "Bash": {"command": f"cat {path}\n{body}"},
        "Grep": {"pattern": f"step_{number}", "path": "/repo"},
        "WebFetch": {"url": f"https://host-{number}.example/page"},
        "Task": {"prompt": body, "options": {"deep": [1, {"notes": body}], "none": None}},
        "mcp__server__say.it!": {},
    }[tool]


TOOLS = ("Read", "Write", "Edit", "Bash", "Grep", "WebFetch", "Task")


class _Call(NamedTuple):
    tool: str
    number: int
    body: _Text
    answer: _Text
    is_error: bool
    shape: str
    """How the result is written: a string, a list of texts, with an image."""

    @property
    def arguments(self) -> Mapping[str, Any]:
        return _arguments(self.tool, self.number, self.body.whole)

    @property
    def result(self) -> str:
        return self.answer.whole


_CALLS = st.builds(
    _Call,
    st.sampled_from((*TOOLS, "mcp__server__say.it!")),
    st.integers(1, 3),
    _TEXTS,
    st.one_of(_TEXTS, _EMPTY),
    st.sampled_from((False, False, False, True)),
    st.sampled_from(("string", "string", "list", "lists", "image")),
)


class _Step(NamedTuple):
    thinking: str
    """`none`, `thinking`, `redacted`."""
    said: _Text
    extra: str
    calls: list[_Call]

    @property
    def words(self) -> str:
        return self.said.whole


_STEPS = st.builds(
    _Step,
    st.sampled_from(("none", "none", "thinking", "redacted")),
    st.one_of(_EMPTY, _SHORT),
    st.sampled_from(("", "", "", "server", "unknown", "field")),
    st.lists(_CALLS, min_size=1, max_size=3),
)


class _Turn(NamedTuple):
    question: _Text
    shape: str
    """`string`, `block`, `blocks`, `image`, `unknown`."""
    steps: list[_Step]
    reply: _Text
    after: str
    """What the user adds behind the last results; empty for nothing."""

    @property
    def asked(self) -> str:
        return self.question.whole

    @property
    def answer(self) -> str:
        return self.reply.whole


_TURNS = st.builds(
    _Turn,
    st.one_of(_SHORT, _TEXTS),
    st.sampled_from(("string", "string", "block", "blocks", "image", "unknown")),
    st.lists(_STEPS, max_size=3),
    _SHORT,
    st.sampled_from(("", "", "a word in between")),
)


# -- Anthropic Messages ----------------------------------------------------------------------------------


def _image() -> Wire:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}


def _anthropic_result(call_id: str, made: _Call) -> Wire:
    content: Any = made.result
    if made.shape in {"list", "lists"} and made.result:
        content = [text_block(made.result)] * (2 if made.shape == "lists" else 1)
    elif made.shape == "image":
        content = [*([text_block(made.result)] if made.result else []), _image()]
    return result_block(call_id, content, is_error=made.is_error)


def _anthropic_step(step: _Step, ids: Iterator[int], after: str) -> Iterator[Wire]:
    blocks: list[Wire] = []
    if step.thinking == "thinking":
        blocks.append(thinking_block(f"I think about {step.words}"))
    elif step.thinking == "redacted":
        blocks.append({"type": "redacted_thinking", "data": "ZGF0YQ=="})
    if step.words:
        blocks.append(text_block(step.words))
    if step.extra == "server":
        name = f"srvtoolu_{next(ids)}"
        found = {"type": "web_search_result", "url": "https://a.example/", "title": "A", "encrypted_content": "ZQ=="}
        blocks.append({"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "fox"}})
        blocks.append({"type": "web_search_tool_result", "tool_use_id": name, "content": [found]})
    elif step.extra == "unknown":
        blocks.append({"type": "future_block", "body": {"x": [1, None, "y"]}})
    named = [(f"toolu_{next(ids)}", made) for made in step.calls]
    called = assistant(*blocks, *(call_block(call_id, made.tool, made.arguments) for call_id, made in named))
    yield called | ({"x_client": {"kept": True}} if step.extra == "field" else {})
    results = [_anthropic_result(call_id, made) for call_id, made in named]
    yield message("user", [*results, text_block(after)] if after else results)


def _anthropic_user(turn: _Turn) -> Wire:
    blocks: list[Wire] = [text_block(turn.asked)]
    if turn.shape == "string":
        return user(turn.asked)
    if turn.shape == "blocks":
        blocks.append(text_block("and this as well"))
    elif turn.shape == "image":
        blocks.insert(0, _image())
    elif turn.shape == "unknown":
        blocks.append({"type": "future_input", "of": "the user"})
    return message("user", blocks)


# -- Chat Completions ------------------------------------------------------------------------------------


def _chat_step(step: _Step, ids: Iterator[int]) -> Iterator[Wire]:
    named = [(f"call_{next(ids)}", made) for made in step.calls]
    reasoning = f"I think about {step.words}" if step.thinking == "thinking" else ""
    made_calls = [
        chat_call(call_id, made.tool.replace(".", "_").rstrip("!"), made.arguments) for call_id, made in named
    ]
    called = chat_assistant(step.words or None, *made_calls, reasoning=reasoning)
    if step.thinking == "redacted":
        called["reasoning_details"] = [{"type": "reasoning.encrypted", "data": "ZGF0YQ=="}]
    yield called | ({"x_client": {"kept": True}} if step.extra else {})
    for call_id, made in named:
        is_list = made.shape in {"list", "lists"}
        content: Any = [text_block(made.result)] * (2 if made.shape == "lists" else 1) if is_list else made.result
        yield chat_result(call_id, content)


def _chat_user(turn: _Turn) -> Wire:
    parts: list[Wire] = [text_block(turn.asked)]
    if turn.shape == "string":
        return chat_user(turn.asked)
    if turn.shape == "blocks":
        parts.append(text_block("and this as well"))
    elif turn.shape == "image":
        parts.append({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}})
    elif turn.shape == "unknown":
        parts.append({"type": "future_input", "of": "the user"})
    return chat_user(parts)


# -- whole transcripts -----------------------------------------------------------------------------------


def _written(value: Wire, style: str) -> bytes:
    if style == "escaped":
        return json.dumps(value, separators=(",", ":")).encode()
    separators = (", ", ": ") if style == "spaced" else (",", ":")
    return json.dumps(value, ensure_ascii=False, separators=separators).encode()


def _messages(turns: Sequence[_Turn], dialect: str, *, ends_in_loop: bool) -> Iterator[Wire]:
    ids = count(1)
    is_anthropic = dialect == "anthropic"
    if not is_anthropic:
        yield chat_system("You are an agent. Never push to main.")
    for number, turn in enumerate(turns):
        is_last = number == len(turns) - 1
        yield _anthropic_user(turn) if is_anthropic else _chat_user(turn)
        for step in turn.steps:
            yield from _anthropic_step(step, ids, turn.after) if is_anthropic else _chat_step(step, ids)
        if is_last and ends_in_loop:
            return
        if turn.after and turn.steps and not is_anthropic:
            yield chat_user(turn.after)
        yield assistant(turn.answer) if is_anthropic else chat_assistant(turn.answer)
    yield {"role": "user", "content": "And now?"}


def transcripts(dialect: str) -> st.SearchStrategy[Transcript]:
    """Valid transcripts of one dialect, ending in user input or in results."""
    tools = [{"name": tool, "description": tool, "input_schema": {"type": "object"}} for tool in TOOLS]
    system = [text_block("You are an agent. Never push to main."), text_block("Work in /repo.")]
    others = {"system": system, "tools": tools} if dialect == "anthropic" else {"temperature": 0.5}

    def build(turns: list[_Turn], styles: list[str], model: str, *, loop: bool, marks: bool) -> Transcript:
        built = _messages(turns, dialect, ends_in_loop=loop)
        written = tuple(_written(value, styles[n % len(styles)]) for n, value in enumerate(built))
        return Transcript(dialect, written, {"model": model, **others}, marks and dialect == "anthropic")

    return st.builds(
        build,
        st.lists(_TURNS, min_size=1, max_size=4),
        st.lists(st.sampled_from(("compact", "spaced", "escaped")), min_size=1, max_size=3),
        st.sampled_from(MODELS[dialect]),
        loop=st.booleans(),
        marks=st.booleans(),
    )


_POLICIES = st.builds(
    Policy,
    boundary=st.sampled_from(Boundary),
    keep_spans=st.integers(0, 3),
    born_small_tokens=st.sampled_from((None, None, 200)),
    born_small_repeats=st.booleans(),
)
VERBS = ("fold", "mask", "prune", "")


def schedules() -> st.SearchStrategy[Schedule]:
    """Policies, and what is done before each model call."""
    return st.builds(
        Schedule,
        _POLICIES,
        st.lists(st.sampled_from(STEPS), min_size=1, max_size=6).map(tuple),
        st.lists(st.sampled_from(VERBS), min_size=1, max_size=5).map(tuple),
    )
