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
META = {
    "id": "1",
    "completion_tokens": 2,
    "output_token_logprobs": [[log(0.5), 5, " a"], [log(0.01), 7, "c"]],
    "output_top_logprobs": [[[log(0.5), 5, " a"], [log(0.25), 6, "b"]]] * 2,
}
FOX = "\N{FOX FACE}".encode()


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
        _choice(*({"token": text, "prob": p, "top_probs": POST} for text, p in PAIR)),
        {"model": "m", "message": {"content": " ac"}, "done": True, "logprobs": [ENTRY, BEYOND]},
        {"model": "m", "response": " ac", "done": True, "logprobs": [ENTRY, BEYOND]},
        {"model": "m", "content": " ac", "stop": True, "completion_probabilities": [ENTRY, BEYOND]},
        {
            "model": "m",
            "completion_probabilities": [
                {"token": text, "prob": p, "top_probs": POST} for text, p in PAIR
            ],
        },
        {"model": "m", "meta_info": META},
    ],
    ids=[
        "chat",
        "response",
        "completion",
        "post-sampling probabilities",
        "Ollama's chat",
        "Ollama's generate",
        "llama.cpp",
        "llama.cpp behind its samplers",
        "SGLang",
    ],
)
def test_every_shape_gives_ranks_and_what_is_left(body: Any) -> None:
    answer = read(body)
    inside, beyond = answer.tokens
    assert answer.model == "m"
    assert (inside.text, inside.rank, beyond.rank) == (" a", 1, None)
    assert inside.tail_mass == pytest.approx(0.25)
    assert "The rank of 1 of 2 tokens is not known" in answer.unknown[1]


def test_a_token_that_is_named_because_it_came_out_has_no_rank() -> None:
    """vLLM puts it first among the most probable, and leaves the last of these out."""
    named = [{"token": "z", "logprob": log(0.01)}, {"token": "a", "logprob": log(0.5)}]
    answer = read({"choices": [{"logprobs": {"content": [{**named[0], "top_logprobs": named}]}}]})
    (token,) = answer.tokens
    assert [text for text, _ in token.top] == ["a", "z"]
    assert (token.rank, token.least_rank) == (None, 2)
    certain = [named[0], {"token": "a", "logprob": log(0.985)}]
    answer = read({"choices": [{"logprobs": {"content": [{**named[0], "top_logprobs": certain}]}}]})
    assert answer.tokens[0].rank == 2


def test_the_logarithm_of_0_may_be_the_lowest_number_and_of_choices_the_first_is_read() -> None:
    entry = {**ENTRY, "top_logprobs": [{"token": "x", "logprob": -3.4028234663852886e38}]}
    answer = read({"choices": [{"logprobs": {"content": [entry]}}] * 2})
    assert answer.tokens[0].tail_mass == 1.0
    assert "Of its 2 choices the first" in answer.unknown[0]
    assert read(_choice({"token": "a", "prob": 0})).tokens[0].probability == 0
    lowest = json.dumps(_choice({"token": "a", "logprob": 5})).replace("5", "-" + "9" * 400)
    assert read_foreign(lowest).tokens[0].probability == 0


def _part(raw: bytes, **others: Any) -> Any:
    return {"token": r"\xf0\x9f", "logprob": -1.0, "bytes": list(raw), **others}


def test_a_character_in_parts_is_drawn_once_its_bytes_are_whole() -> None:
    first, last = FOX[:3], FOX[3:]
    alternative = _part(b"\x8b")
    chat = read(_choice(_part(first), _part(last, top_logprobs=[_part(last), alternative])))
    assert [(token.text, token.added) for token in chat.tokens] == [
        ("<F0><9F><A6>", ""),
        ("<8A>", "\N{FOX FACE}"),
    ]
    assert {text for text, _ in chat.tokens[1].top} == {"<8A>", "<8B>"}
    spelled = [r"bytes:\xf0\x9f\xa6", r"bytes:\x8a", r"\x8a"]
    legacy = {"tokens": spelled, "token_logprobs": [-1.0] * 3}
    tokens = read({"choices": [{"logprobs": legacy}]}).tokens
    assert "".join(token.added for token in tokens) == "\N{FOX FACE}" + r"\x8a"
    # Bytes that are none are left out.
    for wrong in (None, [], [256], [True], ["a"]):
        assert read(_choice({"token": "b", "logprob": -1, "bytes": wrong})).tokens[0].text == "b"


