"""The controls of the page of many runs, and the batches that they describe."""

from __future__ import annotations

import streamlit as st

from core.decoding.autoregressive.config import Sampling, as_single_tokens
from core.decoding.errors import ConfigError
from core.decoding.many.plan import MOST_CELLS, RunBatch, again, grid, values_in
from core.decoding.many.types import MAX_MANY, ManyRuns
from core.figures.many.matrix import is_grid
from core.language import N_, Message, tr
from pages.ui import platform
from pages.ui.run import shared
from pages.ui.run.request import Request, from_sidebar
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import Number, Read, Text, declare, draw, load, value
from pages.ui.widgets.controls.knob import KNOBS
from pages.ui.widgets.controls.knob_rows import KNOB_ROWS, draw_rail
from pages.ui.widgets.controls.options import Menu, Segments

AGAIN, GRID = "again", "grid"
# Of all runs of the page, which a session holds.
MOST_TOKENS = 5_000
MAX_TOKENS = 200
MODES = {AGAIN: N_("Again"), GRID: N_("Grid")}
_VARY = {
    "seed": N_("The seed"),
    "nothing": N_("Nothing"),
    "batch": N_("Rows of a batch"),
    "threads": N_("Threads"),
    "dtype": N_("Number type"),
    "all": N_("Batch, threads, type"),
}
_KNOBS = [row for row in KNOB_ROWS if row.knob in KNOBS]
_NAMES = {row.knob.field: row.label for row in _KNOBS}
_NONE, _LONGEST = "none", 200
_VALUES_HELP = Message(
    "Numbers with commas between, or “0.2 to 1 in 5”. All combinations run "
    "in one batch: {most} at most.",
    most=MOST_CELLS,
)
_RUNS = declare(
    Segments("many_mode", N_("Runs"), AGAIN, MODES),
    Number("times", N_("Runs"), 20, 2, MAX_MANY, width=98,
        help=N_("The same request so many times. All runs together generate 5,000 tokens "
            "at most, which take about 7 KB of memory each.")),
    Menu("vary", N_("What varies"), "seed", _VARY, width="stretch",
        help=N_("Nothing: alone, with one thread. Rows of a batch: 1, 2, 4, 8 and 16. "
            "Threads: 1 and all. Number type: float32 and bfloat16, for which a "
            "second copy of the weights is in memory meanwhile. A server computes as "
            "it likes: let nothing vary there, or the seed.")),
    Menu("knob_a", N_("First setting"), "temperature", _NAMES),
    Text("values_a", N_("Values of the first"), "0.3, 0.8, 1.3", max_chars=_LONGEST,
        help=_VALUES_HELP),
    Menu("knob_b", N_("Second setting"), "top_p",
        {"top_p": _NAMES["top_p"], _NONE: N_("None"), **_NAMES}),
    Text("values_b", N_("Values of the second"), "0.5, 0.9, 1", max_chars=_LONGEST,
        help=_VALUES_HELP),
)  # fmt: skip
_TOKENS, _ = declare(
    Number("many_tokens", N_("Tokens"), 20, 1, MAX_TOKENS, width=98, field="max_new_tokens"),
    Segments("measure", N_("Show"), "surprisal",
        {"surprisal": N_("Mean surprisal"), "distinct": N_("Distinct pairs"),
         "parts": N_("Parts at")}),
)  # fmt: skip
# The controls that the runs depend on, by key.
BY_KEY = {row.key: row for row in (*shared.RUN_ROWS, *_RUNS, _TOKENS, *_KNOBS)}


def mode_of(many: ManyRuns) -> str:
    """Return the mode that shows the runs of a file."""
    return GRID if is_grid(many) else AGAIN


def load_controls(many: ManyRuns) -> None:
    """Set the controls to the prompt and the settings of a file's first run, and to its grid."""
    first = many.traces[0]
    values = {**shared.control_values(first), "many_mode": mode_of(many)}
    names = list(many.settings[0])
    if values["many_mode"] == GRID and all(name in _NAMES for name in names):
        values["knob_b"] = _NONE
        for side, name in zip("ab", names, strict=False):
            shown = tr(", ").join(dict.fromkeys(row[name] for row in many.settings))
            values |= {f"knob_{side}": name, f"values_{side}": shown[:_LONGEST]}
    config = as_single_tokens(first.config, draws=True)
    load(reached((_TOKENS, *_KNOBS, shared.SEED), config, values))


def mode() -> None:
    """Draw the mode and its controls, which stand in one row."""
    draw("many_mode", label_visibility="collapsed")
    draw("many_tokens")
    if value("many_mode") == AGAIN:
        draw("times", "vary")
        return
    draw("knob_a", "values_a", "knob_b")
    if value("knob_b") != _NONE:
        draw("values_b")


def knobs() -> None:
    """Draw the settings that all runs share; a grid's own are idle."""
    idle = set()
    if value("many_mode") == GRID:
        idle = {row.key for row in _KNOBS if row.knob.field in (value("knob_a"), value("knob_b"))}
    with st.container(key=platform.key("knobs")):
        draw_rail("many-knobs", _KNOBS, idle=idle)


def config(read: Read = value) -> Sampling:
    """Return the settings that all runs share."""
    return Sampling(**arguments((_TOKENS, *_KNOBS, shared.SEED), read))


def request(read: Read = value) -> Request:
    """Return the request that all runs share."""
    return from_sidebar(config(read), read=read)


def batches(read: Read = value) -> tuple[RunBatch, ...]:
    """Return the batches that the controls describe.

    Raises:
        ConfigError: a value that can't be read, too many runs, or too many tokens.
    """
    if read("many_mode") == AGAIN:
        made = again(config(read), int(read("times")), read("vary"))
    else:
        knobs = {read("knob_a"): values_in(str(read("values_a")))}
        if read("knob_b") != _NONE:
            if read("knob_b") in knobs:
                raise ConfigError(
                    Message("Both settings of the grid are the same one: choose another.")
                )
            knobs[read("knob_b")] = values_in(str(read("values_b")))
        made = grid(config(read), knobs)
    runs, tokens = count_of(made), int(read("many_tokens"))
    if runs * tokens > MOST_TOKENS:
        raise ConfigError(
            Message(
                "{runs} runs of {tokens} tokens are {whole:,} tokens, and this page "
                "holds {most:,}: take fewer runs or fewer tokens.",
                runs=runs,
                tokens=tokens,
                whole=runs * tokens,
                most=MOST_TOKENS,
            )
        )
    return made


def count_of(made: tuple[RunBatch, ...]) -> int:
    """Return the number of runs of some batches."""
    return sum(len(batch.configs) for batch in made)
