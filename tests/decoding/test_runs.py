"""Runs by arithmetic: a scripted model says what the probabilities are."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch

from core import (
    ConfigError,
    DecodingError,
    Greedy,
    PromptError,
    PromptStep,
    Sampling,
    Shaping,
    check,
    collect,
    decode,
)
from core.decoding.autoregressive import engine
from core.decoding.shaping.draws import draw
from core.models.scripted import END, ScriptedModel

# ids: 0 <end>, 1 the, 2 cat, 3 dog, 4 sat, 5 ran, 6 home, 7 .
SCRIPT = {
    (): [0.0, 0.0, 0.5, 0.3, 0.1, 0.05, 0.05, 0.0],
    (2,): [0.0, 0.0, 0.0, 0.0, 0.6, 0.4, 0.0, 0.0],
    (3,): [0.0, 0.0, 0.0, 0.0, 0.2, 0.8, 0.0, 0.0],
    (4,): [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9],
    (5,): [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    (6,): [0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.7],
    (7,): [0.9, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
}


def _model(**options) -> ScriptedModel:
    return ScriptedModel(SCRIPT, **options)


def test_greedy_follows_the_most_probable_token_to_the_end() -> None:
    trace = collect(_model(), "the", Greedy(max_new_tokens=10))
    assert trace.token_ids == (2, 4, 7, 0)
    assert trace.text == " cat sat."
    assert trace.finish_reason == "eos"
    assert [step.origin for step in trace.token_steps] == ["argmax"] * 4


def test_a_step_holds_the_model_s_own_numbers() -> None:
    step = collect(_model(), "the", Greedy(max_new_tokens=1)).token_steps[0]
    assert [c.token_id for c in step.candidates] == [2, 3, 4, 5, 6]
    assert [c.rank for c in step.candidates] == [1, 2, 3, 4, 5]
    assert [c.raw_prob for c in step.candidates] == pytest.approx([0.5, 0.3, 0.1, 0.05, 0.05])
    assert [c.prob for c in step.candidates] == [1.0, 0, 0, 0, 0]
    assert [c.removed_by for c in step.candidates] == [None, *["argmax"] * 4]
    exact = -sum(p * math.log(p) for p in (0.5, 0.3, 0.1, 0.05, 0.05))
    assert step.entropy == pytest.approx(exact, abs=1e-6)
    assert step.surprisal == pytest.approx(math.log(2), abs=1e-6)
    assert step.tail_mass == pytest.approx(0, abs=1e-6)
    assert step.chosen.token_id == 2


def test_a_drawn_token_beyond_the_candidates_is_kept_with_its_rank() -> None:
    for seed in range(60):
        config = Sampling(max_new_tokens=1, seed=seed, top_candidates=1)
        step = collect(_model(), "the", config).token_steps[0]
        if step.token_id == 6:
            assert [c.rank for c in step.candidates] == [1, 5]
            assert step.chosen.prob == pytest.approx(0.05)
            assert step.tail_mass == pytest.approx(0.45)
            return
    pytest.fail("no seed drew the rare token")


def test_the_prompt_is_read_at_every_position() -> None:
    step = collect(_model(), "the cat sat", Greedy(max_new_tokens=1)).prompt_step
    assert [p.text for p in step.positions] == ["the", " cat", " sat"]
    assert [p.next_token_id for p in step.positions] == [2, 4, None]
    assert step.positions[0].next_prob == pytest.approx(0.5)
    assert step.positions[1].next_prob == pytest.approx(0.6)
    assert [p.next_rank for p in step.positions] == [1, 1, None]
    assert [c.token_id for c in step.positions[2].candidates] == [7, 0]


def test_temperature_0_is_greedy_and_says_so() -> None:
    config = Sampling(max_new_tokens=10, seed=3, shaping=Shaping(temperature=0, top_k=2))
    trace = collect(_model(), "the", config)
    assert trace.token_ids == (2, 4, 7, 0)
    assert trace.token_steps[0].origin == "argmax"
    assert "Temperature 0 means greedy" in trace.notes[0].words


def test_the_same_seed_repeats_and_another_differs() -> None:
    def run(seed):
        return collect(_model(), "the", Sampling(max_new_tokens=8, seed=seed)).token_ids

    assert run(1) == run(1)
    assert len({run(seed) for seed in range(20)}) > 1


def test_removed_candidates_name_the_stage_that_removed_them() -> None:
    shaping = Shaping(top_k=4, top_p=0.75, repetition_penalty=1.2)
    step = collect(_model(), "the", Sampling(max_new_tokens=1, shaping=shaping)).token_steps[0]
    removed = {c.token_id: c.removed_by for c in step.candidates}
    assert removed[2] is None
    assert removed[4] == "top_p"
    assert removed[6] is None or removed[6] in ("top_k", "top_p")
    assert [s.name for s in step.stages] == [
        "raw",
        "repetition_penalty",
        "top_k",
        "top_p",
        "final",
    ]


def test_length_ends_a_run_and_min_new_tokens_holds_the_end_back() -> None:
    assert collect(_model(), "the", Greedy(max_new_tokens=2)).finish_reason == "length"
    trace = collect(_model(), "the", Greedy(max_new_tokens=6, min_new_tokens=6))
    assert len(trace.token_ids) == 6
    assert 0 not in trace.token_ids[:5]
    fourth = trace.token_steps[3]
    assert {c.token_id: c.removed_by for c in fourth.candidates}[0] == "min_new_tokens"


def test_every_end_of_sequence_id_ends_a_run_unless_it_is_held_back() -> None:
    model = _model()
    model.eos_ids = frozenset({0, 4})
    assert collect(model, "the", Greedy()).token_ids == (2, 4)
    step = collect(model, "the cat", Greedy(max_new_tokens=3, min_new_tokens=2)).token_steps[0]
    assert {c.token_id: c.removed_by for c in step.candidates}[4] == "min_new_tokens"
    assert step.token_id == 5


@pytest.mark.parametrize(
    ("stop", "text"),
    [("sat", " cat sat"), ("at s", " cat sat"), ("t.", " cat sat."), ("cat", " cat")],
)
def test_a_stop_string_ends_a_run_also_across_tokens(stop: str, text: str) -> None:
    trace = collect(_model(), "the", Greedy(stop_strings=(stop,)))
    assert trace.text == text
    assert trace.finish_reason == "stop"


def test_a_stop_string_in_the_prompt_does_not_end_a_run() -> None:
    assert collect(_model(), "the cat", Greedy(stop_strings=("cat",))).finish_reason == "eos"


def test_characters_that_span_tokens_come_out_whole() -> None:
    smile = "☺".encode()
    tokens = [END, "a", smile[:1], smile[1:2], smile[2:], "!"]
    rows = {(i,): [float(i + 1 == j) for j in range(6)] for i in range(1, 5)}
    model = ScriptedModel({**rows, (5,): [1.0, 0, 0, 0, 0, 0]}, tokens=tokens)
    trace = collect(model, "a", Greedy())
    assert [step.text for step in trace.token_steps] == ["", "", "☺", "!", ""]
    assert trace.text == "☺!"
    assert trace.token_steps[0].chosen.text == "<E2>"
    cut = collect(model, "a", Greedy(max_new_tokens=2))
    assert cut.text == "\ufffd"
    assert all(outcome.passed for outcome in check(cut, model))
    assert collect(model, "a", Greedy(stop_strings=("☺!",))).finish_reason == "stop"


def test_steps_come_one_by_one_the_prompt_first() -> None:
    running = decode(_model(), "the", Greedy(max_new_tokens=3))
    assert isinstance(next(running), PromptStep)
    assert next(running).finish_reason is None
    assert next(running).index == 1
    assert next(running).finish_reason == "length"
    assert list(running) == []


def test_should_stop_ends_a_run_at_the_next_step() -> None:
    seen = []
    trace = collect(
        _model(), "the", Greedy(), on_step=seen.append, should_stop=lambda: len(seen) == 2
    )
    assert trace.finish_reason == "cancelled"
    assert trace.token_ids == (2,)
    assert trace.text == " cat"
    assert collect(_model(), "the", Greedy(), should_stop=lambda: True).steps == ()
    seen.clear()
    trace = collect(
        _model(), "the", Greedy(), on_step=seen.append, should_stop=lambda: len(seen) >= 5
    )
    assert trace.finish_reason == "eos", "it had ended by itself"


def test_the_context_window_ends_a_run_with_length() -> None:
    trace = collect(_model(context_window=3), "the", Greedy(max_new_tokens=9))
    assert trace.token_ids == (2, 4)
    assert trace.finish_reason == "length"


def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers() -> None:
    with pytest.raises(PromptError, match=r"has 3 tokens.*window holds 3.*at most 2"):
        decode(_model(context_window=3), "the cat sat", Greedy())


@pytest.mark.parametrize(
    "changes",
    [
        {"max_new_tokens": 0},
        {"max_new_tokens": 2.5},
        {"min_new_tokens": 50},
        {"stop_strings": "abc"},
        {"stop_strings": ("",)},
        {"stop_strings": ("x",) * 65},
        {"stop_strings": ("x" * 1001,)},
        {"top_candidates": 0},
        {"seed": -1},
        {"draw": "coin"},
        {"shaping": None},
        {"use_cache": "yes"},
    ],
)
def test_a_bad_setting_names_its_field(changes) -> None:
    with pytest.raises(ConfigError, match=next(iter(changes))):
        Sampling(**changes)


def test_stop_strings_may_be_64_of_1000_characters() -> None:
    assert len(Sampling(stop_strings=("x" * 1000,) * 64).stop_strings) == 64
    with pytest.raises(ConfigError, match="at most 64 strings, got 65"):
        Sampling(stop_strings=("x",) * 65)
    with pytest.raises(ConfigError, match="at most 1,000 characters, got one of 1,001"):
        Sampling(stop_strings=("x" * 1001,))


def test_a_model_that_rules_tokens_out_makes_a_trace_that_json_can_hold() -> None:
    trace = collect(_model(), "the cat", Sampling(max_new_tokens=4, draw="gumbel"))
    assert json.loads(json.dumps(trace.to_dict(), allow_nan=False))["text"] == trace.text


def test_ranks_go_by_id_among_equal_tokens_also_beyond_the_candidates() -> None:
    logits = torch.zeros(300)
    logits[5] = 1
    model = ScriptedModel(
        lambda _: logits, tokens=[f"t{i}" for i in range(300)], given="logits", eos=None
    )
    config = Sampling(max_new_tokens=1, seed=2, top_candidates=4)
    step = collect(model, [5, 5], config).token_steps[0]
    assert [c.token_id for c in step.candidates[:4]] == [5, 0, 1, 2]
    assert step.chosen.rank == (step.token_id + 2 if step.token_id < 5 else step.token_id + 1)
    position = collect(model, [5, 1, 0], config).prompt_step.positions
    assert [p.next_rank for p in position] == [3, 2, None]
    assert [c.rank for c in position[0].candidates] == [1, 2, 3, 4, 5]


def test_entropy_does_not_lose_digits_to_large_logits() -> None:
    logits = torch.tensor([3000.0, 2996.0, 2990.0])
    model = ScriptedModel(lambda _: logits, tokens=["a", "b", "c"], given="logits", eos=None)
    step = collect(model, "a", Greedy(max_new_tokens=1)).token_steps[0]
    exact = torch.special.entr(torch.softmax(logits.double(), -1)).sum().item()
    assert step.entropy == pytest.approx(exact, rel=1e-4)


def test_a_prompt_position_that_is_no_distribution_is_one_clear_error() -> None:
    rows = {(1,): [float("nan")] * 8, (): [0.0] * 8}
    with pytest.raises(DecodingError, match="no distribution"):
        list(decode(ScriptedModel(rows, given="logits"), "the cat", Greedy()))


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("", "prompt is empty"),
        ([], "prompt is empty"),
        ([1, 99], "Token id 99 is outside"),
        *(
            (wrong_prompt, "text or a list of token ids")
            for wrong_prompt in ([1.5], [True], None, ["a"])
        ),
        (torch.tensor([1, 2]), "text or a list of token ids"),
    ],
)
def test_what_is_no_prompt_is_refused(prompt, words) -> None:
    with pytest.raises(PromptError, match=words):
        decode(_model(), prompt, Greedy())


def test_timings_tell_the_first_token_from_the_rest() -> None:
    def slow(_):
        until = time.perf_counter() + 0.002
        while time.perf_counter() < until:
            pass

    trace = collect(_model(), "the", Greedy(max_new_tokens=4), on_step=slow)
    timings = trace.timings
    assert timings.total >= timings.prefill + timings.decode + 4 * 0.002
    assert trace.tokens_per_second == pytest.approx(3 / timings.decode)
    forwards = [step.seconds.forward for step in trace.token_steps]
    assert forwards[0] == 0 < min(forwards[1:])
    assert timings.prefill >= trace.prompt_step.seconds > 0


def test_a_slow_draw_is_no_time_of_the_shaping(monkeypatch) -> None:
    drawn = Mock(side_effect=lambda *given: time.sleep(0.02) or draw(*given))
    monkeypatch.setattr(engine, "draw", drawn)
    seconds = collect(_model(), "the", Sampling(max_new_tokens=1)).token_steps[0].seconds
    assert seconds.draw >= 0.02 > seconds.shaping


def test_a_trace_is_not_written_with_numbers_that_json_lacks(tmp_path) -> None:
    trace = collect(_model(), "the", Greedy(max_new_tokens=2))
    with pytest.raises(ValueError, match="JSON compliant"):
        replace(trace, timings=trace.timings._replace(total=math.nan)).save(tmp_path / "t.json")