def _events(*bodies: Any, mark: str = "data: ") -> str:
    return "\n".join(mark + json.dumps(body) for body in bodies)


DELTA = {"type": "response.output_text.delta", "logprobs": [ENTRY]}
OUTPUT = [{"content": [{"type": "output_text", "logprobs": [ENTRY, BEYOND]}]}]


@pytest.mark.parametrize(
    "text",
    [
        _events(_choice(ENTRY), _choice(BEYOND), {"choices": []}) + "\n\ndata: [DONE]\n",
        _events({"logprobs": [ENTRY]}, {"logprobs": [BEYOND]}, {"done": True}, mark=""),
        _events(
            {"completion_probabilities": [ENTRY]},
            {"completion_probabilities": [BEYOND]},
            {"stop": True},
        ),
        "event: response.output_text.delta\n"
        + _events(
            DELTA,
            {**DELTA, "logprobs": [BEYOND]},
            {"type": "response.output_text.done", "logprobs": [ENTRY, BEYOND]},
            {"type": "response.completed", "response": {"output": OUTPUT}},
        ),
        _events({**DELTA, "logprobs": []}, {"response": {"output": OUTPUT}}),
        _events({"meta_info": {"id": "1", "output_token_logprobs": []}}, {"meta_info": META}),
    ],
    ids=["chat", "Ollama", "llama.cpp", "response", "response at its end", "SGLang"],
)
def test_a_stream_gives_each_token_once(text: str) -> None:
    assert [token.text for token in read_foreign(text).tokens] == [" a", "c"]


def test_a_stream_is_split_at_line_breaks_alone() -> None:
    bodies = [{"logprobs": [{"token": f"{char}x", "logprob": -0.5}]} for char in "\u2028\x85\u2029"]
    lines = "\r\n".join(json.dumps(body, ensure_ascii=False) for body in bodies)
    assert len(read_foreign(lines).tokens) == 3


def test_of_answers_to_several_prompts_the_first_is_drawn() -> None:
    llama = {"stop": True, "completion_probabilities": [ENTRY]}
    for bodies in ([llama] * 3, [{"meta_info": {**META, "id": str(at)}} for at in range(3)]):
        answer = read(bodies)
        assert answer.tokens[0].text == " a" and len(answer.tokens) < 3
        assert "Of its 3 choices the first" in answer.unknown[0]


def test_llamacpps_older_probabilities_name_the_token_that_came_out_by_its_text() -> None:
    probs = [{"tok_str": "b", "prob": 0.6}, {"tok_str": " a", "prob": 0.4}]
    answer = read({"completion_probabilities": [{"content": " a", "probs": probs}]})
    (token,) = answer.tokens
    assert (token.text, token.least_rank) == (" a", 2)
    assert token.probability == pytest.approx(0.4)


NUMBERED = {"meta_info": {"output_token_logprobs": [[-1.0, 5, None]]}}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "JSON object"),
        ({}, "none of the known formats"),
        ({"logprobs": None}, "no log-probabilities"),
        ({"completion_probabilities": []}, "n_probs"),
        ({"error": {"message": "no such model"}}, "The server refused: no such model"),
        (NUMBERED, "return_text_in_logprobs"),
        ({"meta_info": {"output_token_logprobs": [[-1.0]]}}, "no list of log-probability"),
        ({"choices": [{"logprobs": None}]}, "no log-probabilities"),
        ({"choices": [{"logprobs": {"content": [{"token": "a", "logprob": 3}]}}]}, "infinity to 0"),
        ({"choices": [{"logprobs": {"content": [{"token": 5, "logprob": -1}]}}]}, "no text"),
        ({"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": []}}]}, "differ in length"),
    ],
)
def test_a_wrong_answer_gets_a_sentence(body: Any, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        read(body)
