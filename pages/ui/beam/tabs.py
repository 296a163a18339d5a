"""The figures of a search: its tree above the text, one step of it, and further tabs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.decoding.beam.config import BeamSearch
from core.decoding.beam.replay import Reranking
from core.decoding.errors import DecodingError
from core.decoding.record.trace import Trace
from core.figures.base.paper import Paper
from core.figures.beam.words import beam_caption, winner_words
from core.figures.constraint.words import path_of
from core.language import N_, tr
from pages.ui import platform
from pages.ui.beam import compare, controls, node, parts, state
from pages.ui.beam.state import BeamView
from pages.ui.run import address
from pages.ui.run.display import later, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import constraint, figure, pager
from pages.ui.shell import glossary
from pages.ui.widgets import ahead, play, style
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import value

_NOTICE = N_(
    "## What to notice\n\n"
    "- {winner}\n"
    "- Many paths share their beginning, so the beam holds near-copies of one text. Groups with a "
    "diversity penalty keep them apart.\n"
    "- “Wrong guesses” draws the edges that one would infer from the tokens alone, without the "
    "stored parents.\n"
    "- The length penalty ranks the same paths anew, and another one may win."
)
_THREE_WORDS = N_(
    "A language of three words, searched two words deep with a beam of 2: multiply along the edges."
)
NODE = "beam-node"
TREE, STEP, LOOKS = "beam-tree-part", "beam-step-part", "beam-looks"


def draw(view: BeamView, text: Callable[[], None]) -> None:
    """The tree, the text, the selected candidate, and three more figures in tabs.

    Args:
        text: draws the text.
    """
    with st.container(key=platform.key("figures")):
        platform.part(_tree, key=TREE)(view)
        text()
        if later.waits(view):
            panel.watch(view)
            return
        with st.container():
            platform.part(_step, key=STEP)(view)
        with st.container():
            platform.part(_looks, key=LOOKS)(view)
    platform.mark_ready()


def as_ranked(view: BeamView) -> tuple[Trace, Reranking, BeamSearch]:
    """The search as the controls rank it, and the search that they describe; as it was run where
    they describe none."""
    trace = view.trace
    assert trace is not None
    try:
        search = controls.config()
    except DecodingError:
        assert isinstance(trace.config, BeamSearch)
        search = trace.config
    ranking, ranked = state.reranked(view, trace, search)
    figure.omit_captions(beam_caption(ranked))
    return ranked, ranking, search


def _redraw() -> None:
    """End a callback that selects a candidate, or brings another part of the tree into view.

    What is said of the candidate is there before the larger figure, which follows.
    """
    trace = BeamView.current().trace
    ruled = trace is not None and trace.config.shaping.constraint is not None
    platform.rerun(STEP, TREE, *([LOOKS] if ruled else []))


def _step(view: BeamView) -> None:
    trace, *_ = as_ranked(view)
    if view.node is not None:
        _one_step(view, trace)
    elif trace.beam_steps:
        st.text(tr("No candidate is selected: click one in the tree to see its step."))
        panel.made_by(beam_caption(trace))


def _looks(view: BeamView) -> None:
    """The tabs, and the watch over what a press in them starts."""
    trace, ranking, search = as_ranked(view)
    drawings = {
        **constraint.tab(
            *(view, trace, parts.CONSTRAINT, view.node),
            on_click=partial(_on_path, view, trace),
            then=partial(node.masks, view, trace),
        ),
        "paths": Tab(N_("Hypotheses"), partial(compare.hypotheses, view, ranking, search)),
        "greedy": Tab(N_("Greedy comparison"), partial(compare.draw, view, trace, _redraw)),
        "guesses": Tab(N_("Parent guesses"), partial(compare.guesses, view, trace, _redraw)),
        "hand": Tab(N_("By hand"), partial(_by_hand, view, trace)),
    }
    panel.tabs("beam-look", drawings, linked=False, ready=drawings)
    panel.watch(view)


def _on_path(view: BeamView, trace: Trace, custom: list[object]) -> None:
    """Select the step of the drawn path that a click on the constraint's figure names."""
    if custom and isinstance(custom[0], int | float):
        at = int(custom[0])
        view.look_at(at, trace.beam_steps[at].candidates.index(path_of(trace, view.node)[at]))
        _redraw()


def _by_hand(view: BeamView, trace: Trace) -> None:
    """Draw the stored search over three words, whose products can be checked by hand."""
    st.text(tr(_THREE_WORDS))
    figure.chart(parts.BY_HAND.part(view, trace), ("three words",), across=True)


def _tree(view: BeamView) -> None:
    trace, *_ = as_ranked(view)
    with st.container(key=platform.key("beam-tree"), gap="small"):
        bar = st.container(
            key=platform.key("tree-bar"), horizontal=True, vertical_alignment="center", gap="medium"
        )
        with bar:
            player = st.container(key=platform.key("tree-play"), width="content")
            controls.tree_view()
        span, pruned = controls.view_of_tree()
        drawn = figure.chart(
            parts.TREE.part(
                view, trace, first=view.first, span=span, paper=Paper(style.figure_width())
            ),
            (
                *(view.number, view.first, span, pruned, value("guesses"), view.node),
                *(trace.config, style.figure_width(), *controls.part_of_tree().values()),
            ),
            on_click=lambda custom: _click(view, custom),
            chooses=NODE,
        )
        if trace.beam_steps:
            with bar:
                pager.draw(view, "first", pager.of_drawn(drawn, len(trace.beam_steps)), "steps")
            with player:
                play.draw(
                    "beam-tree",
                    drawn,
                    style.theme(),
                    view.number,
                    count=len(trace.beam_steps),
                    turn=lambda step: view.turn_to(step, span, pruned),
                    like={"best": "kept", "best edges": "kept edges"},
                )
    state.keep_in_address(view)
    address.keep()


def _click(view: BeamView, custom: list[object]) -> None:
    if (
        len(custom) > 1
        and isinstance(custom[0], int | float)
        and isinstance(custom[1], int | float)
    ):
        view.look_at(int(custom[0]), int(custom[1]))
        _redraw()


def _one_step(view: BeamView, trace: Trace) -> None:
    step, place = view.node or (0, 0)
    prefetch = _prefetch(view, trace)
    with st.container(key=platform.key("step"), gap="small"):
        left, right = st.columns(2, gap="small")
        with left:
            figure.chart(
                parts.STEP.part(view, trace),
                (view.number, step, place, trace.config),
                on_click=lambda custom: _click(view, custom),
                ahead=prefetch,
                chooses=NODE,
            )
        with right:
            node.draw(view, trace, _redraw, prefetch)
            with st.container(key=platform.key("notice")):
                st.markdown(glossary.marked(tr(_NOTICE, winner=winner_words(trace))))
                panel.made_by(beam_caption(trace))


def _prefetch(view: BeamView, trace: Trace) -> ahead.Prefetch:
    """Offer the browser the sentences and the step figure of other candidates."""
    look = figure.FigureLook.now()

    def build(inputs: ahead.Inputs) -> ahead.Shown:
        step, place = map(int, inputs[NODE].split("."))
        part = parts.STEP.part(view, trace, index=step, selected=place)
        return {**node.sentences(trace, step, place), part.name: look.drawing(part.drawn())}

    inputs = {NODE: ("{}.{}".format(*view.node or (0, 0)), _node)}
    return ahead.prefetch("beam-node", (view.number, trace.config, *look.key), inputs, build)


def _node(text: str) -> str | None:
    """A step and the place of its candidate, as `3.1`."""
    parts = text.split(".")
    return text if len(parts) == 2 and None not in map(link.whole, parts) else None
