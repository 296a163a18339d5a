"""The beam page as it is drawn: the tree, the text, and then everything else.

Of a finished search the tree, the text, the selected step and the tabs are fragments: a gesture
draws anew what it changes.
"""

from __future__ import annotations

import time
from functools import partial

import streamlit as st

from core import figures
from core.decoding.beam.config import BeamSearch
from core.decoding.beam.replay import Reranking
from core.decoding.counting import counted, nth, sentences
from core.decoding.errors import DecodingError
from core.decoding.many.methods import whole_text
from core.decoding.record.trace import Trace
from core.figures.base.paper import Paper
from core.figures.beam.words import plain_number
from core.language import N_, tr, trn
from pages.ui import platform, registry
from pages.ui.beam import controls, state, tabs
from pages.ui.beam.state import BeamView
from pages.ui.run import changed
from pages.ui.run.display import panel
from pages.ui.run.figures.token_strip import ending
from pages.ui.run.jobs import Job
from pages.ui.widgets import ahead, chart, style, words
from pages.ui.widgets.controls import knob_rows
from pages.ui.widgets.controls.config_fields import moved
from pages.ui.widgets.controls.control import defaults, value

LIVE_SECONDS, LIVE_SPAN = 0.8, 20
_TEXT_SHOWN = 600
WORDS = "beam-words"


def draw(view: BeamView) -> None:
    """Everything below the controls."""
    panel.read_controls(view, controls.config)
    text = partial(
        panel.draw,
        view,
        N_("the search continues the prompt."),
        partial(_live, view),
        partial(_finished, view),
    )
    if view.trace is None or "decode" in view.jobs:
        text()
        panel.watch(view)
    else:
        tabs.draw(view, text)


def redraw() -> None:
    """End a callback that ranks the stored paths anew."""
    platform.rerun(WORDS, panel.SAVE, tabs.TREE, tabs.STEP, tabs.LOOKS)


def _live(view: BeamView, job: Job) -> None:
    _draw_live(view, job)
    # Its place is there before its first step, so that the text stands still.
    with st.container(key=platform.key("figure-beam-live"), gap=None):
        if view.live is not None:
            chart.draw("beam-live", view.live.tree)
        else:
            st.text(tr("Waiting for the first step…"))
    with panel.box():
        panel.running(job, tr(counted(job.tokens, "step")))
        with st.container(key=platform.key("beam-text")):
            prompt = view.request.prompt if view.request else ""
            st.text(ending(prompt, _TEXT_SHOWN) + (view.live.text if view.live else " …"))


def _draw_live(view: BeamView, job: Job) -> None:
    """Draw the last steps anew, not too often: each is a figure to build."""
    if view.live and view.live.steps > job.tokens:
        view.live = None  # of a run before, which failed
    before, now = view.live, time.monotonic()
    if before and (job.tokens == before.steps or now - before.at < LIVE_SECONDS):
        return
    trace = view.partial_trace(job)
    steps = len(trace.beam_steps) if trace is not None else 0
    if trace is None or not steps:
        return
    tree = figures.beam_tree(
        trace,
        first=max(0, steps - LIVE_SPAN),
        span=LIVE_SPAN,
        pruned=bool(value("pruned")),
        scores=bool(value("tree_scores")),
        theme=style.theme(),
        paper=Paper(style.figure_width()),
    )
    view.live = state.Live(now, steps, trace.text, chart.drawing(tree))


def _finished(view: BeamView, trace: Trace) -> None:
    """The text with its proof and its files, of the search as the controls rank it, but for the
    trace file."""
    with panel.box():
        panel.head(view, trace, *_summary(trace), shown=lambda: tabs.as_ranked(view)[0])
        platform.part(_words, key=WORDS)(view, trace)


def _words(view: BeamView, trace: Trace) -> None:
    """The text of the winner, and what the controls make of the search.

    Args:
        trace: the search as it was run.
    """
    ranked, ranking, search = tabs.as_ranked(view)
    changes = changed.note(view, registry.page_of("beam"))
    texts, prefetch = (
        _said(trace, ranked, ranking, search, changes),
        _prefetch(view, trace, changes),
    )
    with st.container(key=platform.key("beam-text")):
        words.draw("beam-text", texts["beam-text"], prefetch)
    is_other = bool(changes) or state.ranks_anew(trace, search)
    panel.note(texts["note"] if is_other else "", texts["note"], prefetch)


