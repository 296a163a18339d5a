"""Diffusion models as ways of an evaluation."""

from __future__ import annotations

from core import Diffusion, Shaping, collect, load_model
from core.decoding.diffusion.canvas import forwards_of
from core.evaluation.plan.asking import ids_for
from core.evaluation.plan.plan_file import read_plan
from core.evaluation.plan.run import run_evaluation
from tests.models.builders import random_noise_model

MODEL = "embedded:diffusion"
YAML = b"""
questions: own:facts
count: 2
metrics: [contains]
ways:
  - name: one a step
    model: embedded:diffusion
    use_chat_template: true
    config: {method: diffusion, max_new_tokens: 24, shaping: {temperature: 0}}
  - name: guided
    model: embedded:diffusion
    use_chat_template: true
    config: {method: diffusion, max_new_tokens: 24, tokens_per_step: 3, remask_per_step: 1,
             cfg_scale: 0.5, shaping: {temperature: 0}}
  - name: noise
    model: noise
    config: {method: diffusion, canvas: noise, max_new_tokens: 8, max_denoising_steps: 3}
"""


def test_ways_of_diffusion_models_have_their_texts_and_forwards() -> None:
    models = {MODEL: load_model(MODEL), "noise": random_noise_model()}
    plan = read_plan(YAML)
    done = run_evaluation(models, plan)
    assert [row.failure for row in done.rows] == [""] * 6
    for row in (row for row in done.rows if row.way != "noise"):
        way, question = plan.way(row.way), plan.question(row.question)
        ids = ids_for(models[MODEL], question, "", True)
        trace = collect(models[MODEL], ids, way.config).require(Diffusion)
        assert row.forwards == forwards_of(trace) and row.tokens == len(trace.token_ids)
        assert row.reply == trace.text.strip()
        assert row.mean_logprob is None and row.reference_tokens == 0
    noise = [row for row in done.rows if row.way == "noise"]
    # The encoder runs once; a canvas takes three steps.
    assert [row.forwards for row in noise] == [4, 4]
    assert any(row.right for row in done.rows if row.way == "one a step")
    assert plan.way("one a step").config.shaping == Shaping(temperature=0.0)
