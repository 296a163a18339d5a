"""The request that is looked at: its run live or whole, beside another, and what it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from core import figures
from core.decoding.constraints.value import constraint_words
from core.decoding.counting import counted, nth
from core.decoding.record.trace import Trace
from core.decoding.validation import shortened
from core.export.part import of_figure
from core.figures.base.grid import columns_for
from core.figures.base.paper import Paper
from core.figures.speculative.timeline import PHONE_COLUMNS, rounds_for
from core.language import tr
from core.server.api.history import Record
from pages.ui import platform
from pages.ui.hosting import endpoint
from pages.ui.requests import again, details
from pages.ui.requests.request_list import prompt_of
from pages.ui.requests.state import STATES, RequestsView, partial_trace_of
from pages.ui.run import jobs
from pages.ui.run.display import later, panel
from pages.ui.run.figures import figure, origins, pager, token_strip
from pages.ui.widgets import style

# The heatmap of a run that goes on is drawn anew after so many tokens.
_LIVE_STEPS = 10
_BESIDE = "beside-strip"
# Of a search's steps and of rounds so many are drawn at a time.
_SPAN, _ROUNDS = 20, 24


def draw(view: RequestsView, record: Record | None) -> bool:
    """The run while it goes on, then whole; before there is any request, the example.

    Returns:
        Whether all is drawn; what is left is when the page is drawn again.
    """
    if record is None:
        view.look_at_example()
        if view.trace is not None:
            st.header(tr("What a request will look like"), anchor=False)
            _finished(view, None, view.trace)
        return True
    _head(record)
    if record.active:
        with panel.box():
            platform.poll(_live, jobs.poll_seconds)(view, record)
    else:
        view.look_at(record)
        _ended(view, record)
        if view.trace is not None and view.trace.token_ids and later.waits(view):
            return False
    # Drawn while the run goes on too: an open tab stays open.
    details.draw(record, min(view.choice, len(record.configs) - 1))
    return True


def _ended(view: RequestsView, record: Record) -> None:
    if view.trace is not None:
        _finished(view, record, view.trace)
        return
    with panel.box():
        st.text(record.error or tr("This request was stopped before its first token."))


def _head(record: Record) -> None:
    with st.container(
        key="request-head", horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.header(tr("Request {number}", number=record.number), anchor=False, width="content")
        st.text(f"{shortened(record.model, 60)} · {prompt_of(record)}", width="stretch")


def _live(view: RequestsView, record: Record) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(tr("Stop"), key="stop_request", icon=":material/stop:", on_click=record.stop)
        tokens = tr(counted(record.tokens, "token"))
        st.text(f"{tr(STATES[record.state])} · {tokens}", width="stretch")
    trace = partial_trace_of(record)
    if trace is None:
        return
    _text(view, trace, live=True)
    steps = len(trace.token_steps) // _LIVE_STEPS * _LIVE_STEPS
    if steps:
        width = style.figure_width()
        columns = columns_for(width)
        last = (steps - 1) // columns * columns
        _heatmap(trace, (record.id, len(record.traces), steps, width), first=last, columns=columns)


def _text(view: RequestsView, trace: Trace, *, live: bool) -> None:
    """The text, coloured by what is known of its tokens."""
    theme = style.theme()
    if trace.rounds:
        origins.draw("origin-strip", view, trace, theme, live=live)
        origins.draw_key(theme)
    elif trace.token_steps:
        token_strip.draw(view, trace, theme, by="probability", live=live)
        token_strip.draw_legend("probability", theme)
    else:
        st.text(trace.text or tr("Decoding…"))


def _finished(view: RequestsView, record: Record | None, trace: Trace) -> None:
    history = endpoint.service().history
    beside = history.find(record.owner, view.beside) if record and view.beside else None
    with st.container(key="request-pair" if beside else "request-text"):
        left, right = st.columns(2) if beside else (st.container(), None)
    with left, panel.box():
        tokens = counted(len(trace.token_ids), "token")
        panel.head(view, trace, trace.config.words, tokens, panel.ENDED[trace.finish_reason])
        if record is not None and record.error:
            st.text(record.error)
        _text(view, trace, live=False)
        _draw_rule(trace, record)
        if record is not None:
            _draw_calls(record, view.choice)
    if right is not None and beside is not None:
        with right, st.container(key="beside-panel", border=True, gap="small"):
            _beside(view, trace, beside)
    if record is not None and len(record.traces) > 1:
        _choices(view, record)
    again.draw(view, record, trace)
    _figure(view, trace)


def _draw_rule(trace: Trace, record: Record | None) -> None:
    """Name the constraint, or the tools that it is made from."""
    constraint = trace.config.shaping.constraint
    if record is not None and record.rule == "tools":
        names = tr(", ").join(map(_tool_name, record.body["tools"]))
        st.text(tr("Tools that it may call: {names}", names=shortened(names, 200)))
    elif constraint is not None:
        st.text(tr("Constraint: {rule}", rule=constraint_words(constraint)))


def _tool_name(tool: Mapping[str, Any]) -> str:
    return str(tool.get("function", tool)["name"])


def _draw_calls(record: Record, choice: int) -> None:
    """Name the calls of a choice with their arguments."""
    calls = [call for (of, _), call in sorted(record.calls.items()) if of == choice]
    if calls:
        st.code("\n".join(f"{name}({arguments})" for name, arguments in calls), language=None)


def _beside(view: RequestsView, trace: Trace, compared: Record) -> None:
    its_trace = compared.traces[0] if compared.traces else None
    words = its_trace.config.words if its_trace else STATES[compared.state]
    with st.container(key="status-beside", horizontal=True, vertical_alignment="center"):
        st.text(
            " · ".join(
                (
                    tr("Request {number}", number=compared.number),
                    tr(words),
                    _agreement(trace, its_trace),
                )
            ),
            width="stretch",
        )
        st.button(
            tr("Open it"), key="swap", type="tertiary", on_click=view.choose, args=(compared.id,)
        )
    if its_trace is None or not its_trace.token_steps:
        st.text(its_trace.text if its_trace else compared.error)
        return
    theme = style.theme()
    token_strip.draw_tokens(
        _BESIDE, view, its_trace.rendered_prompt or its_trace.prompt, theme,
        token_strip.tokens_of(its_trace, theme, "probability"),
        selected=-1, live=False, on_selected=lambda: None, keys=False,
    )  # fmt: skip


def _agreement(trace: Trace, compared: Trace | None) -> str:
    """Describe the common prefix of two runs' tokens."""
    if compared is None:
        return tr("no text")
    if trace.token_ids == compared.token_ids:
        return tr("the same tokens")
    pairs = zip(trace.token_ids, compared.token_ids, strict=False)
    same = next((at for at, (token, its) in enumerate(pairs) if token != its), None)
    if same is None:
        same = min(len(trace.token_ids), len(compared.token_ids))
    return (
        tr("the first {tokens} agree", tokens=counted(same, "token"))
        if same
        else tr("they differ from the first token")
    )


