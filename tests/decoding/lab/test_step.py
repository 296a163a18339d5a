"""One step in the lab: the run's own step again, what top-p's threshold fell on, the same dice."""

from __future__ import annotations

import gc
import pickle
import weakref
from dataclasses import replace

import pytest

from core import Sampling, Shaping, collect, load_model
from core.decoding.config import DRAW_METHODS
from core.decoding.constraints.value import Constraint
from core.decoding.errors import ConfigError
from core.decoding.lab.decision_boundaries import all_boundaries
from core.decoding.lab.series import roll
from core.decoding.lab.step import lab_step, read_step_logits
from core.decoding.shaping.orders import LLAMA_CPP, MLX_LM, TRANSFORMERS, VLLM
from tests.decoding.lab.scenes import probabilities, random_scene
from tests.models.builders import random_language_model


@pytest.mark.parametrize("draw", DRAW_METHODS)
def test_the_step_of_a_run_comes_back_under_its_own_knobs_and_throw(draw) -> None:
    model = random_language_model("llama")
    config = Sampling(max_new_tokens=6, seed=9, shaping=Shaping(top_k=30), draw=draw)
    trace = collect(model, "the small red fox", config)
    for index, step in enumerate(trace.token_steps):
        scene = read_step_logits(model, [*trace.prompt_ids, *trace.token_ids[:index]])
        again = lab_step(scene, config, TRANSFORMERS, index, trace.prompt)
        assert again.step.token_id == step.token_id
        assert again.step.draw.uniform == step.draw.uniform
        assert again.trace.prompt_ids == scene.previous_ids


def test_the_crossing_is_the_token_that_carries_the_sum_to_p() -> None:
    lab = lab_step(probabilities(0.4, 0.3, 0.2, 0.1), Sampling(shaping=Shaping(top_p=0.65)))
    assert lab.crossing.candidate.token_id == 1
    assert lab.crossing.before == pytest.approx(0.4, abs=1e-6)
    assert lab.crossing.after == pytest.approx(0.7, abs=1e-6)
    assert lab.crossing.probs == pytest.approx((0.3, 3 / 7, 3 / 7), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("order", [TRANSFORMERS, LLAMA_CPP], ids=lambda order: order.key)
def test_p_lies_between_the_mass_before_the_crossing_and_with_it(seed, order) -> None:
    shaping = Shaping(temperature=1.4, top_k=50, top_p=0.7)
    lab = lab_step(random_scene(500, seed), Sampling(shaping=shaping), order)
    assert lab.crossing.before < 0.7 + 1e-5 and lab.crossing.after > 0.7 - 1e-5
    assert lab.crossing.candidate.removed_by is None


def test_without_top_p_there_is_no_crossing() -> None:
    assert lab_step(random_scene(), Sampling()).crossing is None


@pytest.mark.parametrize("draw", DRAW_METHODS)
def test_the_dice_stay_when_a_knob_moves_and_change_with_the_throw(draw) -> None:
    scene, config = random_scene(), Sampling(seed=3, draw=draw)
    open_step, cut_step = (
        lab_step(scene, config),
        lab_step(scene, replace(config, shaping=Shaping(top_k=3))),
    )
    assert open_step.step.draw.uniform == cut_step.step.draw.uniform
    assert open_step.raw_pick.token_id == cut_step.raw_pick.token_id == open_step.step.token_id
    is_kept = open_step.raw_pick.rank <= 3
    renewed = {"prob": cut_step.raw_pick.prob, "removed_by": None if is_kept else "top_k"}
    assert cut_step.raw_pick == open_step.raw_pick._replace(**renewed)
    assert len({lab_step(scene, config, number=throw).step.token_id for throw in range(12)}) > 3


def test_temperature_0_draws_nothing() -> None:
    lab = lab_step(probabilities(0.2, 0.5, 0.3), Sampling(shaping=Shaping(temperature=0)))
    assert lab.step.origin == "argmax" and lab.step.draw.method == "argmax"
    assert lab.step.token_id == 1 and lab.step.draw.uniform is None
    assert [stage.name for stage in lab.step.stages] == ["raw", "argmax", "final"]


def test_a_scene_outlives_its_model_and_still_names_tokens() -> None:
    model = random_language_model("llama")
    scene, names = read_step_logits(model, [5, 6, 7]), [model.token_text(at) for at in range(20)]
    weights = weakref.ref(model.hf_model)
    lab = lab_step(scene, Sampling())
    del model
    gc.collect()
    assert weights() is None
    assert [scene.model.token_text(at) for at in range(20)] == names
    assert lab_step(scene, Sampling()) == lab


@pytest.fixture(scope="module")
def embedded():
    return load_model("embedded:target")


CONSTRAINTS = [
    Constraint.of_choices(["the small red fox", "the dog"]),
    Constraint("regex", "[a-z ]{5,30}"),
    Constraint("json", '{"type": "array", "items": {"enum": ["a", "the"]}}'),
]


@pytest.mark.parametrize("order", [TRANSFORMERS, VLLM, LLAMA_CPP], ids=lambda order: order.key)
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=lambda constraint: constraint.kind)
def test_a_constraint_goes_on_from_the_text_before_the_step(embedded, constraint, order) -> None:
    config = Sampling(max_new_tokens=6, seed=4, shaping=Shaping(constraint=constraint))
    trace = collect(embedded, "Once upon a time", config)
    assert len(trace.token_steps) > 1
    for index, step in enumerate(trace.token_steps):
        before = [*trace.prompt_ids, *trace.token_ids[:index]]
        scene = read_step_logits(embedded, before, index, constraint=constraint)
        again = lab_step(scene, config, order, index, trace.prompt).step
        assert again.token_id == step.token_id
        stage, run_stage = again.stages[1], step.stages[1]
        assert stage.name == run_stage.name == "constraint"
        assert stage.kept == run_stage.kept
        assert stage.removed_mass == pytest.approx(run_stage.removed_mass, abs=1e-5)


