"""The beam page's controls, declared once, and the search that they describe."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.decoding.beam.config import BeamSearch
from core.decoding.shaping.config import Shaping
from core.decoding.trace import Trace
from pages.ui.decode import controls
from pages.ui.run.request import Request
from pages.ui.shell import models
from pages.ui.widgets.knob import Knob, draw_knob, nearest_temperature, set_knob

MAX_BEAMS, MAX_TOKENS, MAX_NGRAM = 16, 500, 10
MAX_DIVERSITY, MAX_TEMPERATURE = 10.0, 10.0
# The address holds the words on the right: that is how Streamlit binds options.
EARLY: dict[str, str] = {"no": "Off", "yes": "On", "never": "Never"}
_STOPPING: dict[str, bool | str] = {"no": False, "yes": True, "never": "never"}
SPANS = (10, 20, 40)
_SEPARATOR = "|"
LENGTH_PENALTY = Knob(
    "length_penalty",
    "Length penalty",
    -2.0,
    3.0,
    5.0,
    0.1,
    1.0,
    "A path's score is its summed log-probability over its length to this power: above 0 favours "
    "long paths, below 0 short ones. After a run it ranks the stored paths anew at once.",
)
DEFAULTS: dict[str, Any] = {
    "beams": 5,
    "beam_tokens": 20,
    "early": "no",
    "returned": 3,
    "ngram": 0,
    "groups": 1,
    "diversity": 0.5,
    "beam_sample": False,
    "beam_temperature": 1.0,
    "beam_stop": ".",
    "pruned": False,
    "guesses": False,
    "span": 20,
    "samples": 8,
    LENGTH_PENALTY.key: LENGTH_PENALTY.default,
}


def value(key: str) -> Any:
    """What a control of this page, or of all pages, says now."""
    return controls.value(key, DEFAULTS)


def config(read: Callable[[str], Any] = value) -> BeamSearch:
    """The search that the controls describe; `read` gives a control's value by its key.

    Raises:
        ConfigError: settings that exclude each other.
    """
    beams, groups, draws = int(read("beams")), int(read("groups")), bool(read("beam_sample"))
    return BeamSearch(
        num_beams=beams,
        max_new_tokens=int(read("beam_tokens")),
        length_penalty=float(read("length_penalty")),
        early_stopping=_STOPPING[read("early")],  # type: ignore[arg-type]
        num_return_sequences=min(int(read("returned")), beams),
        do_sample=draws,
        num_beam_groups=groups,
        diversity_penalty=float(read("diversity")) if groups > 1 else 0.0,
        seed=int(read("seed")) if draws else 0,
        stop_strings=stop_strings(str(read("beam_stop"))),
        shaping=Shaping(
            no_repeat_ngram_size=int(read("ngram")),
            temperature=nearest_temperature(float(read("beam_temperature"))) if draws else 1.0,
        ),
    )


def stop_strings(text: str) -> tuple[str, ...]:
    """Several in one line, separated by `|`; `\\|`, `\\n` and `\\t` stand for the characters."""
    parts = re.split(r"(?<!\\)\|", text)
    return tuple(
        stop for part in parts for stop in controls.stop_strings(part.replace("\\|", _SEPARATOR))
    )


def _written(stop: str) -> str:
    """A stop string as `stop_strings` reads it."""
    escapes = {_SEPARATOR: "\\|", "\n": "\\n", "\t": "\\t"}
    return "".join(escapes.get(char, char) for char in stop)


def request() -> Request:
    """What Run asks for under the controls as they are."""
    return controls.request_for(config())


def size() -> None:
    """How wide and how long, when to stop, and what is rarely touched."""
    _whole("Beams", 1, MAX_BEAMS, "beams")
    _whole("New tokens", 1, MAX_TOKENS, "beam_tokens")
    st.text_input(
        "Stop at",
        DEFAULTS["beam_stop"],
        key="beam_stop",
        bind="query-params",
        persist_state="session",
        width=130,
        help="A path is finished once its text holds this. Several are separated by |; \\n is a "
        "line break. Empty: only the model or the length ends a path.",
    )
    with st.popover("More settings", icon=":material/tune:"):
        _more()


def _whole(label: str, low: int, high: int, key: str, help: str | None = None) -> None:
    st.number_input(
        label,
        low,
        high,
        DEFAULTS[key],
        1,
        key=key,
        bind="query-params",
        persist_state="session",
        help=help,
        width=150,
    )


def ranking() -> None:
    """What ranks the paths and ends the search: after a run these act on the stored steps."""
    with st.container(key="ranking", horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(key="knob-length_penalty", gap=None, width=270):
            draw_knob(LENGTH_PENALTY, disabled=False)
        st.segmented_control(
            "Early stopping",
            list(EARLY),
            format_func=EARLY.__getitem__,
            default=DEFAULTS["early"],
            required=True,
            key="early",
            bind="query-params",
            persist_state="session",
            help="On: as soon as enough paths have finished. Off: when the best open path, at its "
            "present length, can't beat the worst of them. Never: when it can't at any length.",
        )
        _whole("Return", 1, MAX_BEAMS, "returned", "How many of the best paths are asked for.")


def _more() -> None:
    _whole("No repeated n-gram", 0, MAX_NGRAM, "ngram", "Bans n-grams that were seen. 0 is off.")
    _whole("Groups", 1, MAX_BEAMS, "groups", "Diverse beam search: must divide the beams.")
    grouped, draws = int(value("groups")) > 1, bool(value("beam_sample"))
    _real("Diversity penalty", MAX_DIVERSITY, "diversity", disabled=not grouped)
    st.toggle(
        "Draw the candidates",
        DEFAULTS["beam_sample"],
        key="beam_sample",
        bind="query-params",
        persist_state="session",
        help="Beam sample: candidates are drawn instead of taken by rank. It needs one group.",
    )
    _real("Temperature", MAX_TEMPERATURE, "beam_temperature", disabled=not draws)


def _real(label: str, high: float, key: str, *, disabled: bool) -> None:
    st.number_input(
        label,
        0.0,
        high,
        DEFAULTS[key],
        0.1,
        key=key,
        bind="query-params",
        persist_state="session",
        disabled=disabled,
        width=150,
    )


def looks() -> None:
    """What of the tree is drawn."""
    for label, key in (("Pruned", "pruned"), ("Wrong guesses", "guesses")):
        st.toggle(label, DEFAULTS[key], key=key, bind="query-params", persist_state="session")
    st.segmented_control(
        "Steps in view",
        list(SPANS),
        default=DEFAULTS["span"],
        required=True,
        key="span",
        bind="query-params",
        persist_state="session",
    )


def view_of_tree() -> tuple[int, bool]:
    """How many steps the tree may show at once, and whether it shows what was pruned."""
    return int(value("span")), bool(value("pruned"))


def samples() -> None:
    """How many samples the search is compared with."""
    _whole("Samples", 1, 32, "samples")


def adopt(trace: Trace) -> None:
    """Set the controls to what the search was made with, as far as they reach."""
    search, state = trace.config, st.session_state
    assert isinstance(search, BeamSearch)
    stopping = next(name for name, rule in _STOPPING.items() if rule == search.early_stopping)
    state.update(
        {
            "prompt": trace.prompt[: controls.MAX_PROMPT],
            "chat": False,
            "beams": min(search.num_beams, MAX_BEAMS),
            "beam_tokens": min(search.max_new_tokens, MAX_TOKENS),
            "early": stopping,
            "returned": min(search.num_return_sequences, MAX_BEAMS),
            "ngram": min(search.shaping.no_repeat_ngram_size, MAX_NGRAM),
            "groups": min(search.num_beam_groups, MAX_BEAMS),
            "beam_sample": search.do_sample,
            "beam_stop": _SEPARATOR.join(map(_written, search.stop_strings)),
        }
    )
    if search.num_beam_groups > 1:
        state["diversity"] = min(search.diversity_penalty, MAX_DIVERSITY)
    if search.do_sample:
        state["beam_temperature"] = min(search.shaping.temperature, MAX_TEMPERATURE)
        state["seed"] = min(search.seed, controls.MAX_SEED)
    if models.is_embedded(trace.model_id):
        state["model"] = trace.model_id
    if LENGTH_PENALTY.low <= search.length_penalty <= LENGTH_PENALTY.typed_high:
        set_knob(LENGTH_PENALTY, search.length_penalty)
