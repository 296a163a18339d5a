"""Sheet of a figure: its declared parts, and the layout of the texts around it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import plotly.graph_objects as go

from ...decoding.counting import sentences
from ...language import tr
from ..journal.journals import JOURNAL_TICK
from ..journal.key_words import told
from ..journal.style import restyle
from .labels import NBSP, escaped, safe_plain
from .measure import caption_lines, markup_width, plain_of, wrapped_markup
from .paper import Paper
from .theme import GREY, HATCH_SIGNS, Theme

Properties: TypeAlias = dict[str, Any]
# A text, or its sentences; false ones are left out.
Sentences: TypeAlias = str | Iterable[str | bool | None]
# Plotly text, or the arguments of `key_entry`; false ones are left out.
KeyEntry: TypeAlias = tuple[str, str] | tuple[str, str, str]
KeyLine: TypeAlias = str | Iterable[KeyEntry | bool | None]

EDGE = 14
# Font sizes and line heights of the texts, px.
_TITLE_SIZE, _TITLE_LINE = 17, 24
_SUBTITLE_SIZE, _SUBTITLE_LINE = 12, 16
_CAPTION_SIZE, _CAPTION_LINE = 11, 15
_KEY_SIZE, _KEY_LINE = 11, 16
# Half of the first label of a colour bar, with a gap; px.
_SCALE_TICK = 8
# Margin without a title or caption, px.
_BARE = 6


class SheetFigure(go.Figure):  # type: ignore[misc]
    """A figure of plain values, converted to Plotly's objects only when these are accessed.

    A page sends the plain values; creating the objects would take most of a figure's time.
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
    """Declared parts of a figure in Plotly's own properties, and its drawing.

    Plotly validates every property that is set on a figure, which takes tens of milliseconds per
    figure. A sheet sets all properties at once without validation; tests validate them.

    Args:
        alt, subtitle: plain text for the meta, and Plotly text above the figure, with escaped
            tokens.
        facts: further values for the texts that the figure declares.
        title: Plotly text that replaces the figure's title.
        plot_height: height of the plotting area, px; the figure's height follows from it.
        left, right: margins, px.
        above, below: room for ticks, axis titles and legends between the plotting area and the
            texts, px.
        rows: title of an axis of names, vertical at the figure's edge: Plotly would place it by the
            names' width before their font was loaded.
        layout: axes and other properties of Plotly's layout.
        key: lines below the plotting area that explain colours and signs.
        key_offset: px between the plotting area and the key.
        scale: colour bar that a wide key moves to the right, as far as there is room.
        explained: entries for a journal's caption that the figure's key lacks.
        meta: data for the page, besides the texts.
    """

    theme: Theme
    paper: Paper
    alt: Sentences = ""
    subtitle: Sentences = ""
    facts: Properties = field(default_factory=dict)
    title: str = ""
    plot_height: int = 300
    left: int = 52
    right: int = EDGE
    above: int = 0
    below: int = 0
    rows: str = ""
    traces: list[Properties] = field(default_factory=list)
    layout: Properties = field(default_factory=dict)
    key: Sequence[KeyLine] = ()
    key_offset: int = 8
    scale: Properties | None = None
    explained: list[KeyLine] = field(default_factory=list)
    shapes: list[Properties] = field(default_factory=list)
    annotations: list[Properties] = field(default_factory=list)
    meta: Properties = field(default_factory=dict)

    @property
    def room(self) -> float:
        """Width of the plotting area, px."""
        return float(self.paper.width - self.left - self.right)

    def figure(self, title: str, caption: str) -> go.Figure:
        """Return the figure; afterwards the sheet must not be used."""
        title, journal = self.title or title, self.paper.journal
        subtitle, key = joined(self.subtitle), list(map(key_line, self.key))
        layout, notes = self._furnished(title, subtitle, caption, key)
        margin = layout["margin"]
        meta = {
            "alt": safe_plain(joined(self.alt).replace(NBSP, " ")),
            "caption": safe_plain(caption),
            "title": safe_plain(plain_of(title)),
            "subtitle": safe_plain(plain_of(subtitle)),
            **self.meta,
        }
        if "ends" in meta:
            sides = {"left": "l", "right": "r", "top": "t", "bottom": "b"}
            meta |= {side: margin[end] for side, end in sides.items()}
        layout |= {**self.layout, "meta": meta, "annotations": notes}
        if journal:
            # As notes, so that their colours are known.
            keys: list[Properties] = [
                {"text": line} for line in (*map(key_line, self.explained), *key)
            ]
            restyle(journal, self.theme, self.traces, [*notes, *keys], layout)
            layout["meta"] = meta | told(meta, [str(note["text"]) for note in keys], self.theme)
        elif self.theme.patterns:
            self.traces = list(map(self.theme.patterned, self.traces))
        if self.shapes:
            layout["shapes"] = self.shapes
        return SheetFigure({"data": self.traces, "layout": layout})

    def _furnished(
        self, title: str, subtitle: str, caption: str, key: Sequence[str]
    ) -> tuple[Properties, list[Properties]]:
        """Return the layout with room for all texts, and the notes that hold the texts."""
        theme, paper, room = self.theme, self.paper, self.paper.width - 2 * EDGE
        heads = wrapped_markup(title, room, _TITLE_SIZE, "sans bold") if paper.title else []
        lead = wrapped_markup(subtitle, room, _SUBTITLE_SIZE) if paper.title else []
        foot = caption_lines(caption, room, _CAPTION_SIZE) if paper.caption else []
        keys = self._keys(key)
        top, bottom, above = self.above + _BARE, self.below + _BARE, _TITLE_LINE * len(heads)
        if heads:
            top = self.above + EDGE + above + _SUBTITLE_LINE * len(lead) + 10
        if foot:
            bottom = self.below + 10 + _CAPTION_LINE * len(foot) + EDGE - 4
        bottom += (len(keys) - len(key)) * _KEY_LINE
        notes = [
            *self._lines("subtitle", lead, _SUBTITLE_SIZE, theme.muted, 1, top - EDGE - above),
            *self._lines(
                "caption",
                map(escaped, foot),
                _CAPTION_SIZE,
                theme.muted,
                0,
                EDGE - 6 - bottom,
                "bottom",
            ),
            *self._lines("key", keys, _KEY_SIZE, theme.ink, 0, -self.key_offset),
            *([self._rows_title()] if self.rows else []),
            *self.annotations,
        ]
        margin = {
            "l": self.left,
            "r": self.right,
            "t": top,
            "b": bottom,
            "pad": 0,
            "autoexpand": False,
        }
        layout = {
            **_look(theme, paper),
            "margin": margin,
            "height": top + self.plot_height + bottom,
        }
        layout["title"]["text"] = f"<b>{'<br>'.join(heads)}</b>" if heads else ""
        return layout, notes

    def _keys(self, key: Sequence[str]) -> list[str]:
        """Return the lines of the key, beside the colour bar if there is one."""
        room, bar = self.paper.width - 2 * EDGE, self.scale
        edge = self.left - EDGE - _SCALE_TICK
        if bar is not None:
            length = bar["len"] - 2 * bar["xpad"]
            last = max(self.room - length - 4, bar["xpad"])
            room = edge + last
        keys = [part for line in key for part in wrapped_markup(line, room, _KEY_SIZE)]
        if bar is not None:
            widest = max((markup_width(line, _KEY_SIZE) for line in keys), default=0.0)
            bar["xpad"] = round(min(max(bar["xpad"], widest - edge), last))
            bar["len"] = length + 2 * bar["xpad"]
        return keys

    def _lines(
        self,
        name: str,
        lines: Iterable[str],
        size: int,
        color: str,
        y: int,
        yshift: int,
        yanchor: str = "top",
    ) -> Iterator[Properties]:
        """Yield lines of Plotly text at the figure's left edge."""
        text = "<br>".join(lines)
        if text:
            yield {
                "name": name,
                "text": text,
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": y,
                "xanchor": "left",
                "yanchor": yanchor,
                "xshift": EDGE - self.left,
                "yshift": yshift,
                "borderpad": 0,
                "borderwidth": 0,
                "showarrow": False,
                "align": "left",
                "font": {"size": size, "color": color},
            }

    def _rows_title(self) -> Properties:
        """Return the title of an axis of names, vertical at the figure's edge."""
        edge = EDGE - 2 - (JOURNAL_TICK if self.paper.journal else 0)
        return {
            "name": "rows",
            "text": self.rows,
            "x": 0,
            "y": 0.5,
            "showarrow": False,
            "font": {"size": 12, "color": self.theme.muted},
            "textangle": -90,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "center",
            "yanchor": "middle",
            "xshift": edge - self.left,
        }


