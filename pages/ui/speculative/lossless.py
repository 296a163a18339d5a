"""Compare with the target alone: exactly on three tokens, token by token, and over many runs."""

from __future__ import annotations

from typing import cast

import streamlit as st

from core import figures
from core.decoding.counting import sentences
from core.decoding.record.trace import Trace
from core.decoding.speculative.acceptance import acceptance_table
from core.decoding.speculative.config import Speculative
from core.figures.speculative.lossless import lossless_words, normalised
from core.figures.speculative.same import identity_words
from core.figures.speculative.words import rule_words
from core.language import N_, tr
from pages.ui import platform
from pages.ui.resources import models
from pages.ui.run.figures import figure
from pages.ui.shell import glossary
from pages.ui.speculative import controls, measurement, parts, work
from pages.ui.speculative.state import SpecView, ThreeTokenExample
from pages.ui.widgets import table
from pages.ui.widgets.controls.control import value


def draw(view: SpecView, trace: Trace) -> None:
    """The greedy comparison or the statistical test."""
    config = cast(Speculative, trace.config)
    if config.shaping.temperature == 0:
        _identical(view, trace)
    else:
        _sampled(view, trace, config)


def _identical(view: SpecView, trace: Trace) -> None:
    """The target alone runs by itself where nothing has to be loaded for it."""
    if _runs_by_itself(view, trace):
        view.begin("alone", work.alone(trace))
    st.markdown(tr("**Greedy: token by token.** The target alone must write exactly this text."))
    measurement.row(
        view,
        "alone",
        N_("Run the target alone"),
        lambda: work.alone(trace),
        N_("Compares every token."),
    )
    if view.alone is not None:
        with st.container(key=platform.key("lossless-verdict")):
            st.text(identity_words(trace, view.alone))


def _runs_by_itself(view: SpecView, trace: Trace) -> bool:
    """Once for every run that is shown; what was stopped or failed stays so."""
    if view.compared_alone == view.number or view.measuring() or "decode" in view.jobs:
        return False
    view.compared_alone = view.number
    needed = filter(None, (trace.model_id, trace.draft_id))
    return view.alone is None and all(map(models.is_embedded, needed))


def _sampled(view: SpecView, trace: Trace, config: Speculative) -> None:
    st.markdown(
        tr(
            "**Sampled: many short runs** under the settings of the run shown, acceptance rule "
            "**{rule}**. If nothing is lost, both ways of decoding write each text equally often, "
            "but for chance.",
            rule=rule_words(config.acceptance),
        )
    )
    measurement.row(
        view,
        "counted",
        N_("Count both methods"),
        lambda: work.count(trace, int(value("runs")), int(value("run_tokens"))),
        N_("Every run has its own seed."),
        options=("runs", "run_tokens"),
    )
    counted = view.counted
    if counted is not None:
        with st.container(key=platform.key("lossless-verdict")):
            st.text(lossless_words(counted, config.acceptance, claims=config.lossless))
        figure.chart(parts.OUTCOMES.part(view, trace), (view.number, counted), across=True)


def three_tokens() -> ThreeTokenExample:
    """The enumeration of the typed probabilities under the chosen rule."""
    rule = controls.acceptance()
    target, draft = (normalised(controls.weights(m)) for m in ("target", "draft"))
    epsilon, delta = (float(value(f"typical_{m}")) for m in ("epsilon", "delta"))
    return ThreeTokenExample(acceptance_table(target, draft, rule, epsilon, delta), rule)


_ZEROS = {
    "target": N_("All numbers of the target are 0: each token counts as one third."),
    "draft": N_("All numbers of the draft are 0: each token counts as one third."),
}


def _remarks() -> list[str]:
    """Return remarks on the typed numbers and the settings, for a reader of the table."""
    remarks = [tr(words) for model, words in _ZEROS.items() if not any(controls.weights(model))]
    if float(value("temperature")) == 0:
        remarks.append(
            tr("This is of sampling: at temperature 0 each rule keeps the target's text.")
        )
    return remarks


_KEPT = N_("""
## Why nothing changes

One token is drafted out of three. A token is emitted because its draft was **accepted**, or because
another draft was rejected and it was **recovered** in its place. Both together give the target's
probability, whatever the draft proposes.
""")
_CHANGED = N_("""
## What this rule changes

One token is drafted out of three. A token is emitted because its draft was **accepted**, or because
another draft was rejected and it was **recovered** in its place. Under this rule both together
differ from the target's probability.
""")


def draw_three(view: SpecView, trace: Trace) -> None:
    """Every case of one verification on three tokens, worked out without chance."""
    rule = controls.acceptance()
    with st.container(key=platform.key("three-proof"), border=True, gap="small"):
        st.markdown(
            glossary.marked(tr(_KEPT if Speculative(acceptance=rule).lossless else _CHANGED))
        )
        controls.three_tokens()
        view.three = three = three_tokens()
        if remarks := _remarks():
            st.text(tr(sentences(*remarks)))
        figure.chart(parts.THREE.part(view, trace), three)
        with st.expander(tr("All numbers of the proof"), key=platform.key("three-numbers")):
            st.caption(
                tr(
                    "The acceptance rule is {rule}. accepted = draft_prob × accept_prob; recovered "
                    "= P(rejection) × residual; emitted = accepted + recovered. Numbers that don't "
                    "add up to 1 are scaled.",
                    rule=rule_words(rule),
                )
            )
            frame = figures.spec_enumeration_data(three.table, controls.NAMES)
            numbers = {name: "%.4f" for name in frame.columns if name != "token"}
            table.draw("three-table", frame, numbers=numbers)
