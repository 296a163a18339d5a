"""DoLa: the published formula by arithmetic, its layers, runs, proofs and refusals."""

from __future__ import annotations

import math

import pytest
import torch

from core import BeamSearch, Greedy, Sampling, Shaping, Trace, check, collect, load_model
from core.decoding.check import verdict
from core.decoding.errors import ConfigError
from core.decoding.loop.second import candidate_layers
from core.decoding.shaping.functions.guidance import jensen_shannon
from core.decoding.shaping.stage import SecondLogits
from core.decoding.shaping.step import StepShaper
from tests.decoding.checks.forging import failed, forge, with_shaping
from tests.models.builders import random_language_model

PROMPT = "Once upon a time"


@pytest.fixture(scope="module")
def model():
    return load_model("embedded:target")


def _divergence(p: list[float], q: list[float]) -> float:
    """The Jensen-Shannon divergence, written out."""

    def relative(a: list[float], b: list[float]) -> float:
        return sum(x * math.log(x / y) for x, y in zip(a, b, strict=True) if x > 0)

    middle = [(x + y) / 2 for x, y in zip(p, q, strict=True)]
    return (relative(p, middle) + relative(q, middle)) / 2


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5, 1.0])
def test_the_stage_is_the_published_formula(alpha: float) -> None:
    generator = torch.Generator().manual_seed(5)
    for size in (7, 300, 5000):
        row, *others = (3 * torch.randn(size, generator=generator) for _ in range(4))
        layers = tuple(SecondLogits(other, at) for at, other in enumerate(others))
        probs = row.double().softmax(-1).tolist()
        second = [other.double().softmax(-1).tolist() for other in others]
        divergences = [_divergence(probs, q) for q in second]
        for other, expected in zip(others, divergences, strict=True):
            assert jensen_shannon(row, other) == pytest.approx(expected, abs=1e-9)
        layer = divergences.index(max(divergences))
        shaper = StepShaper(
            Shaping(dola_layers="0,1,2", dola_alpha=alpha),
            forwards=lambda *_, layers=layers: layers,
        )
        stage = shaper.distributions(row, [1], 0)[1]
        assert stage.record.layer == layer
        weights = {
            token: p / q
            for token, (p, q) in enumerate(zip(probs, second[layer], strict=True))
            if p >= alpha * max(probs)
        }
        total = sum(weights.values())
        ids = range(size) if stage.ids is None else stage.ids.tolist()
        assert {*ids} == {*weights}
        expected = [weights[token] / total for token in ids]
        assert stage.probs.tolist() == pytest.approx(expected, abs=1e-5)
        removed = 1 - sum(probs[token] for token in weights)
        assert stage.removed_mass == pytest.approx(removed, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "count", "tied", "layers"),
    [
        ("high", 6, True, (3, 5)),
        ("low", 6, True, (2,)),
        ("low", 6, False, (0, 2)),
        ("low", 32, False, (0, 2, 4, 6, 8, 10, 12, 14)),
        ("high", 80, False, tuple(range(60, 80, 2))),
        ("low", 2, True, (1,)),
        ("4,1,9", 6, False, (1, 4)),
        ("9", 6, False, ()),
    ],
)
def test_the_layers_are_those_of_transformers(text, count, tied, layers) -> None:
    assert candidate_layers(text, count, tied) == layers


def test_a_layer_s_logits_are_the_head_s_without_the_norm(model) -> None:
    ids = model.encode(PROMPT)
    context = model.layers.start(ids, (0, 3, 5))
    context.extend([7])
    with torch.inference_mode():
        output = model.hf_model(torch.tensor([[*ids, 7]]), output_hidden_states=True)
        head = model.hf_model.get_output_embeddings()
        expected = [head(output.hidden_states[layer][0, -1]) for layer in (0, 3, 5)]
    assert torch.allclose(context.logits[0], torch.cat(expected), atol=1e-3)


@pytest.mark.parametrize("layers", ["high", "low", "1,4"])
def test_a_run_is_proved_and_the_same_in_a_file(model, layers) -> None:
    shaping = Shaping(dola_layers=layers)
    for config in (
        Greedy(max_new_tokens=16, shaping=shaping),
        Sampling(max_new_tokens=16, seed=3, shaping=shaping),
        Sampling(max_new_tokens=16, seed=3, use_cache=False, draw="gumbel", shaping=shaping),
    ):
        trace = collect(model, PROMPT, config)
        assert verdict(check(trace, model)) == "proved"
        assert Trace.from_dict(trace.to_dict()) == trace
        allowed = candidate_layers(layers, model.layers.count, model.layers.ties_embeddings)
        assert {step.stages[1].second.layer for step in trace.token_steps} <= {*allowed}


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gpt2"])
def test_other_architectures_are_proved_too(kind) -> None:
    model = random_language_model(kind)
    config = Sampling(max_new_tokens=8, seed=1, shaping=Shaping(dola_layers="high", top_p=0.9))
    assert verdict(check(collect(model, "the fox had", config), model)) == "proved"


@pytest.mark.parametrize("field", ["layer", "probs", "none"])
def test_a_forged_layer_is_found(model, field) -> None:
    trace = collect(model, PROMPT, Greedy(max_new_tokens=8, shaping=Shaping(dola_layers="high")))
    stages = trace.token_steps[4].stages
    second = stages[1].second
    changes = (
        {"layer": 8 - second.layer} if field == "layer" else {"probs": (0.5,) * len(second.probs)}
    )
    stage = stages[1]._replace(second=None if field == "none" else second._replace(**changes))
    assert failed(forge(trace, 4, stages=(stages[0], stage, *stages[2:])), model)


@pytest.mark.parametrize(("name", "value"), [("dola_layers", "low"), ("dola_alpha", 0.3)])
def test_other_settings_are_found_with_the_model(model, name, value) -> None:
    trace = collect(model, PROMPT, Greedy(max_new_tokens=8, shaping=Shaping(dola_layers="high")))
    assert "stages_again" in failed(with_shaping(trace, **{name: value}), model)


@pytest.mark.parametrize("text", ["top", "1,,2", "-1", "1,2,", 3, "1" * 9])
def test_a_hostile_value_is_refused(text) -> None:
    with pytest.raises(ConfigError):
        Shaping(dola_layers=text)


def test_what_has_no_such_layers_refuses_in_one_sentence(model) -> None:
    with pytest.raises(ConfigError, match="names no layer before the last"):
        collect(model, PROMPT, Greedy(shaping=Shaping(dola_layers="6")))
    with pytest.raises(ConfigError, match="runs a second forward"):
        collect(model, PROMPT, BeamSearch(shaping=Shaping(dola_layers="high")))
