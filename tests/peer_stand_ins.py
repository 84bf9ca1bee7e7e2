"""Small packages in the place of the peers, with as much of their interface as the drivers use; and small prefixes."""

import copy
import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

from hypothesis import strategies as st


def user(words):
    return {"role": "user", "content": [{"type": "text", "text": words}]}


def agent(words):
    return {"role": "assistant", "content": words}


def step(name, result="ok " * 40, argument="ls"):
    call = {"type": "tool_use", "id": name, "name": "run", "input": {"cmd": argument}}
    return [
        {"role": "assistant", "content": [{"type": "text", "text": f"step {name}"}, call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": result}]},
    ]


def prefix(steps=6):
    """A first turn of so many steps, and a last turn of one."""
    first = [message for n in range(steps) for message in step(f"c{n}")]
    return [user("first"), *first, agent("done"), user("second"), *step("last"), agent("done again")]


TEXTS = st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=8))
IMAGES = st.builds(lambda data: {"type": "image", "source": {"type": "base64", "data": data}}, st.text(max_size=4))


@st.composite
def conversations(draw):
    """Valid prefixes: texts, thinking, images, calls side by side, results as text, as blocks, or empty."""
    messages = []
    for turn in range(draw(st.integers(1, 5))):
        plain = draw(st.booleans())
        messages.append({"role": "user", "content": "hello" if plain else draw(st.lists(TEXTS | IMAGES, max_size=3))})
        calls = [_call(draw, f"c{turn}.{n}") for n in range(draw(st.integers(0, 3)))]
        thinking = [{"type": "thinking", "thinking": "so", "signature": "x"}] if draw(st.booleans()) else []
        messages.append({"role": "assistant", "content": [*thinking, draw(TEXTS), *calls]})
        if calls:
            results = [_result(draw, call["id"]) for call in calls]
            messages.append({"role": "user", "content": [*results, *draw(st.lists(TEXTS, max_size=1))]})
            messages.append(agent("then"))
    return messages


def _call(draw, name):
    given = draw(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=2))
    return {"type": "tool_use", "id": name, "name": "run", "input": given}


def _result(draw, name):
    held = {"content": draw(st.text(max_size=9) | st.lists(TEXTS | IMAGES, max_size=2))} if draw(st.booleans()) else {}
    flags = {"is_error": True} if draw(st.booleans()) else {}
    return {"type": "tool_result", "tool_use_id": name, **held, **flags}


@contextmanager
def installed(modules):
    """Let these modules be imported by their names, for as long as the block lasts."""
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def module(name, **members):
    made = ModuleType(name)
    made.__dict__.update(members)
    return made


class Said(SimpleNamespace):
    """A LangChain message: content, id, and what its kind has besides."""


def langchain(trigger=10**9, rename=False):  # noqa: C901 - a whole package, in small functions
    """LangChain with one middleware: from the trigger on, results but the newest become `[cleared]`, calls `{}`."""

    def edit(trigger=trigger, keep=3, clear_tool_inputs=False):
        return SimpleNamespace(trigger=trigger, keep=keep, clear_tool_inputs=clear_tool_inputs)

    class Middleware:
        def __init__(self, edits=None):
            self.edits = edits or [edit()]

        def wrap_model_call(self, request, handler):
            messages = copy.deepcopy(request.messages)
            for rule in self.edits:
                clear(messages, rule)
            if rename:
                messages[0].id = "another"
            return handler(SimpleNamespace(messages=messages))

    def clear(messages, rule):
        results = [message for message in messages if message.kind == "tool"]
        if sum(len(str(message.content)) for message in messages) <= rule.trigger:
            return
        for result in results[: len(results) - rule.keep]:
            result.content = "[cleared]"
            for call in (call for message in messages for call in getattr(message, "tool_calls", ())):
                if rule.clear_tool_inputs and call["id"] == result.tool_call_id:
                    call["args"] = {}

    def kind(name):
        return lambda **members: Said(kind=name, **members)

    return {
        "langchain": module("langchain"),
        "langchain.agents": module("langchain.agents"),
        "langchain.agents.middleware": module(
            "langchain.agents.middleware",
            ClearToolUsesEdit=edit,
            ContextEditingMiddleware=Middleware,
            ModelRequest=SimpleNamespace,
        ),
        "langchain_core": module("langchain_core"),
        "langchain_core.messages": module(
            "langchain_core.messages", AIMessage=kind("ai"), ToolMessage=kind("tool"), HumanMessage=kind("human")
        ),
        "langchain_core.language_models": module("langchain_core.language_models"),
        "langchain_core.language_models.fake_chat_models": module(
            "langchain_core.language_models.fake_chat_models", GenericFakeChatModel=SimpleNamespace
        ),
    }