def _prefetch(view: BeamView, trace: Trace, changes: str) -> ahead.Prefetch | None:
    """Offer the browser the sentences for other length penalties."""
    try:
        search = controls.config()
    except DecodingError:
        return None
    rows = [controls.LENGTH_PENALTY]

    def build(inputs: ahead.Inputs) -> ahead.Shown:
        moved_to = moved(search, rows, inputs.__getitem__)
        ranking, ranked = state.reranked(view, trace, moved_to)
        return _said(trace, ranked, ranking, moved_to, changes)

    fixed = moved(search, rows, defaults().__getitem__)
    return ahead.prefetch(
        "beam-words", (view.number, fixed, changes), knob_rows.inputs(rows), build
    )


def _said(
    trace: Trace, ranked: Trace, ranking: Reranking, search: BeamSearch, changes: str
) -> dict[str, str]:
    """The text of the winner, and the note below it; on any thread."""
    before = ending(trace.rendered_prompt or trace.prompt, _TEXT_SHOWN)
    return {
        "beam-text": before + (whole_text(ranked) or "∅"),
        "note": _note(trace, ranking, search, changes),
    }


def _summary(trace: Trace) -> tuple[str, ...]:
    search = trace.config
    assert isinstance(search, BeamSearch)
    finished = sum(len(step.finished) for step in trace.beam_steps)
    return (
        tr(counted(search.num_beams, "beam")),
        tr(counted(len(trace.beam_steps), "step")),
        trn("{count} path finished", "{count} paths finished", finished),
        tr(panel.ENDED[trace.finish_reason]),
    )


def _note(trace: Trace, ranking: Reranking, search: BeamSearch, changes: str) -> str:
    """Describe what the controls change against the run; without a change, suggest one."""
    said = []
    if state.ranks_anew(trace, search):
        said.append(_reranked(trace, ranking, search))
    if changes:
        said.append(changes)
    if not trace.hypotheses:
        said.append(
            tr("No path had finished when the search stopped: this is the likeliest open one.")
        )
    if said:
        return tr(sentences(*said))
    return tr("The length penalty ranks the stored paths anew at once, without a run.")


def _reranked(trace: Trace, ranking: Reranking, search: BeamSearch) -> str:
    """Describe the result of re-ranking, and whether a new search would differ."""
    values = {
        "penalty": plain_number(search.length_penalty),
        "outcome": tr(_winner(trace, ranking)),
    }
    first = (
        tr(
            "Ranked anew under length penalty {penalty} and another stopping rule: {outcome}.",
            **values,
        )
        if search.early_stopping != getattr(trace.config, "early_stopping", None)
        else tr("Ranked anew under length penalty {penalty}: {outcome}.", **values)
    )
    return tr(sentences(first, _new_search(trace, ranking)))


def _new_search(trace: Trace, ranking: Reranking) -> str:
    """Describe what a new search would do; empty where it isn't known."""
    step = nth(ranking.differs_at or 0)
    if ranking.would == "stop":
        return tr(
            "The search would have ended after step {step}. This one took {steps}; ranking its "
            "paths anew runs nothing.",
            step=step,
            steps=counted(len(trace.beam_steps), "step"),
        )
    if ranking.would == "go_on":
        return tr(
            "The search would have gone on after step {step}, and might have found better paths.",
            step=step,
        )
    if ranking.exact:
        return tr("A new search with these settings would return the same paths.")
    return ""


def _winner(trace: Trace, ranking: Reranking) -> str:
    if not ranking.hypotheses:
        return N_("no path has finished, so there is none to rank")
    now, then = ranking.hypotheses[0], next(iter(trace.hypotheses), None)
    same = then is not None and (now.group, now.token_ids) == (then.group, then.token_ids)
    return N_("the same path wins") if same else N_("another path wins")
