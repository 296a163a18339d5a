"""Grid of cells with one token each: a heatmap gives the colours, bars over it texts and clicks.

In Streamlit, heatmap cells send no clicks, but bars do, and a bar's text is hidden if its cell is
too small. Less important columns are narrow and have no text, so that all text is horizontal.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ...decoding.counting import nth
from ...language import tr
from .axes import axis, top_axis
from .labels import NBSP, show_token, unspaced
from .marks import (
    CLEAR,
    PAPER,
    add_frame,
    add_note,
    crosses,
    overlaid,
    token_cells,
)
from .paper import SMALL
from .sheet import Properties, Sheet
from .theme import Theme

ROW_HEIGHT = 28
# Width of a character in a cell's text, px.
_CHARACTER = 7.25
_PADDING, _LONGEST_TEXT = 6, 18
# Length of the colour bar, px.
_BAR = 130
# Margins for the names of the rows and for the right edge, px.
GRID_LEFT, _EDGES = 64, 78
# Width of a column for a word of seven characters, px, and of a narrow column as a share of it.
_COLUMN, _NARROW = 57, 0.16
# Number of columns for each wide column, so that about a quarter of a full window is wide.
_COLUMNS_A_WIDE_ONE = 2.75
# Text of less probable tokens is muted: they are rarely drawn.
_UNLIKELY = 0.01


class Cell(NamedTuple):
    """One cell; `column` and `row` count from 0: row 0 is on top, row -1 is a header above the
    coloured rows.

    `prob` gives the colour (None for the paper's), `token` is raw text, `hover` is escaped Plotly
    text, `key` is the click data.
    """

    column: int
    row: int
    prob: float | None
    token: str
    hover: str
    key: tuple[int, int]
    faded: bool = False
    ringed: bool = False


class Frame(NamedTuple):
    """Columns of a grid.

    Args:
        edges: edges of the columns, one more than columns; a wide column has width 1.
        wide: for each column whether it is wide and has text.
        end: end of the axis, beyond the last edge if there are few columns.
        limit: number of text columns in a wide column.
    """

    edges: tuple[float, ...]
    wide: tuple[bool, ...]
    end: float
    limit: int

    @property
    def middles(self) -> list[float]:
        """Middles of the columns on the axis."""
        return [(start + end) / 2 for start, end in pairwise(self.edges)]

    @property
    def widths(self) -> list[float]:
        """Widths of the columns."""
        return [end - start for start, end in pairwise(self.edges)]


def columns_for(width: float) -> int:
    """Return the number of columns in a window of a figure `width` px wide; most are narrow."""
    return round((width - _EDGES) / _COLUMN * _COLUMNS_A_WIDE_ONE)


def wide_columns(width: float) -> int:
    """Return the number of wide columns that fit into a figure `width` px wide."""
    return max(int((width - _EDGES) / _COLUMN), 1)


def frame_of(
    weights: Sequence[float], width: float, fewest: int = 1, opened: Collection[int] = ()
) -> Frame:
    """Return the columns for a figure `width` px wide: all wide if they fit, otherwise the most
    important ones.

    Args:
        weights: importance of each column.
        fewest: minimum number of columns that fill the width.
        opened: columns that are always wide.
    """
    count, units = len(weights), (width - _EDGES) / _COLUMN
    wide = [True] * count
    if count > units:
        held = max(int((units - count * _NARROW) / (1 - _NARROW)), 1)
        heaviest = _heaviest(weights, held, opened)
        wide = [at in heaviest for at in range(count)]
    edges = tuple(accumulate([1 if is_wide else _NARROW for is_wide in wide], initial=-0.5))
    end = max(edges[-1], fewest - 0.5) if all(wide) else edges[-1]
    room = (width - _EDGES) / (end + 0.5) - _PADDING
    return Frame(edges, tuple(wide), end, max(min(int(room / _CHARACTER), _LONGEST_TEXT), 2))


def _heaviest(weights: Sequence[float], room: int, opened: Collection[int]) -> set[int]:
    """Return the opened columns and, as far as there is room, those with the largest weights."""
    wide = {at for at in opened if 0 <= at < len(weights)}
    others = [at for at in range(len(weights)) if at not in wide]
    others.sort(key=lambda at: -weights[at])
    return wide | set(others[: max(room - len(wide), 0)])


def add_grid(
    sheet: Sheet,
    cells: Sequence[Cell],
    rows: Sequence[str],
    numbers: Sequence[int],
    frame: Frame,
    selected: int | None,
    *,
    names: tuple[str, str],
    title: str = "",
    domain: tuple[float, float] = (0, 1),
) -> None:
    """Add the cells with their axes, and a frame around the column of the selected number.

    Args:
        numbers: indices of the columns.
        names: titles of the columns' numbers and of the header row.
        title: title of the rows' axis.
        domain: share of the plotting area's height that the grid takes.
    """
    _add_cells(sheet, cells, len(rows), frame)
    wide = [at for at, held in enumerate(frame.wide) if held]
    sheet.layout |= {
        "xaxis": top_axis(
            sheet.theme,
            [-0.5, frame.end],
            [frame.middles[at] for at in wide],
            [str(nth(numbers[at])) for at in wide],
        ),
        "yaxis": axis(
            sheet.theme,
            title,
            0,
            domain=list(domain),
            range=[len(rows) - 0.5, -1.5],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=list(range(-1, len(rows))),
            ticktext=[names[1], *rows],
            ticklabelstandoff=3,
        ),
    }
    where = {**PAPER, "xanchor": "right", "yanchor": "bottom", "xshift": -1, "size": SMALL}
    add_note(sheet, "column numbers", names[0], 0, 1, color=sheet.theme.muted, **where)
    if selected in numbers and sheet.paper.selection:
        # Includes the header row.
        at = numbers.index(selected)
        across, down = (frame.edges[at], frame.edges[at + 1]), (-1.5, len(rows) - 0.5)
        add_frame(sheet, "selected", across, down, sheet.theme.ink, 2)


def _add_cells(sheet: Sheet, drawn: Sequence[Cell], rows: int, frame: Frame) -> None:
    """Add the heatmap, the text over it and the ring around the chosen cells; call it after the
    layout.
    """
    theme, middles, widths = sheet.theme, frame.middles, frame.widths
    z: list[list[float | None]] = [[None] * len(frame.wide) for _ in range(rows)]
    for cell in drawn:
        if cell.row >= 0:
            z[cell.row][cell.column] = cell.prob
    look: Properties = {"xgap": 1, "ygap": 1, "hoverinfo": "skip"}
    sheet.traces.append(probability_cells(sheet, frame.edges, z, **look))
    tones: dict[tuple[str, bool], list[Cell]] = {}
    for cell in drawn:
        ground = theme.paper if cell.prob is None else theme.probability_color(cell.prob)
        quiet = cell.faded or (cell.prob is not None and cell.prob < _UNLIKELY)
        color = theme.muted if quiet and not cell.ringed else theme.text_on(ground)
        tones.setdefault((color, cell.faded), []).append(cell)
    for (color, faded), group in tones.items():
        crossed = faded and sheet.paper.journal is not None
        sheet.traces.append(_texts(group, color, frame, theme, hatched=faded and not crossed))
        if crossed:
            across = [frame.edges[c.column + 1] - min(0.1, widths[c.column] / 2) for c in group]
            sheet.traces.append(crosses(across, [cell.row - 0.33 for cell in group], theme))
    # In narrow columns the first row is usually chosen, and a ring would hide its colour.
    ringed = [c for c in drawn if c.ringed and (frame.wide[c.column] or c.row > 0)]
    if ringed:
        sheet.traces.append(
            {
                "type": "bar",
                "name": "chosen",
                "x": [middles[cell.column] for cell in ringed],
                "base": [cell.row - 0.46 for cell in ringed],
                "y": [0.92] * len(ringed),
                "width": [max(widths[c.column] - 0.06, 0.6 * widths[c.column]) for c in ringed],
                "hoverinfo": "skip",
                "marker": {
                    "color": CLEAR,
                    "line": {
                        "width": [2.5 if frame.wide[cell.column] else 1.5 for cell in ringed],
                        "color": theme.accent,
                    },
                },
            }
        )
    sheet.layout |= overlaid(SMALL)


def _texts(
    drawn: Sequence[Cell], color: str, frame: Frame, theme: Theme, *, hatched: bool
) -> Properties:
    middles, widths = frame.middles, frame.widths
    lines = {"shape": "/", "fgcolor": theme.grid, "bgcolor": CLEAR, "size": 8, "solidity": 0.1}
    return token_cells(
        theme,
        "removed" if drawn[0].faded else "tokens",
        [(middles[cell.column], cell.row - 0.5) for cell in drawn],
        [show_token(cell.token, frame.limit) if frame.wide[cell.column] else "" for cell in drawn],
        [cell.hover for cell in drawn],
        CLEAR,
        color,
        width=[widths[cell.column] for cell in drawn],
        textangle=0,
        customdata=[list(cell.key) for cell in drawn],
        marker={"color": CLEAR, "line": {"width": 0}, **({"pattern": lines} if hatched else {})},
    )


def probability_cells(
    sheet: Sheet,
    x: Sequence[float],
    z: Sequence[Sequence[float | None]],
    *,
    left: int = 145,
    offset: int = 12,
    **properties: object,
) -> Properties:
    """Return a heatmap of probabilities with a slim horizontal colour bar beside the key.

    Args:
        x, z: positions or edges of the columns; values row by row from the top, None for no colour.
        left, offset: position of the colour bar: maximum distance from the plotting area's left
            edge, and distance below it, px.
    """
    left = min(left, max(int(sheet.room) - _BAR - 4, 0))
    bar = {
        "orientation": "h",
        "thickness": 9,
        "lenmode": "pixels",
        # The length includes the padding on both sides, which only positions the bar.
        "len": _BAR + 2 * left,
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "xpad": left,
        "y": -offset / sheet.plot_height,
        "yref": "paper",
        "yanchor": "top",
        "ypad": 0,
        "outlinewidth": 0,
        "tickmode": "array",
        "tickvals": [0, 0.5, 1],
        "ticktext": ["0", tr("probability"), unspaced(f"100{NBSP}%")],
        "ticklabeloverflow": "allow",
        "tickfont": {"size": SMALL, "color": sheet.theme.muted},
    }
    if left:
        sheet.scale = bar
    return {
        "type": "heatmap",
        "name": "probability",
        "x": list(x),
        "y": list(range(len(z))),
        "z": z,
        "zmin": 0,
        "zmax": 1,
        "colorscale": sheet.theme.colorscale(),
        "showscale": True,
        "colorbar": bar,
        **properties,
    }
