"""The real servers emit what the local engine does; what they do alone is labelled and proved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from core import (
    BeamSearch,
    ByEngine,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    check,
    collect,
    load_model,
)
from core.decoding.by_engine.told import told_by
from core.decoding.errors import UnknownTokensError
from core.models.remote.speculation import speculation_in_a_run
from tests.models.remote import real_servers
from tests.models.remote.servers import local

NAMES = "Ann Ben Cara Dan Eve Finn Gus Ida".split()
PROMPTS = ("Once upon a time", "The capital of France is", "A list of colors: red,")
# 20 of them.
MANY = (
    *PROMPTS,
    "What is 12 + 7?",
    *(" ".join(pair) for pair in product(("One day,", "Little"), (f"{n} saw a" for n in NAMES))),
)
GREEDY = Shaping(temperature=0.0)
_SPECULATES = '{"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":3}'
_DRAFTS = '{"method":"draft_model","model":"assets/models/draft","num_speculative_tokens":4}'
_THINKS = '{"reasoning_start_str":"<think>","reasoning_end_str":"</think>"}'


@pytest.fixture(scope="module")
def llamacpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real_servers.Served]:
    if not real_servers.has_llamacpp():
        pytest.skip("llama.cpp's server isn't installed; make engines puts it there")
    with real_servers.llamacpp(tmp_path_factory.mktemp("llamacpp")) as served:
        yield served


def _require_vllm() -> None:
    if not real_servers.VLLM.exists():
        pytest.skip("vLLM isn't installed; make engines puts it into .engines (4 GB)")


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real_servers.Served]:
    _require_vllm()
    with real_servers.vllm(tmp_path_factory.mktemp("vllm")) as served:
        yield served


def _hold(where: str, prompts: tuple[str, ...], beams: int) -> None:
    """Numbers within 1e-4 of ours where they count, and the same tokens by every method."""
    model, draft = load_model(where), load_model("embedded:draft")
    for prompt in prompts:
        ids = model.encode(prompt)
        probs, expected = model.start(ids).logits.exp(), local().start(ids).logits.softmax(-1)
        assert float((probs - expected).abs().max()) < 1e-4
    runs: list[tuple[Any, Any]] = [
        (Greedy(max_new_tokens=12), None),
        (BeamSearch(max_new_tokens=beams, num_beams=4), None),
        (Sampling(max_new_tokens=12, seed=3, shaping=Shaping(temperature=0.8, top_p=0.9)), None),
        (Speculative(max_new_tokens=12, shaping=GREEDY), draft),
    ]
    chat_ids = local().encode_chat([{"role": "user", "content": "What is 17 + 25?"}])
    thinking = Reasoning(max_new_tokens=24, max_thinking_tokens=8)
    assert (
        collect(model, chat_ids, thinking).token_ids
        == collect(local(), chat_ids, thinking).token_ids
    )
    for prompt in prompts:
        for config, second in runs:
            quick = collect(model, prompt, config, draft=second)
            assert quick.token_ids == collect(local(), prompt, config, draft=second).token_ids
            assert all(outcome.passed for outcome in check(quick))


def _hold_by_engine(where: str) -> None:
    """One request a run: at temperature 0 greedy's tokens, drawn ones with numbers that hold."""
    model = load_model(where)
    greedy = collect(local(), PROMPTS[0], Greedy(max_new_tokens=12))
    for shaping in (GREEDY, Shaping(temperature=0.8, top_p=0.9)):
        config = ByEngine(max_new_tokens=12, seed=3, shaping=shaping)
        trace = collect(model, PROMPTS[0], config)
        assert (
            all(outcome.passed for outcome in check(trace, model))
            and trace.finish_reason == "length"
        )
        assert shaping != GREEDY or trace.token_ids == greedy.token_ids
    stopped = collect(model, PROMPTS[0], ByEngine(stop_strings=(".",), shaping=GREEDY))
    assert stopped.finish_reason == "stop" and stopped.text.endswith(".")
    ended = collect(model, "What is 12 + 7?", ByEngine(max_new_tokens=300, shaping=GREEDY))
    assert ended.finish_reason == "eos"


@pytest.mark.slow
def test_llama_cpp_emits_what_the_model_emits_here(llamacpp: real_servers.Served) -> None:
    _hold(llamacpp[0], PROMPTS[:1], 4)
    _hold_by_engine(llamacpp[0])


# With vLLM there is time for all: `make engines`.
@pytest.mark.slow
def test_llama_cpp_emits_it_over_20_prompts(llamacpp: real_servers.Served) -> None:
    _require_vllm()
    assert len(MANY) == 20
    _hold(llamacpp[0], MANY, 8)


