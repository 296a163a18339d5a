"""Figure on a page: the chart in the page's theme, and its export."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, TypeAlias

import plotly.graph_objects as go
import streamlit as st

from core import language
from core.decoding.counting import nth
from core.decoding.errors import FigureError
from core.export.part import Part, stem
from core.figures.base.labels import exact_plain, safe_plain
from core.figures.base.paper import Paper
from core.figures.base.theme import Theme
from core.figures.journal.key_words import full_caption
from core.language import tr
from pages.ui import platform, registry
from pages.ui.run.figures import export
from pages.ui.run.figures.export import DrawTask, ExportState
from pages.ui.widgets import chart as charts
from pages.ui.widgets import closed, style
from pages.ui.widgets.ahead import Inputs, Prefetch, Shown, prefetch
from pages.ui.widgets.chart import Drawing
from pages.ui.widgets.component import source
from pages.ui.widgets.controls import figure_choices

_OMITTED, _STEP = "captions_said", "figures_step"
# A figure's words make the name of its files.
Namer: TypeAlias = Callable[[Mapping[str, Any]], str]
_component = export.exporter("export", html=source("run/figures/export.html"))


@dataclass(frozen=True, slots=True)
class FigureLook:
    """Theme and width of the page's figures; other threads draw with them too.

    Args:
        width: width that the window has for a figure, in px.
        across: the figure takes all of `width`, whatever it asks for.
    """

    theme: Theme
    width: float
    across: bool = False

    @classmethod
    def now(cls, *, across: bool = False) -> FigureLook:
        """Return the look for this session."""
        width = style.across_width() if across else style.figure_width()
        return cls(style.theme(), width, across)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Part of a figure's cache key."""
        return self.theme.name, self.width, language.current()

    def drawing(self, draw: Callable[..., go.Figure], *, caption: bool = False) -> Drawing:
        """Return a figure as the page shows it."""
        default: Paper = signature(draw).parameters["paper"].default
        width = self.width if self.across else min(default.width, self.width)
        figure = draw(theme=self.theme, paper=replace(default, width=width, caption=caption))
        return charts.drawing(figure, captioned=caption)


def chart(
    part: Part,
    depends: tuple[Hashable, ...],
    *,
    on_click: Callable[[list[object]], None] | None = None,
    ahead: Prefetch | None = None,
    chooses: str = "",
    across: bool = False,
) -> Drawing:
    """Draw a figure and its export, and return the drawing.

    Args:
        part: its name is the key of the chart and the stem of its files.
        depends: cache key of all that the figure depends on, beside the theme; a figure takes
            tens of milliseconds to build.
        on_click: receives the `customdata` of a clicked mark.
        ahead: prefetched charts, which the browser may show before the script has answered.
        chooses: the input that a clicked mark chooses.
        across: the figure takes the page's width, so that its lines of text may be longer.
    """
    name, draw = part.name, part.drawn()
    look = FigureLook.now(across=across)
    tab = closed.state()
    if tab and ahead is None:
        ahead = _offered(name, draw, look, depends)
    made = _CLOSED if tab == "closed" else _drawn(name, draw, look, depends, ahead)
    payload = ahead.payload if ahead else None
    shown = _placed(name, made, payload)
    with st.container(key=platform.key(f"figure-{name}"), gap=None):
        charts.draw(name, shown, on_click, payload, chooses)
        if tab != "closed":
            _export(part, shown)
    return shown


# Placeholder for a chart in a closed tab, which the browser fetches.
_CLOSED = Drawing({"alt": ""}, "")


def _offered(
    name: str, draw: Callable[..., go.Figure], look: FigureLook, depends: tuple[Hashable, ...]
) -> Prefetch:
    """Return the prefetch offer for the figure of a tab that may be closed."""
    omitted = _omitted_captions()

    def build(_: Inputs) -> Shown:
        bare = look.drawing(draw)
        is_omitted = bare.words["caption"] in omitted
        return {name: bare if is_omitted else look.drawing(draw, caption=True)}

    return prefetch(f"figure-{name}", (*look.key, *depends), {}, build)


def _placed(name: str, made: Drawing, payload: dict[str, Any] | None) -> Drawing:
    """Return the drawing for a place: the last one if unchanged, else one that replaces it."""
    placed = platform.keep("placed", dict[str, tuple[Drawing, Any]])
    last = placed.get(platform.key(name))
    if last is not None and last[0].text is made.text and last[1] == payload:
        return last[0]
    shown = made.again() if last is not None or made is _CLOSED else made
    placed[platform.key(name)] = (shown, payload)
    return shown


@dataclass(eq=False)
class _Drawn:
    """Cache entry of a chart: its forms with and without caption, each built on demand."""

    key: tuple[Hashable, ...]
    caption: str
    forms: dict[bool, Drawing]


