"""Whether anything is lost: token by token, over many runs, and exactly on three tokens."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import figures
from core.decoding.acceptance import acceptance_table
from core.decoding.configs import Speculative
from core.decoding.types import Trace
from core.figures.spec.lossless import lossless_words, normalised
from pages.ui import figure, spec_controls, spec_job, spec_work
from pages.ui.spec_state import SpecView


def draw(view: SpecView, trace: Trace) -> None:
    """The greedy comparison or the statistical test, and the exact table."""
    config = trace.config
    assert isinstance(config, Speculative)
    if config.shaping.temperature == 0:
        _identical(view, trace)
    else:
        _sampled(view, trace, config)
    _three_tokens()


def _identical(view: SpecView, trace: Trace) -> None:
    st.markdown("**Greedy: token by token.** The target alone must write exactly this text.")
    spec_job.button(
        view,
        "alone",
        "Run the target alone",
        lambda: spec_work.alone(trace),
        "Compares every token.",
    )
    if view.alone is not None:
        own, other = trace.token_ids, view.alone.token_ids
        same = next((at for at, (a, b) in enumerate(zip(own, other)) if a != b), None)  # noqa: B905 - of a stopped run the shorter counts
        length = min(len(own), len(other))
        with st.container(key="verdict"):
            st.text(
                f"Identical: all {length} tokens."
                if same is None
                else f"Token {same} of {length} differs: two forwards of different shape differ by "
                "rounding, so it may where two tokens are all but equally likely."
            )


def _sampled(view: SpecView, trace: Trace, config: Speculative) -> None:
    st.markdown(
        "**Sampled: many short runs.** If nothing is lost, both ways of decoding write each text "
        "equally often, but for chance."
    )
    spec_job.button(
        view,
        "counted",
        "Count both ways",
        lambda: spec_work.count(
            trace, int(spec_controls.value("runs")), int(spec_controls.value("run_tokens"))
        ),
        "Every run has a seed of its own.",
        options=spec_controls.samples,
    )
    found = view.counted
    if found is not None:
        with st.container(key="verdict"):
            st.text(lossless_words(found, claims=config.lossless))
        figure.chart(
            "outcomes",
            lambda theme: figures.spec_outcomes(found, trace, theme=theme),
            partial(figures.spec_outcomes_data, found),
            (view.number, found),
        )


def _three_tokens() -> None:
    """Every case of one trial on three tokens, worked out without chance."""
    st.markdown(
        "**The exact proof, on three tokens.** One token is drafted; each way to each token is "
        "added up. Change the probabilities, or the acceptance rule above."
    )
    rule = spec_controls.acceptance()
    with st.container(key="pair", gap="small"):
        left, right = st.columns(2, gap="small")
    with left:
        spec_controls.three_tokens()
        target, draft = (normalised(spec_controls.weights(m)) for m in ("target", "draft"))
        table = acceptance_table(
            target,
            draft,
            rule,
            float(spec_controls.value("typical_epsilon")),
            float(spec_controls.value("typical_delta")),
        )
        names = spec_controls.NAMES
        frame = figures.spec_enumeration_data(table, names)
        st.dataframe(
            frame,
            key="three-table",
            hide_index=True,
            column_config={
                name: st.column_config.NumberColumn(format="%.4f")
                for name in frame.columns
                if name != "token"
            },
        )
        st.caption(
            "accepted = draft_prob × accept_prob; recovered = P(rejection) × residual; emitted = "
            "accepted + recovered. Numbers that don't add up to 1 are scaled."
        )
    with right:
        figure.chart(
            "enumeration",
            lambda theme: figures.spec_enumeration(
                table, names, spec_controls.RULES[rule].lower(), theme=theme
            ),
            partial(figures.spec_enumeration_data, table, names),
            (table, rule),
        )