def joined(text: Sentences) -> str:
    """Return the text that joins its sentences."""
    return text if isinstance(text, str) else tr(sentences(*map(str, filter(None, text))))


def key_line(line: KeyLine) -> str:
    """Return a line of a key as Plotly text."""
    if isinstance(line, str):
        return line
    return "".join(key_entry(*entry) for entry in line if isinstance(entry, tuple))


def key_entry(color: str, words: str, sign: str = "■") -> str:
    """Return one entry of a key: a coloured sign and words (Plotly text)."""
    if sign == "■" and color in GREY.patterns:
        sign = {shape: sign for sign, shape in HATCH_SIGNS.items()}[GREY.patterns[color]]
    label = words.replace(" ", NBSP)
    return f'<span style="color:{color};font-size:13px">{sign}</span>{NBSP}{label}{NBSP}{NBSP} '


def _look(theme: Theme, paper: Paper) -> Properties:
    """Return the layout that all figures share."""
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
            **dict.fromkeys(("xref", "yref"), "container"),
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "top",
            "pad": {"l": EDGE, "t": EDGE},
            "automargin": False,
        },
    }


def no_selection(paper: Paper, what: str, where: str) -> str:
    """Return the sentence that nothing is selected; on a page it says where to click."""
    if paper.printed:
        return tr("No {item} is selected.", item=tr(what))
    return tr("No {item} is selected: click {place}.", item=tr(what), place=tr(where))


def plain_values(figure: go.Figure) -> dict[str, Any]:
    """Return data and layout as dicts, lists, text and numbers; non-finite numbers are None."""
    values = vars(figure).get("_values")
    if values is not None:
        return {"data": _plain(values["data"]), "layout": _plain(values["layout"])}
    # `to_dict` would copy everything first.
    return {"data": _plain(figure._data), "layout": _plain(figure._layout)}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    # An array of numpy or pandas.
    return value.tolist() if hasattr(value, "tolist") else value