@pytest.mark.slow
def test_llama_cpp_as_it_starts_by_itself_proves_its_runs(tmp_path: Path) -> None:
    _require_vllm()
    draft = load_model("embedded:draft")
    with real_servers.llamacpp(tmp_path, "halves") as (where, _):
        model = load_model(where)
        for prompt in PROMPTS:
            for config, second in (
                (Greedy(max_new_tokens=12), None),
                (Speculative(max_new_tokens=12, seed=1), draft),
                (Speculative(max_new_tokens=12, shaping=GREEDY), draft),
            ):
                trace = collect(model, prompt, config, draft=second)
                seconds = () if second is None else (second,)
                assert [c for c in check(trace, model, *seconds) if not c.passed] == []


def _accepted_by(where: str) -> tuple[int, list[int]]:
    """Let a server with the embedded draft make a greedy run; the drafted tokens, and the accepted
    ones by position."""
    model = load_model(where)
    config = ByEngine(max_new_tokens=40, shaping=GREEDY)
    trace = collect(model, PROMPTS[0], config)
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []
    assert trace.token_ids == collect(local(), PROMPTS[0], Greedy(max_new_tokens=40)).token_ids
    told = told_by(model.last_speculation)
    speculation = speculation_in_a_run(model, PROMPTS[0], config)
    assert told is not None and speculation is not None
    assert (speculation.drafted, speculation.accepted) == (told.drafted, told.accepted)
    accepted = [position.accepted for position in speculation.positions]
    assert sum(accepted) == told.accepted and speculation.drafts == speculation.positions[0].drafted
    return told.drafted, accepted


@pytest.mark.slow
def test_a_speculating_llama_cpp_leaves_no_token_out(tmp_path: Path) -> None:
    if not real_servers.has_llamacpp():
        pytest.skip("llama.cpp's server isn't installed; make engines puts it there")
    with real_servers.llamacpp(tmp_path, draft="embedded:draft") as (where, _):
        drafted, accepted = _accepted_by(where)
    assert 0 < sum(accepted) < drafted and sorted(accepted, reverse=True) == accepted


@pytest.mark.slow
def test_vllm_with_a_draft_model_tells_its_rounds(tmp_path: Path) -> None:
    _require_vllm()
    options = ("--speculative-config", _DRAFTS, "--per-request-spec-decode-metrics", "detailed")
    with real_servers.vllm(tmp_path, *options) as (where, _):
        drafted, accepted = _accepted_by(where)
    assert 0 < sum(accepted) < drafted


@pytest.mark.slow
def test_vllm_emits_what_the_model_emits_here(vllm: real_servers.Served) -> None:
    _hold(vllm[0], MANY, 8)
    _hold_by_engine(vllm[0])


@pytest.mark.slow
def test_vllm_as_it_starts_by_itself_names_20_tokens_and_speculates(tmp_path: Path) -> None:
    _require_vllm()
    options = (
        *("--max-logprobs", "20", "--speculative-config", _SPECULATES),
        *("--per-request-spec-decode-metrics", "detailed", "--reasoning-config", _THINKS),
    )
    with real_servers.vllm(tmp_path, *options) as (where, _):
        model = load_model(where)
        assert model.known == 20
        greedy = collect(model, PROMPTS[0], Greedy(max_new_tokens=12))
        assert greedy.token_ids == collect(local(), PROMPTS[0], Greedy(max_new_tokens=12)).token_ids
        assert all(outcome.passed for outcome in check(greedy, model))
        with pytest.raises(UnknownTokensError, match="set top-k to 19"):
            collect(model, PROMPTS[0], Sampling(shaping=Shaping(temperature=0.8)))
        chat_ids = model.encode_chat([{"role": "user", "content": "What is 17 + 25?"}])
        config = ByEngine(max_new_tokens=120, shaping=GREEDY)
        speculation = speculation_in_a_run(model, chat_ids, config)
        assert speculation is not None and speculation.rounds
        assert (
            sum(server_round.drafted for server_round in speculation.rounds) == speculation.drafted
        )
        assert (
            sum(server_round.accepted for server_round in speculation.rounds)
            == speculation.accepted
        )
        ids = {mark: local().encode(mark)[0] for mark in ("<think>", "</think>")}
        for budget in (2, 6):
            short = ByEngine(max_new_tokens=80, thinking_token_budget=budget, shaping=GREEDY)
            made = list(collect(model, chat_ids, short).token_ids)
            assert made.index(ids["</think>"]) - made.index(ids["<think>"]) - 1 <= budget
