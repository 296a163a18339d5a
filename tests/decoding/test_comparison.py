"""The first difference of two runs and its cause: a pair of runs for each cause."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

from core import BeamSearch, Greedy, Sampling, Shaping, Speculative, Trace, collect
from core.decoding.comparison.deciding import ModelStep
from core.decoding.comparison.parting import compare, draws, exchanged
from core.decoding.comparison.readings import read_run
from core.decoding.comparison.words import differences
from core.decoding.record.steps import Candidate, TokenStep
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_language_model, random_model, tiny_tokenizer

PROMPT = [5, 6, 7, 8]
WARM = Sampling(max_new_tokens=16, seed=4, shaping=Shaping(temperature=0.9))


@pytest.fixture(scope="module")
def model() -> TransformersModel:
    return random_language_model("llama")


@pytest.fixture(scope="module")
def left(model) -> Trace:
    return collect(model, PROMPT, WARM)


def _against(left: Trace, model: TransformersModel, right: Trace):
    return compare(left, right, partial(ModelStep, model, left))


def test_the_same_run_has_no_difference(model, left) -> None:
    parting = compare(left, collect(model, PROMPT, WARM))
    assert (parting.at, parting.cause, parting.rounding) == (None, "same", 0.0)


def test_another_bound_ends_a_run_earlier(model, left) -> None:
    right = collect(model, PROMPT, replace(WARM, max_new_tokens=9))
    parting = compare(left, right)
    assert (parting.at, parting.cause) == (9, "length")
    assert [d.name for d in parting.settings] == ["max_new_tokens"]


def test_other_dice_are_named(model, left) -> None:
    parting = compare(left, collect(model, PROMPT, replace(WARM, seed=5)))
    assert parting.cause == "dice"
    assert "seed 4 and seed 5" in parting.reason


def test_of_several_settings_the_deciding_one_is_found_by_exchange(model, left) -> None:
    """The smallest top_k parts the runs; the hardly smaller temperature doesn't."""
    shaping = replace(WARM.shaping, temperature=0.9 - 1e-9, top_k=1)
    right = collect(model, PROMPT, replace(WARM, shaping=shaping))
    parting = _against(left, model, right)
    assert parting.cause == "settings"
    assert "top-k alone decides it" in parting.reason
    assert {d.name for d in parting.settings} == {"temperature", "top_k"}
    at = parting.at
    change = next(d for d in parting.settings if d.name == "top_k")
    again = ModelStep(model, left, at)
    assert again.token_under(exchanged(left.config, change)) == right.token_ids[at]
    assert again.token_under(left.config) == left.token_ids[at]


def test_without_the_model_the_settings_are_only_listed(model, left) -> None:
    right = collect(model, PROMPT, Greedy(max_new_tokens=16))
    parting = compare(left, right)
    assert parting.cause == "settings"
    assert "alone" not in parting.reason
    assert "differ in" not in parting.reason
    assert all(d.words in parting.reason for d in parting.settings if d.name == "method")
    assert parting.settings[0][:3] == ("method", "sampling", "greedy")


def test_a_given_token_is_the_cause(model, left) -> None:
    candidate = next(c for c in left.token_steps[3].candidates if c.token_id != left.token_ids[3])
    right = collect(model, PROMPT, WARM, given=[*left.token_ids[:3], candidate.token_id])
    assert compare(left, right)[:2] == (3, "given")


def test_other_prompts_and_tokenizers_are_told_apart(model, left) -> None:
    right = collect(model, [*PROMPT, 9], WARM)
    assert compare(left, right).cause == "input"
    same_text = replace(right, prompt=left.prompt, rendered_prompt=left.rendered_prompt)
    assert "another tokenizer" in compare(left, same_text).reason


def test_another_model_gives_other_probabilities(left) -> None:
    parting = compare(left, collect(random_language_model("qwen2"), PROMPT, WARM))
    assert parting.cause == "model"
    assert " nats, more than rounding does" in parting.reason


def test_a_near_tie_is_decided_by_rounding(model) -> None:
    """The last row of the head is another row plus a hair: the two tokens tie at every step."""
    network = random_model("llama")
    twin = collect(model, PROMPT, Greedy(max_new_tokens=6)).token_ids[2]
    with torch.no_grad():
        head = network.lm_head.weight
        head[299] = head[twin]
        tied = TransformersModel(network, tiny_tokenizer(), model_id="tied")
        left = collect(tied, PROMPT, Greedy(max_new_tokens=6))
        head[299] = head[twin] * (1 + 1e-6)
        head[twin] = head[twin] * (1 - 1e-6)
        right = collect(tied, PROMPT, Greedy(max_new_tokens=6))
    parting = compare(left, right)
    assert {rival.token_id for rival in parting.rivals} == {twin, 299}
    assert parting.cause == "rounding"
    assert parting.margin <= 2 * parting.rounding


