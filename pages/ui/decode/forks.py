"""The tab of a run's fork points: how its ending changes with the second candidate of a step."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core import figures
from core.decoding.counting import counted, nth, sentences
from core.decoding.errors import DecodingError
from core.decoding.record.forks import MOST_FORKS, ForkPoint, by_effect, steps_to_fork
from core.decoding.record.trace import Trace
from core.figures.base.labels import percent, visible_token
from core.language import N_, tr
from pages.ui import platform
from pages.ui.decode import branches
from pages.ui.decode.state import DecodeView, ForkedRun
from pages.ui.decode.trees import MOST_TOKENS
from pages.ui.run import jobs
from pages.ui.run.display import bar
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.run.parts import PagePart
from pages.ui.run.request import Fork
from pages.ui.widgets.component import component, source
from pages.ui.widgets.controls.control import Number, declare, in_words, value
from pages.ui.widgets.render_clock import drawn_at

_WORK, _KEY = "forks", "fork-list"
_TEXT_SHOWN = 80
_HTML = """
<div class="table">
<div class="head" aria-hidden="true"><span></span><span></span><span>other token</span
><span title="The model's own probability of the other token">prob</span>
<span title="Tokens of the ending in no longest common subsequence with the run's own">tokens</span
><span title="Tokens before both endings go on alike, as far as both go">ending</span
><span title="Mean ln p of the ending's tokens less the run's, nats">ln p</span></div>
<div class="rows" role="listbox" aria-label="Fork points"></div>
</div>
"""
_list = component(
    "fork_list",
    html=_HTML,
    css=source("decode/branch_list.css", "decode/fork_list.css"),
    js=source("widgets/row_list.js"),
)
(_COUNT,) = declare(
    Number("forks", N_("Steps"), 8, 1, MOST_FORKS, short=True,
        help=N_("So many of the run's steps with the most entropy go on with their most probable "
        "other candidate, under the run's own settings and dice.")),
)  # fmt: skip


def _of(view: DecodeView, trace: Trace) -> dict[str, Any] | None:
    points = view.fork_points_of(trace)
    return {"trace": trace, "points": points, "selected": view.selected} if points else None


FORKS = PagePart("forks", figures.fork_points, _of)


def draw(view: DecodeView, trace: Trace) -> None:
    """The button that forks a run, the figure of its fork points, and their list."""
    steps = _steps(trace)
    words = tr(
        "The {steps} with the most entropy of {all:,}; up to {tokens}.",
        steps=counted(len(steps), "step"),
        all=len(trace.token_steps),
        tokens=counted(_tokens(trace, steps), "token"),
    )
    if len(steps) < len(_requested(trace)):
        limit = tr("Their runs have {most:,} tokens at most together.", most=MOST_TOKENS)
        words = tr(sentences(words, limit))
    bar.measure(
        view,
        _WORK,
        N_("Find fork points"),
        partial(_start, view, trace),
        words,
        row="forks-row",
        key="find_forks",
        icon="call_split",
        disabled=not steps or not view.may_load(str(value("model"))) or "decode" in view.jobs,
        options=(_COUNT.key,),
        progress=lambda job: tr(
            "{done:,} of {total:,} steps", done=job.counts[0], total=job.counts[1]
        ),
    )
    points = view.fork_points_of(trace)
    if not points:
        return
    figure.chart(
        FORKS.part(view, trace),
        (view.number, view.selected, tuple(point.at_step for point in points)),
        on_click=lambda custom: _choose(view, trace, custom[1] if len(custom) > 1 else None),
        across=True,
    )
    _draw_list(view, trace, points)


def _start(view: DecodeView, trace: Trace) -> None:
    view.attempt(_WORK, partial(find, trace, _steps(trace)))


def _requested(trace: Trace) -> list[int]:
    """Return the places of the steps that the control names."""
    return steps_to_fork(trace, int(value(_COUNT.key)))


def _steps(trace: Trace) -> list[int]:
    """Return those of them with the most entropy whose runs a session holds, as in a tree."""
    steps = _requested(trace)
    while _tokens(trace, steps) > MOST_TOKENS:
        steps.remove(min(steps, key=lambda at: (trace.token_steps[at].entropy, -at)))
    return steps


def _tokens(trace: Trace, steps: list[int]) -> int:
    """Return the number of tokens of the runs' endings at most."""
    return sum(trace.config.max_new_tokens - at for at in steps)


@jobs.in_background
def find(job: Job, trace: Trace, steps: list[int]) -> ForkedRun | None:
    """Find the fork points of a run; None where a stop left none."""
    from core.decoding.check import fork_points_checked

    job.counts = 0, len(steps)
    model = jobs.load_for(job, trace)

    def on_fork(count: int) -> None:
        job.counts = count, len(steps)

    points = job.compute(N_("Forking"), fork_points_checked, model, trace, steps, on_fork=on_fork)
    return ForkedRun(trace, points) if points else None


def _draw_list(view: DecodeView, trace: Trace, points: tuple[ForkPoint, ...]) -> None:
    def picked() -> None:
        _choose(view, trace, (st.session_state.get(platform.key(_KEY)) or {}).get("picked"))

    places = {point.at_step: place for place, point in enumerate(points)}
    rows = []
    for point in by_effect(points):
        cells = _cells(point)
        said = tr(", ").join(cells)
        rows.append((str(places[point.at_step]), "", said, cells))
    _list(
        key=platform.key(_KEY),
        data={"rows": tuple(rows), "chosen": "", "drawn": drawn_at()},
        on_picked_change=picked,
    )


def _cells(point: ForkPoint) -> tuple[str, ...]:
    own, other = (visible_token(c.text, 24) for c in (point.step.chosen, point.other))
    after = point.together_after
    return (
        tr("step {number}", number=nth(point.at_step)),
        tr("{other} for {own}", other=other, own=own),
        percent(point.other.raw_prob),
        tr("{changed} of {length} differ", changed=point.changed, length=point.length),
        tr("not together again") if after is None else tr("together after {tokens}", tokens=after),
        f"{point.logprob_change:+.2f}".replace("-", "−"),
    )


def _choose(view: DecodeView, trace: Trace, choice: object) -> None:
    """Show the run of a fork point, which then belongs to the tree of its run."""
    place = int(choice) if str(choice).isdecimal() else -1  # type: ignore[call-overload]
    points = view.fork_points_of(trace)
    if not 0 <= place < len(points) or "decode" in view.jobs:
        return
    point = points[place]
    try:
        branches.show_made(view, Fork(trace, point.at_step, (point.other.token_id,)), point.trace)
    except DecodingError as error:
        view.failure = in_words(error)
        st.rerun()
