"""The diffusion page's controls and the run that they describe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.decoding.diffusion.config import MAX_BLOCK, Diffusion
from core.decoding.record.trace import Trace
from core.language import N_, tr
from pages.ui import platform
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.request import Request, RunControls, from_sidebar
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import Number, Read, declare, draw, load, value
from pages.ui.widgets.controls.knob import FILTER_KEYS, nearest_temperature
from pages.ui.widgets.controls.knob_rows import KNOB_ROWS, draw_rail
from pages.ui.widgets.controls.options import Menu, Segments

MODEL, MAX_TOKENS = "diffusion_model", 256
ORDERS = {
    "confidence": N_("Most confident"),
    "margin": N_("Margin"),
    "entropy": N_("Entropy bound"),
    "random": N_("Random"),
    "left_to_right": N_("Left to right"),
}


def _noise(read: Read) -> bool:
    return bool(read("canvas") == "noise")


def _masks(read: Read) -> bool:
    return not _noise(read)


def _by_entropy(read: Read) -> bool:
    return _noise(read) or bool(read("fill_order") == "entropy")


def _by_number(read: Read) -> bool:
    return not _by_entropy(read)


def _fills_several(read: Read) -> bool:
    return _masks(read) and (_by_entropy(read) or int(read("a_step")) > 1)


def _settles(read: Read) -> bool:
    return float(read("settle")) > 0


def _draws(read: Read) -> bool:
    return _masks(read) and nearest_temperature(float(read("fill_temperature"))) > 0


declare(
    Menu(MODEL, N_("Diffusion model"), "embedded:diffusion",
        lambda: {name: name for name in models.diffusion()}, free=models.free_choice, width=220,
        help=N_("A model that fills masks: bidirectional, with a mask token in its config. Or a "
        "diffusion_gemma model, for the canvas Noise.")),
)  # fmt: skip
ROWS = declare(
    Number("fill_tokens", N_("New tokens"), 40, 1, MAX_TOKENS, field="max_new_tokens"),
    Number("block", N_("Block length"), 16, 1, MAX_BLOCK, field="block_length", acts=_masks,
        help=N_("Blocks are filled from left to right; inside a block any position may come "
        "first.")),
    Segments("fill_order", N_("Fill first"), "confidence", ORDERS, field="order", acts=_masks),
    Number("a_step", N_("Tokens a step"), 2, 1, MAX_BLOCK, field="tokens_per_step",
        acts=_by_number),
    Number("entropy_bound", N_("Entropy bound, nats"), 0.1, 0.0, 100.0, 0.1,
        field="entropy_bound", acts=_by_entropy,
        help=N_("A step keeps as many positions, the lowest entropies first, as their entropies "
        "add up to, without the highest of them.")),
    Number("remask", N_("Masks again"), 0, 0, MAX_BLOCK, field="remask_per_step",
        acts=_fills_several,
        help=N_("So many tokens of the block, those that came with the lowest probabilities, are "
        "masked again at each step that fills more, until the block is full. 0 keeps all.")),
    Number("settle", N_("Confident below, nats"), 0.0, 0.0, 100.0, 0.05,
        field="confidence_threshold",
        help=N_("The block is filled, or the canvas of noise finished, when the mean entropy of "
        "its open positions is lower and their most probable tokens are stable. 0 never does.")),
    Number("stable", N_("Stable for steps"), 1, 0, 100, field="stability_threshold", acts=_settles),
    Number("cfg", N_("Guidance"), 0.0, 0.0, 100.0, 0.5, field="cfg_scale", acts=_masks,
        help=N_("Classifier-free guidance: a second forward with a masked prompt, and logits "
        "further away from it by this factor. 0 is off.")),
    Number("fill_temperature", N_("Temperature"), 0.0, 0.0, 10.0, 0.1,
        field="shaping.temperature", to_field=nearest_temperature, acts=_masks,
        help=N_("0 proposes the most probable token of each position.")),
    Segments("canvas", N_("Canvas"), "whole",
        {"whole": N_("Whole"), "grows": N_("Grows by blocks"), "noise": N_("Noise")},
        field="canvas",
        help=N_("All masks from the start, only those up to the end of the block, or random tokens "
        "that are drawn again at every step, for a diffusion_gemma model.")),
    Number("denoise", N_("Steps a canvas"), 48, 1, 1000, field="max_denoising_steps", acts=_noise,
        help=N_("A canvas of noise is finished after so many steps.")),
    Number("t_max", N_("Temperature from"), 0.8, 0.02, 100.0, 0.1, field="t_max", acts=_noise),
    Number("t_min", N_("Temperature to"), 0.4, 0.01, 100.0, 0.1, field="t_min", acts=_noise,
        help=N_("The temperature falls from the first value towards this one.")),
)  # fmt: skip
_FILTER_ROWS = [row for row in KNOB_ROWS if row.key in FILTER_KEYS and row.key != "temperature"]
_RUN = (
    *ROWS,
    *(replace(row, acts=_draws) for row in _FILTER_ROWS),
    shared.SEED,
)


def config(read: Read = value) -> Diffusion:
    """Return the run that the controls describe; `read` gives a control's value by its key.

    Raises:
        ConfigError: settings outside their interval.
    """
    return Diffusion(**arguments(_RUN, read))


def request(read: Read = value) -> Request:
    """Return what Run asks for, by the controls as they are or as `read` gives them."""
    return replace(from_sidebar(config(read), read=read), model=str(read(MODEL)).strip())


def size() -> None:
    """Draw the controls of model and size, and the less common settings."""
    draw(MODEL, "fill_tokens", "block")
    with st.popover(tr("More settings"), icon=":material/tune:"):
        draw("canvas", "remask")
        draw("settle", "stable")
        draw("cfg")
        if _masks(value):
            draw_rail("diffusion-filters", _FILTER_ROWS)


def order() -> None:
    """Draw the controls of what a step keeps, and of the temperature."""
    with st.container(
        key=platform.key("diffusion-order"),
        horizontal=True,
        vertical_alignment="center",
        gap="small",
    ):
        if _noise(value):
            draw("entropy_bound", "denoise", "t_max", "t_min")
            return
        draw("fill_order")
        draw("entropy_bound" if _by_entropy(value) else "a_step", "fill_temperature")


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a run, by key; omit those out of range, and a model
    that a file may not make the app load."""
    values = shared.control_values(trace)
    values.pop("model", None)
    if models.is_embedded(trace.model_id):
        values[MODEL] = trace.model_id
    return reached(_RUN, trace.config, values)


RUN_CONTROLS = RunControls(_RUN, config, control_values, request)


def load_controls(trace: Trace) -> None:
    """Set the controls to what a run was made with, as far as they reach."""
    load(control_values(trace))
