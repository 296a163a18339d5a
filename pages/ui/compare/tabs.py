"""The figures of two runs: the selected step's, the heatmaps, and the measures along both."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.comparison.measures import PairMeasures
from core.decoding.counting import counted, nth
from core.decoding.record.trace import Trace
from core.export.stored_parts import pair_parts
from core.figures.base.grid import columns_for
from core.figures.base.labels import settings_caption
from core.figures.base.paper import Paper
from core.figures.compare.lines import MEASURES, PairMeasure, captions
from core.language import tr
from pages.ui import platform
from pages.ui.compare import controls, state, work
from pages.ui.compare.state import NAMES, REST, SLOTS, WATCH, PairView, SideView
from pages.ui.decode.parts import CANDIDATES, HEATMAP
from pages.ui.decode.state import uncertain_steps
from pages.ui.decode.tabs import HEATMAP_ROWS
from pages.ui.platform import slot
from pages.ui.run import address
from pages.ui.run.display import panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure, pager, token_strip
from pages.ui.widgets import stepper, style
from pages.ui.widgets.controls.control import value


def measured(pair: PairView) -> PairMeasures:
    """Return the measures that the controls ask for; those of the files until a reading is done."""
    left, right = (side.stepwise for side in state.sides())
    assert left is not None and right is not None
    text, of = value("compare_text"), controls.distribution()
    if text != "own" and may_read(0) and may_read(1):
        read: PairMeasures | None
        read, ready = pair.soon(
            "under",
            (left, right, text, of),
            lambda job: work.read_under(job, left, right, text, of),
        )
        if ready and read is not None:
            return read
    return pair.recorded(left, right, of)


def may_read(at: int) -> bool:
    """Return whether the model of a side's run may be loaded: by a file only a built-in one."""
    with slot.use(SLOTS[at]):
        return state.sides()[at].may_load(str(value("model")))


def draw_step(pair: PairView) -> None:
    """Draw the candidates of both runs at the selected step."""
    both = state.sides()
    longer = max(range(2), key=lambda at: len(both[at].steps))
    with st.container(key=platform.key("step"), gap="small"):
        with (
            st.container(
                key=platform.key("step-head"),
                horizontal=True,
                vertical_alignment="center",
                gap="small",
            ),
            slot.use(SLOTS[longer]),
        ):
            marked = tuple(uncertain_steps(trace)) if (trace := both[longer].stepwise) else ()
            stepper.draw(token_strip.KEY, pair.selected, len(both[longer].steps), marked)
        with st.container(key=platform.key("pair")):
            for place, side in zip(SLOTS, both, strict=True):
                with slot.use(place), st.container(key=platform.key("pair-first")):
                    _candidates(pair, side)
    opens = pair.parting(*pair.shown).at if len(pair.shown) == 2 else 0
    state.write_step(pair, opens or 0)
    address.keep()


def _candidates(pair: PairView, side: SideView) -> None:
    step, trace = side.step_at(pair.selected), side.stepwise
    if step is None or trace is None:
        st.text(
            tr(
                "{side} has no step {step}: {steps}.",
                side=NAMES[slot.current().prefix],
                step=nth(pair.selected),
                steps=counted(len(side.steps), "step"),
            )
        )
        return
    st.markdown(f"**{NAMES[slot.current().prefix]}**")
    figure.omit_captions(settings_caption(trace))
    figure.chart(CANDIDATES.part(side, trace, step=step), (trace, pair.selected))


def draw_rest(pair: PairView) -> None:
    """Draw the heatmaps over each other, and the measures along both runs."""
    if not pair.painted:
        return
    width, count = style.figure_width(), max(len(side.steps) for side in state.sides())
    columns = columns_for(width)
    then = partial(platform.rerun, REST, panel.SAVE, WATCH)
    controls.draw_distribution_choice(then)
    pager.draw(pair, "first", pager.of_span(pair.first, columns, count), "steps")
    for place, side in zip(SLOTS, state.sides(), strict=True):
        with slot.use(place):
            _heatmap(pair, side, columns, min(width, style.BESIDE))
    left, right = (side.stepwise for side in state.sides())
    if left is None or right is None:
        return
    controls.draw_text_choice(then)
    measures = measured(pair)
    if error := pair.error("under"):
        st.text(error)
    elif pair.active("under"):
        st.text(tr("The models read the text…"))
    figure.omit_captions(captions(left, right, Paper(width)))
    panel.tabs(
        "measure",
        {
            name: Tab(title, partial(_measure, pair, left, right, measures, name))
            for name, title in MEASURES.items()
        },
        linked=False,
    )
    panel.made_by(*captions(left, right, Paper(width)).splitlines())


def _heatmap(pair: PairView, side: SideView, columns: int, width: float) -> None:
    trace = side.stepwise
    if trace is None or pair.first >= len(side.steps):
        return
    of = controls.distribution()
    other = next(view.stepwise for view in state.sides() if view is not side)
    st.markdown(f"**{NAMES[slot.current().prefix]}**")
    figure.omit_captions(settings_caption(trace))
    part = HEATMAP.part(
        side,
        trace,
        first=pair.first,
        columns=columns,
        rows=HEATMAP_ROWS,
        value=of,
        beside=other,
        paper=Paper(width),
    )
    figure.chart(
        part, (trace, other, pair.first, pair.selected, width, of), on_click=partial(_click, pair)
    )


def _measure(
    pair: PairView, left: Trace, right: Trace, measures: PairMeasures, measure: PairMeasure
) -> None:
    drawn = pair_parts(left, right, measures, pair.selected)
    figure.chart(
        next(part for part in drawn if part.name == measure),
        (left, right, measures, pair.selected),
        on_click=partial(_click, pair),
        across=True,
    )


def _click(pair: PairView, custom: list[object]) -> None:
    if custom and isinstance(custom[0], int | float):
        pair.select(int(custom[0]))
        state.redraw()
