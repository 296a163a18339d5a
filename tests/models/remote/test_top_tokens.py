"""A server that names the 20 likeliest tokens of a step: exact where these decide, else refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from core import (
    BeamSearch,
    ConfigError,
    Greedy,
    ModelError,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    check,
    collect,
    load_model,
)
from core.decoding.checks.token_replay import SAME_STAGES
from core.decoding.errors import UnknownTokensError
from core.decoding.lab.step import read_step_logits
from core.decoding.reasoning.batch import BatchRun, reason_in_batch
from core.figures import prompt_reading, step_stages, uncertainty
from tests.decoding.checks.forging import failed, with_shaping
from tests.models.remote.servers import Script, local, serving
from tests.server.api.served import served

PROMPT = "Once upon a time"


@pytest.fixture(scope="module")
def top() -> Iterator[Any]:
    with serving(Script(most=20)) as (url, _):
        yield load_model(f"openai:{url}/v1?tokenizer=embedded:target#target")


@pytest.mark.parametrize(
    "config",
    [
        Greedy(max_new_tokens=8),
        Greedy(max_new_tokens=8, shaping=Shaping(no_repeat_ngram_size=1)),
        Sampling(max_new_tokens=8, seed=5, shaping=Shaping(temperature=0.8, top_k=19, top_p=0.9)),
        Sampling(max_new_tokens=8, seed=5, draw="multinomial", shaping=Shaping(top_k=12)),
    ],
    ids=lambda config: f"{config.method}-{getattr(config, 'draw', '')}",
)
def test_a_run_equals_the_local_one_and_is_proved(top: Any, config: Any) -> None:
    remote_run, local_run = collect(top, PROMPT, config), collect(local(), PROMPT, config)
    assert remote_run.token_ids == local_run.token_ids and remote_run.known == 20
    assert all(outcome.passed for outcome in check(remote_run, top))
    for mine, yours in zip(remote_run.token_steps, local_run.token_steps, strict=True):
        assert mine.entropy <= yours.entropy + 1e-4
        assert mine.tail_mass == pytest.approx(yours.tail_mass, abs=1e-5)
    assert Trace.from_dict(remote_run.to_dict()) == remote_run
    assert "can't be checked" in " ".join(outcome.detail for outcome in check(remote_run, top))


def test_a_draw_into_the_tail_ends_the_run_with_the_advice(top: Any) -> None:
    config = Sampling(max_new_tokens=8, seed=5)
    remote_run, local_run = collect(top, PROMPT, config), collect(local(), PROMPT, config)
    made = len(remote_run.token_ids)
    assert (
        remote_run.finish_reason == "cancelled"
        and remote_run.token_ids == local_run.token_ids[:made]
    )
    following = local_run.token_steps[made].chosen
    assert following.rank > 20 and "of the draw falls on one" in remote_run.notes[-1].words
    assert "--max-logprobs -1" in remote_run.notes[-1].words
    with pytest.raises(UnknownTokensError, match="the temperature changes the mass"):
        collect(top, PROMPT, Sampling(max_new_tokens=8, shaping=Shaping(temperature=0.8)))


def test_a_forged_number_is_found_out(top: Any) -> None:
    trace = collect(top, PROMPT, Greedy(max_new_tokens=3))
    forged = Trace.from_dict(trace.to_dict() | {"known": 19})
    assert not all(outcome.passed for outcome in check(forged, top))
    again = collect(local(), PROMPT, Greedy(max_new_tokens=3))
    renamed = Trace.from_dict(again.to_dict() | {"model_id": top.model_id, "model_revision": ""})
    assert not all(outcome.passed for outcome in check(renamed, top))
    drawn = collect(
        top, PROMPT, Sampling(max_new_tokens=3, shaping=Shaping(temperature=0.8, top_k=12))
    )
    cooler = with_shaping(drawn, temperature=0.79)
    assert failed(drawn, top) == set() and SAME_STAGES in failed(cooler, top)


@pytest.mark.parametrize(
    "config", [BeamSearch(max_new_tokens=2), Reasoning(), Speculative(max_new_tokens=2)]
)
def test_methods_that_need_all_tokens_say_so(top: Any, config: Any) -> None:
    draft = load_model("embedded:draft") if isinstance(config, Speculative) else None
    with pytest.raises(ConfigError, match="names 20 tokens of each step"):
        collect(top, PROMPT, config, draft=draft)


def test_the_lab_and_batches_need_all_tokens(top: Any) -> None:
    with pytest.raises(ConfigError, match="the lab needs them all"):
        read_step_logits(top, [646])
    with pytest.raises(ConfigError, match="a batch needs them all"):
        next(reason_in_batch(top, [BatchRun([646], Reasoning())]))


def test_figures_say_what_is_unknown(top: Any) -> None:
    trace = collect(top, "The cat sat", Greedy(max_new_tokens=3))
    figure = step_stages(trace.token_steps[0], trace)
    tail = next(item for item in figure.data if item.name == "unknown tokens")
    assert tail.marker.pattern.shape == "/"
    assert "doesn't name" in str(figure.layout) and "20 of 4,096 tokens named" in figure.to_json()
    assert "lower bound by known" in str(uncertainty(trace).layout)
    unnamed = [p for p in trace.prompt_step.positions if p.next_token_id and p.next_rank is None]
    assert unnamed and "not among the tokens" in prompt_reading(trace).to_json()


def test_a_server_that_names_more_than_there_is_is_refused() -> None:
    def doubled(_: Any, told: Any) -> bool:
        for choice in told["choices"]:
            row = choice["logprobs"]["top_logprobs"][0]
            row.update({key: value + 1 for key, value in row.items()})
        return False

    script = Script(most=20)
    with serving(script) as (url, _):
        script.fail(doubled)
        with pytest.raises(ModelError, match="more than 1"):
            load_model(f"openai:{url}/v1?tokenizer=embedded:target#target")


def test_the_endpoint_gives_the_numbers_that_are_known_and_says_which_are_not(top: Any) -> None:
    body = {"model": "embedded:target", "prompt": PROMPT, "max_tokens": 4, "temperature": 0.0}
    ids = local().encode(PROMPT)
    with served(lambda where, should_stop: top) as endpoint:  # noqa: ARG005
        client = endpoint.client()
        logprobs = client.completions.create(**body, logprobs=20, echo=True).choices[0].logprobs
        expected = local().start(ids).logits[0].log_softmax(-1).topk(20).values.tolist()
        assert sorted(logprobs.top_logprobs[len(ids)].values(), reverse=True) == pytest.approx(
            expected, abs=1e-4
        )
        for more, sentence in (
            ({"logprobs": 21}, "names 20 tokens of each step: ask for .* at most 20"),
            ({"logprobs": -1}, "names 20 tokens of each step: ask for .* at most 20"),
            ({"logprobs": 1, "echo": True, "prompt": "Once zebra"}, "is none of them here"),
        ):
            with pytest.raises(openai.BadRequestError, match=sentence):
                client.completions.create(**{**body, **more})
