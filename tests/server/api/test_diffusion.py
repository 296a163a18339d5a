"""A diffusion model behind the endpoint: completions, chat, streams, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from core import Diffusion, Shaping, collect, load_model
from tests.models.builders import random_noise_model
from tests.server.api.served import Served, served

MODEL = "embedded:diffusion"
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(scope="module")
def model() -> Any:
    return load_model(MODEL)


@pytest.fixture(scope="module")
def at(model: Any) -> Iterator[Served]:
    models = {"embedded:target": model, "embedded:draft": random_noise_model()}
    with served(lambda where, should_stop: models[where]) as server:  # noqa: ARG005
        yield server


def test_a_conversation_is_answered_by_filling_masks(at: Served, model: Any) -> None:
    answer = at.client().chat.completions.create(
        model="embedded:target", messages=QUESTION, temperature=0, max_tokens=32, seed=3,
    )  # fmt: skip
    config = Diffusion(max_new_tokens=32, seed=3, shaping=Shaping(temperature=0.0))
    trace = collect(model, model.encode_chat(QUESTION), config)
    assert answer.choices[0].message.content == trace.text
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None and answer.usage.completion_tokens == len(trace.token_ids)


def test_settings_of_the_method_are_given_in_decoding(at: Served, model: Any) -> None:
    decoding = {"method": "diffusion", "order": "margin", "tokens_per_step": 4, "block_length": 16}
    answer = at.client().completions.create(
        model="embedded:target", prompt="Once upon a time", temperature=0, max_tokens=20, seed=1,
        echo=True, extra_body={"decoding": decoding},
    )  # fmt: skip
    config = Diffusion(max_new_tokens=20, order="margin", tokens_per_step=4, block_length=16,
                       seed=1, shaping=Shaping(temperature=0.0))  # fmt: skip
    expected = collect(model, "Once upon a time", config)
    assert answer.choices[0].text == f"Once upon a time{expected.text}"


def test_a_stream_sends_the_text_before_the_first_mask(at: Served) -> None:
    body: dict[str, Any] = {"model": "embedded:target", "prompt": "Once upon a time",
                            "temperature": 0, "max_tokens": 16, "seed": 1}  # fmt: skip
    parts = [chunk.choices[0].text for chunk in at.client().completions.create(stream=True, **body)
             if chunk.choices]  # fmt: skip
    assert "".join(parts) == at.client().completions.create(**body).choices[0].text
    assert sum(map(bool, parts)) > 1


def test_a_canvas_of_noise_is_the_default_of_its_model(at: Served) -> None:
    answer = at.client().completions.create(
        model="embedded:draft", prompt="the fox had", max_tokens=9, seed=2,
        extra_body={"decoding": {"method": "diffusion", "max_denoising_steps": 4}},
    )  # fmt: skip
    config = Diffusion(canvas="noise", max_new_tokens=9, max_denoising_steps=4, seed=2)
    expected = collect(random_noise_model(), "the fox had", config)
    assert answer.choices[0].text == expected.text


@pytest.mark.parametrize(
    ("extra", "param"),
    [
        ({"logprobs": 2}, "logprobs"),
        ({"max_tokens": 0, "echo": True}, "max_tokens"),
        ({"decoding": {"method": "greedy"}}, "decoding"),
    ],
)
def test_a_parameter_that_needs_a_next_token_is_refused(
    at: Served, extra: dict[str, Any], param: str
) -> None:
    body = {"model": "embedded:target", "prompt": "Once upon a time", "max_tokens": 4, **extra}
    answer = at.post("/v1/completions", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param
    assert answer.json()["error"]["message"].count(". ") == 0


@pytest.mark.parametrize(
    ("extra", "param", "words"),
    [
        ({"logprobs": True}, "logprobs", "leave logprobs out"),
        ({"response_format": {"type": "json_object"}}, "response_format", ""),
        (
            {"reasoning_effort": "low", "decoding": {"method": "diffusion"}},
            "reasoning_effort",
            "reasoning_effort and",
        ),
    ],
)
def test_what_a_conversation_cannot_have_is_refused_by_its_name(
    at: Served, extra: dict[str, Any], param: str, words: str
) -> None:
    body = {"model": "embedded:target", "messages": QUESTION, "max_tokens": 4, **extra}
    error = at.post("/v1/chat/completions", body).json()["error"]
    assert error["param"] == param and words in error["message"]
