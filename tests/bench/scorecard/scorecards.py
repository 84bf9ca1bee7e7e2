"""Builders that tests of the LLM judge share: a case, views of it, the judge's answers, settings for a provider."""

import json

from selfgc.bench.cases import Case
from selfgc.bench.governed import Governed
from selfgc.bench.scorecard.calls import Ask
from selfgc.bench.scorecard.schema import SCORES
from selfgc.bench.scorecard.settings import JudgeSettings, Wire

DIMENSIONS = ("goal_retention", "evidence_retention", "continuation_readiness", "compression_safety")
KEY = "JUDGE_KEY_FOR_TESTS"


def said(text, role="user"):
    return {"role": role, "content": [{"type": "text", "text": text}]}


def read_file(number, path, text):
    name = f"c{number}"
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "Read", "input": {"path": path}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": text}]},
    ]


PREFIX = (
    said("the port must never be 8080"),
    *read_file(1, "/srv/app.toml", "[server]\nport = 9431\nname = 'quartz'"),
    said("it is 9431 now", "assistant"),
    said("thanks"),
    said("welcome", "assistant"),
)
FUTURE = (said("start it"), said("run quartz --port 9431", "assistant"))


def case(session="s1", cut=6, **changes):
    return Case(session, cut, **{"prefix": PREFIX, "continuation": FUTURE, **changes})


def view(*without, plan="", extra=()):
    """The prefix without these messages, and with others at the end of its start."""
    kept = [message for number, message in enumerate(PREFIX) if number not in without]
    return Governed((*kept[:1], *extra, *kept[1:]), plan=plan)


def answer(score=5, overall=None, status="pass", *, valid=True, uncertain=False, culprit=None, **dimensions):
    """The judge's answer as JSON; a dimension's name with a score overrides that one."""
    scores = {name: {"score": dimensions.get(name, score), "status": status} for name in DIMENSIONS}
    return json.dumps(
        {
            "valid": valid,
            "uncertain": uncertain,
            "overall_score": score if overall is None else overall,
            "summary": f"score {score}",
            "dimension_scores": scores,
            "failure_culprit": {"target_id": culprit},
        }
    )


def preference(verdict="A_better", **changes):
    """The judge's answer on a pair as JSON."""
    plain = {"verdict": verdict, "rationale": "r", "stronger_aspects": ["s"], "risks": [], "confidence": 0.9}
    return json.dumps({**plain, **changes})


def settings(folder, provider=None, dialect=Wire.CHAT, **changes):
    """Settings for a scripted provider, or for none: one thread, hardly any wait."""
    base = ""
    if provider is not None:
        base = provider.anthropic_url if dialect is Wire.MESSAGES else provider.openai_url
    plain = {"model": "gpt-5.5", "cache_folder": str(folder), "dialect": dialect, "base_url": base, "parallel": 1}
    return JudgeSettings(**{**plain, "backoff": 0.001, "timeout": 5.0, "votes": 1, **changes})


def ask(prompt="which?", vote=0):
    return Ask("the rules", prompt, SCORES.name, SCORES.sent_schema, vote)
