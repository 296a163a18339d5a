"""A grid of cells with a token in each: colour from a heatmap, text and clicks from bars over it.

Heatmap cells send no clicks in Streamlit and their text can't be turned; bars do both, and their
text hides where a cell is too small for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from core.figures.base.axes import axis, top_axis
from core.figures.base.labels import NBSP, show_token
from core.figures.base.marks import (
    CLEAR,
    NO_FADE,
    PAPER,
    add_frame,
    add_note,
    cell_bars,
    hover_texts,
    no_fade,
    overlaid,
)
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import Theme

T = TypeVar("T")

# More columns than this are too narrow for level text in a figure 900 px wide.
LEVEL_COLUMNS = 18
_TEXT_SIZE, _LEGIBLE_TEXT, _SMALLEST_TEXT = 12, 9, 8
_WIDTH, _PADDING = 830, 6


class Cell(NamedTuple):
    """One cell: `column` and `row` from 0, row 0 on top, row -1 a header above the coloured ones.

    `prob` colours it (None leaves the paper), `token` is raw text, `hover` is escaped Plotly text,
    `key` is what a click hands over.
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
    """The measures of a grid, px; the same for every window of one trace.

    Level text turns where a cell is too narrow for it, which is what phones see.
    """

    columns: int
    row_height: int
    turned: bool
    limit: int

    @property
    def angle(self) -> int | None:
        """Text angle in degrees; None lets Plotly turn what is too long."""
        return -90 if self.turned else None


def window_of(items: Sequence[T], first: int, columns: int) -> Sequence[T]:
    """So many of the items from the place `first` on, at least one where there is any."""
    start = min(max(first, 0), max(len(items) - 1, 0))
    return items[start : start + max(columns, 1)]


def frame_of(columns: int, fewest: int = 1) -> Frame:
    """How to draw so many columns: level text in wide cells, turned text in narrow ones."""
    drawn = max(columns, fewest)
    if drawn > LEVEL_COLUMNS:
        return Frame(drawn, 56, True, 9)
    room = _WIDTH / drawn - _PADDING
    return Frame(drawn, 40, False, min(int(room / (0.6 * _LEGIBLE_TEXT)), 16))


def add_cells(sheet: Sheet, drawn: Sequence[Cell], rows: int, frame: Frame) -> None:
    """Add the heatmap, the text over it and the ring around the chosen cells; lay out first."""
    theme = sheet.theme
    sheet.traces.append(_heatmap(drawn, rows, frame, sheet))
    tones: dict[tuple[str, bool], list[Cell]] = {}
    for cell in drawn:
        ground = theme.paper if cell.prob is None else theme.probability_color(cell.prob)
        color = theme.muted if cell.faded else theme.text_on(ground)
        tones.setdefault((color, cell.faded), []).append(cell)
    for (color, faded), group in tones.items():
        sheet.traces.append(_texts(group, color, faded, frame, theme))
    ringed = [cell for cell in drawn if cell.ringed]
    if ringed:
        sheet.traces.append(_rings(ringed, theme))
    sheet.layout |= overlaid(_SMALLEST_TEXT)


def _heatmap(cells: Sequence[Cell], rows: int, frame: Frame, sheet: Sheet) -> Properties:
    z: list[list[float | None]] = [[None] * frame.columns for _ in range(rows)]
    for cell in cells:
        if cell.row >= 0:
            z[cell.row][cell.column] = cell.prob
    return {
        "type": "heatmap",
        "name": "probability",
        "z": z,
        "x": list(range(frame.columns)),
        "y": list(range(rows)),
        "zmin": 0,
        "zmax": 1,
        "colorscale": sheet.theme.colorscale(),
        "xgap": 1,
        "ygap": 1,
        "hoverinfo": "skip",
        "showscale": True,
        "colorbar": probability_bar(sheet),
    }


