"""Contrastive decoding of a target and a draft: its formula, runs, proofs and refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from core import (
    ContrastiveDecoding,
    Greedy,
    Sampling,
    Shaping,
    Trace,
    check,
    collect,
    decode,
    load_model,
)
from core.cli.main import main
from core.decoding.autoregressive.branches import branch, branch_each
from core.decoding.check import verdict
from core.decoding.comparison.deciding import ModelStep
from core.decoding.comparison.parting import compare
from core.decoding.comparison.readings import final_log_probs, logits_before
from core.decoding.errors import ConfigError, ModelError
from core.decoding.loop.second import WithDraft
from core.decoding.shaping.stage import SecondLogits
from core.decoding.shaping.step import StepShaper
from core.decoding.unchecked import unchecked_words
from core.traces.data_path.again import record_path
from tests.decoding.checks.forging import failed, forge, with_shaping
from tests.models.builders import random_language_model

PROMPT = "Once upon a time"


@pytest.fixture(scope="module")
def pair():
    return load_model("embedded:target"), load_model("embedded:draft")


def _config(beta: float = 0.5, temperature: float = 1.0, **settings) -> ContrastiveDecoding:
    shaping = Shaping(contrastive_beta=beta, temperature=temperature)
    return ContrastiveDecoding(max_new_tokens=14, seed=3, shaping=shaping, **settings)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("beta", [0.25, 1.0, 5.0])
def test_the_stage_is_the_published_formula(beta: float, alpha: float) -> None:
    generator = torch.Generator().manual_seed(5)
    for size in (6, 4096):
        row, other = (2 * torch.randn(size, generator=generator) for _ in range(2))
        other[1] = -math.inf
        shaper = StepShaper(
            Shaping(contrastive_beta=beta, contrastive_alpha=alpha),
            forwards=lambda *_, other=other: (SecondLogits(other),),
        )
        stage = shaper.distributions(row, [1], 0)[1]
        p, q = row.double().softmax(-1).tolist(), other.double().softmax(-1).tolist()
        weights = {
            token: a * (a / b) ** beta if b else a
            for token, (a, b) in enumerate(zip(p, q, strict=True))
            if a >= alpha * max(p) * (1 - 1e-6)
        }
        ids = range(size) if stage.ids is None else stage.ids.tolist()
        assert {*ids} == {*weights}
        total = sum(weights.values())
        expected = [weights[token] / total for token in ids]
        assert stage.probs.tolist() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_run_is_proved_by_both_models(pair, temperature) -> None:
    model, draft = pair
    trace = collect(model, PROMPT, _config(temperature=temperature), draft=draft)
    assert verdict(check(trace, model, draft)) == "proved"
    assert trace.draft_id == "embedded:draft"
    assert Trace.from_dict(trace.to_dict()) == trace
    step = trace.token_steps[3]
    logits = draft.start([*trace.prompt_ids, *trace.token_ids[:3]]).logits[0].softmax(-1)
    ids = [candidate.token_id for candidate in step.candidates]
    assert step.stages[1].second.probs == pytest.approx(logits[ids].tolist(), abs=1e-5)
    alone = check(trace, model)
    assert all(outcome.passed for outcome in alone)
    assert "draft model" in unchecked_words(trace, alone)
    assert "draft model" not in unchecked_words(trace, check(trace, model, draft))


def test_without_weight_it_is_the_target_s_sampling(pair) -> None:
    model, draft = pair
    trace = collect(model, PROMPT, _config(beta=0.0), draft=draft)
    plain = collect(model, PROMPT, Sampling(max_new_tokens=14, seed=3))
    assert trace.token_ids == plain.token_ids


def test_forgeries_are_found(pair) -> None:
    model, draft = pair
    trace = collect(model, PROMPT, _config(), draft=draft)
    for name, value in (("contrastive_beta", 0.6), ("contrastive_alpha", 0.5)):
        assert "stages_again" in failed(with_shaping(trace, **{name: value}), model, draft)
    stages = trace.token_steps[4].stages
    second = stages[1].second
    for probs in (second.probs[:-1], (0.5, *second.probs[1:])):
        stage = stages[1]._replace(second=second._replace(probs=probs))
        forged = forge(trace, 4, stages=(stages[0], stage, *stages[2:]))
        assert failed(forged, model, draft)
    record = replace(trace.method_record, draft_revision="another")
    assert "draft_fits" in failed(replace(trace, method_record=record), model, draft)
    candidates = tuple(c._replace(logit=c.logit + 1) for c in trace.token_steps[4].candidates)
    assert "forward_again" in failed(forge(trace, 4, candidates=candidates), model)


def test_what_it_can_t_do_is_refused_in_one_sentence(pair) -> None:
    model, _ = pair
    with pytest.raises(ConfigError, match="needs a draft model"):
        collect(model, PROMPT, _config())
    with pytest.raises(ConfigError, match="take contrastive decoding"):
        collect(model, PROMPT, Greedy(shaping=Shaping(contrastive_beta=1.0)))
    with pytest.raises(ModelError, match="vocabulary"):
        collect(model, PROMPT, _config(), draft=random_language_model("llama"))
    for settings in ({"contrastive_beta": -1.0}, {"contrastive_alpha": 0.0}):
        with pytest.raises(ConfigError):
            Shaping(**settings)


def test_its_data_path_is_recorded_with_the_draft(pair) -> None:
    model, draft = pair
    config = replace(_config(), max_new_tokens=4)
    path, again = record_path(
        model, PROMPT, config, 5_000, on_step=bool, should_stop=lambda: False, draft=draft
    )
    assert again.token_ids == collect(model, PROMPT, config, draft=draft).token_ids
    assert any(path.walk())


def test_a_run_refuses_to_go_on_from_a_step(pair) -> None:
    model, draft = pair
    trace = collect(model, PROMPT, _config(), draft=draft)
    for go_on in (lambda: branch(model, trace, 3, [5]), lambda: branch_each(model, trace, 3, [])):
        with pytest.raises(ConfigError, match="can't go on from a step"):
            go_on()


def test_a_run_that_the_drafts_context_window_may_not_hold_is_refused_before_it() -> None:
    model, draft = random_language_model(), random_language_model(max_position_embeddings=16)
    for prompt, tokens in ((5, 14), (20, 1)):
        config = replace(_config(), max_new_tokens=tokens)
        with pytest.raises(ConfigError, match="context window holds 16"):
            next(decode(model, [5] * prompt, config, draft=draft))
    assert next(decode(model, [5] * 2, _config(), draft=draft))


def test_compare_decides_a_step_with_the_draft_and_reads_the_contrasted_distribution(pair) -> None:
    model, draft = pair
    left = collect(model, PROMPT, _config(temperature=0.0), draft=draft)
    shaping = replace(left.config.shaping, contrastive_beta=0.0)
    right = collect(model, PROMPT, replace(left.config, shaping=shaping), draft=draft)
    both = WithDraft(model, draft)
    at = compare(left, right).at
    assert at is not None
    for run, other in ((left, right), (right, left)):
        step = ModelStep(both, run, at)
        assert step.token_under(run.config) == run.token_ids[at]
        assert step.token_under(other.config) == other.token_ids[at]
    with pytest.raises(ConfigError, match="compares with a draft model, and none is given"):
        ModelStep(model, left, at).token_under(left.config)
    drawn = collect(model, PROMPT, _config(), draft=draft)
    rows = logits_before([model], [drawn.prompt_ids], drawn.token_ids)
    for at, ((row,), step) in enumerate(zip(rows, drawn.token_steps, strict=True)):
        final = final_log_probs(both, drawn, row, drawn.token_ids[:at])
        assert float(final[step.token_id].exp()) == pytest.approx(step.chosen.prob, abs=1e-5)


def test_the_compare_command_takes_the_draft(pair, tmp_path, capsys) -> None:
    model, draft = pair
    shaping = Shaping(temperature=0.0)
    runs = [
        collect(model, PROMPT, _config(temperature=0.0), draft=draft),
        collect(model, PROMPT, replace(_config(), shaping=shaping), draft=draft),
    ]
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for run, file in zip(runs, files, strict=True):
        run.save(file)
    # The left run under the right one's weight is contrasted.
    command = ["compare", *reversed(files), "--model", "embedded:target"]
    assert main(command) == 2
    assert "--draft" in capsys.readouterr().err
    assert main([*command, "--draft", "embedded:draft"]) == 1
    assert "contrast weight" in capsys.readouterr().out.lower()
