"""A batch of reasoning runs: each equals its own run, and a forward serves them all."""

from __future__ import annotations

import pytest

from core import DecodingError, PromptError, Reasoning, Shaping, collect
from core.decoding.config import DRAW_METHODS
from core.decoding.reasoning.batch import BatchRun, reason_in_batch
from core.decoding.reasoning.transcript import pieces_of
from core.models.scripted import ScriptedModel
from tests.evaluation.thinkers import ID, THINKS, TOKENS, following
from tests.models.builders import forward_shapes, random_language_model

MARKS = {"think_start": "<", "think_end": ">", "wait_text": " a"}


def finished(model, runs):
    """The finished runs in order."""
    ended = [run for step in reason_in_batch(model, runs) for run in step]
    assert sorted(run.at for run in ended) == list(range(len(runs)))
    return sorted(ended, key=lambda run: run.at)


def assert_equal_to_own_runs(model, runs) -> None:
    for run, batched in zip(runs, finished(model, runs), strict=True):
        alone = collect(model, run.prompt_ids, run.config)
        assert batched.token_ids == alone.token_ids
        assert batched.pieces == pieces_of(alone.token_steps)
        assert batched.finish_reason == alone.finish_reason
        surprisals = [step.surprisal for step in alone.token_steps]
        assert [-logprob for logprob in batched.logprobs] == pytest.approx(surprisals, abs=1e-4)


@pytest.mark.parametrize("draw", DRAW_METHODS)
@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma3_text"])
def test_prompts_of_other_lengths_budgets_and_seeds_share_a_batch(kind, draw) -> None:
    model = random_language_model(kind)
    prompts = ["the fox", "the small red fox had", "the fox had a hat, and the hat was", "the"]
    shaping = Shaping(temperature=1.2, top_p=0.95)
    runs = [
        BatchRun(
            model.encode(prompts[at % 4]),
            Reasoning(
                max_thinking_tokens=at,
                max_answer_tokens=3 + at % 3,
                do_sample=at % 2 == 0,
                seed=at,
                draw=draw,
                shaping=shaping,
                **MARKS,
            ),
        )
        for at in range(9)
    ]
    assert_equal_to_own_runs(model, runs)


def test_prompts_without_a_common_beginning_and_penalties_and_no_cache() -> None:
    model = random_language_model("llama")
    for use_cache in (True, False):
        config = Reasoning(
            max_thinking_tokens=4,
            max_answer_tokens=4,
            shaping=Shaping(repetition_penalty=1.4),
            min_new_tokens=3,
            use_cache=use_cache,
            **MARKS,
        )
        prompts = ["the fox", "Why? Because", "She said"]
        assert_equal_to_own_runs(model, [BatchRun(model.encode(text), config) for text in prompts])


def test_waits_calls_and_ends_at_other_times_leave_the_others_alone() -> None:
    even = {"a": 0.3, "b": 0.3, "</think>": 0.2, "<call>": 0.2}
    chain = {"<call>": "8", "8": "*", "*": "1", "1": "<result>", "<result>": "0", "</result>": even}
    model = following({**THINKS, **chain, "a": even, "b": even})
    runs = [
        BatchRun(
            [ID["q"]] * (1 + seed % 3),
            Reasoning(
                do_sample=True,
                seed=seed,
                calculator=seed % 2 == 0,
                ignore_end=seed % 3,
                wait_text="Wait,",
                max_thinking_tokens=25,
            ),
        )
        for seed in range(40)
    ]
    assert_equal_to_own_runs(model, runs)


def test_eight_samples_take_the_forwards_of_the_longest_one() -> None:
    model = random_language_model("llama")
    shapes, ids = forward_shapes(model), model.encode("the fox had a hat")
    runs = [
        BatchRun(ids, Reasoning(max_thinking_tokens=20, do_sample=True, seed=seed, **MARKS))
        for seed in range(8)
    ]
    lengths = [len(ended.token_ids) for ended in finished(model, runs)]
    # The prompt's forward gives the first token; the last one is not read again.
    assert len(shapes) == max(lengths)
    for run in runs:
        finished(model, [run])
    assert len(shapes) - max(lengths) == sum(lengths) > 4 * max(lengths)


def test_the_shares_of_time_add_up_and_every_forward_yields() -> None:
    model = random_language_model("llama")
    runs = [
        BatchRun(
            model.encode("the fox"), Reasoning(max_thinking_tokens=n, max_answer_tokens=2, **MARKS)
        )
        for n in (0, 5, 9)
    ]
    steps = list(reason_in_batch(model, runs))
    ended = [run for step in steps for run in step]
    assert len(steps) == max(len(run.token_ids) for run in ended)
    by_place = sorted(ended, key=lambda run: run.at)
    assert 0 < by_place[0].seconds < by_place[1].seconds < by_place[2].seconds


def test_no_runs_give_nothing_and_bad_prompts_are_refused() -> None:
    model = random_language_model("llama")
    assert list(reason_in_batch(model, [])) == []
    for ids in ([], [9999], [1] * 256):
        with pytest.raises(PromptError):
            list(reason_in_batch(model, [BatchRun([1], Reasoning()), BatchRun(ids, Reasoning())]))


def test_logits_that_are_no_distribution_are_named() -> None:
    nothing = ScriptedModel(
        lambda _: [float("nan")] * 3, tokens=["<end>", "<", ">"], given="logits"
    )
    with pytest.raises(DecodingError, match="no distribution"):
        list(reason_in_batch(nothing, [BatchRun([1], Reasoning(**{**MARKS, "wait_text": "<"}))]))


def test_a_forced_token_that_the_model_rules_out_stops_the_batch_as_it_stops_a_run() -> None:
    certain = [1.0] + [0.0] * (len(TOKENS) - 1)
    model = ScriptedModel({(): certain}, tokens=TOKENS)
    for run in (collect, lambda *given: list(reason_in_batch(given[0], [BatchRun(*given[1:])]))):
        with pytest.raises(DecodingError, match="rules out the token '<think>'"):
            run(model, [ID["q"]], Reasoning())
