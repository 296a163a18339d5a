"""Draw the tabs on the selected step: call times, modules, logit lens, attention."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

import streamlit as st

from core import figures
from core.decoding.record.trace import Check, Trace
from core.export.part import Part, of_figure
from core.figures.base.grid import wide_columns
from core.figures.base.paper import Paper
from core.language import N_, tr
from core.traces.data_path.steps import prompt_call, step_call
from core.traces.data_path.types import FunctionCall
from pages.ui import platform
from pages.ui.inside import save, work
from pages.ui.inside.state import InsideView
from pages.ui.run.display import panel, proof
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure, pager
from pages.ui.run.view import select_step
from pages.ui.widgets import style, table
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import value

_CHECKED = ("record", "forward", "lens", "attention")
_MODULES_SHOWN = 12


def draw(view: InsideView, trace: Trace, redraw: Callable[[], None]) -> None:
    """The proof and the files, then the tabs; only the open one is worked out.

    Args:
        redraw: ends a callback that selects another step.
    """
    head = st.container(
        key=platform.key("inside-head"), horizontal=True, vertical_alignment="center", gap="small"
    )
    figure.of_step(view.selected)
    panel.tabs(
        "inside_look",
        {
            "calls": Tab(save.TABS["calls"], partial(_flame, view, trace, redraw)),
            "modules": Tab(save.TABS["modules"], partial(_modules, view, trace)),
            "lens": Tab(save.TABS["lens"], partial(_lens, view, trace)),
            "attention": Tab(save.TABS["attention"], partial(_attention, view, trace)),
        },
    )
    with head:
        _head(view)


def _head(view: InsideView) -> None:
    """Draw the result of the checks, and the recording as files."""
    keys = _keys(view)
    checks: list[Check] = [
        check
        for name in _CHECKED
        if name in view.cached and view.cached[name][0] == keys[name]
        for check in view.cached[name][1].checks
    ]
    proof.badge_of("inside-proof", checks, checking=view.under_way)
    recorded = view.cached.get("record")
    if recorded is not None and recorded[0] == keys["record"]:
        save.downloads(recorded[1].path)


def _keys(view: InsideView) -> dict[str, tuple[object, ...]]:
    """Return the cache key of each job, under the present settings."""
    cache = not value("no_cache")
    step = (view.number, view.selected)
    return {
        "record": (view.number, cache),
        "forward": (*step, cache),
        "lens": step,
        "attention": step,
    }


def _waits(view: InsideView, name: str, *, ready: bool, words: str) -> bool:
    """Say why there is nothing yet; True where there is something to draw."""
    if not ready:
        st.text(view.error(name) or tr(words))
    return ready


def _caption(view: InsideView, trace: Trace, *, step: bool = True) -> str:
    off = f" · {tr('cache off')}" if value("no_cache") and trace.config.use_cache else ""
    caption = (
        figures.step_caption(trace, view.selected) if step else figures.settings_caption(trace)
    )
    return f"{caption}{off}"


def _chart(
    view: InsideView,
    part: Part,
    depends: tuple[Hashable, ...],
    on_click: Callable[[list[object]], None] | None = None,
) -> None:
    """The open tab's figure, which from now on the archive of the page takes."""
    figure.chart(part, depends, on_click=on_click)
    view.figures[part.name] = part


def _flame(view: InsideView, trace: Trace, redraw: Callable[[], None]) -> None:
    cache, width = not value("no_cache"), style.figure_width()
    control.draw("flame", label_visibility="collapsed")
    what = value("flame")
    if what == "modules":
        seen, ready = work.forward(view, trace, use_cache=cache)
        if not _waits(view, "forward", ready=ready, words=N_("Looking through the forward…")):
            return
        assert seen is not None
        calls, name = seen.path.calls, N_("the forward")
    else:
        recorded, ready = work.recorded(view, trace, use_cache=cache)
        if not _waits(view, "record", ready=ready, words=N_("Recording the run…")):
            return
        assert recorded is not None
        calls, name = _calls(view, recorded, what)
    before = view.selected - 1 if what == "step" else view.selected if what == "modules" else -1
    _chart(
        view,
        of_figure(
            "calls",
            figures.flame_chart,
            calls,
            caption=_caption(view, trace, step=what != "run"),
            prompt=trace.prompt,
            what=name,
            first_step=before,
            paper=Paper(width),
        ),
        (view.number, view.selected, what, cache, width),
        on_click=partial(select_step, view, redraw),
    )


