"""The beam page's controls and the search that they describe."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.decoding.beam.config import BeamSearch
from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui import platform
from pages.ui.decode import controls
from pages.ui.run import shared
from pages.ui.run.request import Request, RunControls, from_sidebar
from pages.ui.widgets.controls import constraint, fold
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import Number, Read, Text, Toggle, declare, draw, load, value
from pages.ui.widgets.controls.knob import Knob, nearest_temperature
from pages.ui.widgets.controls.knob_rows import KNOB_ROWS
from pages.ui.widgets.controls.options import Segments
from pages.ui.widgets.controls.slider import slider

MAX_BEAMS, MAX_TOKENS, MAX_NGRAM = 16, 500, 10
EARLY: dict[bool | str, str] = {False: N_("Off"), True: N_("On"), "never": N_("Never")}
_SEPARATOR = "|"
_ESCAPES = {_SEPARATOR: "\\|", "\n": "\\n", "\t": "\\t"}


def stop_strings(text: str) -> tuple[str, ...]:
    """Several in one line, separated by `|`; `\\|`, `\\n` and `\\t` are escapes."""
    parts = re.split(r"(?<!\\)\|", text)
    return tuple(
        stop for part in parts for stop in controls.stop_strings(part.replace("\\|", _SEPARATOR))
    )


def _written(stops: tuple[str, ...]) -> str:
    """Stop strings as `stop_strings` reads them."""
    return _SEPARATOR.join("".join(_ESCAPES.get(char, char) for char in stop) for stop in stops)


def _is_sample(read: Read) -> bool:
    return bool(read("beam_sample"))


ROWS = declare(
    Number("beams", N_("Beams"), 5, 1, MAX_BEAMS, field="num_beams"),
    Number("beam_tokens", N_("New tokens"), 20, 1, MAX_TOKENS, field="max_new_tokens"),
    # Paths of equal length have equal divisors: the length penalty would change nothing.
    Text("beam_stop", N_("Stop at"), ".", width=130, field="stop_strings", to_field=stop_strings,
        from_field=_written,
        help=N_("A path ends once its text contains one of these strings. Separate them by |; "
            "\\n is a line break. Empty: only the model or the length ends a path.")),
    Number("ngram", N_("No repeated n-gram"), 0, 0, MAX_NGRAM, field="shaping.no_repeat_ngram_size",
        help=N_("Bans n-grams of this length that occur in the text already. 0 is off.")),
    Number("beam_least", N_("Minimum tokens"), 0, 0, MAX_TOKENS, field="min_new_tokens",
        help=N_("The model can't end a path before it has this many tokens; a stop string can. "
        "0 is off.")),
    Number("groups", N_("Groups"), 1, 1, MAX_BEAMS, field="num_beam_groups",
        help=N_("Number of groups in diverse beam search; it must divide the number of beams.")),
    Number("diversity", N_("Diversity penalty"), 0.5, 0.0, 10.0, 0.1, field="diversity_penalty",
        acts=lambda read: int(read("groups")) > 1),
    Toggle("beam_sample", N_("Draw the candidates"), False, field="do_sample",
        help=N_("Beam sample: candidates are drawn, not taken by rank. It needs one group.")),
    Number("beam_temperature", N_("Temperature"), 1.0, 0.0, 10.0, 0.1, field="shaping.temperature",
        to_field=nearest_temperature, acts=_is_sample),
    slider(Knob("length_penalty", N_("Length penalty"), -2.0, 3.0, 5.0, 0.1, 1.0,
            N_("A path's score is its summed log-probability over its length to this power: above "
            "0 favours long paths, below 0 short ones. After a run it re-ranks the stored paths "
            "at once.")), width=270, field="length_penalty"),
    Segments("early", N_("Early stopping"), False, EARLY, field="early_stopping",
        help=N_("On: as soon as enough paths have finished. Off: when the best open path, at its "
        "present length, can't beat the worst of them. Never: when it can't at any length.")),
    Number("returned", N_("Return"), 3, 1, MAX_BEAMS, field="num_return_sequences",
        help=N_("Number of best paths to return.")),
)  # fmt: skip
declare(
    Toggle("pruned", N_("Pruned"), False),
    Toggle("tree_scores", N_("Scores"), True,
        help=N_("Show beside each token the sum of ln p along its path, by which the search "
            "compares paths.")),
    Toggle("guesses", N_("Wrong guesses"), False),
    Segments("span", N_("Steps in view"), 20, {10: "10", 20: "20", 40: "40"}),
    Segments("paths", N_("Paths"), 0, {0: N_("All"), 1: N_("Best"), 2: N_("2 best"), 3: N_("3 "
        "best"), 5: N_("5 "
        "best")},
        help=N_("Draw only the best hypotheses, for print, without pruned paths.")),
    Segments("tree_beams", N_("Rows of the beam"), 0,
        {0: N_("All"), 1: "1", 2: "2", 4: "4", 8: "8"},
        help=N_("Draw only the first rows of the beam with their ancestors. The setting Paths "
            "takes precedence.")),
    Toggle("stem", N_("Shared start in one box"), False,
        help=N_("Draw the common start of all drawn paths as one box.")),
    Number("samples", N_("Samples"), 8, 1, 32),
)  # fmt: skip
# Decode's penalty; it acts on every row of the beam.
_PENALTY = next(row for row in KNOB_ROWS if row.field == "shaping.repetition_penalty")
LENGTH_PENALTY = next(row for row in ROWS if row.field == "length_penalty")
_FOLDED = (
    *(_PENALTY.key, "ngram", "beam_least", "groups", "diversity"),
    *("beam_sample", "beam_temperature"),
)
_TREE_VIEW = ("tree_scores", "span", "paths", "tree_beams", "stem")
# They rank the stored paths anew.
RANKING = frozenset({"length_penalty", "early", "returned"})
_SEARCH = (*ROWS, _PENALTY, *constraint.ROWS, shared.seed_row(_is_sample))


def config(read: Read = value) -> BeamSearch:
    """The search that the controls describe; `read` gives a control's value by its key.

    Raises:
        ConfigError: settings that exclude each other.
    """
    settings = arguments(_SEARCH, read)
    returned = min(settings.pop("num_return_sequences"), settings["num_beams"])
    return BeamSearch(**settings, num_return_sequences=returned)


def request(read: Read = value) -> Request:
    """Return what Run asks for, by the controls as they are or as `read` gives them."""
    return from_sidebar(config(read), read=read)


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a search, by key; omit those out of range."""
    return reached(_SEARCH, trace.config, shared.control_values(trace))


