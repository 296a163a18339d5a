"""The page of two runs: their settings and texts, the verdict, and the figures of both.

The texts, the selected step and the figures of the runs are fragments, which a chosen token reruns.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.comparison.types import CAUSES, Parting
from core.decoding.comparison.words import differences_words
from core.decoding.record.trace import Trace
from core.figures.base.labels import percent, visible_token
from core.language import N_, tr
from pages.ui import platform
from pages.ui.compare import controls, pairs, save, side, state, tabs, work
from pages.ui.compare.state import REST, SLOTS, STEP, TEXTS, WATCH, PairView
from pages.ui.platform import slot
from pages.ui.run.display import bar, later, panel


def show() -> None:
    """Draw both sides, the verdict and the figures."""
    pair = PairView.current()
    pair.collect_results()
    pairs.run_found()
    pairs.begin_restoring()
    for place, view in zip(SLOTS, state.sides(), strict=True):
        with slot.use(place):
            view.collect_results()
            bar.begin_restoring(view, controls.RUN_CONTROLS)
            side.read_if_needed(view)
    pairs.draw()
    with st.container(key=platform.key("side-heads")):
        for column, place, view in zip(st.columns(2), SLOTS, state.sides(), strict=True):
            with column, slot.use(place):
                side.head(view)
    left, right = (view.trace for view in state.sides())
    if left is not None and right is not None:
        pair.follow(left, right)
        _verdict(pair, left, right)
    with st.container(key=platform.key("side-texts")):
        platform.part(side.texts, key=TEXTS)(pair)
    if left is not None and right is not None:
        with st.container(key=platform.key("figures")):
            platform.part(tabs.draw_step, key=STEP)(pair)
            with st.container(key=platform.key("rest")):
                platform.part(tabs.draw_rest, key=REST)(pair)
        if not pair.painted:
            later.ask(partial(_painted, pair))
    platform.part(_watch, key=WATCH)(pair)
    pairs.write_address()
    if all("decode" not in view.jobs for view in state.sides()):
        platform.mark_ready()
    pair.painted = True


def _painted(pair: PairView) -> None:
    pair.painted = True
    platform.rerun(STEP, REST)


def _watch(pair: PairView) -> None:
    panel.watch(pair)
    for place, view in zip(SLOTS, state.sides(), strict=True):
        with slot.use(place):
            panel.watch(view)


def _verdict(pair: PairView, left: Trace, right: Trace) -> None:
    """Draw what differs in the settings, then where the runs part and why."""
    parting = _parting(pair, left, right)
    with st.container(key=platform.key("parting"), gap=None):
        st.text(tr(differences_words(left, right)))
        st.markdown(f"**{tr(CAUSES[parting.cause])}**")
        st.text(tr(parting.reason))
        if parting.rivals:
            rivals = [_rival(name, parting, at) for at, name in enumerate("AB")]
            st.text(" · ".join([*rivals, *_margin(parting)]))
        with st.container(
            key=platform.key("parting-row"),
            horizontal=True,
            vertical_alignment="center",
            gap="small",
        ):
            _explain_button(pair, left, right, parting)
            st.button(
                tr("First difference"),
                key=platform.key("first_difference"),
                icon=":material/my_location:",
                type="tertiary",
                disabled=parting.at is None,
                on_click=partial(_go_to, pair, parting.at or 0),
            )
            with st.container(key=platform.key("save-side"), width="content"):
                platform.part(save.menu, key=panel.SAVE)(
                    pair, left, right, parting, partial(tabs.measured, pair)
                )


def _rival(name: str, parting: Parting, at: int) -> str:
    rival = parting.rivals[at]
    shown = [
        tr("{probability} in {side}", probability=percent(prob), side=side)
        if prob is not None
        else tr("not recorded in {side}", side=side)
        for side, prob in zip("AB", (rival.left_prob, rival.right_prob), strict=True)
    ]
    return tr(
        "{name} emits {token}: {shown}",
        name=name,
        token=visible_token(rival.text, 24),
        shown=tr(", ").join(shown),
    )


def _margin(parting: Parting) -> list[str]:
    """Return the distance of the two tokens beside the largest difference of the runs'
    log-probabilities, where both are known; under one model that is rounding.
    """
    if parting.margin is None or parting.rounding is None:
        return []
    by_rounding = parting.cause not in ("model", "given")
    words = (
        N_("margin {margin:.2g} nats, rounding {rounding:.2g} nats")
        if by_rounding
        else N_(
            "margin {margin:.2g} nats, difference of the runs’ log-probabilities up to "
            "{rounding:.2g} nats"
        )
    )
    return [tr(words, margin=parting.margin, rounding=parting.rounding)]


def _parting(pair: PairView, left: Trace, right: Trace) -> Parting:
    """Return the first difference with its cause: of the model, where it was asked."""
    read = tuple(filter(None, (side.stepwise for side in state.sides())))
    if _is_explained(pair, left, right):
        runs = (left, right, *read)
        explained: Parting | None
        explained, ready = pair.soon("why", runs, lambda job: work.explain(job, *runs))
        if ready and explained is not None:
            return explained
    return pair.parting(left, right, read)


def _is_explained(pair: PairView, left: Trace, right: Trace) -> bool:
    """Return whether the model is asked for the cause: at a press, and of runs made here."""
    runs = pair.explained
    pressed = len(runs) == 2 and runs[0] is left and runs[1] is right
    return pressed or all(view.source == "run" for view in state.sides())


def _explain_button(pair: PairView, left: Trace, right: Trace, parting: Parting) -> None:
    """Draw the button that exchanges one setting at a time, where that may tell more."""
    if parting.cause != "settings" or left.config.method != right.config.method:
        return
    explained, error = _is_explained(pair, left, right), pair.error("why")
    if error or (explained and pair.active("why")):
        st.text(error or tr("The model is asked…"), width="content")
    elif not explained:
        st.button(
            tr("Find the deciding setting"),
            key=platform.key("explain"),
            icon=":material/swap_horiz:",
            disabled=not tabs.may_read(0),
            help=tr(
                "Repeat A's step with one of B's settings at a time, in one forward of A's model."
            ),
            on_click=partial(setattr, pair, "explained", (left, right)),
        )


def _go_to(pair: PairView, at: int) -> None:
    pair.select(at)
    state.redraw()
