"""Acceptance by exit layer, measured over a run's text."""

from __future__ import annotations

import pytest

from core import ModelError, Shaping, Speculative, collect, load_model
from core.decoding.speculative.measurement.exits import exit_layers
from core.decoding.speculative.measurement.report import ExitCell, ExitLayer, ExitLayers
from tests.decoding.speculative.speculations import scripted


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_layers_acceptance_is_that_of_its_drafts(temperature: float) -> None:
    """Where a round drafted after the run's own text, its numbers are the measured ones."""
    model, config = (
        load_model("embedded:target"),
        Speculative(
            max_new_tokens=24, draft_length=3, drafter="early_exit", exit_layer=4,
            shaping=Shaping(temperature=temperature), seed=2,
        ),
    )  # fmt: skip
    trace, done = collect(model, "Once upon a time", config), []
    exits = exit_layers(model, trace, on_progress=lambda at, total: done.append((at, total)))
    assert exits is not None and done == [(at, 5) for at in range(1, 6)]
    assert exits.token_ids == trace.token_ids and exits.layers == 6
    compared = 0
    for step in trace.rounds:
        for place, token in enumerate(step.drafted):
            cell = exits.exits[3].cells[step.start + place]
            assert cell.accept == pytest.approx(1 - token.residual_mass, abs=1e-4)
            best = max(token.candidates, key=lambda one: one.draft_raw_prob or 0)
            assert cell.token_id == best.token_id
            compared += 1
            if token.outcome != "accepted":
                break
    assert compared > 15
    assert exits.exits[4].alpha > exits.exits[0].alpha


def test_the_expected_speed_up_counts_the_share_of_the_layers() -> None:
    """Half the layers, half accepted, drafts of two: 1.75 tokens for 2 forwards' layers."""
    cells = (ExitCell(1, "a", 0.5, 1.0), ExitCell(1, "a", 0.5, 0.0))
    exits = ExitLayers(4, 2, (1, 1), ("a", "a"), (ExitLayer(2, cells),))
    assert exits.exits[0].alpha == 0.5
    assert exits.speedup(exits.exits[0]) == pytest.approx(1.75 / 2)


def test_a_stopped_measurement_and_a_model_without_layers_give_nothing() -> None:
    model = load_model("embedded:target")
    config = Speculative(max_new_tokens=3, drafter="early_exit")
    trace = collect(model, "Once", config)
    assert exit_layers(model, trace, should_stop=lambda: True) is None
    with pytest.raises(ModelError, match="can't be run apart"):
        exit_layers(scripted([0.5, 0.5]), trace)