def _calls(
    view: InsideView, recorded: work.Recorded, what: str
) -> tuple[tuple[FunctionCall, ...], str]:
    if what == "run":
        return recorded.path.calls, N_("the whole run")
    first = prompt_call(recorded.path) if view.selected == 0 else None
    made = step_call(recorded.path, view.selected)
    name = N_("this step with the prompt") if first else N_("this step")
    return tuple(call for call in (first, made) if call is not None), name


def _modules(view: InsideView, trace: Trace) -> None:
    cache, width = not value("no_cache"), style.figure_width()
    seen, ready = work.forward(view, trace, use_cache=cache)
    if not _waits(view, "forward", ready=ready, words=N_("Looking through the forward…")):
        return
    assert seen is not None
    forwards = [(N_("the prompt"), seen.prompt)]
    if seen.single is not None:
        behind = N_("one token behind it") if view.selected == 0 else N_("this step")
        forwards.append((behind, seen.single))
    _chart(
        view,
        of_figure(
            "modules",
            figures.module_times,
            tuple(forwards),
            caption=_caption(view, trace),
            prompt=trace.prompt,
            paper=Paper(width),
        ),
        (view.number, view.selected, cache, width),
    )
    st.caption(
        tr(
            "Medians of three forwards through transformers' own modules. Behind the cache one "
            "token is one row of every shape; without it the whole text goes through again."
        )
    )
    rows = figures.module_times_data(tuple(forwards)).rename(
        columns={
            "module": N_("module"),
            "shape_in": N_("shape in"),
            "shape_out": N_("shape out"),
        }
    )
    table.draw(
        "modules-table",
        rows.assign(
            forward=rows["forward"].map(tr), layer=rows["layer"].astype("string").fillna("")
        ),
        numbers={"ms": "%.3f", "parameters": "%,d"},
        most_rows=_MODULES_SHOWN,
    )


def _lens(view: InsideView, trace: Trace) -> None:
    reading, ready = work.lens(view, trace)
    if not _waits(view, "lens", ready=ready, words=N_("Reading the layers…")):
        return
    assert reading is not None
    width, read = style.figure_width(), reading.value
    columns = wide_columns(width)
    first = _first(view.lens_first, columns, len(read.positions))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        control.draw("cells", label_visibility="collapsed")
        pager.draw(view, "lens_first", pager.of_span(first, columns, len(read.positions)),
            "positions")  # fmt: skip
    show = value("cells")
    _chart(
        view,
        of_figure(
            "lens",
            figures.lens_heatmap,
            read,
            caption=figures.step_caption(trace, view.selected),
            prompt=trace.prompt,
            first=first,
            columns=columns,
            show=show,
            selected=read.first + len(read.positions) - 1,
            paper=Paper(width),
        ),
        (view.number, view.selected, first, show, width),
    )
    if trace.config.shaping.dola_layers:
        layers = of_figure("layers", figures.dola_layers, trace, selected=view.selected)
        figure.chart(layers, (view.number, view.selected), across=True)


def _first(chosen: int | None, columns: int, count: int) -> int:
    """Return the first position of a window: at the end unless another one was chosen."""
    last = max(0, count - columns)
    return last if chosen is None else min(chosen, last)


def _attention(view: InsideView, trace: Trace) -> None:
    reading, ready = work.attention(view, trace)
    if not _waits(view, "attention", ready=ready, words=N_("Reading the attention…")):
        return
    assert reading is not None
    width, seen = style.figure_width(), reading.value
    layer = min(int(value("look_layer")), len(seen.weights)) - 1
    columns = figures.attention_columns(width)
    first = _first(view.looked_first, columns, len(seen.texts))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        control.draw("look_layer")
        window = pager.of_span(first, columns, len(seen.texts))
        pager.draw(view, "looked_first", window, "positions")
    _chart(
        view,
        of_figure(
            "attention",
            figures.attention_map,
            seen,
            caption=figures.step_caption(trace, view.selected),
            prompt=trace.prompt,
            layer=layer if layer >= 0 else None,
            first=first,
            columns=columns,
            paper=Paper(width),
        ),
        (view.number, view.selected, layer, first, width),
    )
    st.caption(
        tr(
            "The token read at this step attends to all tokens before it and to itself, which "
            "gives this step's logits."
        )
    )
