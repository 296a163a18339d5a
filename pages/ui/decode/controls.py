"""The Decode page's controls and the config that they describe; each strategy adds its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from core.decoding.config import MethodConfig
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.language import N_
from pages.ui import platform
from pages.ui.decode import lines
from pages.ui.decode.methods import contrastive_decoding, guided
from pages.ui.decode.methods.strategies import STRATEGIES, strategy_of
from pages.ui.decode.state import GIVEN_FOR, MAX_GIVEN, STEP
from pages.ui.decode.trees import first_run
from pages.ui.run import shared
from pages.ui.run.figures import pins
from pages.ui.run.request import Request, RunControls, from_sidebar
from pages.ui.widgets.controls import constraint, fold
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import (
    Number,
    Read,
    Text,
    Toggle,
    declare,
    draw,
    load,
    row_of,
    value,
)
from pages.ui.widgets.controls.knob import KNOBS
from pages.ui.widgets.controls.knob_rows import KNOB_ROWS, draw_rail
from pages.ui.widgets.controls.options import Segments
from pages.ui.widgets.controls.slider import Slider

MAX_TOKENS = 2000
_KNOB_ROWS = [row for row in KNOB_ROWS if row.knob in KNOBS]
# The others are folded.
_IN_SIGHT = frozenset({"temperature", "top_p"})


def stop_strings(text: str) -> tuple[str, ...]:
    """One stop string a line; `\\n` and `\\t` are escapes."""
    stops = (line.replace("\\n", "\n").replace("\\t", "\t") for line in text.splitlines())
    return tuple(stop for stop in stops if stop)


# What every strategy has.
_COMMON = declare(
    Number("tokens", N_("New tokens"), 40, 1, MAX_TOKENS, short=True, field="max_new_tokens"),
    Text("stop", N_("Stop strings"), "", height=80, field="stop_strings", to_field=stop_strings,
        from_field=lambda stops: "\n".join(stop.replace("\n", "\\n") for stop in stops),
        placeholder=N_("One a line; \\n is a line break"),
        help=N_("The run ends with the token that completes one of them.")),
    Toggle("cache", N_("KV cache"), True, field="use_cache",
        help=N_("Without it the whole text goes through the model at every step: slower, same "
        "result.")),
)  # fmt: skip
COMMON = (*_COMMON, *lines.ROWS, *constraint.ROWS, *guided.ROWS)
# In links alone: Run gives no token, but where a link's run waits for it.
_IDS = rf"(?=.{{1,{MAX_GIVEN}}}$)[0-9]{{1,9}}(\.[0-9]{{1,9}})*"
(GIVEN,) = declare(
    Text(
        "given",
        N_("Given tokens"),
        "",
        max_chars=MAX_GIVEN,
        form=(_IDS, N_("ids with dots between")),
    )
)
_METHOD, _COLOR = declare(
    Segments("method", N_("Method"), "sampling", {key: s.label for key, s in STRATEGIES.items()},
        offers=lambda key: STRATEGIES[key].offered()),
    Segments("color", N_("Colour by"), "probability",
        {"probability": N_("Probability"), "entropy": N_("Entropy"), "rank": N_("Rank"),
         "surprisal": N_("Surprisal")}),
)  # fmt: skip


def config(read: Read = value) -> MethodConfig:
    """The config that the controls describe; `read` gives a control's value by its key."""
    chosen = STRATEGIES[read("method")]
    acting = {knob.key for knob in KNOBS if chosen.config.can_draw or not knob.sampling_only}
    knob_rows = (row for row in KNOB_ROWS if row.key in acting)
    return chosen.config(**arguments((*COMMON, *chosen.rows, *knob_rows), read))


def acting_knobs(config: MethodConfig) -> list[Slider]:
    """The knobs that a run with this config uses."""
    return [row for row in _KNOB_ROWS if config.can_draw or not row.knob.sampling_only]


def request(read: Read = value) -> Request:
    """Return what Run asks for, by the controls as they are or as `read` gives them."""
    typed = config(lambda key: row_of(key).default if key in lines.KEYS else read(key))
    made = replace(
        from_sidebar(typed, contrastive_decoding.draft(read), read), given=given_ids(read)
    )
    return lines.with_lines(made, read)


def given_ids(read: Read) -> tuple[int, ...]:
    """Return the tokens that a link gives for its own model, prompt and method.

    There are none once it has made its run.
    """
    for key, linked in st.session_state.get(platform.key(GIVEN_FOR), {}).items():
        row = row_of(key)
        if read(key) != (row.of_address(linked) if linked else row.default):
            return ()
    return tuple(int(word) for word in str(read(GIVEN.key)).split(".") if word)


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a run, by key; omit those out of range."""
    values = values_of_config(trace.config, shared.control_values(trace))
    return values | contrastive_decoding.draft_of(trace)


def values_of_config(config: MethodConfig, values: dict[str, Any]) -> dict[str, Any]:
    """Return control values of settings, by key, beside others; omit those out of range."""
    # DRY's breakers act only while its knob is on.
    rows = (*KNOB_ROWS, *COMMON, *strategy_of(config).rows)
    return reached(rows, config, {**values, "method": config.method})


def load_controls(content: Trace | RunTree) -> None:
    """Set the controls to the settings of a run, or of a tree's first one, as far as they reach."""
    load(control_values(content if isinstance(content, Trace) else first_run(content)))


_SWITCHES = N_("Green list and SynthID layers, under More knobs, switch these settings on.")


def method() -> None:
    """Strategy, length, and what is rarely touched."""
    draw("method", label_visibility="collapsed")
    draw("tokens", *STRATEGIES[value("method")].beside)
    offered = (strategy for strategy in STRATEGIES.values() if strategy.offered())
    own = (*(key for strategy in offered for key in strategy.more), "stop", "cache")
    groups = {
        N_("Banned and biased tokens"): lines.KEYS,
        N_("Second forward"): guided.SECOND_KEYS,
        N_("Watermark"): guided.MARK_KEYS,
    }
    grouped = (key for keys in groups.values() for key in keys)
    with fold.popover(N_("More settings"), (*own, *constraint.KEYS, *grouped)):
        draw(*own)
        constraint.draw_constraint()
        for label, keys in groups.items():
            fold.group(label, keys, _SWITCHES if keys is guided.MARK_KEYS else "")


def color() -> None:
    """Draw the choice of what the colour of the generated tokens means."""
    draw("color")


def knobs(then: Callable[[], None]) -> None:
    """The numbers that shape a step's distribution; `then` ends the callback of a change."""
    can_draw = STRATEGIES[value("method")].config.can_draw
    idle = {knob.key for knob in KNOBS if knob.sampling_only and not can_draw}
    with st.container(key=platform.key("knobs")):
        folded = {row.key for row in _KNOB_ROWS} - _IN_SIGHT
        draw_rail("decode-knobs", _KNOB_ROWS, idle=idle, folded=folded, then=then)


_OWN = (row for strategy in STRATEGIES.values() for row in strategy.rows)
RUN_CONTROLS = RunControls(
    (_METHOD, *COMMON, *_OWN, *_KNOB_ROWS),
    config,
    control_values,
    request,
    draft=contrastive_decoding.DRAFT,
    given=GIVEN.key,
)


def parameters() -> frozenset[str]:
    """Return the names of all parameters that the address of this page may have."""
    rows = (*RUN_CONTROLS.rows, *shared.ROWS, GIVEN, _COLOR)
    return frozenset({"run", STEP, pins.KEY, *(row.key for row in rows)})
