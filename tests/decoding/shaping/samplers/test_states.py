"""Mirostat and adaptive-p: against llama.cpp's samplers, in runs, in proofs, and from any step."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from core import (
    BeamSearch,
    ConfigError,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    check,
    collect,
    load_model,
    read_trace,
)
from core.decoding.autoregressive.branches import branch, branch_each
from core.decoding.autoregressive.engine import Picker
from core.decoding.autoregressive.reshape import logits_at, reshape_step
from core.decoding.check import verdict
from core.decoding.diffusion.config import Diffusion
from core.decoding.lab.step import lab_step, read_step_logits, skipped_processors
from core.decoding.shaping.functions.states import adaptive_target, mirostat
from core.decoding.shaping.orders import LLAMA_CPP, MLX_LM, TRANSFORMERS
from core.decoding.shaping.settings.states import next_adaptive, next_mirostat
from core.decoding.shaping.stage import StepContext
from tests.decoding.shaping.samplers.llama_cpp import Sampler, needs_llama_cpp
from tests.depth import slow

GENERATOR = torch.Generator().manual_seed(7)
ROWS = [
    [2.0, 1.0, 0.0, -1.0],
    [1.0, -math.inf, 4.0, -math.inf, 2.0],
    [40.0, 0.0, -20.0],
    *((scale * torch.randn(600, generator=GENERATOR)).tolist() for scale in (0.5, 1, 2, 3, 4, 6)),
]
TAUS, ETAS = [0.5, 2.0, 5.0], [0.1, 0.9]


def _theirs(version: int, tau: float, eta: float, size: int) -> Sampler:
    if version == 2:
        return Sampler("mirostat_v2", "uff", 1, tau, eta)
    return Sampler("mirostat", "iuffi", size, 1, tau, eta, 100)


@needs_llama_cpp
@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("version", [1, 2])
def test_mirostat_keeps_at_every_step_what_llama_cpp_s_keeps(version, tau, eta) -> None:
    """One sampler takes all rows as one run; its own draws move both states."""
    value, mu = (version, tau, eta), 2 * tau
    for size in (4, 5, 3, 600):
        theirs = _theirs(version, tau, eta, size)
        mu = 2 * tau
        for row in [row for row in ROWS if len(row) == size] * 2:
            applied = theirs.apply(row)
            ours = mirostat(torch.tensor(row), value, StepContext(states={"mirostat": mu}))
            assert {*(ours > -math.inf).nonzero().flatten().tolist()} == {*applied.probs}, mu
            probs = ours.softmax(dim=-1)
            left = torch.tensor([*applied.probs.values()])
            torch.testing.assert_close(probs[[*applied.probs]], left, rtol=1e-4, atol=1e-7)
            assert applied.drawn is not None
            mu = next_mirostat(value, mu, -math.log2(probs[applied.drawn].item()))


@needs_llama_cpp
@pytest.mark.parametrize("decay", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("target", [0.05, 0.4, 0.9, 1.0])
def test_adaptive_p_equals_llama_cpp_s_at_every_step(target: float, decay: float) -> None:
    theirs, value, average = Sampler("adaptive_p", "ffu", target, decay, 1), (target, decay), target
    for row in ROWS * 2:
        applied = theirs.apply(row)
        logits = torch.tensor(row)
        context = StepContext(states={"adaptive_target": average})
        ours = adaptive_target(logits, value, context)
        left = torch.tensor([*applied.probs.values()])
        probs = ours.softmax(dim=-1)[[*applied.probs]]
        torch.testing.assert_close(probs, left, rtol=2e-4, atol=1e-6)
        assert applied.drawn is not None
        theirs.accept(applied.drawn)
        before = logits.softmax(dim=-1)[applied.drawn].item()
        average = next_adaptive(value, average, before)


@pytest.mark.parametrize("mu", [-1e30, -3.0, 0.0, 1e-9, 700.0, 3e38])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("row", [*ROWS[:4], [0.0] * 50, [1.0], [-math.inf, 2.0], [0.0, -1e30]])
def test_the_likeliest_token_stays_whatever_the_state_is(row, version, mu) -> None:
    context = StepContext(states={"mirostat": mu})
    ours = mirostat(torch.tensor(row), (version, 5.0, 0.1), context)
    assert ours[max(range(len(row)), key=row.__getitem__)] > -math.inf
    assert not ours.isnan().any()


SHAPINGS = {
    "mirostat 1": Shaping(mirostat=1, mirostat_tau=3.0, mirostat_eta=0.3),
    "mirostat 2": Shaping(mirostat=2, mirostat_tau=3.0, mirostat_eta=0.3, temperature=1.3),
    "adaptive-p": Shaping(adaptive_target=0.3, min_p=0.02, adaptive_decay=0.7),
}
PROMPT = "Once upon a time"
on = pytest.mark.parametrize("shaping", SHAPINGS.values(), ids=SHAPINGS)


def _run(shaping: Shaping, **more) -> Trace:
    config = Sampling(shaping=shaping, max_new_tokens=16, seed=3, **more)
    return collect(load_model("embedded:target"), PROMPT, config)


@on
@pytest.mark.parametrize("draw", ["inverse_cdf", slow("gumbel"), slow("multinomial")])
def test_a_run_is_proved_by_the_model_and_by_its_file(shaping, draw, tmp_path) -> None:
    trace, model = _run(shaping, draw=draw), load_model("embedded:target")
    assert verdict(check(trace, model)) == "proved"
    trace.save(tmp_path / "run.json")
    assert read_trace(tmp_path / "run.json").token_steps[5].states == trace.token_steps[5].states
    assert verdict(check(read_trace(tmp_path / "run.json"), model)) == "proved"


@on
def test_the_state_follows_from_the_steps_before(shaping: Shaping) -> None:
    trace = _run(shaping)
    (name,) = trace.token_steps[0].states
    states = [step.states[name] for step in trace.token_steps]
    assert states[0] == {"mirostat": 6.0, "adaptive_target": 0.3}[name]
    for step, state, after in zip(trace.token_steps, states, states[1:], strict=False):
        at = next(at for at, stage in enumerate(step.stages) if stage.name == name)
        place = step.candidates.index(step.chosen)
        before, left = (step.stages[at - 1].probs[place], step.stages[at].probs[place])
        expected = (
            state - 0.3 * (-math.log2(left) - 3.0)
            if name == "mirostat"
            else 0.7 * state + 0.3 * before
        )
        assert after == pytest.approx(expected, rel=1e-9)


@on
def test_a_forged_state_is_found_without_the_model(shaping: Shaping) -> None:
    trace = _run(shaping)
    (name,) = trace.token_steps[0].states
    for at in (0, 4, 15):
        for forge in (lambda s: s + 1e-4, lambda s: -s, lambda _: None, lambda _: 3e38):
            step = trace.token_steps[at]
            stages = tuple(
                s._replace(state=forge(s.state)) if s.name == name else s for s in step.stages
            )
            steps = list(trace.steps)
            steps[steps.index(step)] = replace(step, stages=stages)
            assert verdict(check(replace(trace, steps=tuple(steps)))) == "failed", (at, stages)


@on
def test_a_whole_forged_course_of_states_is_found_by_the_model(shaping: Shaping) -> None:
    """A file that says another tau, or another target, of the same tokens."""
    trace, model = _run(shaping), load_model("embedded:target")
    others = {"mirostat_tau": 2.5} if shaping.mirostat else {"adaptive_target": 0.35}
    forged = replace(trace, config=replace(trace.config, shaping=replace(shaping, **others)))
    assert verdict(check(forged, model)) == "failed"


@on
def test_a_step_and_a_branch_go_on_from_the_recorded_state(shaping: Shaping) -> None:
    trace, model = _run(shaping), load_model("embedded:target")
    for at in (1, 7, 15):
        ids = [*trace.prompt_ids, *trace.token_ids[:at]]
        step, logits = trace.token_steps[at], logits_at(model, trace, at)
        again = reshape_step(model, logits, ids, trace.config, at, step.states)
        assert again.token_id == step.token_id and again.states == step.states
    other = trace.token_steps[6].candidates[1].token_id
    for made in (
        branch(model, trace, 6, [other]),
        *branch_each(model, trace, 6, [[other], [trace.token_ids[6]]]),
    ):
        assert verdict(check(made, model)) == "proved"
        assert made.token_steps[6].states == trace.token_steps[6].states
    assert made.token_ids == trace.token_ids


@on
def test_the_lab_shows_the_run_s_step_and_starts_a_prompt_anew(shaping: Shaping) -> None:
    trace, model = _run(shaping), load_model("embedded:target")
    step = trace.token_steps[9]
    ids = [*trace.prompt_ids, *trace.token_ids[:9]]
    read = read_step_logits(model, ids)
    shown = lab_step(read._replace(generated=9, states=step.states), trace.config, number=9)
    assert shown.step.token_id == step.token_id and shown.step.states == step.states
    alone = lab_step(read, trace.config, number=9)
    assert alone.step.states == {**trace.token_steps[0].states}


def test_in_llama_cpp_s_order_mirostat_acts_alone() -> None:
    shaping = Shaping(mirostat=2, top_k=40, temperature=0.8, repetition_penalty=1.2)
    assert skipped_processors(shaping, LLAMA_CPP) == ("repetition_penalty", "top_k")
    assert skipped_processors(shaping, TRANSFORMERS) == ()
    assert "mirostat" in skipped_processors(shaping, MLX_LM)
    assert skipped_processors(replace(shaping, mirostat=0), LLAMA_CPP) == ()


@on
def test_a_method_without_one_sequence_refuses_it_in_one_sentence(shaping: Shaping) -> None:
    for kind in (Speculative, Diffusion):
        with pytest.raises(ConfigError, match=r"^(Mirostat|Adaptive-p) can't act in [^\n]*\.$"):
            kind(shaping=shaping)
    with pytest.raises(ConfigError, match="several paths"):
        BeamSearch(num_beams=2, do_sample=True, shaping=shaping)
    model = load_model("embedded:target")
    greedy = collect(model, PROMPT, Greedy(max_new_tokens=4, shaping=shaping))
    assert greedy.token_ids == collect(model, PROMPT, Greedy(max_new_tokens=4)).token_ids
    assert all(not step.states for step in greedy.token_steps)


@on
def test_forced_tokens_of_thinking_leave_the_state(shaping: Shaping) -> None:
    model = load_model("embedded:target")
    marks = model.think_marks
    config = Reasoning(
        max_new_tokens=30, max_thinking_tokens=8, do_sample=True, seed=2, shaping=shaping,
        think_start=marks.start, think_end=marks.end,
    )  # fmt: skip
    trace = collect(model, "What is 3 + 4?", config)
    assert any(step.origin == "forced" for step in trace.token_steps)
    assert verdict(check(trace, model)) == "proved"


def test_a_picker_without_a_record_moves_its_state_by_take() -> None:
    trace, model = _run(SHAPINGS["mirostat 2"]), load_model("embedded:target")
    picker, ids = Picker(model, trace.config), [*trace.prompt_ids]
    for step in trace.token_steps[:6]:
        picked = picker.pick(step.index, model.start(ids).logits[0], ids)
        assert picked.stages[-1].state == pytest.approx(step.states["mirostat"], abs=1e-4)
        picker.take(picked, step.token_id)
        ids.append(step.token_id)
