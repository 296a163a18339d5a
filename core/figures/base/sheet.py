"""The sheet that a figure is drawn on, and the texts around its plotting area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import plotly.graph_objects as go

from core.figures.base.journal_style import restyle
from core.figures.base.journals import JOURNAL_TICK
from core.figures.base.key_words import told
from core.figures.base.labels import NBSP, escaped, safe_plain
from core.figures.base.measure import plain_of, text_width, wrapped, wrapped_markup
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.theme import Theme

Properties: TypeAlias = dict[str, Any]

EDGE = 14
_TITLE_SIZE, _TITLE_LINE = 17, 24
# Font sizes of the small texts and their lines, px.
_SUBTITLE_SIZE, _SUBTITLE_LINE = 12, 16
_CAPTION_SIZE, _CAPTION_LINE = 11, 15
_KEY_SIZE, _KEY_LINE = 11, 16
# Where no title or no caption is drawn, px.
_BARE = 6
# A sentence instead of a figure is no wider, px.
_SENTENCE = 290


class SheetFigure(go.Figure):  # type: ignore[misc]
    """A figure of plain values that becomes Plotly's objects when somebody asks for one of them.

    A page sends the values as they are: the objects would take most of a figure's time.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__["_values"] = values

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.pop("_values", None)
        if values is None:
            raise AttributeError(name)
        go.Figure.__init__(self, values, _validate=False)
        return getattr(self, name)


@dataclass(slots=True)
class Sheet:
    """Traces, shapes, annotations and layout as Plotly's own properties, in plain dicts.

    Plotly checks every property that is set on a figure, which takes tens of milliseconds a figure.
    A sheet hands all over at once, unchecked; the tests check it.

    Args:
        plot_height: height of the plotting area, px.
        key: lines below the plotting area that explain colours and signs, as Plotly text.
        key_offset: px between the plotting area and the key.
        keys: the lines of the key and what a journal's caption explains besides.
    """

    theme: Theme
    paper: Paper = SCREEN
    plot_height: int = 0
    key: Sequence[str] = ()
    key_offset: int = 8
    traces: list[Properties] = field(default_factory=list)
    shapes: list[Properties] = field(default_factory=list)
    annotations: list[Properties] = field(default_factory=list)
    layout: Properties = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)

    @property
    def room(self) -> float:
        """Width of the plotting area, px."""
        return float(self.paper.width - self.layout["margin"]["l"] - self.layout["margin"]["r"])

    def explain(self, *entries: str) -> None:
        """Add entries to a journal's caption that no key of the figure has."""
        self.keys += entries

    def add_lines(self, name: str, lines: Sequence[str], **where: object) -> None:
        """Write lines of Plotly text at the figure's left edge.

        Args:
            where: `y` (in the plotting area, 0 to 1), `yanchor`, `yshift` (px) and `font`.
        """
        self.annotations.append(
            {
                "name": name,
                "text": "<br>".join(lines),
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "xanchor": "left",
                "xshift": EDGE - self.layout["margin"]["l"],
                "borderpad": 0,
                "borderwidth": 0,
                "showarrow": False,
                "align": "left",
                **where,
            }
        )

    def add_key(self) -> None:
        """Write the key; where it needs more lines than it has, the figure grows."""
        room = self.paper.width - 2 * EDGE
        drawn = [part for line in self.key for part in wrapped_markup(line, room, _KEY_SIZE)]
        more = (len(drawn) - len(self.key)) * _KEY_LINE
        self.layout["height"] += more
        self.layout["margin"]["b"] += more
        for note in self.annotations:
            if note.get("name") == "caption":
                note["yshift"] -= more
        font = {"size": _KEY_SIZE, "color": self.theme.ink}
        self.add_lines("key", drawn, y=0, yanchor="top", yshift=-self.key_offset, font=font)
        self.keys += self.key
        self.key = ()

    def figure(self) -> go.Figure:
        """Return the figure; the sheet is used up."""
        if self.key:
            self.add_key()
        if self.paper.journal:
            # As notes, for the colours that they are drawn in.
            keys: list[Properties] = [{"text": line} for line in self.keys]
            notes = [*self.annotations, *keys]
            restyle(self.paper.journal, self.theme, self.traces, notes, self.layout)
            lines = [str(note["text"]) for note in keys]
            self.layout["meta"] |= told(self.layout["meta"], lines, self.theme)
        elif self.theme.patterns:
            self.traces = [patterned(trace, self.theme) for trace in self.traces]
        shapes = {"shapes": self.shapes} if self.shapes else {}
        layout = {**self.layout, "annotations": self.annotations, **shapes}
        return SheetFigure({"data": self.traces, "layout": layout})


