"""The sheet a figure is drawn on: what it collects, and the texts around the plotting area."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import plotly.graph_objects as go

from core.figures.base.journal_style import restyle
from core.figures.base.key_words import told
from core.figures.base.labels import NBSP, escaped, safe_plain
from core.figures.base.measure import plain_of, text_width, wrapped, wrapped_markup
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.plain import SheetFigure
from core.figures.base.theme import Theme

Properties: TypeAlias = dict[str, object]

EDGE = 14
_TITLE_SIZE, _SUBTITLE_SIZE, _CAPTION_SIZE = 17, 12, 11
_TITLE_LINE, _SUBTITLE_LINE, _CAPTION_LINE = 24, 16, 15
# Where no title or no caption is drawn, px.
_BARE = 6
# A sentence instead of a figure is no wider, px.
_SENTENCE = 290


@dataclass(slots=True)
class Sheet:
    """Traces, shapes, annotations and layout as Plotly's own properties, in plain dicts.

    Plotly checks every property that is set on a figure, which takes tens of milliseconds a figure.
    A sheet hands all over at once, unchecked; the tests check it.

    `height` of the figure, of its plotting area and of the margin below that, in px, are known once
    it is laid out. `keys` are the lines of the key, as Plotly text.
    """

    theme: Theme
    paper: Paper = SCREEN
    height: int = 0
    bottom: int = 0
    plot_height: int = 0
    traces: list[Properties] = field(default_factory=list)
    shapes: list[Properties] = field(default_factory=list)
    annotations: list[Properties] = field(default_factory=list)
    layout: Properties = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)

    def room(self, left: float, right: float = EDGE) -> float:
        """How wide the plotting area is between these margins, px."""
        return self.paper.width - left - right

    def grow(self, more: int) -> None:
        """So many px more between the plotting area and the caption."""
        self.height += more
        self.bottom += more
        self.layout["height"] = self.height
        self.layout["margin"]["b"] = self.bottom  # type: ignore[index]
        for note in self.annotations:
            if note.get("name") == "caption":
                note["yshift"] -= more  # type: ignore[operator]

    def explain(self, *entries: str) -> None:
        """Say in a journal's caption what no key of the figure says (entries of a key)."""
        self.keys += entries

    def figure(self) -> go.Figure:
        """The figure; the sheet is used up."""
        if self.paper.journal:
            # As notes, for the colours that they are drawn in.
            keys: list[Properties] = [{"text": line} for line in self.keys]
            notes = [*self.annotations, *keys]
            restyle(self.paper.journal, self.theme, self.traces, notes, self.layout)
            lines = [str(note["text"]) for note in keys]
            self.layout["meta"] |= told(self.layout["meta"], lines, self.theme)  # type: ignore
        elif self.theme.patterns:
            self.traces = [patterned(trace, self.theme) for trace in self.traces]
        layout = {**self.layout, "annotations": self.annotations}
        if self.shapes:
            layout["shapes"] = self.shapes
        return SheetFigure({"data": self.traces, "layout": layout})


@dataclass(frozen=True, slots=True)
class Canvas:
    """What every figure is drawn on.

    Args:
        title: Plotly text of at most 34 characters, which a figure 400 px wide holds in one line,
            with room at its right for the page's own buttons.
        caption: plain text, of several lines if need be.
    """

    theme: Theme
    paper: Paper
    title: str
    caption: str

    def lay_out(
        self,
        *,
        alt: str,
        subtitle: str = "",
        plot_height: int = 300,
        left: int = 52,
        right: int = EDGE,
        above: int = 0,
        below: int = 0,
    ) -> Sheet:
        """A sheet with title and subtitle above, caption below, alt text in the figure's meta.

        Args:
            subtitle: Plotly text; tokens in it must be escaped already.
            alt: plain text.
            plot_height: height of the plotting area, px; the figure's height follows from it.
            left, right: margins, px.
            above, below: room for ticks, axis titles and legends between the plotting area and
                the texts, px.
        """
        sheet, paper = Sheet(self.theme, self.paper), self.paper
        room = paper.width - 2 * EDGE
        heads = wrapped_markup(self.title, room, _TITLE_SIZE, "sans bold") if paper.title else []
        sub = wrapped_markup(subtitle, room, _SUBTITLE_SIZE) if paper.title else []
        foot = _caption_lines(self.caption, room) if paper.caption else []
        top = above + (
            EDGE + _TITLE_LINE * len(heads) + _SUBTITLE_LINE * len(sub) + 10 if heads else _BARE
        )
        sheet.bottom = below + (10 + _CAPTION_LINE * len(foot) + EDGE - 4 if foot else _BARE)
        sheet.plot_height = plot_height
        sheet.height = top + plot_height + sheet.bottom
        sheet.layout |= {
            **_look(sheet),
            "title": _title("<br>".join(heads), sheet.theme),
            "height": sheet.height,
            "margin": _margin(left, right, top, sheet.bottom),
            "meta": _meta(alt, self.caption, self.title, subtitle),
        }
        _add_text(sheet, "subtitle", sub, left, top - EDGE - _TITLE_LINE * len(heads))
        _add_text(sheet, "caption", list(map(escaped, foot)), left, EDGE - 6 - sheet.bottom)
        return sheet

    def sentence(self, sentence: str, *, height: int = 120) -> go.Figure:
        """A figure that says why there is nothing to draw."""
        sheet = self.lay_out(alt=sentence, plot_height=height, left=EDGE)
        hidden = {"visible": False, "fixedrange": True}
        sheet.layout = {"xaxis": hidden, "yaxis": dict(hidden), **sheet.layout}
        lines = wrapped(sentence, min(self.paper.width - 4 * EDGE, _SENTENCE), 13)
        sheet.annotations.insert(
            0,
            {
                "name": "sentence",
                "text": "<br>".join(map(escaped, lines)),
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.5,
                "showarrow": False,
                "font": {"size": 13, "color": self.theme.muted},
            },
        )
        return sheet.figure()

    def nothing_selected(self, what: str, where: str) -> go.Figure:
        """A figure of something that isn't selected; on a page it says where to click."""
        end = "." if self.paper.printed else f": click {where}."
        return self.sentence(f"No {what} is selected{end}")