def load_controls(trace: Trace) -> None:
    """Set the controls to what the search was made with, as far as they reach."""
    load(control_values(trace))


RUN_CONTROLS = RunControls(_SEARCH, config, control_values, request, acting=RANKING)


def size() -> None:
    """Draw the controls of beam width, length and end, and the less common settings."""
    draw("beams", "beam_tokens", "beam_stop")
    with fold.popover(N_("More settings"), (*_FOLDED, *constraint.KEYS)):
        draw(*_FOLDED)
        constraint.draw_constraint()


def ranking(then: Callable[[], None]) -> None:
    """Draw the controls of ranking and early stopping; after a run they act on the stored steps.

    Args:
        then: ends the callback of a change.
    """
    with st.container(
        key=platform.key("ranking"), horizontal=True, vertical_alignment="center", gap="medium"
    ):
        draw("length_penalty", then=then)
        draw("early", "returned", on_change=then)


def tree_view() -> None:
    """Draw the controls of what the tree shows."""
    draw("pruned", "guesses")
    with fold.popover(N_("View"), _TREE_VIEW, icon="filter_alt"):
        draw(*_TREE_VIEW)


def part_of_tree() -> dict[str, Any]:
    """Return the shown part of the tree, as arguments of `beam_tree`."""
    limits = {"paths": value("paths") or None, "beams": value("tree_beams") or None}
    return {**limits, "collapse": bool(value("stem")), "scores": bool(value("tree_scores"))}


def view_of_tree() -> tuple[int, bool]:
    """Return the number of steps in the tree's window, and whether it shows pruned candidates."""
    return int(value("span")), bool(value("pruned"))