@dataclass(frozen=True, slots=True)
class Canvas:
    """The look, the title and the caption that a figure begins with.

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
        rows: str = "",
        traces: Sequence[Properties] = (),
        layout: Properties | None = None,
        key: Sequence[str] = (),
        key_offset: int = 8,
    ) -> Sheet:
        """Return a sheet with the declared parts of a figure: texts, margins, traces, axes and key.

        Args:
            subtitle: Plotly text above; tokens in it must be escaped already.
            alt: plain text, for the figure's meta.
            plot_height: height of the plotting area, px; the figure's height follows from it.
            left, right: margins, px.
            above, below: room for ticks, axis titles and legends between the plotting area and
                the texts, px.
            rows: title of an axis of names, written upright at the figure's edge: Plotly would put
                it beside the names as wide as they were before their font had come.
            layout: axes, and other properties of Plotly's layout.
            key, key_offset: as those of a sheet.
        """
        paper, room = self.paper, self.paper.width - 2 * EDGE
        heads = wrapped_markup(self.title, room, _TITLE_SIZE, "sans bold") if paper.title else []
        sub = wrapped_markup(subtitle, room, _SUBTITLE_SIZE) if paper.title else []
        foot = _caption_lines(self.caption, room) if paper.caption else []
        over = EDGE + _TITLE_LINE * len(heads) + _SUBTITLE_LINE * len(sub) + 10 if heads else _BARE
        under = 10 + _CAPTION_LINE * len(foot) + EDGE - 4 if foot else _BARE
        margin = {"l": left, "r": right, "t": above + over, "b": below + under}
        sheet = Sheet(self.theme, paper, plot_height, key, key_offset, [*traces])
        sheet.layout = self._look("<br>".join(heads)) | {
            "height": above + over + plot_height + below + under,
            "margin": {**margin, "pad": 0, "autoexpand": False},
            "meta": {
                "alt": safe_plain(alt),
                "caption": safe_plain(self.caption),
                "title": safe_plain(plain_of(self.title)),
                "subtitle": safe_plain(plain_of(subtitle)),
            },
            **(layout or {}),
        }
        small = {"size": _SUBTITLE_SIZE, "color": self.theme.muted}
        if sub:
            high = above + over - EDGE - _TITLE_LINE * len(heads)
            sheet.add_lines("subtitle", sub, y=1, yanchor="top", yshift=high, font=small)
        if foot:
            low, small = EDGE - 6 - below - under, {**small, "size": _CAPTION_SIZE}
            lines = list(map(escaped, foot))
            sheet.add_lines("caption", lines, y=0, yanchor="bottom", yshift=low, font=small)
        if rows:
            name_rows(sheet, rows)
        return sheet

    def _look(self, title: str) -> Properties:
        """Return what is alike in the layouts of all figures."""
        theme, paper = self.theme, self.paper
        ground = "rgba(0,0,0,0)" if paper.transparent else theme.paper
        return {
            **({"width": paper.width, "autosize": False} if paper.printed else {}),
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
            "title": {
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
            },
        }

    def draw(self, **declared: Any) -> go.Figure:
        """Return the figure of the declared parts, which are those of `lay_out`."""
        return self.lay_out(**declared).figure()

    def sentence(self, sentence: str, *, height: int = 120) -> go.Figure:
        """Return a figure that says why there is nothing to draw."""
        hidden = {"visible": False, "fixedrange": True}
        axes = {"xaxis": hidden, "yaxis": dict(hidden)}
        sheet = self.lay_out(alt=sentence, plot_height=height, left=EDGE, layout=axes)
        lines = wrapped(sentence, min(self.paper.width - 4 * EDGE, _SENTENCE), 13)
        note = {"name": "sentence", "text": "<br>".join(map(escaped, lines)), "x": 0.5, "y": 0.5}
        look = {"showarrow": False, "font": {"size": 13, "color": self.theme.muted}}
        sheet.annotations.insert(0, {**note, "xref": "paper", "yref": "paper", **look})
        return sheet.figure()

    def nothing_selected(self, what: str, where: str) -> go.Figure:
        """Return a figure of something that isn't selected; on a page it says where to click."""
        end = "." if self.paper.printed else f": click {where}."
        return self.sentence(f"No {what} is selected{end}")


def name_rows(sheet: Sheet, title: str) -> None:
    """Write the title of an axis of names upright at the figure's edge."""
    edge = EDGE - 2 - (JOURNAL_TICK if sheet.paper.journal else 0)
    sheet.annotations.append(
        {
            "name": "rows",
            "text": title,
            "x": 0,
            "y": 0.5,
            "showarrow": False,
            "font": {"size": 12, "color": sheet.theme.muted},
            "textangle": -90,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "center",
            "yanchor": "middle",
            "xshift": edge - sheet.layout["margin"]["l"],
        }
    )


def _caption_lines(caption: str, room: float) -> list[str]:
    """Return the caption in lines, broken between settings, and in one that no line holds."""
    lines = []
    for run in caption.split("\n"):
        parts = [
            part if text_width(f"{part}{NBSP}·", _CAPTION_SIZE) > room else part.replace(" ", NBSP)
            for part in run.split(" · ")
        ]
        lines += wrapped(f"{NBSP}· ".join(parts), room, _CAPTION_SIZE)
    return lines


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
