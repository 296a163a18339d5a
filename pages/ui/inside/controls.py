"""The controls of the page Inside: its own run of the sidebar's prompt, and what is looked at."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from core.decoding.autoregressive.config import Sampling
from core.decoding.config import MethodConfig
from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui.run import shared
from pages.ui.run.request import Request, RunControls, from_sidebar
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import Number, Read, Toggle, declare, value
from pages.ui.widgets.controls.options import Segments

MOST_TOKENS = 200
_RUN = declare(
    Number("inside_tokens", N_("New tokens"), 20, 1, MOST_TOKENS, short=True,
        field="max_new_tokens"),
    Number("inside_heat", N_("Temperature"), 0.8, 0.0, 2.0, 0.05, short=True,
        field="shaping.temperature", help=N_("0 takes the most probable token at every step.")),
)  # fmt: skip
declare(
    Toggle("no_cache", N_("Without the cache"), False,
        help=N_("Make the same run without the KV cache: the whole text goes through the model at "
        "every step.")),
    Segments("flame", N_("Calls of"), "step",
        {"step": N_("This step"), "modules": N_("Its forward, by module"),
         "run": N_("The whole run")}),
    Segments("cells", N_("Cells show"), "token", {"token": N_("Token"), "rank": N_("Rank")}),
    Number("look_layer", N_("Layer (0: all)"), 0, 0, 500, short=True),
)  # fmt: skip


def config(read: Read = value) -> MethodConfig:
    """Return the settings that the controls describe; `read` gives a control's value by key."""
    return Sampling(**arguments((*_RUN, shared.SEED), read))


def request(read: Read = value) -> Request:
    """Return what Run asks for, by the controls as they are or as `read` gives them."""
    return from_sidebar(config(read), read=read)


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a run, by key; omit those out of range."""
    return reached((*_RUN, shared.SEED), trace.config, shared.control_values(trace))


def load_controls(trace: Trace) -> None:
    """Set the controls to what the run was made with, as far as they reach."""
    control.load(control_values(trace))


def follow(trace: Trace, *, but: Collection[str] = ()) -> None:
    """Set the page's own controls to what a run was made with that the page takes over.

    Args:
        but: keys of those that stay.
    """
    values = reached(_RUN, trace.config)
    control.load({key: held for key, held in values.items() if key not in but})


def draw() -> None:
    """Draw the controls of the page's own run, and the switch of the cache."""
    control.draw("inside_tokens", "inside_heat", "no_cache")


RUN_CONTROLS = RunControls(_RUN, config, control_values, request)
