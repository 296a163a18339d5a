"""The diffusion page as it is drawn: the text, the canvas while it fills, and tabs.

The text, the canvas and the tabs of a finished run are fragments: a chosen position redraws those
that show it.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.counting import counted, nth
from core.decoding.diffusion.canvas import canvas_steps, forwards_of, last_filled
from core.decoding.diffusion.config import Diffusion
from core.decoding.record.trace import Trace
from core.figures import token_colors
from core.figures.base.labels import percent, settings_caption, visible_token
from core.figures.base.paper import Paper
from core.figures.decode.strip import kind_of, shown_text
from core.figures.diffusion.canvas import Filled
from core.figures.diffusion.order import text_positions
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.diffusion import controls, parts, state, work
from pages.ui.diffusion.state import DiffusionView
from pages.ui.run import address, changed
from pages.ui.run.display import bar, later, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure, pager, token_strip
from pages.ui.run.jobs import Job
from pages.ui.widgets import play, style
from pages.ui.widgets.controls.control import value

STRIP, TEXT, CANVAS, LOOKS = "diffusion-strip", "diffusion-text", "diffusion-canvas", "fill-looks"
_NOTICE = N_("""
## What to notice

- Look for a token far right that came before one on its left. Choose it and open Why it came then:
  the model was surer of it than of all positions that stayed open. Full stops often come first.
- A masked position's proposal changes while its neighbours fill: open One position.
- Masks again (More settings) takes back the least sure tokens of the block: a hatched cell. Later
  steps fill them with more of the text in sight.
- More tokens a step save forwards, but tokens of one step don't see each other: two that are
  likely alone may not fit together.
- Left to right in blocks of 1 is the autoregressive order, with this model.
""")
_NOTICE_NOISE = N_("""
## What to notice

- The canvas begins with random tokens. Each step draws every position again and accepts the surest
  ones, marked with a ring; hatched positions get new random tokens.
- An accepted token is not final: a later step may draw another one. The last step writes the most
  probable token of each position.
- Why it came then shows the entropies by which a step accepts; One position shows how the
  candidates change while the temperature falls.
