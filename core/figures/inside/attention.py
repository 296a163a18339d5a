"""Attention of one token to all tokens before it, by layer and head."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ...decoding.counting import nth
from ...decoding.inside.types import Attention
from ...language import N_, tr
from ..base.axes import axis, top_axis
from ..base.figure import TableRows, figure, table
from ..base.grid import probability_cells
from ..base.labels import percent, percentage, show_token, table_text, visible_token, with_prompt
from ..base.marks import add_line
from ..base.paper import SMALL, WIDE, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart, cut_window, numbered

_ROW, _LEFT, _MOST_ROWS = 15, 66, 64
# Width of a column of text, px.
_COLUMN = 24
_BY_MEANS = N_(
    "From position {position}, {token}, to each position up to itself, by the mean of each "
    "layer's heads; a row adds up to 100&#160;%."
)
_BY_HEADS = N_(
    "From position {position}, {token}, to each position up to itself, by each head; a row adds "
    "up to 100&#160;%."
)
_BY_HEADS_OF_LAYER = N_(
    "From position {position}, {token}, to each position up to itself, by each head of layer "
    "{layer}; a row adds up to 100&#160;%."
)
_MEAN_HOVER = N_(
    "<b>layer {layer}, mean of its heads</b><br>position {position}: {token}<br>{weight}"
)
_HEAD_HOVER = N_("<b>layer {layer}, head {head}</b><br>position {position}: {token}<br>{weight}")


class _Line(NamedTuple):
    """A row: a head, or the mean of a layer's heads (`head` None)."""

    layer: int
    head: int | None
    weights: Sequence[float]


@table("position token layer head looks_at looks_at_token weight")
def attention_map_data(
    attention: Attention, *, first: int = 0, columns: int | None = None
) -> TableRows:
    """Return every weight: a row for each layer, head and position; the tokens' text is raw.

    Args:
        first: first position to include.
        columns: maximum number of positions; by default all.
    """
    token = table_text(attention.texts[-1])
    return [
        (nth(attention.position), token, nth(layer), nth(head), nth(at),
         table_text(attention.texts[at]), weight)
        for layer, heads in enumerate(attention.weights)
        for head, row in enumerate(heads)
        for at, weight in numbered(row, first, columns)
    ]  # fmt: skip


@figure(
    N_("Attention by layer and head"),
    with_prompt,
    attention_map_data,
    subtitle=lambda attention, layer, paper, part, means: (
        part.sentence(paper),
        tr(
            _BY_MEANS if means else _BY_HEADS if layer is None else _BY_HEADS_OF_LAYER,
            position=nth(attention.position),
            token=show_token(attention.texts[-1], 24),
            layer=nth(layer or 0),
        ),
    ),
    alt=lambda attention, heads, average: (
        (
            tr(
                "Heatmap of attention from position {position} in {rows} rows.",
                position=nth(attention.position),
                rows=len(heads),
            ),
            tr("On average it looks most at:"),
            tr(", ").join(
                f"{visible_token(attention.texts[at], 24)} {percentage(average[at])}"
                for at in sorted(range(len(average)), key=lambda at: -average[at])[:3]
            )
            + tr("."),
        )
        if heads
        else tr("No layer of this model has attention weights to show.")
    ),
)
def attention_map(
    attention: Attention,
    *,
    caption: str,
    prompt: str = "",
    layer: int | None = None,
    first: int = 0,
    columns: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Draw positions across and a row for each head; if there are many heads, a row with each
    layer's mean.

    Args:
        prompt: prompt of the run; in print the caption names it.
        layer: layer whose heads are drawn; None for all layers.
        first: first position to draw.
        columns: maximum number of positions; by default as many as fit. If a paper holds fewer, the
            part with the attending position is drawn.
    """
    lines = _lines(attention, layer)
    held = attention_columns(paper.window)
    first, count = cut_window(first, columns or held, held, len(attention.texts) - 1)
    places = range(first, min(first + count, len(attention.texts)))
    part = ShownPart("position", places.start, places.stop, len(attention.texts))
    means = bool(lines) and lines[0].head is None
    average = _means([line.weights for line in lines])
    sheet = Sheet(
        theme,
        paper,
        facts={"part": part, "means": means, "heads": lines, "average": average},
        plot_height=max(_ROW * len(lines), 4 * _ROW),
        left=_LEFT,
        above=66,
        below=40,
    )
    sheet.traces.append(_heat(sheet, attention, lines, places))
    _axes(sheet, attention, lines, places, count)
    part.tell(sheet, attention_columns)
    sheet.explained.append(tr("{hue} of a cell: the weight", hue=tr(theme.hue)))
    return sheet


def attention_columns(width: float) -> int:
    """Return the number of positions in a figure `width` px wide."""
    return max(int((width - _LEFT - 14) / _COLUMN), 1)


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the means of the columns of some rows."""
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _lines(attention: Attention, layer: int | None) -> list[_Line]:
    layers = [at for at, heads in enumerate(attention.weights) if heads]
    if layer is not None:
        layers = [at for at in layers if at == layer]
    elif sum(len(attention.weights[at]) for at in layers) > _MOST_ROWS:
        return [_Line(at, None, _means(attention.weights[at])) for at in layers]
    return [_Line(at, head, row) for at in layers for head, row in enumerate(attention.weights[at])]


def _heat(
    sheet: Sheet, attention: Attention, lines: Sequence[_Line], places: Sequence[int]
) -> Properties:
    hovers = [
        [
            tr(
                _MEAN_HOVER if line.head is None else _HEAD_HOVER,
                layer=nth(line.layer),
                head=nth(line.head or 0),
                position=nth(at),
                token=show_token(attention.texts[at], 40),
                weight=percent(line.weights[at]),
            )
            for at in places
        ]
        for line in lines
    ]
    weights = [[line.weights[at] for at in places] for line in lines]
    look: Properties = {
        "name": "attention",
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{text}<extra></extra>",
    }
    cells = probability_cells(sheet, range(len(places)), weights, left=0, text=hovers, **look)
    cells["colorbar"]["ticktext"][1] = tr("weight")
    return cells


def _axes(
    sheet: Sheet, attention: Attention, lines: Sequence[_Line], places: Sequence[int], count: int
) -> None:
    theme = sheet.theme
    names = [f"{show_token(attention.texts[at], 9)}" for at in places]
    sheet.layout["xaxis"] = {
        **top_axis(
            theme, [-0.5, max(len(places), min(count, 8)) - 0.5], list(range(len(places))), names
        ),
        "tickangle": -90,
        "tickfont": {"family": theme.mono, "size": 11, "color": theme.ink},
    }
    means = bool(lines) and lines[0].head is None
    sheet.layout["yaxis"] = axis(
        theme,
        tr("layer") if means else tr("layer.head"),
        14,
        range=[len(lines) - 0.5, -0.5],
        showgrid=False,
        showline=False,
        tickmode="array",
        tickvals=list(range(len(lines))),
        ticktext=[
            (f"{nth(line.layer)}" if line.head is None else f"{nth(line.layer)}.{nth(line.head)}")
            for line in lines
        ],
        tickfont={"size": SMALL, "color": theme.muted},
    )
    for at, (above, below) in enumerate(pairwise(lines)):
        if not means and above.layer != below.layer:
            add_line(sheet, "layers", (-0.5, len(places) - 0.5), at + 0.5, theme.muted, 1)
