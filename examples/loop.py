"""Ten lines that govern an agent's loop, replayed over the example session; run it in this repository's folder."""

import json
from pathlib import Path

from selfgc import ContextEngine, MemoryStore

request = json.loads(Path("examples/session.json").read_text("utf-8"))
messages = request.pop("messages")
engine = ContextEngine(store=MemoryStore(), session="demo")
for end, message in enumerate(messages, start=1):
    if message["role"] != "user":
        continue  # the model's own messages come back with the next request
    engine.observe(messages[:end], **request)
    report = engine.maintain()  # plans at a turn's boundary; commits when it pays
    view = engine.view()  # send this instead of messages[:end]
    if report.committed:
        print(f"message {end:3}: {report.tokens_before:,} -> {report.tokens_after:,} tokens, {report.reason}")
print(f"last request: {len(view)} messages, {engine.view_tokens():,} tokens instead of {report.tokens_transcript:,}")
print(engine.restore("function:Bash:68")[:60])
