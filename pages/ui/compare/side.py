"""One side of the page: its run in words, the ways to another one, and its text."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.comparison.measures import parted_at
from core.decoding.counting import counted
from core.decoding.many.methods import whole_text
from core.decoding.record.trace import Trace
from core.figures.base.labels import settings_caption
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.compare import controls, sources, state, work
from pages.ui.compare.state import NAMES, SLOTS, PairView, SideView
from pages.ui.decode.state import uncertain_steps
from pages.ui.platform import slot
from pages.ui.resources import models
from pages.ui.run import address, changed, cost
from pages.ui.run.display import panel
from pages.ui.run.figures import token_strip
from pages.ui.run.jobs import Job
from pages.ui.widgets import style
from pages.ui.widgets.controls.control import value


def head(side: SideView) -> None:
    """Draw a side's run in words, and the ways to another one."""
    panel.failure(side.failure)
    with st.container(
        key=platform.key("side-head"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        name = NAMES[slot.current().prefix]
        words = settings_caption(side.trace) if side.trace else tr("no run yet")
        st.text(f"{name}: {words}", width="stretch")
        sources.menu(side)
        with st.popover(
            tr("Set up"),
            icon=":material/tune:",
            type="tertiary",
            key=platform.key(controls.SETUP),
            on_change="rerun",
        ):
            if side.failure and st.session_state.get(platform.key(controls.SETUP)):
                st.text(tr(side.failure))  # The open set-up covers the sentence on the page.
            controls.draw_setup(side)
            panel.note(changed.note(side, registry.COMPARE), "", key="setup-note")
            sources.upload(side)


def read_if_needed(side: SideView) -> None:
    """Read a run that records no single steps, where its model ships with the app.

    A longer one than a link may make waits for a press.
    """
    trace = side.trace
    if trace is None or trace.token_steps or side.read:
        return
    if not 0 < len(trace.token_ids) <= cost.LINK_TOKENS:
        return
    if models.is_embedded(trace.model_id) and "read" not in side.failures:
        side.attempt("read", partial(work.read_run, trace))


def texts(pair: PairView) -> None:
    """Draw both texts, aligned by the selected token."""
    counts = [len(side.steps) for side in state.sides()]
    for column, place, side in zip(st.columns(2), SLOTS, state.sides(), strict=True):
        with column, slot.use(place):
            keys = place is SLOTS[counts.index(max(counts))]
            st.markdown(f"**{NAMES[place.prefix]}**")
            panel.draw(
                side,
                N_("it becomes this side's."),
                partial(_live, side),
                partial(_text, pair, side, keys),
            )
    with st.container(
        key=platform.key("strip-foot"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        token_strip.draw_legend("probability", style.theme())
    address.keep()


def _live(side: SideView, job: Job) -> None:
    trace = side.partial_trace(job)
    with panel.box():
        panel.running(job, counted(job.tokens, "token"))
        if trace is not None and trace.token_steps:
            _strip(side, trace, -1, live=True)


def _text(pair: PairView, side: SideView, keys: bool, trace: Trace) -> None:
    with panel.box():
        ended = panel.ENDED[trace.finish_reason]
        panel.head(
            side, trace, counted(len(trace.token_ids), "token"), ended, page=registry.COMPARE
        )
        stepwise = side.stepwise
        if stepwise is not None and stepwise.token_steps:
            parted = parted_at(*pair.shown) if len(pair.shown) == 2 else None
            selected = pair.selected if side.step_at(pair.selected) else -1
            _strip(side, stepwise, selected, live=False, parted=parted, keys=keys)
        else:
            st.text(whole_text(trace))
            _read_button(side, trace)


def _read_button(side: SideView, trace: Trace) -> None:
    """Draw the button that reads a run whose steps emit several tokens."""
    error = side.failures.get("read", "")
    if side.active("read"):
        st.text(tr("The model reads the tokens one by one…"))
        return
    if error:
        st.text(tr(error))
    st.button(
        tr("Read it token by token"),
        key=platform.key("read_tokens"),
        icon=":material/model_training:",
        disabled=not side.may_load(str(value("model"))),
        help=tr(
            "This run's steps emit several tokens: its model reads them one by one, "
            "so that both sides have a distribution at every token."
        ),
        on_click=partial(_read, side, trace),
    )


def _read(side: SideView, trace: Trace) -> None:
    side.drop("read")
    side.attempt("read", partial(work.read_run, trace))


def _strip(
    side: SideView,
    trace: Trace,
    selected: int,
    *,
    live: bool,
    parted: int | None = None,
    keys: bool = False,
) -> None:
    theme = style.theme()
    tokens = token_strip.tokens_of(trace, theme, "probability")
    if parted is not None and parted < len(tokens):
        label, classes = tokens[parted][2:4]
        tokens[parted][2:4] = [
            tr("{label}; the first different token", label=label),
            f"{classes} parted".strip(),
        ]
    token_strip.draw_tokens(
        token_strip.KEY,
        side,
        trace.rendered_prompt or trace.prompt,
        theme,
        tokens,
        selected=selected,
        live=live,
        on_selected=_chosen,
        marked=uncertain_steps(trace),
        keys=keys,
    )


def _chosen() -> None:
    """Select the token of one side on both."""
    index = (st.session_state.get(platform.key(token_strip.KEY)) or {}).get("selected")
    if isinstance(index, int):
        PairView.current().select(index)
        state.redraw()
