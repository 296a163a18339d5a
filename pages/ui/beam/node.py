"""The selected candidate in full: its path, its numbers, its siblings, and why it was dropped."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.decoding.beam.replay import lineage
from core.decoding.beam.types import BeamCandidate, BeamStep
from core.decoding.counting import nth
from core.decoding.trace import Trace
from core.figures.base.labels import BREAK, percent, table_text, visible_token
from core.figures.beam.words import fate_words, nats, place_words, score_at
from pages.ui.beam.state import BeamView
from pages.ui.widgets import table

_SIBLINGS = 8


def draw(view: BeamView, trace: Trace, redraw: Callable[[], None]) -> None:
    """A panel of its own.

    Args:
        redraw: ends a callback that selects another candidate, or none.
    """
    if view.node is None or view.candidate is None:
        return
    at, _ = view.node
    step, chosen = trace.beam_steps[at], view.candidate
    with st.container(key="beam-node", border=True, gap="small"):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key="node-head"
        ):
            st.markdown(f"**Step {nth(at)}**, {place_words(step, chosen)}", width="content")
            st.text(_first_upper(fate_words(step, chosen)), width="stretch")
            st.button(
                "Deselect",
                key="deselect",
                icon=":material/close:",
                type="tertiary",
                on_click=lambda: (view.deselect(), redraw()),
            )
        path = lineage(trace.beam_steps, at, chosen)
        with st.container(key="node-path"):
            st.text("".join(_shown(candidate) for candidate in path))
        st.text(_numbers(trace, at, chosen))
        why = _why(step, chosen)
        if why:
            st.text(why)
        _siblings(step, chosen)


def _first_upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def _shown(candidate: BeamCandidate) -> str:
    """Text as it is in the running text, line breaks as signs."""
    return (
        candidate.text.replace("\n", BREAK)
        if candidate.text.strip()
        else visible_token(candidate.text)
    )


def _numbers(trace: Trace, at: int, chosen: BeamCandidate) -> str:
    return (
        f"Token {nats(chosen.logprob)} nats (the model gave it {percent(_prob(chosen))}) · "
        f"path {nats(chosen.cum_logprob)} · score if it ended here "
        f"{nats(score_at(trace, at, chosen))}"
    )


def _prob(chosen: BeamCandidate) -> float:
    from math import exp

    return exp(min(chosen.raw_logprob, 0.0))


def _why(step: BeamStep, chosen: BeamCandidate) -> str:
    """Why it was pruned, or by how much it stayed; plain text."""
    margin = step.margin(chosen)
    if chosen.fate == "pruned" and chosen.ended:
        return "It would have ended here, but only the first num_beams candidates may finish."
    if chosen.fate == "pruned" and margin is not None:
        group = step.group_of(chosen)
        last = min((c for c in step.kept if step.group_of(c) == group), key=lambda c: c.cum_logprob)
        token, place = visible_token(last.text, 24), place_words(step, last)
        return (
            f"The last one that went on, {token} ({place}), has "
            f"{nats(last.cum_logprob)}; this one has {nats(chosen.cum_logprob)}."
        )
    if chosen.fate == "kept" and margin is not None:
        return f"It stayed by {nats(margin)} nats before the last survivor."
    return ""


def _siblings(step: BeamStep, chosen: BeamCandidate) -> None:
    """The other continuations of the same row."""
    siblings = [c for c in step.candidates if c.parent == chosen.parent]
    st.caption(
        f"{len(siblings)} of the step's {len(step.candidates)} candidates extend the same row, "
        f"row {nth(chosen.parent)}"
    )
    table.draw(
        "siblings",
        {
            "rank" if step.origin == "argmax" else "draw": [c.rank for c in siblings],
            "token": [table_text(visible_token(c.text, 24)) for c in siblings],
            "log-prob": [c.logprob for c in siblings],
            "sum": [c.cum_logprob for c in siblings],
            "fate": [c.fate for c in siblings],
        },
        numbers={"log-prob": "%.3f", "sum": "%.3f"},
        most_rows=_SIBLINGS,
    )
