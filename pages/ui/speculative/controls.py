"""The speculative page's controls and the run that they describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from html import escape
from typing import Any

import streamlit as st

from core.decoding.record.trace import Trace
from core.decoding.speculative.config import (
    MAX_LAYERS,
    MAX_POSTERIOR,
    MAX_WINDOW,
    Acceptance,
    Speculative,
)
from core.decoding.speculative.sources import SOURCES
from core.figures.base.labels import visible_token
from core.language import N_, Message, tr
from core.models.places import DEFAULT_DRAFT, DEFAULT_DRAFTS
from pages.ui import platform
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.request import Request, RunControls, from_sidebar
from pages.ui.speculative.shape import (
    SHAPE_ROWS,
    drafts_chain,
    draw_shape,
    shape_of,
    source_of,
    uses_length,
    with_shape,
)
from pages.ui.widgets.controls import constraint, fold
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import (
    Number,
    Read,
    Toggle,
    declare,
    draw,
    load,
    row_of,
    value,
)
from pages.ui.widgets.controls.knob import FILTER_KEYS, nearest_temperature
from pages.ui.widgets.controls.knob_rows import KNOB_ROWS, draw_rail
from pages.ui.widgets.controls.options import Menu, Segments

LOOKUP = "prompt_lookup"
_TEMPERATURE = {"draft_temperature"}
# In the session's state: the target that the draft was set for, and that lookup was set for one.
_TARGET, _LOOKUP_BEGUN = "spec_draft_for", "spec_lookup_begun"
RULES: dict[str, str] = {
    "speculative": N_("Speculative"),
    "exact": N_("Exact match"),
    "typical": N_("Typical"),
    "block": N_("Block"),
}
NAMES = ("A", "B", "C")
_MODELS = {"target": N_("Target"), "draft": N_("Draft")}
_WEIGHTS = {"target": (0.6, 0.3, 0.1), "draft": (0.2, 0.5, 0.3)}
_RULE_NOTES: dict[str, str] = {
    "speculative": N_(
        "It keeps the target's distribution: a drafted token that the target finds less likely "
        "than the draft does is accepted only sometimes."
    ),
    "exact": N_(
        "It keeps the target's distribution and accepts fewer tokens: only those that the target "
        "draws too."
    ),
    "block": N_(
        "It keeps the target's distribution and accepts at least as many tokens in expectation: "
        "the draft is judged as a whole."
    ),
    "typical": N_(
        "It changes the distribution: every drafted token that the target finds likely enough is "
        "accepted."
    ),
}
GREEDY_NOTE = N_("At temperature 0 every rule is greedy decoding: it keeps the target’s text.")
_TYPICAL_HELP = N_("Typical acceptance: the threshold is min(epsilon, delta × exp(−entropy)).")
_SOURCES_HELP: Message = reduce(
    lambda before, row: Message(
        "{before} {label}: {words}.",
        before=before,
        label=Message(row.label),
        words=Message(row.words),
    ),
    SOURCES.values(),
    Message("The source of the proposals; the target is the sidebar’s model."),
)


def _sets(setting: str) -> Callable[[Read], bool]:
    """Return the function that says whether a setting acts with the chosen source."""
    return lambda read: setting in source_of(read).settings


_takes_temperature = _sets("draft_temperature")


def _has_own_temperature(read: Read) -> bool:
    return _takes_temperature(read) and bool(read("own_temperature"))


def _is_typical(read: Read) -> bool:
    return bool(read("rule") == "typical")


def _samples(read: Read) -> bool:
    """Return whether the target or the draft samples (temperature above 0): filters act then."""
    keys = ("temperature", *(["draft_temperature"] if _has_own_temperature(read) else []))
    return any(nearest_temperature(float(read(key))) > 0 for key in keys)


def _drafters() -> dict[str, str]:
    others = (name for name in models.options() if name != DEFAULT_DRAFT)
    labels: dict[str, str] = {
        row.name: row.label for row in SOURCES.values() if row.name != "model"
    }
    return {**{name: name for name in (DEFAULT_DRAFT, *others)}, **labels}


ROWS = declare(
    Menu("draft", N_("Draft"), DEFAULT_DRAFT, _drafters, free=models.free_choice, width=240,
        field="drafter",
        to_field=lambda chosen: SOURCES.get(chosen, SOURCES["model"]).name,
        from_field=lambda drafter: None if drafter == "model" else drafter,
        help=_SOURCES_HELP),
    Number("draft_length", N_("Draft length"), 5, 1, 16, field="draft_length", acts=uses_length),
    Number("spec_tokens", N_("New tokens"), 48, 1, 500, field="max_new_tokens"),
    Segments("rule", N_("Acceptance"), "speculative", RULES, field="acceptance"),
    Segments("scoring", N_("Scoring"), "multi_query",
        {"multi_query": N_("Multi-query"), "batch_expansion": N_("Batch expansion")},
        field="scoring",
        help=N_("One sequence with a query for each position, or one sequence for each position: "
        "the result is the same, the amount of work differs.")),
    *SHAPE_ROWS,
    Toggle("adaptive", N_("Adaptive draft length"), False, field="adaptive", acts=drafts_chain,
        help=N_("The length grows by 2 after a round with all tokens accepted, and shrinks by 1 "
        "after any other (transformers’ heuristic).")),
    Number("ngram_size", N_("Lookup n-gram"), 2, 1, 10, field="lookup_ngram",
        acts=_sets("lookup_ngram"),
        help=N_("Length of the longest n-gram that prompt lookup searches for.")),
    Number("ngram_min", N_("Shortest n-gram"), 1, 1, 10, field="lookup_min",
        acts=_sets("lookup_min"),
        help=N_("Length of the shortest n-gram that prompt lookup searches for.")),
    Number("suffix_factor", N_("Tokens a matched token"), 1.0, 0.5, 8.0, 0.5, width="stretch",
        field="suffix_factor", acts=_sets("suffix_factor"),
        help=N_("The draft is at most this many times as long as the suffix that was found "
        "again.")),
    Number("suffix_min_prob", N_("Least share"), 0.1, 0.0, 1.0, 0.05, width="stretch",
        field="suffix_min_prob", acts=_sets("suffix_min_prob"),
        help=N_("The draft ends before a token that followed too seldom.")),
    Number("lookahead_window", N_("Window"), 7, 1, MAX_WINDOW, field="lookahead_window",
        acts=_sets("lookahead_window"),
        help=N_("Number of columns of guesses that lookahead reads.")),
    Number("lookahead_guesses", N_("N-grams a token"), 7, 1, 32, field="lookahead_guesses",
        acts=_sets("lookahead_guesses"),
        help=N_("Number of n-grams after a token that lookahead keeps and verifies at once; an "
        "n-gram has one token more than the draft length.")),
    Number("exit_layer", N_("Exit after layer"), 2, 1, MAX_LAYERS, field="exit_layer",
        acts=_sets("exit_layer"),
        help=N_("Number of the target’s first layers that draft; it must have more.")),
    Number("confidence", N_("Confidence threshold"), 0.0, 0.0, 1.0, 0.05, width="stretch",
        field="draft_threshold", acts=_sets("draft_threshold"),
        help=N_("Drafting ends after a token with a lower draft probability. 0 is off.")),
    Number("draft_temperature", N_("Draft temperature"), 1.0, 0.0, 10.0, 0.1, width="stretch",
        field="draft_temperature", to_field=nearest_temperature, acts=_has_own_temperature,
        help=N_("0 lets the draft take its most probable token.")),
    Number("typical_epsilon", N_("Epsilon"), 0.09, 0.0, MAX_POSTERIOR, 0.01, width="stretch",
        field="posterior_threshold", acts=_is_typical, help=_TYPICAL_HELP),
    Number("typical_delta", N_("Delta"), 0.3, 0.0, MAX_POSTERIOR, 0.05, width="stretch",
        field="posterior_alpha", acts=_is_typical, help=_TYPICAL_HELP),
)  # fmt: skip
# A counted run has two tokens or more: with room for one nothing would be drafted.
declare(
    Toggle("own_temperature", N_("The draft has its own temperature"), False),
    Number("repeats", N_("Runs"), 5, 1, 100),
    Number("runs", N_("Runs"), 400, 20, 5000),
    Number("run_tokens", N_("Tokens"), 3, 2, 8),
    *(
        Number(f"{model}_{name}", name, weight, 0.0, 1.0, 0.05, width="stretch")
        for model, weights in _WEIGHTS.items()
        for name, weight in zip(NAMES, weights, strict=True)
    ),
)
# Decode's filters; its penalties act on neither model here.
_FILTER_ROWS = [row for row in KNOB_ROWS if row.key in FILTER_KEYS]
_RUN = (
    *ROWS,
    *constraint.ROWS,
    *(
        row if row.key == "temperature" else replace(row, acts=_samples)
        for row in KNOB_ROWS
        if row.key in ("temperature", *FILTER_KEYS)
    ),
    shared.SEED,
)
_FOLDED = (
    *FILTER_KEYS,
    *("scoring", "tree", "tree_nodes", "tree_picks", "adaptive"),
    *("ngram_size", "ngram_min", "suffix_factor", "suffix_min_prob"),
    *("lookahead_window", "lookahead_guesses", "exit_layer", "confidence"),
    *("own_temperature", "draft_temperature"),
    *("typical_epsilon", "typical_delta"),
    *constraint.KEYS,
)


def config(read: Read = value) -> Speculative:
    """The run that the controls describe; `read` gives a control's value by its key.

    What does nothing stays neutral: it would be in captions and ask for another run.

    Raises:
        ConfigError: settings outside their interval.
    """
    return Speculative(**arguments(_RUN, with_shape(read)))


def draft(read: Read = value) -> str:
    """Return the draft model; empty if the source needs none."""
    chosen, source = str(read("draft")).strip(), source_of(read)
    if not source.needs_draft:
        return ""
    return chosen if chosen and chosen not in SOURCES else DEFAULT_DRAFTS[source.name]


def request(read: Read = value) -> Request:
    """Return what Run asks for, by the controls as they are or as `read` gives them."""
    return from_sidebar(config(read), draft(read), read)


def begin_with_a_draft_that_fits() -> None:
    """Set the draft when another target is chosen: prompt lookup where no embedded model fits."""
    target, session = shared.model(), st.session_state
    if session.get(platform.key(_TARGET)) == target:
        return
    session[platform.key(_TARGET)] = target
    fits, chosen = models.may_have_embedded_tokens(target), str(value("draft"))
    if fits and session.pop(platform.key(_LOOKUP_BEGUN), False) and chosen == LOOKUP:
        load({"draft": DEFAULT_DRAFT})
    elif not fits and models.is_embedded(chosen):
        session[platform.key(_LOOKUP_BEGUN)] = True
        load({"draft": LOOKUP})


def _why_lookup() -> None:
    """Why prompt lookup drafts, where the page has chosen it."""
    if st.session_state.get(platform.key(_LOOKUP_BEGUN)) and value("draft") == LOOKUP:
        words = tr(
            "The embedded draft model knows other tokens than {model}: prompt lookup, which needs "
            "no model, drafts.",
            model=visible_token(shared.model(), 60),
        )
        st.html(f'<p class="de-hint">{escape(words)}</p>')


def pair() -> None:
    """Draw the controls of the draft, the number of tokens, and the less common settings."""
    draw("draft", "draft_length", "spec_tokens")
    with fold.popover(N_("More settings"), _FOLDED):
        _more()


def rule() -> None:
    """The temperature, and what decides over a drafted token, with what that does to the text."""
    _why_lookup()
    with st.container(
        key=platform.key("spec-rule"), horizontal=True, vertical_alignment="center", gap="medium"
    ):
        draw("temperature", width=210)
        draw("rule")
        keeps = _greedy() or Speculative(acceptance=acceptance()).lossless
        with st.container(key=platform.key(f"rule-{'lossless' if keeps else 'lossy'}")):
            st.text(tr(GREEDY_NOTE if _greedy() else _RULE_NOTES[acceptance()]))


def _greedy() -> bool:
    return nearest_temperature(float(value("temperature"))) == 0


def acceptance() -> Acceptance:
    """The chosen rule."""
    chosen: Acceptance = value("rule")
    return chosen


def _more() -> None:
    draw_rail("spec-filters", _FILTER_ROWS)
    draw("scoring")
    draw_shape()
    # What would do nothing is left out.
    draw(*(row.key for row in ROWS if row.field in source_of(value).settings - _TEMPERATURE))
    if _takes_temperature(value):
        draw("own_temperature")
        if _has_own_temperature(value):
            draw("draft_temperature")
    if _is_typical(value):
        draw("typical_epsilon", "typical_delta")
    constraint.draw_constraint()


def weights(model: str) -> list[float]:
    """The three numbers of a model (`target` or `draft`) in the enumeration, as typed."""
    return [float(value(f"{model}_{name}")) for name in NAMES]


def three_tokens() -> None:
    """The probabilities of three tokens in both models."""
    for model in _WEIGHTS:
        with st.container(
            key=platform.key(f"three-{model}"),
            horizontal=True,
            wrap=False,
            vertical_alignment="center",
            gap="small",
        ):
            st.markdown(f"**{tr(_MODELS[model])}**", width=76)
            draw(*(f"{model}_{name}" for name in NAMES))


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a run, by key; omit those out of range,
    and models that a file may not make the app load."""
    config = trace.config
    assert isinstance(config, Speculative)
    values = shared.control_values(trace) | {
        "own_temperature": config.draft_temperature is not None,
        "tree": shape_of(config),
    }
    if config.drafter == "model" and models.is_embedded(trace.draft_id):
        values["draft"] = trace.draft_id
    return reached(_RUN, config, values)


RUN_CONTROLS = RunControls(
    (*_RUN, row_of("own_temperature")), config, control_values, request, "draft"
)


def load_controls(trace: Trace) -> None:
    """Set the controls to what a run was made with, as far as they reach."""
    load(control_values(trace))