def test_a_library_without_a_constraint_leaves_it_out_and_says_so(embedded) -> None:
    ids, rule = embedded.encode("Once upon a time"), CONSTRAINTS[0]
    scene = read_step_logits(embedded, ids, 0, constraint=rule)
    config = Sampling(shaping=Shaping(constraint=rule))
    lab = lab_step(scene, config, MLX_LM)
    assert lab.skipped == ("constraint",)
    assert [stage.name for stage in lab.step.stages] == ["raw", "final"]
    mirostat = replace(config, shaping=replace(config.shaping, mirostat=2, top_k=5))
    names = [stage.name for stage in lab_step(scene, mirostat, LLAMA_CPP).step.stages]
    assert names == ["raw", "constraint", "mirostat", "final"]


def test_every_value_of_a_knob_is_tried_under_the_constraint(embedded) -> None:
    config = Sampling(seed=1, shaping=Shaping(constraint=Constraint.of_choices([" dog", " cat"])))
    ids, rule = embedded.encode("She saw a"), config.shaping.constraint
    scene = read_step_logits(embedded, ids, 0, constraint=rule)
    ranges = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0)}
    step = lab_step(scene, config).step
    allowed = {c.token_id for c in step.candidates if c.removed_by is None}
    assert step.stages[1].kept < 10
    for flips in all_boundaries(scene, config, TRANSFORMERS, 0, ranges):
        assert {piece.token_id for piece in flips.pieces} <= allowed
    rolls = roll(scene, config, TRANSFORMERS, 0, 200)
    assert sum(bin_.tokens for bin_ in rolls.bins) == step.stages[1].kept


def test_a_step_s_grammar_goes_between_processes_without_the_model() -> None:
    model = random_language_model("llama")
    rule = CONSTRAINTS[1]
    scene = read_step_logits(model, [5, 6, 7], 0, constraint=rule)
    config = Sampling(shaping=Shaping(constraint=rule))
    expected = lab_step(scene, config)
    weights = weakref.ref(model.hf_model)
    del model
    gc.collect()
    assert weights() is None
    again = scene._replace(grammar=pickle.loads(pickle.dumps(scene.grammar)))
    assert lab_step(again, config) == expected
    with pytest.raises(ConfigError, match="was read with it"):
        lab_step(scene._replace(grammar=None), config)
