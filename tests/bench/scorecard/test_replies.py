"""Bodies of both formats."""

import json

import pytest

from selfgc.bench.scorecard.calls import Said
from selfgc.bench.scorecard.replies import read_completion, read_message


def message(**changes):
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}
    return json.dumps({"content": content, "usage": usage, "stop_reason": "end_turn", **changes}).encode()


def completion(finish="stop", usage=None, **said):
    choice = {"message": {"role": "assistant", "content": "ab", **said}, "finish_reason": finish}
    return json.dumps({"choices": [choice], **({} if usage is None else {"usage": usage})}).encode()


def test_a_message_is_its_text_blocks():
    """With all three kinds of input tokens."""
    assert read_message(message()) == Said("ab", read=3, written=4, uncached=1, output=2)


def test_a_completion_is_its_first_choice():
    """Cached tokens are part of the prompt's; an endpoint may tell no usage at all."""
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    assert read_completion(completion(usage=usage)) == Said("ab", read=4, uncached=6, output=2)
    assert read_completion(completion()) == Said("ab")
    assert read_completion(completion(usage={"prompt_tokens": 7})) == Said("ab", uncached=7)


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        (read_message(message(stop_reason="refusal")), "ab"),
        (read_message(message(stop_reason="refusal", content=[])), "the model refused"),
        (read_completion(completion(refusal="no")), "no"),
        (read_completion(completion("content_filter", content=None)), "stopped by a filter"),
    ],
)
def test_refusals(said, refusal):
    """However the format tells them."""
    assert said.refusal == refusal


@pytest.mark.parametrize(
    "said", [read_message(message(stop_reason="max_tokens")), read_completion(completion("length"))]
)
def test_the_output_limit(said):
    """An answer that reached it is not whole."""
    assert said.is_truncated


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"choices": []}', b'{"content": "x"}', b"\xff", b""])
def test_anything_else_is_no_answer(body):
    """In neither format."""
    assert read_message(body) is None
    assert read_completion(body) is None
