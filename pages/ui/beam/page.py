"""The beam page as it is drawn: the text, the tree while it grows, and then everything else."""

from __future__ import annotations

import time

import streamlit as st

from core import figures
from core.decoding.beam.config import BeamSearch
from core.decoding.beam.replay import Reranking
from core.decoding.trace import Trace
from core.figures.base.labels import visible_token
from core.figures.beam.words import plain_number
from pages.ui.beam import controls as beam_controls
from pages.ui.beam import state, tabs
from pages.ui.beam.state import BeamView
from pages.ui.decode import controls
from pages.ui.decode import page as results
from pages.ui.run import jobs, proof
from pages.ui.run import save as share
from pages.ui.widgets import style

LIVE_SECONDS, LIVE_SPAN = 0.8, 20
NOTHING = "**Nothing to show yet.**  \nPress Run: the search continues the prompt."


def draw(view: BeamView) -> None:
    """Everything below the controls."""
    wanted = results.wanted(view, beam_controls.config)
    job = view.jobs.get("decode")
    with st.container():
        if job is not None:
            st.fragment(_live, run_every=jobs.POLL_SECONDS)(view, job)
        else:
            _finished(view, wanted)
    results.watch(view)


def _live(view: BeamView, job: jobs.Job) -> None:
    job.watch()
    if not job.active:
        st.rerun()
    _draw_live(view, job)
    with st.container(key="text-panel", border=True, gap="small"):
        with results.head("running"):
            st.text(
                f"{job.stage} · {results.counted(job.tokens, 'step')} · {job.seconds:.1f} s",
                width="stretch",
            )
        with st.container(key="beam-text"):
            asked = view.request.prompt if view.request else ""
            st.text(_ending(asked) + (view.live.text if view.live else " …"))
    if view.live is not None:
        with st.container(key="figure-beam-live", gap=None):
            st.plotly_chart(
                view.live.tree, theme=None, key="chart-beam-live", config={"displayModeBar": False}
            )


def _draw_live(view: BeamView, job: jobs.Job) -> None:
    """Draw the last steps anew, not too often: a new figure is a new chart in the browser."""
    if view.live and view.live.steps > job.tokens:
        view.live = None  # of a run before, which failed
    before, now = view.live, time.monotonic()
    if before and (job.tokens == before.steps or now - before.at < LIVE_SECONDS):
        return
    trace = state.so_far(view, job)
    if trace is None:
        return
    steps = len(trace.beam_steps)
    tree = figures.beam_tree(
        trace,
        first=max(0, steps - LIVE_SPAN),
        span=LIVE_SPAN,
        pruned=bool(beam_controls.value("pruned")),
        theme=style.theme(),
    )
    view.live = state.Live(now, steps, trace.text, tree)


def _finished(view: BeamView, wanted: BeamSearch | None) -> None:
    trace = view.trace
    if trace is None:
        with st.container(key="text-panel", border=True, gap="small"):
            st.markdown(NOTHING)
        return
    asked = wanted if wanted is not None else trace.config
    assert isinstance(asked, BeamSearch)
    ranking, ranked = state.reranked(view, trace, asked)
    _panel(view, trace, ranking, ranked, asked)
    with st.container(key="figures"):
        tabs.draw(view, ranked, ranking, asked)


def _panel(
    view: BeamView, trace: Trace, ranking: Reranking, ranked: Trace, asked: BeamSearch
) -> None:
    """The text with its proof and its files; the trace file holds the search as it was run."""
    with st.container(key="text-panel", border=True, gap="small"):
        with results.head("finished"):
            st.text(_summary(view, trace), width="stretch")
            proof.badge(view, trace)
            share.menu(view, trace, ranked)
        with st.container(key="beam-text"):
            st.text(_ending(trace.rendered_prompt or trace.prompt) + (ranked.text or "∅"))
        _note(trace, ranking, asked)


def _ending(text: str, most: int = 600) -> str:
    return text if len(text) <= most else f"… {text[-most:]}"


def _summary(view: BeamView, trace: Trace) -> str:
    search = trace.config
    assert isinstance(search, BeamSearch)
    finished = sum(len(step.finished) for step in trace.beam_steps)
    parts = [
        results.SOURCES.get(view.source, "Run"),
        results.counted(search.num_beams, "beam"),
        results.counted(len(trace.beam_steps), "step"),
        f"{results.counted(finished, 'path')} finished",
    ]
    if trace.model_id != str(controls.value("model")):
        parts.insert(1, visible_token(trace.model_id, 60))
    return " · ".join([*parts, results.ENDED[trace.finish_reason]])


def _note(trace: Trace, ranking: Reranking, asked: BeamSearch) -> None:
    """What the controls now say that the run did not."""
    sentences = []
    if state.ranks_anew(trace, asked):
        sentences.append(_reranked(trace, ranking, asked))
    if state.needs_run(trace, asked):
        sentences.append("Other settings differ from this run's: press Run to search again.")
    with st.container(key="note-changed" if sentences else "note-plain"):
        st.text(" ".join(sentences) or _plain_note(trace))


def _plain_note(trace: Trace) -> str:
    if trace.hypotheses:
        return "Move the length penalty: the stored paths are ranked anew at once."
    return "No path had finished when the search stopped: this is the likeliest open one."


def _reranked(trace: Trace, ranking: Reranking, asked: BeamSearch) -> str:
    """What re-ranking found, and whether a new search would have gone another way."""
    words = f"Ranked anew under length penalty {plain_number(asked.length_penalty)}"
    if asked.early_stopping != getattr(trace.config, "early_stopping", None):
        words += " and another stopping rule"
    words += f": {_winner(trace, ranking)}."
    if ranking.would == "stop":
        words += f" The search would have ended after step {ranking.differs_at}."
    elif ranking.would == "go on":
        words += (
            f" The search would have gone on after step {ranking.differs_at}, and might have found "
            "better paths."
        )
    elif ranking.exact:
        words += " A new search would return just this."
    return words


def _winner(trace: Trace, ranking: Reranking) -> str:
    if not ranking.hypotheses:
        return "no path has finished, so there is none to rank"
    now, then = ranking.hypotheses[0], next(iter(trace.hypotheses), None)
    same = then is not None and (now.group, now.token_ids) == (then.group, then.token_ids)
    return "the same path wins" if same else "another path wins"
