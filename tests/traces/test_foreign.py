"""Answers of other servers: their tokens, and what they can't tell."""

from __future__ import annotations

import json
from math import log
from typing import Any

import pytest

from core.decoding.errors import TraceError
from core.traces.foreign import read_foreign

ENTRY = {
    "token": " a",
    "logprob": log(0.5),
    "top_logprobs": [{"token": " a", "logprob": log(0.5)}, {"token": "b", "logprob": log(0.25)}],
}
POST = [{"token": " a", "prob": 0.5}, {"token": "b", "prob": 0.25}]
PAIR = ((" a", 0.5), ("c", 0.01))
BEYOND = {**ENTRY, "token": "c", "logprob": log(0.01)}


def _choice(*entries: Any) -> Any:
    return {"model": "m", "choices": [{"logprobs": {"content": list(entries)}}]}


def read(body: Any) -> Any:
    return read_foreign(json.dumps(body))


@pytest.mark.parametrize(
    "body",
    [
        _choice(ENTRY, BEYOND),
        {
            "model": "m",
            "output": [{"content": [{"type": "output_text", "logprobs": [ENTRY, BEYOND]}]}],
        },
        {
            "model": "m",
            "choices": [
                {
                    "logprobs": {
                        "tokens": [" a", "c"],
                        "token_logprobs": [log(0.5), log(0.01)],
                        "top_logprobs": [{"b": log(0.25), " a": log(0.5)}] * 2,
                    }
                }
            ],
        },
        _choice(*({"token": one, "prob": p, "top_probs": POST} for one, p in PAIR)),
    ],
    ids=["chat", "response", "completion", "post-sampling probabilities"],
)
def test_every_shape_gives_ranks_and_what_is_left(body: Any) -> None:
    found = read(body)
    inside, beyond = found.tokens
    assert found.model == "m"
    assert (inside.text, inside.rank, beyond.rank) == (" a", 1, None)
    assert inside.tail_mass == pytest.approx(0.25)
    assert "The rank of 1 of 2 tokens is not known" in found.unknown[1]


def test_a_token_that_is_named_because_it_came_out_has_no_rank() -> None:
    """vLLM puts it first among the most probable, and leaves the last of these out."""
    named = [{"token": "z", "logprob": log(0.01)}, {"token": "a", "logprob": log(0.5)}]
    found = read({"choices": [{"logprobs": {"content": [{**named[0], "top_logprobs": named}]}}]})
    (token,) = found.tokens
    assert [text for text, _ in token.top] == ["a", "z"]
    assert (token.rank, token.least_rank) == (None, 2)
    certain = [named[0], {"token": "a", "logprob": log(0.985)}]
    found = read({"choices": [{"logprobs": {"content": [{**named[0], "top_logprobs": certain}]}}]})
    assert found.tokens[0].rank == 2


def test_the_logarithm_of_0_may_be_the_lowest_number_and_of_choices_the_first_is_read() -> None:
    entry = {**ENTRY, "top_logprobs": [{"token": "x", "logprob": -3.4028234663852886e38}]}
    found = read({"choices": [{"logprobs": {"content": [entry]}}] * 2})
    assert found.tokens[0].tail_mass == 1.0
    assert "Of its 2 choices the first" in found.unknown[0]
    assert read(_choice({"token": "a", "prob": 0})).tokens[0].probability == 0
    lowest = json.dumps(_choice({"token": "a", "logprob": 5})).replace("5", "-" + "9" * 400)
    assert read_foreign(lowest).tokens[0].probability == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "JSON object"),
        ({}, "no log-probabilities"),
        ({"choices": [{"logprobs": None}]}, "no log-probabilities"),
        ({"choices": [{"logprobs": {"content": [{"token": "a", "logprob": 3}]}}]}, "infinity to 0"),
        ({"choices": [{"logprobs": {"content": [{"token": 5, "logprob": -1}]}}]}, "no text"),
        ({"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": []}}]}, "differ in length"),
    ],
)
def test_a_wrong_answer_gets_a_sentence(body: Any, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        read(body)