def _texts(
    drawn: Sequence[Cell], color: str, faded: bool, frame: Frame, theme: Theme
) -> Properties:
    pattern = {"shape": "/", "fgcolor": theme.grid, "bgcolor": CLEAR, "size": 8, "solidity": 0.1}
    marker = {"color": CLEAR, "line": {"width": 0}, **({"pattern": pattern} if faded else {})}
    turned: Properties = {} if frame.angle is None else {"textangle": frame.angle}
    return {
        **cell_bars([(cell.column, cell.row - 0.5) for cell in drawn], 1),
        "name": "removed" if faded else "tokens",
        "text": [show_token(cell.token, frame.limit) for cell in drawn],
        **hover_texts([cell.hover for cell in drawn]),
        "customdata": [list(cell.key) for cell in drawn],
        "textfont": {"family": theme.mono, "size": _TEXT_SIZE, "color": color},
        "marker": marker,
        **turned,
        **no_fade(color),
    }


def _rings(cells: Sequence[Cell], theme: Theme) -> Properties:
    return {
        "type": "bar",
        "name": "chosen",
        "x": [cell.column for cell in cells],
        "base": [cell.row - 0.47 for cell in cells],
        "y": [0.94] * len(cells),
        "width": 0.94,
        "hoverinfo": "skip",
        "marker": {"color": CLEAR, "line": {"width": 2.5, "color": theme.accent}},
        **NO_FADE,
    }


def mark_column(sheet: Sheet, columns: Sequence[int], selected: int | None, rows: int) -> None:
    """Frame the column of the selected number, header included; nothing where it is not drawn."""
    if selected not in columns:
        return
    column = columns.index(selected)
    across, down = (column - 0.5, column + 0.5), (-1.5, rows - 0.5)
    add_frame(sheet, "selected", across, down, sheet.theme.ink, 2)


def grid_axes(
    sheet: Sheet,
    columns_name: str,
    header: str,
    rows: Sequence[str],
    ticks: Sequence[int],
    frame: Frame,
    *,
    title: str = "",
    domain: tuple[float, float] = (0, 1),
) -> None:
    """Column numbers on top, then the header row, then the rows, all named at the left.

    Args:
        title: of the axis of the rows.
        domain: what the grid takes of the plotting area's height.
    """
    down = axis(
        sheet.theme,
        title,
        0,
        domain=list(domain),
        range=[len(rows) - 0.5, -1.5],
        showgrid=False,
        showline=False,
        tickmode="array",
        tickvals=list(range(-1, len(rows))),
        ticktext=[header, *rows],
    )
    numbers = [_number(tick, at, frame) for at, tick in enumerate(ticks)]
    across = top_axis(sheet.theme, [-0.5, frame.columns - 0.5], range(len(ticks)), numbers)
    sheet.layout |= {"xaxis": across, "yaxis": down}
    where = {**PAPER, "xanchor": "right", "yanchor": "bottom", "xshift": -1}
    muted = sheet.theme.muted
    add_note(sheet, "column numbers", columns_name, 0, 1, size=10, color=muted, **where)


def _number(tick: int, at: int, frame: Frame) -> str:
    """A column's number; in narrow columns the first and every fifth."""
    return str(tick) if not frame.turned or at == 0 or (tick % 5 == 0 and at > 2) else ""


def probability_bar(sheet: Sheet, *, left: int = 145, offset: int = 12) -> Properties:
    """A slim level colour bar beside the key, where a phone shows it without scrolling.

    Args:
        left: px from the left edge of the plotting area.
        offset: px below its lower edge.
    """
    return {
        "orientation": "h",
        "thickness": 9,
        "lenmode": "pixels",
        # The length counts the padding on both sides, which only moves the bar to its place.
        "len": 130 + 2 * left,
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "xpad": left,
        "y": (sheet.bottom - offset) / sheet.height,
        "yref": "container",
        "yanchor": "top",
        "ypad": 0,
        "outlinewidth": 0,
        "tickmode": "array",
        "tickvals": [0, 0.5, 1],
        "ticktext": ["0", "probability", f"100{NBSP}%"],
        "ticklabeloverflow": "allow",
        "tickfont": {"size": 10, "color": sheet.theme.muted},
    }
