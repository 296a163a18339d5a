"""Attention of one token to all before, by layer and head."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from core.decoding.counting import nth
from core.decoding.inside.types import Attention
from core.figures.base.axes import axis, top_axis
from core.figures.base.figure import TableRows, figure, table
from core.figures.base.grid import probability_bar
from core.figures.base.labels import percent, show_token, table_text, visible_token, with_prompt
from core.figures.base.marks import add_line
from core.figures.base.paper import SMALL, WIDE, Paper
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.base.window import ShownPart, cut_window, numbered

_ROW, _LEFT, _MOST_ROWS = 15, 66, 64
# Columns of text that fit a figure's width, px each.
_COLUMN = 24


class _Line(NamedTuple):
    """A row: a head, or the mean of a layer's heads (`head` None)."""

    layer: int
    head: int | None
    weights: Sequence[float]


@table("position token layer head looks_at looks_at_token weight")
def attention_map_data(
    attention: Attention, *, first: int = 0, columns: int | None = None
) -> TableRows:
    """Every weight: a row for each layer, head and position; the tokens' text is raw.

    Args:
        first: the first position that is looked at.
        columns: so many of them at most; all by default.
    """
    token = table_text(attention.texts[-1])
    return [
        (nth(attention.position), token, nth(layer), nth(head), nth(at),
         table_text(attention.texts[at]), weight)
        for layer, heads in enumerate(attention.weights)
        for head, row in enumerate(heads)
        for at, weight in numbered(row, first, columns)
    ]  # fmt: skip


@figure("Where this token looks", with_prompt, attention_map_data)
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
    """Positions across, a row for each head; of many heads one for each layer, their mean.

    Args:
        prompt: of the run; in print the caption names it.
        layer: the heads of this one alone.
        first: the first position drawn.
        columns: so many positions are drawn at most; as many as the width holds by default. Where
            a narrow paper holds fewer, the part with the position that looks is drawn.
    """
    lines = _lines(attention, layer)
    held = attention_columns(paper.window)
    first, count = cut_window(first, columns or held, held, len(attention.texts) - 1)
    places = range(first, min(first + count, len(attention.texts)))
    part = ShownPart("position", places.start, places.stop, len(attention.texts))
    token = show_token(attention.texts[-1], 24)
    means = bool(lines) and lines[0].head is None
    who = "the mean of each layer's heads" if means else "each head"
    where = "" if layer is None else f" of layer {nth(layer)}"
    sheet = Sheet(
        theme,
        paper,
        subtitle=part.sentence(paper)
        + (
            f"From position {nth(attention.position)}, {token}, to each position up to itself, by "
            f"{who}{where}; a row adds up to 100&#160;%."
        ),
        alt=_alt(attention, lines),
        plot_height=max(_ROW * len(lines), 4 * _ROW),
        left=_LEFT,
        above=66,
        below=40,
    )
    sheet.traces.append(_heat(sheet, attention, lines, places))
    _axes(sheet, attention, lines, places, count)
    part.tell(sheet, attention_columns)
    sheet.explained.append(f"{theme.hue} of a cell: the weight")
    return sheet


def attention_columns(width: float) -> int:
    """Number of positions in a figure `width` px wide."""
    return max(int((width - _LEFT - 14) / _COLUMN), 1)


def _lines(attention: Attention, layer: int | None) -> list[_Line]:
    layers = [at for at, heads in enumerate(attention.weights) if heads]
    if layer is not None:
        layers = [at for at in layers if at == layer]
    elif sum(len(attention.weights[at]) for at in layers) > _MOST_ROWS:
        return [_Line(at, None, _mean(attention.weights[at])) for at in layers]
    return [_Line(at, head, row) for at in layers for head, row in enumerate(attention.weights[at])]


def _mean(heads: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) / len(heads) for column in zip(*heads, strict=True)]


def _heat(
    sheet: Sheet, attention: Attention, lines: Sequence[_Line], places: Sequence[int]
) -> Properties:
    bar = probability_bar(sheet, left=0)
    return {
        "type": "heatmap",
        "name": "attention",
        "x": list(range(len(places))),
        "y": list(range(len(lines))),
        "z": [[line.weights[at] for at in places] for line in lines],
        "zmin": 0,
        "zmax": 1,
        "colorscale": sheet.theme.colorscale(),
        "xgap": 1,
        "ygap": 1,
        "text": [[_hover(attention, line, at) for at in places] for line in lines],
        "hovertemplate": "%{text}<extra></extra>",
        "colorbar": {
            **bar,
            "ticktext": [str(text).replace("probability", "weight") for text in bar["ticktext"]],
        },
    }


def _hover(attention: Attention, line: _Line, at: int) -> str:
    who = f"layer {nth(line.layer)}"
    who += ", mean of its heads" if line.head is None else f", head {nth(line.head)}"
    token = show_token(attention.texts[at], 40)
    return f"<b>{who}</b><br>position {nth(at)}: {token}<br>{percent(line.weights[at])}"


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
        "layer" if means else "layer.head",
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


def _alt(attention: Attention, lines: Sequence[_Line]) -> str:
    if not lines:
        return "No layer of this model has attention weights to show."
    average = _mean([line.weights for line in lines])
    most = sorted(range(len(average)), key=lambda at: -average[at])[:3]
    seen = ", ".join(
        f"{visible_token(attention.texts[at], 24)} {100 * average[at]:.0f} %" for at in most
    )
    return (
        f"Heatmap of attention from position {nth(attention.position)} in {len(lines)} rows. "
        f"On average it looks most at: {seen}."
    )
