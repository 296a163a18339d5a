"""The lab's stored example: made by one command, read without torch, equal to what was made."""

from __future__ import annotations

import runpy
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core import Greedy, Sampling, Shaping, Trace, collect, load_model
from core.decoding.errors import DecodingError, TraceError
from core.decoding.shaping.config import ranges_in_view
from core.decoding.shaping.orders import TRANSFORMERS
from core.traces.lab import (
    ROLLS,
    TEMPERATURES,
    load_lab,
    make_lab,
    telling_step,
)

ROOT = Path(__file__).parents[2]
STORED = ROOT / "assets" / "traces" / "lab.json"
RUN = ROOT / "assets" / "traces" / "decode.json"


def test_the_example_holds_every_figure_of_the_decode_example_s_telling_step() -> None:
    example, run = load_lab(STORED), Trace.load(RUN)
    assert example.index == telling_step(run)
    assert example.step.trace.model_id == run.model_id
    assert example.step.trace.prompt_ids == (
        *run.prompt_ids,
        *run.token_ids[: example.index],
    )
    assert example.step.step.token_id == run.token_ids[example.index]
    assert example.step.order == TRANSFORMERS and example.step.throw == example.index
    assert [knob.name for knob in example.flips] == list(
        ranges_in_view(example.step.config.shaping)
    )
    assert all(knob.pieces[knob.here or 0].token_id == example.step.step.token_id
               for knob in example.flips if knob.here is not None)  # fmt: skip
    assert example.rolls.total == ROLLS and example.sweep.temperatures == TEMPERATURES
    assert example.continuations.greedy is not None
    assert STORED.stat().st_size < 150_000


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_the_command_makes_the_example_of_a_run(tmp_path: Path, monkeypatch) -> None:
    model = load_model("embedded:target")
    config = Sampling(max_new_tokens=5, seed=3, shaping=Shaping(temperature=1.3))
    run, made = tmp_path / "run.json", tmp_path / "lab.json"
    collect(model, "Once upon a time", config).save(run)
    monkeypatch.setattr(sys, "argv", ["lab", str(run), str(made)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("core.traces.lab", run_name="__main__")
    assert ended.value.code == 0
    example = load_lab(made)
    assert example.step.config.shaping == config.shaping
    assert example.step.step.token_id == Trace.load(run).token_ids[example.index]


def test_a_greedy_run_makes_no_example() -> None:
    run = Trace.load(RUN)
    with pytest.raises(DecodingError, match="sampling"):
        make_lab(replace(run, config=Greedy()))


WITHOUT_BINS = STORED.read_text(encoding="utf-8").replace('"bins":', '"bin":')


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": "x"}', pytest.param(WITHOUT_BINS, id="without bins")]
)
def test_a_damaged_example_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lab.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TraceError) as raised:
        load_lab(path)
    assert "\n" not in str(raised.value) and str(raised.value).endswith(".")


def test_a_missing_example_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="can't be opened"):
        load_lab(tmp_path / "none.json")
