"""headroom-ai's `compress(messages)`, with the store of its originals (CCR) as what can be restored.

Its defaults (0.42.0): reads of files that were edited later become a marker with the hash of the original, JSON, logs,
search results and the like are compressed by kind; file reads, errors and user messages stay. Its text model
(Kompress) is an extra that is downloaded when first needed, so plain texts stay too. The dial is
`frozen_message_count`, how many messages at the front it must leave; where the defaults over all messages do not reach
the rate, its further settings are switched on.
"""

import importlib
import os
from collections.abc import MutableMapping
from importlib.util import find_spec
from pathlib import Path

from .exchange import Governed, Message, Request
from .prefix import least, protected_from, share_removed

OFFLINE = {
    "HEADROOM_OFFLINE": "1",
    "HEADROOM_STATELESS": "1",
    "HEADROOM_CCR_BACKEND": "memory",
    "HEADROOM_CCR_TTL_SECONDS": str(30 * 24 * 3600),
    "HEADROOM_TOIN_BACKEND": "none",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
"""Its own switches for: no network, nothing on disk, originals kept as long as the process runs, nothing learned."""
STORE_ENTRIES = 1_000_000
MODEL = "claude-sonnet-4-5-20250929"
WINDOW = 200_000
"""Its defaults for the model and its window. The name decides only how tokens are counted, and for models of other
names a tokenizer would be downloaded."""
NOTE = "offline: without its text model (Kompress), tokens counted as for its default model"


def govern(request: Request) -> Governed:
    """Return the request's messages compressed, and the originals whose hashes stand in them."""
    peer = _Peer()
    if request.rate is None:
        return peer.answer(request, peer.compressed(request.messages, 0), "defaults")
    rate, count = request.rate, len(request.messages)
    hard = share_removed(request, peer.compressed(request.messages, 0)) < rate
    run = peer.compressed_hard if hard else peer.compressed
    reached = least(count, lambda n: share_removed(request, run(request.messages, count - n)), rate)
    told = f"frozen_message_count={count - reached}, {'all further settings on' if hard else 'else defaults'}"
    return peer.answer(request, run(request.messages, count - reached), told)


def pair_up(messages: list[Message], compressed: list[Message]) -> list[Message | None]:
    """Return the compressed messages, each that says the same as before as the very object that came."""
    return [old if old == new else new for old, new in zip(messages, compressed, strict=True)]


def prepare_environment(environment: MutableMapping[str, str]) -> None:
    """Switch to what needs no network, before the peer is imported: it reads these when it is."""
    environment.update(OFFLINE)
    spec = find_spec("litellm")
    if spec is not None and spec.origin is not None:  # its wheel holds the tokenizer's ranks, by their cache names
        ranks = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
        environment.setdefault("TIKTOKEN_CACHE_DIR", str(ranks))


class _Peer:
    """The package, imported here and nowhere else, so that the rest can be read and tested without it."""

    def __init__(self) -> None:
        prepare_environment(os.environ)
        self._package = importlib.import_module("headroom")
        self._router = importlib.import_module("headroom.transforms.content_router")
        self._pipeline = importlib.import_module("headroom.transforms.pipeline")
        self._config = importlib.import_module("headroom.config")
        self._profiles = importlib.import_module("headroom.agent_savings")
        self._words = importlib.import_module("headroom.utils")
        self._ccr = importlib.import_module("headroom.ccr")
        store = importlib.import_module("headroom.cache.compression_store")
        self._store = store.get_compression_store(max_entries=STORE_ENTRIES)

    def compressed(self, messages: list[Message], frozen: int) -> list[Message | None]:
        """Return what its one function gives with its defaults, the first `frozen` messages left alone."""
        result = self._package.compress(messages, model=MODEL, frozen_message_count=frozen)
        if messages and not result.tokens_before:  # this is how it says that it failed
            raise RuntimeError("headroom failed and gave the messages back as they were; its log says why")
        return pair_up(messages, result.messages)

    def compressed_hard(self, messages: list[Message], frozen: int) -> list[Message | None]:
        """Return what its pipeline gives with its profile `agent-90` and the settings that are off by default."""
        config = self._router.ContentRouterConfig(
            enable_cross_turn_dedup=True,
            lossless_then_lossy=True,
            protect_recent_reads_fraction=0.05,
            read_lifecycle=self._config.ReadLifecycleConfig(compress_superseded=True),
        )
        profile = self._package.CompressConfig()
        self._profiles.apply_agent_savings_profile(profile, "agent-90")
        result = self._pipeline.TransformPipeline(transforms=[self._router.ContentRouter(config)]).apply(
            messages=messages,
            model=MODEL,
            model_limit=WINDOW,
            context=self._words.extract_user_query(messages),
            compress_user_messages=profile.compress_user_messages,
            protect_recent=profile.protect_recent,
            target_ratio=profile.target_ratio,
            min_tokens_to_compress=profile.min_tokens_to_compress,
            frozen_message_count=frozen,
        )
        return pair_up(messages, result.messages)

    def answer(self, request: Request, governed: list[Message | None], told: str) -> Governed:
        """Return the messages with the originals that its own scan for markers finds in them."""
        start = protected_from(request)
        seen = [message for message in governed[:start] if message is not None]
        ids = self._ccr.CCRToolInjector(provider="anthropic").scan_for_markers(seen)
        entries = self._store.export_entries(sorted(set(ids)))
        payloads = {entry["hash"]: entry["original_content"] for entry in entries}
        return Governed(governed, payloads, (NOTE, told))