def _meta(alt: str, caption: str, title: str, subtitle: str) -> dict[str, str]:
    plain = {"title": plain_of(title), "subtitle": plain_of(subtitle)}
    told = {"alt": alt, "caption": caption, **plain}
    return {name: safe_plain(text) for name, text in told.items()}


def _margin(left: int, right: int, top: int, bottom: int) -> Properties:
    return {"l": left, "r": right, "t": top, "b": bottom, "pad": 0, "autoexpand": False}


def _look(sheet: Sheet) -> Properties:
    theme, paper = sheet.theme, sheet.paper
    ground = "rgba(0,0,0,0)" if paper.transparent else theme.paper
    fixed: Properties = {"width": paper.width, "autosize": False} if paper.printed else {}
    return {
        **fixed,
        "template": {},
        "paper_bgcolor": ground,
        "plot_bgcolor": ground,
        "font": {"family": theme.sans, "size": 12, "color": theme.ink},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": theme.panel,
            "bordercolor": theme.muted,
            "font": {"family": theme.mono, "size": 12, "color": theme.ink},
            "align": "left",
            "namelength": -1,
        },
    }


def _caption_lines(caption: str, room: float) -> list[str]:
    """The caption in lines, broken between settings, and inside one that no line holds."""
    runs = (
        f"{NBSP}· ".join(_unbroken(part, room) for part in run.split(" · "))
        for run in caption.split("\n")
    )
    return [line for run in runs for line in wrapped(run, room, _CAPTION_SIZE)]


def _unbroken(part: str, room: float) -> str:
    ends = text_width(f"{part}{NBSP}·", _CAPTION_SIZE) > room
    return part if ends else part.replace(" ", NBSP)


def _title(title: str, theme: Theme) -> Properties:
    return {
        "text": f"<b>{title}</b>" if title else "",
        "font": {"size": _TITLE_SIZE, "color": theme.ink},
        "xref": "container",
        "yref": "container",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "top",
        "pad": {"l": EDGE, "t": EDGE},
        "automargin": False,
    }


def _add_text(sheet: Sheet, name: str, lines: list[str], left: int, yshift: int) -> None:
    """Small text at the figure's left edge, `yshift` px above (or below) the plotting area."""
    if not lines:
        return
    y, anchor, size = (1, "top", _SUBTITLE_SIZE) if yshift > 0 else (0, "bottom", _CAPTION_SIZE)
    font: Properties = {"size": size, "color": sheet.theme.muted}
    add_lines(sheet, name, lines, left, y=y, yanchor=anchor, yshift=yshift, font=font)


def add_lines(sheet: Sheet, name: str, lines: list[str], left: int, **where: object) -> None:
    """Lines of Plotly text at the figure's left edge.

    Args:
        left: the figure's left margin, px.
        where: `y` (in the plotting area, 0 to 1), `yanchor`, `yshift` (px) and `font`.
    """
    sheet.annotations.append(
        {
            "name": name,
            "text": "<br>".join(lines),
            "xref": "paper",
            "yref": "paper",
            "x": 0,
            "xanchor": "left",
            "xshift": EDGE - left,
            "borderpad": 0,
            "borderwidth": 0,
            "showarrow": False,
            "align": "left",
            **where,
        }
    )


def patterned(trace: Properties, theme: Theme) -> Properties:
    """A trace of bars with the pattern of each colour that has one in the theme."""
    marker = trace.get("marker")
    if trace["type"] != "bar" or not isinstance(marker, dict) or "pattern" in marker:
        return trace
    colors = marker.get("color")
    many = list(map(str, colors)) if isinstance(colors, list) else [str(colors)]
    shapes = [theme.patterns.get(color, "") for color in many]
    if not any(shapes):
        return trace
    pattern: Properties = {"size": 6, "solidity": 0.2}
    if isinstance(colors, list):
        # Plotly takes the ground from the bar's own colour in this mode alone.
        pattern |= {"shape": shapes, "fillmode": "overlay", "fgopacity": 0.34}
    else:
        ink = theme.pattern_ink(many[0])
        pattern |= {"shape": shapes[0], "fillmode": "replace", "bgcolor": colors, "fgcolor": ink}
    return {**trace, "marker": {**marker, "pattern": pattern}}