""")


def draw(view: DiffusionView) -> None:
    """Draw everything below the controls."""
    panel.read_controls(view, controls.request)
    panel.draw(
        view,
        N_("the model fills a canvas behind the prompt."),
        partial(_live, view),
        partial(_finished, view),
    )
    if view.trace is None or not _figures(view, view.trace):
        panel.watch(view)


def _live(view: DiffusionView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        panel.running(job, counted(len(job.steps), "step"))
        if trace is not None and trace.steps:
            _strip(view, trace, live=True)


def _finished(view: DiffusionView, trace: Trace) -> None:
    tokens, forwards = len(trace.token_ids), forwards_of(trace.require(Diffusion))
    with panel.box():
        panel.head(
            view,
            trace,
            tr(
                "{tokens} in {forwards}",
                tokens=counted(tokens, "token"),
                forwards=counted(forwards, "forward"),
            ),
            panel.ENDED[trace.finish_reason],
        )
        platform.part(_strip, key=TEXT)(view, trace, live=False)
        with st.container(
            key=platform.key("strip-foot"),
            horizontal=True,
            vertical_alignment="center",
            gap="small",
        ):
            token_strip.draw_legend("probability", style.theme())
            panel.note(
                changed.note(view, registry.page_of("diffusion")),
                N_("Press Play: the tokens appear in the order in which they came."),
            )


def _strip(view: DiffusionView, trace: Trace, *, live: bool) -> None:
    theme, shown = style.theme(), text_positions(trace)
    filled = last_filled(trace.require(Diffusion))
    colors = dict(
        zip(
            (step.index for step in filled.token_steps),
            token_colors(filled, theme=theme),
            strict=True,
        )
    )
    places = [one.position for one in shown]
    token_strip.draw_tokens(
        STRIP,
        view,
        trace.rendered_prompt or trace.prompt,
        theme,
        [_token(one, *colors[one.position]) for one in shown],
        selected=places.index(view.position) if view.position in places and not live else -1,
        live=live,
        on_selected=_on_selected,
    )


def _token(one: Filled, ground: str, ink: str) -> list[object]:
    label = tr(
        "Position {position}: {token}, filled at step {step} with probability {probability}",
        position=nth(one.position),
        token=visible_token(one.text),
        step=nth(one.step),
        probability=percent(one.prob),
    )
    text = shown_text(one.text, one.text)
    return [text, ground, label, kind_of(one.text), one.step, ink]


def _on_selected() -> None:
    at = (st.session_state.get(platform.key(STRIP)) or {}).get("selected")
    view = DiffusionView.current()
    if isinstance(at, int) and view.trace is not None:
        shown = text_positions(view.trace)
        if 0 <= at < len(shown):
            view.look_at(shown[at].position)
            platform.rerun(CANVAS, LOOKS)


def _figures(view: DiffusionView, trace: Trace) -> bool:
    """Draw the canvas and the tabs; return whether the tabs are there, which watch over jobs."""
    with st.container(key=platform.key("figures")):
        platform.part(_canvas, key=CANVAS)(view, trace)
        if later.waits(view):
            return False
        with st.container():
            platform.part(_looks, key=LOOKS)(view, trace)
    if "decode" not in view.jobs:
        platform.mark_ready()
    return True


def _click(view: DiffusionView, custom: list[object]) -> None:
    if len(custom) > 1 and isinstance(custom[1], int | float):
        view.look_at(int(custom[1]))
        platform.rerun(LOOKS, TEXT, CANVAS)


def _canvas(view: DiffusionView, trace: Trace) -> None:
    figure.omit_captions(settings_caption(trace))
    view.write_position()
    address.keep()
    columns, count = state.shown_steps(), len(canvas_steps(trace))
    width = state.canvas_width()
    window = {"first": view.first, "columns": columns}
    left, right = st.columns([3, 2], gap="small")
    with left, st.container(key=platform.key("canvas-figure"), gap="small"):
        # The player stands above: the figure may be higher than the window.
        above = st.container(
            key=platform.key("canvas-bar"),
            horizontal=True,
            vertical_alignment="center",
            gap="medium",
        )
        drawn = figure.chart(
            parts.CANVAS.part(view, trace, **window, paper=Paper(width)),
            (view.number, *window.values(), view.position, width),
            on_click=partial(_click, view),
        )
        if not count:
            return
        with above:
            play.draw(
                "canvas",
                drawn,
                style.theme(),
                view.number,
                count=count,
                turn=lambda at: view.turn_page("first", at // columns * columns),
            )
            pager.draw(view, "first", pager.of_span(view.first, columns, count), "steps")
    with right, st.container(key=platform.key("notice")):
        from_noise = trace.require(Diffusion).config.canvas == "noise"
        st.markdown(tr(_NOTICE_NOISE if from_noise else _NOTICE))
        panel.made_by(settings_caption(trace))


def _looks(view: DiffusionView, trace: Trace) -> None:
    figure.omit_captions(settings_caption(trace))
    select = partial(_click, view)
    depends = (view.number, view.position)

    def order() -> None:
        figure.chart(parts.ORDER.part(view, trace), depends, on_click=select, across=True)

    def choice() -> None:
        figure.chart(parts.CHOICE.part(view, trace), depends, on_click=select, across=True)

    def position() -> None:
        figure.chart(parts.POSITION.part(view, trace), depends, across=True)

    def budget() -> None:
        figure.chart(parts.BUDGET.part(view, trace), (), across=True)

    drawings = {
        "order": Tab(N_("Order"), order),
        "choice": Tab(N_("Why it came then"), choice),
        "position": Tab(N_("One position"), position),
        "together": Tab(N_("Filled together"), partial(_together, view, trace)),
    }
    if state.stored_budget() is not None:
        drawings["budget"] = Tab(N_("Forwards and right answers"), budget)
    panel.tabs("diffusion_look", drawings, ready=("order", "choice", "position"))
    panel.watch(view)


def _together(view: DiffusionView, trace: Trace) -> None:
    several = any(len(step.filled) > 1 for step in canvas_steps(trace))
    may_load = view.may_load(str(value(controls.MODEL)))
    if view.together is not None:
        depends = (view.number, view.together)
        select = partial(_click, view)
        figure.chart(parts.TOGETHER.part(view, trace), depends, on_click=select, across=True)
        return
    hindrance = ""
    if trace.require(Diffusion).config.canvas == "noise":
        hindrance = N_("A canvas of noise draws all its tokens again at each step.")
    elif not several:
        hindrance = N_("Every step filled one token, so no two were filled together.")
    elif not may_load:
        hindrance = N_("Choose this run's model above first.")
    bar.measure(
        view,
        "together",
        N_("Compare parallel with sequential"),
        lambda: view.begin("together", work.measure_together(trace)),
        hindrance or N_("One forward for each further token of a step."),
        row="together-row",
        key="measure_together",
        icon="balance",
        disabled=bool(hindrance) or view.active("decode") is not None,
    )
