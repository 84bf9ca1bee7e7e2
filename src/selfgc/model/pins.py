"""Pins: what is never touched, whatever a plan says.

Prohibitions and permissions in the user's words, instruction files, memory and skill reads, and what the
caller names. The detector of prohibitions favours recall: a sentence too many costs a few tokens.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from selfgc.model.ids import ObjectKind
from selfgc.model.objects import Span
from selfgc.model.policy import Policy
from selfgc.model.spans import Effect

_INSTRUCTION_FILE = re.compile(
    r"(?:^|[/\\\s])(?:AGENTS|CLAUDE|GEMINI|CONVENTIONS|SKILL)(?:\.local)?\.md$"
    r"|\.cursorrules$|\.clinerules$|\.windsurfrules$|copilot-instructions\.md$",
    re.IGNORECASE,
)
_MEMORY_TOOL = re.compile(r"(?:^|_)memor(?:y|ies)(?:_|$)|^memory", re.IGNORECASE)

_CONSTRAINT = re.compile(
    r"\b(?:never|don'?t|do not|must not|mustn'?t|must|may not|cannot|can'?t|shall not|should not|shouldn'?t|only|always"
    r"|avoid|without|forbidden|prohibited|not allowed|allowed|permission|permitted|refuse|stop|no longer|except)\b"
    r"|\b(?:nie(?:mals)?|nicht|kein(?:e|en|er)?|nur|immer|darf(?:st)?|dürfen|verboten|erlaubt|muss|müssen)\b"
    r"|\b(?:ne|n'\w+|jamais|pas|interdit|seulement|uniquement|toujours|doit|doivent|autorisé\w*|sans)\b"
    r"|\b(?:nunca|jamás|no|solo|sólo|siempre|debe[ns]?|prohibid[oa]s?|permitid[oa]s?|sin)\b"
    r"|\b(?:não|apenas|somente|sempre|deve[m]?|proibid[oa]s?|sem)\b"
    r"|\b(?:mai|non|solo|soltanto|sempre|deve|devono|vietat[oa]|senza)\b"
    r"|\b(?:nooit|niet|geen|alleen|altijd|moet(?:en)?|mag|verboden|zonder)\b"
    r"|\b(?:nigdy|nie|tylko|zawsze|musi(?:sz)?|wolno|zabronion\w+|bez)\b"
    r"|\b(?:никогда|не|нельзя|только|всегда|должен|должны|запрещ\w+|разреш\w+|без)\b"
    r"|\b(?:asla|sadece|yalnızca|daima|yasak|\w+m[ae]yın?)\b"
    r"|不要|不得|不能|不准|不可|禁止|必须|只能|只准|仅限|总是|永远|切勿|请勿|别|允许"
    r"|ないで|するな|禁止|してはいけない|ならない|だけ|のみ|必ず|絶対|許可"
    r"|하지\s?마|금지|절대|반드시|항상|오직|허용|안\s?[돼되]"
    r"|\b(?:लا)\b|لا\s|ممنوع|فقط|دائما|يجب|مسموح|أبدا"
    r"|मत|कभी नहीं|केवल|हमेशा|ज़रूर|अनुमति|नहीं",
    re.IGNORECASE,
)


def states_constraint(text: str) -> bool:
    """Whether a user's text holds a prohibition, a permission or a standing rule, in one of a dozen languages."""
    return _CONSTRAINT.search(text) is not None


def is_instruction_file(path: str) -> bool:
    """Whether a path names a file of standing instructions for agents."""
    return _INSTRUCTION_FILE.search(path) is not None


def pinned_spans(spans: Sequence[Span], policy: Policy) -> dict[str, str]:
    """Return the ids of pinned spans with the reason of each.

    Of instruction files, skills and named paths only the newest copy is pinned: an older one says nothing
    that the newest does not.
    """
    pinned: dict[str, str] = {}
    newest: set[tuple[str, str]] = set()
    for span in reversed(spans):
        reason = _reason(span, policy)
        if reason is None or (reason, span.facts.target) in newest:
            continue
        if reason in {"instruction file", "skill", "named path"} and not span.facts.has_failed:
            newest.add((reason, span.facts.target))
        pinned[span.id] = reason
    return pinned


def _reason(span: Span, policy: Policy) -> str | None:
    is_read = span.facts.effect is Effect.READ
    checks = (
        (span.id in policy.pinned_ids, "named by the caller"),
        (any(fnmatchcase(span.tool, pattern) for pattern in policy.pinned_tools), "named tool"),
        (policy.pins_skills and span.kind is ObjectKind.SKILL, "skill"),
        (policy.pins_memory and _MEMORY_TOOL.search(span.tool) is not None, "memory"),
        (policy.pins_instructions and is_read and is_instruction_file(span.facts.target), "instruction file"),
        (is_read and any(fnmatchcase(span.facts.target, path) for path in policy.pinned_paths), "named path"),
    )
    return next((reason for holds, reason in checks if holds), None)