def _choices(view: RequestsView, record: Record) -> None:
    with st.container(key="request-choices", horizontal=True, gap="small"):
        for at in range(len(record.traces)):
            is_shown = at == view.choice
            st.button(
                tr("Choice {number} (shown)", number=nth(at))
                if is_shown
                else tr("Choice {number}", number=nth(at)),
                key=f"choice-{at}",
                type="primary" if is_shown else "secondary",
                on_click=partial(view.take_choice, at),
            )


def _figure(view: RequestsView, trace: Trace) -> None:
    """The main figure of the run's method."""
    if trace.rounds:
        most = min(_ROUNDS, rounds_for(style.figure_width(), trace))
        shown = PHONE_COLUMNS if style.narrow() else most
        pager.draw(view, "first", pager.of_span(view.first, shown, len(trace.rounds)), "rounds")
        look = {"first": view.first, "columns": shown}
        part = of_figure("timeline", figures.spec_timeline, trace, **look)
        figure.chart(part, (view.number, view.first, shown))
    elif trace.beam_steps:
        bar, look = st.container(), {"first": view.first, "span": _SPAN}
        part = of_figure("beam-tree", figures.beam_tree, trace, **look)
        drawn = figure.chart(part, (view.number, view.first))
        with bar:
            pager.draw(view, "first", pager.of_drawn(drawn, len(trace.beam_steps)), "steps")
    elif trace.token_steps:
        width = style.figure_width()
        columns = columns_for(width)
        pager.draw(view, "first", pager.of_span(view.first, columns, len(view.steps)), "steps")
        depends = (view.number, view.first, view.selected, width)
        _heatmap(trace, depends, first=view.first, columns=columns, view=view)


def _heatmap(
    trace: Trace,
    depends: tuple[Any, ...],
    *,
    first: int,
    columns: int,
    view: RequestsView | None = None,
) -> None:
    """Each place's most probable tokens.

    Args:
        view: whose selected step is marked and set by clicks; None while the run goes on.
    """
    figure.chart(
        of_figure(
            "requests-heatmap",
            figures.probability_heatmap,
            trace,
            first=first,
            columns=columns,
            selected=view.selected if view else None,
            paper=Paper(style.figure_width()),
        ),
        depends,
        on_click=partial(_select, view) if view else None,
    )


def _select(view: RequestsView, custom: list[object]) -> None:
    if custom and isinstance(custom[0], int | float):
        view.select(int(custom[0]))
