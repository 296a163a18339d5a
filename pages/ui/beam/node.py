"""The selected candidate in full: its path, its numbers, its siblings, and why it was dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp

import streamlit as st

from core.decoding.beam.replay import lineage
from core.decoding.beam.types import BeamCandidate, BeamStep
from core.decoding.constraints.reading import constrained_steps
from core.decoding.counting import nth
from core.decoding.record.characters import joined_parts
from core.decoding.record.trace import Trace
from core.figures.base.labels import BREAK, nats, percent, table_text, visible_token
from core.figures.beam.words import FATES, fate_words, margin_words, place_words, score_at
from core.figures.constraint.words import constraint_place, standing_words
from core.language import N_, tr
from pages.ui import platform
from pages.ui.beam.state import BeamView
from pages.ui.run.display import go_on
from pages.ui.widgets import table, words
from pages.ui.widgets.ahead import Prefetch
from pages.ui.widgets.controls.control import value

_SIBLINGS = 8


def draw(view: BeamView, trace: Trace, redraw: Callable[[], None], prefetch: Prefetch) -> None:
    """A panel of its own.

    Args:
        redraw: ends a callback that selects another candidate, or none.
        prefetch: has what is said of other candidates.
    """
    if view.node is None or view.candidate is None:
        return

    def deselect() -> None:
        view.deselect()
        redraw()

    at, place = view.node
    texts = sentences(trace, at, place)
    with st.container(key=platform.key("beam-node"), border=True, gap="small"):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=platform.key("node-head")
        ):
            with st.container(key=platform.key("node-where"), width="content"):
                words.draw("node-where", texts["node-where"], prefetch)
            with st.container(key=platform.key("node-fate"), width="stretch"):
                words.draw("node-fate", texts["node-fate"], prefetch)
            st.button(
                tr("Deselect"),
                key=platform.key("deselect"),
                icon=":material/close:",
                type="tertiary",
                on_click=deselect,
            )
        with st.container(key=platform.key("node-path")):
            words.draw("node-path", texts["node-path"], prefetch)
        words.draw("node-numbers", texts["node-numbers"], prefetch)
        go_on.button(
            trace,
            lambda: [c.token_id for c in path_to(trace, at, place)],
            key="node_go_on",
            may_load=view.may_load(str(value("model"))),
        )
        _siblings(trace.beam_steps[at], view.candidate)


def path_to(trace: Trace, at: int, place: int) -> tuple[BeamCandidate, ...]:
    """The path that ends in a candidate of step `at`, by its place there."""
    return lineage(trace.beam_steps, at, trace.beam_steps[at].candidates[place])


def sentences(trace: Trace, at: int, place: int) -> dict[str, str]:
    """Describe a candidate of step `at`, given its place there; plain text."""
    step = trace.beam_steps[at]
    chosen = step.candidates[place]
    path = lineage(trace.beam_steps, at, chosen)
    return {
        "node-where": tr("Step {step}, {place}", step=nth(at), place=place_words(step, chosen)),
        "node-fate": _first_upper(fate_words(step, chosen)),
        "node-path": "".join(_shown(text) for text in joined_parts([c.text for c in path])),
        "node-numbers": "\n".join(
            filter(
                None, (_numbers(trace, at, chosen), _why(trace, at, chosen), *_allowed(trace, path))
            )
        ),
    }


def _allowed(trace: Trace, path: Sequence[BeamCandidate]) -> list[str]:
    """What the constraint allowed on this path before its last token."""
    steps = constrained_steps(trace, path)[-1:]
    return [standing_words(trace, step) for step in steps if step.token is path[-1]]


def _first_upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def _shown(text: str) -> str:
    """Text as it is in the running text, line breaks as signs."""
    return text.replace("\n", BREAK) if text.strip() else visible_token(text)


def _numbers(trace: Trace, at: int, chosen: BeamCandidate) -> str:
    return " · ".join(
        (
            tr(
                "Token {log_prob} nats (the model gave it {prob})",
                log_prob=nats(chosen.logprob),
                prob=percent(_prob(chosen)),
            ),
            tr("path {total}", total=nats(chosen.cum_logprob)),
            tr("score if it ended here {score}", score=nats(score_at(trace, at, chosen))),
        )
    )


def _prob(chosen: BeamCandidate) -> float:
    return exp(min(chosen.raw_logprob, 0.0))


def _why(trace: Trace, at: int, chosen: BeamCandidate) -> str:
    """Why it was pruned, or by how much it stayed; plain text."""
    step = trace.beam_steps[at]
    margin = step.margin(chosen)
    if chosen.fate == "pruned" and chosen.ended:
        return tr(
            "It would have ended here, but only the first candidates, one a beam, may finish."
        )
    if chosen.fate == "pruned" and margin is not None:
        group = step.group_of(chosen)
        last = min((c for c in step.kept if step.group_of(c) == group), key=lambda c: c.cum_logprob)
        return tr(
            "The last one that went on, {token} ({place}), has {last}; this one has {this}.",
            token=visible_token(last.text, 24),
            place=place_words(step, last),
            last=nats(last.cum_logprob),
            this=nats(chosen.cum_logprob),
        )
    if chosen.fate == "kept":
        return margin_words(trace.beam_steps, at, chosen)
    return ""


def _siblings(step: BeamStep, chosen: BeamCandidate) -> None:
    """The other continuations of the same row."""
    siblings = [c for c in step.candidates if c.parent == chosen.parent]
    st.caption(
        tr(
            "{siblings} of the step's {candidates} candidates extend the same row, row {row}",
            siblings=len(siblings),
            candidates=len(step.candidates),
            row=nth(chosen.parent),
        )
    )
    table.draw(
        "siblings",
        {
            N_("rank") if step.origin == "argmax" else N_("draw"): [c.rank for c in siblings],
            "token": [table_text(visible_token(c.text, 24)) for c in siblings],
            "log-prob": [c.logprob for c in siblings],
            "sum": [c.cum_logprob for c in siblings],
            "fate": [tr(FATES[c.fate]) for c in siblings],
        },
        numbers={"log-prob": "%.3f", "sum": "%.3f"},
        most_rows=_SIBLINGS,
    )


def masks(view: BeamView, trace: Trace) -> None:
    """What the constraint allowed after each path of the beam, at the selected step."""
    step = trace.beam_steps[view.node[0]] if view.node else None
    if step is None or not step.masks:
        return
    firsts = {c.parent: c for c in reversed(step.candidates)}
    paths = [lineage(trace.beam_steps, step.index, firsts[row]) for row in sorted(firsts)]
    found = [constrained_steps(trace, path)[-1] for path in paths]
    texts = ["".join(joined_parts([c.text for c in path[:-1]])) for path in paths]
    wanted = [allowed.wanted.text if allowed.wanted else "" for allowed in found]
    st.caption(
        tr(
            "The paths in the beam at step {step}, each with a constraint of its own. The search "
            "doesn't divide by S: it adds log-probabilities that are not renormalised.",
            step=nth(step.index),
        )
    )
    table.draw(
        "masks",
        {
            "row": [str(nth(path[-1].parent)) for path in paths],
            "path": [table_text(visible_token(text[-24:])) for text in texts],
            "it stands": [table_text(constraint_place(trace, allowed)) for allowed in found],
            "allowed": [f"{allowed.allowed:,}" for allowed in found],
            "S": [percent(exp(allowed.log_mass)) for allowed in found],
            "ln S": [nats(allowed.log_mass, 2) for allowed in found],
            "likeliest, not allowed": [
                table_text(visible_token(text, 24)) if text else "" for text in wanted
            ],
        },
    )
