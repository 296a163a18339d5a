"""The canvas of a figure: its title, its caption, and the parts that a figure declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from core.figures.base.labels import NBSP, escaped, safe_plain
from core.figures.base.measure import plain_of, text_width, wrapped, wrapped_markup
from core.figures.base.paper import Paper
from core.figures.base.sheet import EDGE, Properties, Sheet
from core.figures.base.theme import Theme
from core.figures.journal.journals import JOURNAL_TICK

_TITLE_SIZE, _TITLE_LINE = 17, 24
# Font sizes of the small texts and their lines, px.
_SUBTITLE_SIZE, _SUBTITLE_LINE = 12, 16
_CAPTION_SIZE, _CAPTION_LINE = 11, 15
# Where no title or no caption is drawn, px.
_BARE = 6
# A sentence instead of a figure is no wider, px.
_SENTENCE = 290


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
        """Return a sheet with the declared parts of a figure.

        Args:
            alt, subtitle: plain text for the meta; Plotly text above, its tokens escaped already.
            plot_height: height of the plotting area, px; the figure's height follows from it.
            left, right: margins, px.
            above, below: room for ticks, axis titles and legends between the plotting area and
                the texts, px.
            rows: title of an axis of names, upright at the figure's edge: Plotly would put it
                beside the names as wide as they were before their font had come.
            layout: axes, and other properties of Plotly's layout.
            key, key_offset: as those of a sheet.
        """
        sheet = Sheet(self.theme, self.paper, plot_height, key, key_offset, [*traces])
        margin = {"l": left, "r": right, "t": above, "b": below, "pad": 0, "autoexpand": False}
        sheet.layout = {**self._look(), "margin": margin, **(layout or {})}
        sheet.layout["meta"] = {
            "alt": safe_plain(alt),
            "caption": safe_plain(self.caption),
            "title": safe_plain(plain_of(self.title)),
            "subtitle": safe_plain(plain_of(subtitle)),
        }
        self._write_texts(sheet, subtitle)
        if rows:
            name_rows(sheet, rows)
        return sheet

    def _write_texts(self, sheet: Sheet, subtitle: str) -> None:
        """Write title, subtitle and caption, and make the room that they take."""
        paper, room, margin = self.paper, self.paper.width - 2 * EDGE, sheet.layout["margin"]
        heads = wrapped_markup(self.title, room, _TITLE_SIZE, "sans bold") if paper.title else []
        sub = wrapped_markup(subtitle, room, _SUBTITLE_SIZE) if paper.title else []
        foot = _caption_lines(self.caption, room) if paper.caption else []
        above = _TITLE_LINE * len(heads)
        margin["t"] += EDGE + above + _SUBTITLE_LINE * len(sub) + 10 if heads else _BARE
        margin["b"] += 10 + _CAPTION_LINE * len(foot) + EDGE - 4 if foot else _BARE
        sheet.layout["height"] = margin["t"] + sheet.plot_height + margin["b"]
        sheet.layout["title"]["text"] = f"<b>{'<br>'.join(heads)}</b>" if heads else ""
        high, low = margin["t"] - EDGE - above, EDGE - 6 - margin["b"]
        if sub:
            font = {"size": _SUBTITLE_SIZE, "color": self.theme.muted}
            sheet.add_lines("subtitle", sub, y=1, yanchor="top", yshift=high, font=font)
        if foot:
            font = {"size": _CAPTION_SIZE, "color": self.theme.muted}
            lines = list(map(escaped, foot))
            sheet.add_lines("caption", lines, y=0, yanchor="bottom", yshift=low, font=font)

    def _look(self) -> Properties:
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
        sheet = self.lay_out(
            alt=sentence,
            plot_height=height,
            left=EDGE,
            layout={"xaxis": hidden, "yaxis": dict(hidden)},
        )
        lines = wrapped(sentence, min(self.paper.width - 4 * EDGE, _SENTENCE), 13)
        sheet.annotations.insert(
            0,
            {
                "name": "sentence",
                "text": "<br>".join(map(escaped, lines)),
                "x": 0.5,
                "y": 0.5,
                "xref": "paper",
                "yref": "paper",
                "showarrow": False,
                "font": {"size": 13, "color": self.theme.muted},
            },
        )
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