def headroom(fails=False, seen=None):  # noqa: C901 - a whole package, in small functions
    """headroom-ai with two strengths: its function shortens results of 100 characters and more, its pipeline all."""
    store = {}

    def shrunk(messages, frozen, least):
        out = copy.deepcopy(messages)
        for message in out[frozen:]:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "tool_result" and len(block["content"]) >= least:
                    key = f"{abs(hash(block['content'])):024x}"[:24]
                    store[key] = block["content"]
                    block["content"] = f"[stale. Retrieve original: hash={key}]"
        return out

    def compress(messages, frozen_message_count=0, **settings):
        if seen is not None:
            seen.append(settings)
        out = messages if fails else shrunk(messages, frozen_message_count, 100)
        return SimpleNamespace(messages=out, tokens_before=0 if fails else 1)

    class Pipeline:
        def __init__(self, transforms):
            self.transforms = transforms

        def apply(self, messages, frozen_message_count, **settings):
            return SimpleNamespace(messages=shrunk(messages, frozen_message_count, 0))

    class Injector:
        def __init__(self, provider):
            self.provider = provider

        def scan_for_markers(self, messages):
            return [key for key in [*store, "0" * 24] if key in str(messages)]

    class Store:
        def export_entries(self, hashes):
            return [{"hash": key, "original_content": store[key]} for key in hashes if key in store]

    profile = SimpleNamespace(
        compress_user_messages=False, protect_recent=4, target_ratio=None, min_tokens_to_compress=250
    )
    return {
        "headroom": module("headroom", compress=compress, CompressConfig=lambda: profile),
        "headroom.transforms": module("headroom.transforms"),
        "headroom.transforms.content_router": module(
            "headroom.transforms.content_router",
            ContentRouterConfig=SimpleNamespace,
            ContentRouter=lambda config: config,
        ),
        "headroom.transforms.pipeline": module("headroom.transforms.pipeline", TransformPipeline=Pipeline),
        "headroom.config": module("headroom.config", ReadLifecycleConfig=SimpleNamespace),
        "headroom.agent_savings": module(
            "headroom.agent_savings", apply_agent_savings_profile=lambda settings, name: settings
        ),
        "headroom.utils": module("headroom.utils", extract_user_query=lambda messages: ""),
        "headroom.ccr": module("headroom.ccr", CCRToolInjector=Injector),
        "headroom.cache": module("headroom.cache"),
        "headroom.cache.compression_store": module(
            "headroom.cache.compression_store", get_compression_store=lambda max_entries: Store()
        ),
    }


def tracegc(drop):
    """Tracegc that leaves out every block and plain message for which `drop(content or block, switches)` is true."""

    def compact(messages, cache, **switches):
        left, receipts = [], []
        for message in messages:
            content = message["content"]
            if isinstance(content, str):
                (receipts if drop(content, switches) else left).append(message)
                continue
            kept = [block for block in content if not drop(block, switches)]
            receipts += [block for block in content if drop(block, switches)]
            if kept:
                left.append({**message, "content": kept})
        return SimpleNamespace(messages=left, receipts=receipts)

    return {
        "tracegc": module("tracegc"),
        "tracegc.api": module("tracegc.api", compact=compact, SemanticCache=SimpleNamespace),
    }
