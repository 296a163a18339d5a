"""The diffusion page without a browser: its example, its run, its measurement, its saved page."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.diffusion.canvas import canvas_steps
from core.decoding.diffusion.config import Diffusion
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import Shaping
from pages.ui.diffusion import controls, save
from pages.ui.diffusion.state import DiffusionView, telling_position
from pages.ui.widgets.controls.control import defaults
from tests.models.builders import random_masked_model, random_noise_model
from tests.ui import seen
from tests.ui.conftest import ROOT, Open, serve
from tests.ui.seen import charts

STORED = Trace.load(ROOT / "assets/traces/diffusion.json")
settle = partial(seen.settle, key="diffusion")


def view_of(app: AppTest) -> DiffusionView:
    return cast(DiffusionView, app.session_state["diffusion"])


def test_the_example_is_the_run_of_the_default_controls() -> None:
    read = defaults().__getitem__
    assert STORED.config == controls.config(read)
    request = controls.request(read)
    assert (request.model, request.prompt) == (STORED.model_id, STORED.prompt)
    assert controls.config({**defaults(), **controls.control_values(STORED)}.__getitem__) == (
        STORED.config
    )


def test_the_page_opens_with_the_example(open_app: Open) -> None:
    app = open_app("diffusion.py")
    assert not app.exception
    assert charts(app) == ["canvas", "fill-order"]
    assert any("40 tokens in 20 forwards" in text.value for text in app.text)
    assert view_of(app).position == telling_position(STORED)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Any:
    return serve(monkeypatch, random_masked_model())


def test_a_run_and_its_measurement_are_shown(open_app: Open, served: Any) -> None:  # noqa: ARG001
    app = open_app(
        "diffusion.py", fill_tokens="6", block="3", a_step="2", fill_order="margin",
        diffusion_look="together",
    )  # fmt: skip
    app = settle(app.button(key="start").click().run())
    trace = view_of(app).trace
    assert trace is not None
    assert trace.config == Diffusion(
        max_new_tokens=6, block_length=3, tokens_per_step=2, order="margin", seed=16,
        shaping=Shaping(temperature=0.0),
    )  # fmt: skip
    app = settle(app.button(key="measure_together").click().run())
    together = view_of(app).together
    assert together is not None
    several = [step for step in canvas_steps(trace) if len(step.filled) > 1]
    assert len(together) == sum(len(step.filled) for step in several)


def test_remasking_and_guidance_are_run_from_the_page(open_app: Open, served: Any) -> None:  # noqa: ARG001
    app = open_app(
        "diffusion.py", fill_tokens="9", block="9", a_step="3", remask="1", cfg="0.5",
    )  # fmt: skip
    app = settle(app.button(key="start").click().run())
    trace = view_of(app).trace
    assert trace is not None and isinstance(trace.config, Diffusion)
    assert (trace.config.remask_per_step, trace.config.cfg_scale) == (1, 0.5)
    assert any(step.remasked for step in canvas_steps(trace))
    forwards = 2 * len(trace.steps)
    assert any(f"9 tokens in {forwards} forwards" in text.value for text in app.text)
    assert charts(app) == ["canvas", "fill-order"]


def test_a_canvas_of_noise_is_run_from_the_page(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, random_noise_model())
    app = open_app("diffusion.py", fill_tokens="10", canvas="noise", denoise="4", t_max="0.9",
                   diffusion_look="position")  # fmt: skip
    app = settle(app.button(key="start").click().run())
    assert not app.exception
    trace = view_of(app).trace
    assert trace is not None
    assert trace.config == Diffusion(
        max_new_tokens=10, canvas="noise", max_denoising_steps=4, t_max=0.9, seed=16
    )
    assert charts(app) == ["canvas", "position"]
    assert {**defaults(), **controls.control_values(trace)}["denoise"] == 4


def test_the_link_names_the_selected_position(open_app: Open) -> None:
    other = next(one for one in range(40) if one != telling_position(STORED))
    app = open_app("diffusion.py", position=str(other), diffusion_look="choice")
    assert not app.exception
    assert view_of(app).position == other
    assert charts(app) == ["canvas", "choice"]
    assert app.query_params.get("position") in (str(other), [str(other)])
    app = open_app("diffusion.py", position="99")
    assert view_of(app).position == telling_position(STORED)
    assert any("no position of this run" in text.value for text in app.toast)


def test_the_saved_page_has_all_figures_and_the_table(open_app: Open) -> None:
    view = view_of(open_app("diffusion.py"))
    names = [part.name for part in save.parts(view, STORED) if part.draw]
    assert "fill-order" in names
    assert sum(name.startswith("canvas") for name in names) > 1
    (words, frame), *_ = save.tables(view, STORED)
    assert words == "The order of filling." and len(frame) == 40
    assert b"The canvas as it fills" in save.web_page(view, STORED)
