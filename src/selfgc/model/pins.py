"""Pins: what is never touched, whatever a plan says.

Prohibitions and permissions in the user's words, instruction files, memory and skill reads, and what the
caller names. The detector of prohibitions favours recall: a sentence too many costs a few tokens.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

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

_WORDS = {
    "en": r"never|don['’]?t|do not|must|mustn['’]?t|may not|cannot|can['’]?t|won['’]?t|shall|should not|shouldn['’]?t"
    r"|no|only|always|avoid|without|forbidden|prohibited|not allowed|allowed|permission|permitted"
    r"|you (?:may|can(?! see))|refuse|refrain|stop|no longer|except|unless|instead of|rather than|prefer"
    r"|make sure|ensure|be sure|strictly|mandatory|required|at most|ha(?:s|ve) to|before you|ask me|confirm with me"
    r"|from now on|going forward|untouched|unchanged|intact|as[- ]is|alone|off[- ]limits|hands off|stay away",
    "de": r"nie(?:mals)?|nicht|kein(?:e[nrms]?)?|nur|immer|darf(?:st)?|dürf(?:en|t)|kannst|verboten|erlaubt|muss(?:t)?"
    r"|müss(?:en|t)|soll(?:st|en|te|ten)?|ohne|bevor|vermeide\w*|finger weg|unverändert|so,? wie|ab (?:jetzt|sofort)",
    "fr": r"ne|n['’]\w+|jamais|pas|interdit\w*|seulement|uniquement|toujours|doi[st]|doivent|devez|autorisé\w*|sans"
    r"|peu[xt]|pouvez|il faut|évite[rz]?|avant d\w*|aucune?|désormais|dorénavant|permis|obligatoire\w*",
    "es": r"nunca|jamás|solo|sólo|solamente|únicamente|siempre|debe[ns]?|prohibid[oa]s?|permitid[oa]s?|permiso|sin"
    r"|puede[ns]?|evit[ae]\w*|hay que|tienes? que|antes de|ning[uú]n\w*|obligatori[oa]s?",
    "pt": r"não|apenas|somente|só|jamais|sempre|deve[ms]?|proibid[oa]s?|sem|pode[ms]?|é preciso|tem (?:de|que)"
    r"|nenhum\w*|obrigatóri[oa]s?|permissão|pergunte",
    "it": r"mai|non|soltanto|dev[ei]|devono|vietat[oa]|senza|puoi|può|possono|bisogna|prima di|nessun\w*"
    r"|permess[oi]|obbligatori[oa]|d['’]ora in poi",
    "nl": r"nooit|niet|geen|alleen|slechts|altijd|moet(?:en)?|mag|mogen|verboden|verplicht|kun(?:t|nen)?|vermijd\w*"
    r"|voordat|zoals \w+ is|vanaf nu|zonder",
    "pl": r"nigdy|nie|tylko|wyłącznie|zawsze|musi(?:sz|cie)?|muszą|wolno|zabron\w+|dozwol\w+|bez|może(?:sz|cie)"
    r"|unikaj\w*|zanim|żadn\w+|należy|trzeba",
    "ru": r"никогда|не|ни|нельзя|только|всегда|долж[её]?н\w*|запрещ\w+|разреш\w+|без|мож(?:ешь|ете|но)|избега\w+"
    r"|прежде чем|никак\w+|обязательн\w+|надо|нужно|следует",
    "tr": r"asla|sadece|yalnızca|daima|her zaman|hiçbir|mutlaka|yasak|izin|olmadan|\w+madan önce|\w+meden önce|önce sor"
    r"|\w+m[ae]y[ıi]n(?:[ıi]z)?|\w+mal[ıi]|\w+meli|\w+bilirsin(?:iz)?|kaçın\w*"
    r"|(?:kullan|dokun|yap|çalıştır|oluştur|yaz|kur|boz|unut|kaldır|pushla|bak)ma|(?:sil|değiştir|gönder|ekle|düzenle)me",
}
"""Whole words and phrases, by language; one that stands under one language is not repeated under the next."""
_SIGNS = {
    "zh": r"不要|不得|不能|不准|不可|不许|不許|不用|不必|不应|不應|[无無]需|禁止|[严嚴]禁|必[须須]|[务務]必|只"
    r"|[仅僅]|[总總]是|永[远遠]|勿|(?<![特区區类類级級识識分个個性差辨])[别別](?!的|人|名)"
    r"|允[许許]|可以(?!吗|嗎|帮|幫)|始[终終]|避免|先[问問]|一定",
    "ja": r"ないで|るな(?:[。!！よ\n]|\Z)|はいけ|はなら|なければ|だけ|のみ|以外|必ず|絶対|常に|決して|禁止|厳禁|不可"
    r"|許可|避け|[ダだ][メめ]|[てで]も(?:いい|よい|良い|構)|ること(?:[。\n]|\Z)|ないこと|前に",
    "ko": r"지\s?[마말]|금지|절대|반드시|항상|오직|꼭|허용|안\s?[돼되됩]|도\s?[돼되됩]|(?<!지)만\s"
    r"|없이|전에|야\s?[합해함돼됩]|피하",
    "ar": r"(?<!\w)[وف]?لا\s|ممنوع|يُ?منع|فقط|دائم|يجب|مسموح|أبد|يمكنك|بدون"
    r"|(?<!\w)دون|تجنّ?ب|قبل أن|(?<!\w)عدم|لازم|إياك",
    "hi": r"(?<!\w)मत(?!\w)|नहीं|(?<!\w)न कर|केवल|सिर्फ|हमेशा|हर बार|[ज\u095b]\u093c?रूर|अनुमति|मना"
    r"|सकते|चाहिए|बिना|पहले मुझ|बचें|अनिवार्य",
}
"""What stands inside a run of letters, in scripts that put no blanks around words or join them to others."""


@cache
def _constraint() -> re.Pattern[str]:
    """Compile the tables when the first text is looked at: it takes longer than all other patterns together."""
    return re.compile(rf"\b(?:{'|'.join(_WORDS.values())})\b|{'|'.join(_SIGNS.values())}")


def states_constraint(text: str) -> bool:
    """Whether a user's text holds a prohibition, a permission or a standing rule, in one of fifteen languages."""
    return _constraint().search(text.lower()) is not None


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
