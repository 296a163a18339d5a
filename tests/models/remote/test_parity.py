"""A model on a server emits what the same model emits here, token for token."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from core import (
    BeamSearch,
    ConfigError,
    ContrastiveSearch,
    Greedy,
    ModelError,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    check,
    collect,
    load_model,
)
from core.decoding.speculative.vocabularies import vocabulary_difference
from tests.depth import slow
from tests.models.remote.servers import Script, local, serving

PROMPT = "Once upon a time"
FORMS = {
    "vllm": "vllm:{url}?tokenizer=embedded:target#target",
    "llamacpp": "llamacpp:{url}",
    "openai": "openai:{url}/v1?tokenizer=embedded:target#target",
}


@pytest.fixture(scope="module", params=["vllm", "llamacpp"])
def remote(request: pytest.FixtureRequest) -> Iterator[Any]:
    with serving() as (url, _):
        yield load_model(FORMS[request.param].format(url=url))


def test_its_numbers_and_its_tokens_are_the_model_s(remote: Any) -> None:
    ids = local().encode(PROMPT)
    assert remote.encode(PROMPT) == ids and remote.eos_ids == local().eos_ids
    assert remote.context_window == 1024 and remote.dtype == "float32"
    expected = local().start(ids).logits.log_softmax(-1)
    assert float((remote.start(ids).logits - expected).abs().max()) < 1e-5
    assert vocabulary_difference(remote, local()) == ""
    assert remote.think_marks == local().think_marks
    messages = [{"role": "user", "content": "Hi"}]
    assert remote.encode_chat(messages) == local().encode_chat(messages)
    special = "<|user|>Hi<|end|><think>"
    assert remote.encode(special) == local().encode(special)


@pytest.mark.parametrize(
    "config",
    [
        Greedy(max_new_tokens=8),
        BeamSearch(max_new_tokens=4, num_beams=4),
        Sampling(max_new_tokens=5, seed=5, shaping=Shaping(temperature=0.9, top_p=0.9)),
        slow(Sampling(max_new_tokens=5, seed=5, draw="gumbel")),
        slow(Sampling(max_new_tokens=5, seed=5, draw="multinomial", shaping=Shaping(min_p=0.02))),
        slow(Reasoning(max_new_tokens=10, max_thinking_tokens=3)),
    ],
    ids=lambda config: f"{config.method}-{getattr(config, 'draw', '')}",
)
def test_a_run_equals_the_local_one(remote: Any, config: Any) -> None:
    remote_run, local_run = collect(remote, PROMPT, config), collect(local(), PROMPT, config)
    assert remote_run.token_ids == local_run.token_ids and remote_run.text == local_run.text
    assert [c.name for c in check(remote_run) if not c.passed] == []
    assert remote_run.prompt_step and local_run.prompt_step
    for mine, yours in zip(
        remote_run.prompt_step.positions, local_run.prompt_step.positions, strict=True
    ):
        assert mine.entropy == pytest.approx(yours.entropy, abs=1e-4)


@pytest.mark.parametrize("temperature", [slow(0.0), 1.0])
def test_speculation_with_a_local_draft_equals_the_local_one(
    remote: Any, temperature: float
) -> None:
    draft = load_model("embedded:draft")
    config = Speculative(max_new_tokens=8, seed=2, shaping=Shaping(temperature=temperature))
    remote_run = collect(remote, PROMPT, config, draft=draft)
    assert remote_run.token_ids == collect(local(), PROMPT, config, draft=draft).token_ids
    assert [c.name for c in check(remote_run, remote, draft) if not c.passed] == []


def test_the_server_proves_its_own_run_and_no_other(remote: Any) -> None:
    trace = collect(remote, PROMPT, Greedy(max_new_tokens=4))
    checks = check(trace, remote)
    assert all(outcome.passed for outcome in checks) and any(outcome.by_model for outcome in checks)
    assert remote.facts.software in trace.versions and "server" not in trace.versions.values()
    second = collect(remote, "The cat", Greedy(max_new_tokens=4))
    forged = check(type(trace).from_dict(second.to_dict() | {"prompt_ids": trace.prompt_ids}))
    assert not all(outcome.passed for outcome in forged)


def test_contexts_keep_ids_only(remote: Any) -> None:
    context = remote.start([646, 647])
    grown = context.branch([0, 0])
    logits = grown.extend([[267, 460], [267, 276]])
    assert logits.shape == (2, 2, 4096)
    grown.reorder([1])
    grown.rollback(1)
    assert torch.equal(grown.extend([276])[0, -1], logits[1, 1])
    assert context.length == 2


def test_what_a_server_cant_give_is_refused_in_a_sentence(remote: Any) -> None:
    with pytest.raises(ModelError, match="gives no hidden states"):
        collect(remote, PROMPT, ContrastiveSearch(max_new_tokens=2))
    with pytest.raises(ConfigError, match="scales logits"):
        collect(remote, PROMPT, Greedy(shaping=Shaping(repetition_penalty=1.2)))


def test_a_server_of_raw_logits_takes_the_repetition_penalty_too() -> None:
    config = Greedy(max_new_tokens=8, shaping=Shaping(repetition_penalty=1.5))
    with serving(Script(logits=True)) as (url, _):
        model = load_model(FORMS["vllm"].format(url=url))
        assert model.gives_logits
        assert collect(model, PROMPT, config).token_ids == (
            collect(local(), PROMPT, config).token_ids
        )


def test_a_server_s_own_tokenizer_says_which_bytes_it_doesnt_tell() -> None:
    with serving() as (url, _):
        model = load_model(f"vllm:{url}#target")
    assert "parts of characters" in model.described
    assert model.token_text(140) == "<part 140>" and model.eos_ids == local().eos_ids
    assert vocabulary_difference(model, local()) == ""
    assert model.token_text(4) == "<|end|>" and model.token_bytes(4) == b""


def test_a_token_without_told_bytes_is_no_other_than_a_part_of_a_character() -> None:
    def named(texts: list[bytes], unknown: frozenset[int] = frozenset()) -> Any:
        return SimpleNamespace(
            model_id="m",
            vocab_size=len(texts),
            unknown_tokens=unknown,
            token_bytes=lambda at: "\ufffd".encode() if at in unknown else texts[at],
            token_text=lambda at: f"{at in unknown} {texts[at]!r}",
        )

    pieces = [b"a", b"b", b"c", b"\xe2"]
    partial = named(pieces, frozenset({3}))
    assert vocabulary_difference(partial, named(pieces)) == ""
    assert vocabulary_difference(partial, named([b"a", b"b", b"c", b"d"])).startswith("token 3 ")
    assert vocabulary_difference(partial, named([b"a", b"b", b"x", b"\xe2"])).startswith("token 2 ")
