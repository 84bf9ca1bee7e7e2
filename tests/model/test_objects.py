"""Context objects: what an entry, a span and a turn say of themselves."""

import pytest

from builders import assistant, chat_result, chat_system, chat_user, index_of, result, result_block, user
from selfgc.model.ids import ObjectId, ObjectKind, Tokens
from selfgc.model.message import PartRef
from selfgc.model.objects import PART_OVERHEAD, Span, is_document
from selfgc.model.spans import Effect, SpanFacts

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
SKILL_TEXT = "Base directory for this skill: /home/a/.claude/skills/pdf\n\n# PDF\n"


def entry(message, dialect="anthropic"):
    return index_of([message], dialect).entries[0]


def span(effect, target, **fields):
    ref = PartRef(0, 0)
    facts = SpanFacts(effect, target)
    whole = {"result": PartRef(1, 0), "turn": 0, "call_tokens": Tokens(10), "result_tokens": Tokens(90)} | fields
    return Span(ObjectId("function:x:1"), ObjectKind.FUNCTION, "x", ref, facts=facts, **whole)


def test_the_tokens_of_a_message_count_each_part_and_the_message():
    """Four characters a token in these tests, and the overhead once a part and once more."""
    assert entry(user("x" * 40, "y" * 80)).tokens == 10 + 20 + 3 * PART_OVERHEAD


def test_an_image_counts_by_its_estimate():
    """Base64 is never counted as text."""
    assert entry(user(IMAGE)).tokens == 1600 + 2 * PART_OVERHEAD


@pytest.mark.parametrize(
    ("message", "dialect"),
    [
        (user("hello"), "anthropic"),
        (user("hello", "world"), "anthropic"),
        (user(IMAGE), "anthropic"),
        (user(SKILL_TEXT, "now fill the form"), "anthropic"),
        (chat_user("hello"), "chat"),
        (chat_user([{"type": "image_url", "image_url": {"url": "data:"}}]), "chat"),
    ],
)
def test_real_user_input_opens_a_turn(message, dialect):
    """Text or media from the user."""
    assert entry(message, dialect).opens_turn


@pytest.mark.parametrize(
    ("message", "dialect"),
    [
        (assistant("hello"), "anthropic"),
        (result("a", "done"), "anthropic"),
        (user(result_block("a", "done"), "and a reminder"), "anthropic"),
        (user(SKILL_TEXT), "anthropic"),
        ({"role": "user", "content": []}, "anthropic"),
        (chat_result("a", "done"), "chat"),
        (chat_system("be brief"), "chat"),
    ],
)
def test_what_a_harness_sends_opens_no_turn(message, dialect):
    """Results, reminders beside results, skill texts, and messages without content."""
    assert not entry(message, dialect).opens_turn


def test_a_span_has_the_tokens_of_call_and_result():
    """Both are folded, so both count."""
    assert span(Effect.READ, "a.py").tokens == 100


def test_a_span_is_open_until_its_result_comes():
    """An open call has no result."""
    assert span(Effect.READ, "a.py", result=None).is_open
    assert not span(Effect.READ, "a.py").is_open


@pytest.mark.parametrize("target", ["README.md", "/docs/plan.MDX", "a/b.rst", "notes.txt", "guide.adoc"])
def test_a_file_of_prose_is_a_document(target):
    """By its ending, in any case."""
    assert is_document(span(Effect.READ, target))


@pytest.mark.parametrize("effect", [Effect.AGENT, Effect.FETCH, Effect.OTHER])
def test_a_report_is_a_document(effect):
    """What an agent, a page or an unknown tool hands back is prose."""
    assert is_document(span(effect, "look around"))


@pytest.mark.parametrize(
    ("effect", "target"),
    [(Effect.READ, "src/app.py"), (Effect.RUN, "cat README.md | wc"), (Effect.SEARCH, "md"), (Effect.EDIT, "a.mdc")],
)
def test_code_and_output_are_no_documents(effect, target):
    """The ending stands at the end of the target, or it is none."""
    assert not is_document(span(effect, target))


def test_entries_are_the_same_in_both_dialects_but_for_their_shape():
    """The same user text has the same tokens."""
    assert entry(user("x" * 40)).tokens == entry(chat_user("x" * 40), "chat").tokens