def test_speculation_parts_from_greedy_at_ties_only(model) -> None:
    """A forged end stands for the rounding: where the tokens are far apart, it is no tie."""
    greedy = collect(model, PROMPT, Greedy(max_new_tokens=8))
    quick = collect(
        model, PROMPT, Speculative(max_new_tokens=8, drafter="prompt_lookup",
                                   shaping=Shaping(temperature=0.0))
    )  # fmt: skip
    assert _against(greedy, model, quick).cause == "same"
    token_id = greedy.token_steps[-1].candidates[5].token_id
    forged = replace(quick, token_ids=(*quick.token_ids[:-1], token_id))
    parting = _against(greedy, model, forged)
    assert parting.cause == "settings"
    assert parting.margin == pytest.approx(
        greedy.token_steps[-1].candidates[0].logit - greedy.token_steps[-1].candidates[5].logit,
        abs=1e-4,
    )


def test_other_dice_of_two_speculative_runs_are_named(model) -> None:
    config = Speculative(max_new_tokens=12, drafter="prompt_lookup", shaping=WARM.shaping, seed=4)
    left, right = (collect(model, PROMPT, replace(config, seed=seed)) for seed in (4, 5))
    parting = compare(left, right)
    assert parting.cause == "dice" and "seed 4 and seed 5" in parting.reason
    greedy = replace(config, shaping=Shaping(temperature=0.0))
    assert draws(config) and not draws(greedy) and not draws(Greedy())


def test_a_setting_of_a_drawn_verification_is_not_exchanged_in_a_single_step(model) -> None:
    """A step of the target alone doesn't draw what a verification drew."""
    plain = Speculative(max_new_tokens=16, seed=3, shaping=Shaping(temperature=1.2))
    other = replace(plain, tree_nodes=6, draft_length=2, exit_layer=1)
    draft = random_language_model("llama", seed=2)
    left, right = (collect(model, PROMPT, config, draft=draft) for config in (plain, other))
    parting = _against(left, model, right)
    assert parting.cause == "settings"
    assert parting.reason == "Each of these may have decided it: draft length, tree nodes."
    texts = [[text for step in trace.rounds for text in step.texts] for trace in (left, right)]
    assert [rival.text for rival in parting.rivals] == [own[parting.at] for own in texts]


def test_a_single_setting_that_acts_needs_no_model(model, left) -> None:
    shaping = replace(WARM.shaping, temperature=3.0)
    parting = compare(left, collect(model, PROMPT, replace(WARM, shaping=shaping)))
    assert parting.cause == "settings"
    assert parting.reason.startswith("Only temperature can have decided it")


def test_a_step_without_a_candidate_at_its_rank_is_compared(left) -> None:
    """A file may hold only the chosen token, of a low rank."""
    step = left.token_steps[0]
    only = replace(step, candidates=(step.chosen._replace(rank=9),))
    forged = replace(left, steps=(left.steps[0], only, *left.steps[2:]))
    assert compare(left, forged).cause == "same" == compare(forged, left).cause


def test_a_beam_that_was_read_token_by_token_gives_both_probabilities(model) -> None:
    """A search without single steps records none; no token of the reading counts as forced."""
    greedy = collect(model, PROMPT, Greedy(max_new_tokens=8))
    search = collect(model, PROMPT, BeamSearch(max_new_tokens=8, num_beams=4, length_penalty=0.0))
    read = read_run(model, search)
    assert [step.origin for step in read.token_steps] == ["argmax"] * len(read.token_ids)
    assert not any(step.forced_as for step in read.token_steps)
    assert all(c.right_prob is None for c in compare(greedy, search).rivals)
    parting = compare(greedy, search, read=(greedy, read))
    at = parting.at
    assert parting.cause == "settings" and parting.rounding < 1e-4
    assert parting.rivals[1].right_prob == read.token_steps[at].chosen.raw_prob
    assert parting.rivals[0].right_prob == pytest.approx(greedy.token_steps[at].chosen.raw_prob)


def fainter(step: TokenStep) -> tuple[Candidate, ...]:
    return tuple(c._replace(raw_prob=c.raw_prob * 0.9) for c in step.candidates)


def test_the_number_type_of_a_server_is_said_to_be_a_guess(left) -> None:
    there = replace(left, model_id="vllm:http://host#m", versions={"vLLM": "0.32"})
    assert [d.name for d in differences(left, there)] == ["model", "number type"]
    prompt, *tokens = left.steps
    steps = [prompt, *(replace(step, candidates=fainter(step)) for step in tokens)]
    there = replace(there, steps=tuple(steps))
    parting = compare(left, there)
    assert parting.cause == "same" and " nats, more than rounding does" in parting.reason
    assert "float32 and float32, guessed from the server’s answers" in parting.reason
    assert "unknown number type" in compare(left, replace(there, dtype="")).reason