def _drawn(
    name: str,
    draw: Callable[..., go.Figure],
    look: FigureLook,
    depends: tuple[Hashable, ...],
    ahead: Prefetch | None,
) -> Drawing:
    """Return the figure, without its caption if the page shows the caption itself.

    Args:
        ahead: holds the figure if the browser has already fetched it.
    """
    cache = platform.keep("drawn", dict[str, _Drawn])
    key, name = (*look.key, *depends), platform.key(name)
    if name not in cache or cache[name].key != key:
        prefetched = ahead.cached().get(name) if ahead else None
        made = prefetched if isinstance(prefetched, Drawing) else look.drawing(draw)
        cache[name] = _Drawn(key, made.words["caption"], {made.captioned: made})
    drawn = cache[name]
    caption = drawn.caption not in _omitted_captions()
    if caption not in drawn.forms:
        drawn.forms[caption] = look.drawing(draw, caption=caption)
    return drawn.forms[caption]


def _page() -> str:
    """Return the path of the page that this session shows."""
    return str(st.session_state.get("page_before", ""))


def _omitted_captions() -> tuple[str, ...]:
    """Return the captions that this page shows once for all figures."""
    page, captions = st.session_state.get(platform.key(_OMITTED), ("", ()))
    return captions if page == _page() else ()


def omit_captions(*captions: str) -> None:
    """Leave these captions out of the page's figures, as the page shows them once.

    An exported figure keeps its caption.
    """
    st.session_state[platform.key(_OMITTED)] = (_page(), tuple(map(safe_plain, captions)))


def also_omit(caption: str) -> None:
    """Leave out the caption of a measurement that is being repeated: its mark says it is older."""
    omit_captions(*_omitted_captions(), caption)


def _export(part: Part, shown: Drawing) -> None:
    popover = st.popover(
        tr("Export"),
        icon=":material/download:",
        type="tertiary",
        key=platform.key(f"export-{part.name}"),
        on_change="rerun",
    )
    if popover.open:
        words = shown.words
        # A press shows the error of the chosen width.
        with suppress(FigureError):
            # The files may show a smaller part than the page.
            paper = figure_choices.paper()
            words = part.figure(figure_choices.theme(), paper).layout.meta
            if paper.journal:
                words = {**words, "caption": full_caption(words)}
        with popover:
            platform.part(_leave)(shown, words, part, _named(part.name))


def of_step(index: int) -> None:
    """Declare the step of the page's figures, whose own words don't name it."""
    st.session_state[platform.key(_STEP)] = (_page(), index)


def _named(name: str) -> Namer:
    """Return a function that names a figure's files: page, figure, step or part, method, seed."""
    path = _page()
    page = registry.page_at(path)
    trace = getattr(page.view(), "trace", None)
    subject = f"{page.name}-{name.removeprefix(f'{page.name}-')}"
    if (of := st.session_state.get(platform.key(_STEP))) and of[0] == path:
        subject = f"{subject}-step-{nth(of[1])}"
    return partial(stem, subject, trace.config if trace else None)


def _leave(shown: Drawing, words: Mapping[str, Any], part: Part, named: Namer) -> None:
    """Draw the buttons of a figure's files, in a fragment, so that a press doesn't rerun the page.

    Args:
        words: the words of the exported figure.
    """
    state, key = ExportState.of(part.name), platform.key(f"export-bar-{part.name}")

    def pressed() -> None:
        state.attempt(lambda: _ask(state, part, named, shown, str(st.session_state[key].asked)))

    _component(
        key=key,
        data={
            **state.data(),
            "caption": exact_plain(words["caption"]),
            "alt": exact_plain(words["alt"]),
        },
        on_asked_change=pressed,
        on_drawn_change=lambda: state.take(st.session_state[key].drawn),
    )


def _ask(state: ExportState, part: Part, named: Namer, shown: Drawing, form: str) -> None:
    """Start the export that a button asks for.

    Args:
        named: makes the files' name, without the extension, from a figure's words.
    """
    from core.export.part import drawing, encoded, table_file

    files, paper = named(shown.words), figure_choices.paper()
    if form in ("csv", "table"):
        # A picture of that width may show a smaller part than the page.
        figure = part.figure(figure_choices.theme(), paper)
        words = figure.layout.meta
        if form == "table":
            state.show(exact_plain(words["title"]), part.table(figure))
            return
        state.hand_over(f"{named(words)}.csv", table_file(part, paper))
        return
    if form == "html":
        _hand_over_page(state, part, files, paper)
        return

    def take(figure: go.Figure, raw: str) -> None:
        # On paper the figure may show a smaller part.
        files = named(figure.layout.meta)
        drawn = drawing(raw, figure, files, paper)
        state.hand_over(f"{files}.{form}", encoded(drawn, form))
        if drawn.fonts.missing:
            state.message = tr("No font of this server has: {missing}", missing=drawn.fonts.missing)

    state.task = DrawTask(part.figure(figure_choices.theme(), paper), take)


def _hand_over_page(state: ExportState, part: Part, files: str, paper: Paper) -> None:
    """Save the figure as a web page; if chosen so, with Plotly's script as a separate file."""
    from core.export.archive import zipped
    from core.export.web import bundle
    from core.export.web.page import page_of

    shared = figure_choices.shared()
    page = page_of(part.drawn(), figure_choices.page_theme(), paper, shared=shared)
    if shared:
        both = {f"{files}.html": page, bundle.NAME: bundle.script()}
        state.hand_over(f"{files}-html.zip", zipped(both))
    else:
        state.hand_over(f"{files}.html", page)
