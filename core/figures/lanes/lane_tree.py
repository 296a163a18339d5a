"""A tree of tokens as cells: steps across, a lane for each run, shared cells drawn once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from core.decoding.counting import nth
from core.figures.base.axes import named_axis, top_axis
from core.figures.base.grid import probability_cells
from core.figures.base.labels import escaped, lines, percent, show_token, visible_token
from core.figures.base.marks import add_frame, add_note, overlaid, token_cells
from core.figures.base.measure import fitted
from core.figures.base.paper import SMALL, Paper
from core.figures.base.sheet import EDGE, Properties, Sheet
from core.figures.base.theme import Theme
from core.figures.base.window import ShownPart
from core.figures.lanes.token_tree import TreeCell, TreeLayout

_LEFT, _WIDTH = 64, 800.0
_PADDING = 8
# In print a step has so much room at least, px; further steps stand in a row of steps of their own.
_STEP = 46
# Between two rows of steps, lanes.
_APART = 0.8


def lane_tree(
    layout: TreeLayout,
    theme: Theme,
    paper: Paper,
    *,
    subtitle: str,
    frame: tuple[str, str],
    left: int = _LEFT,
) -> Sheet:
    """Return the sheet of a tree; colour for the model's own probability.

    Args:
        frame: name and colour of the frames around the lanes' framed steps.
        left: room for the lanes' names, px.

    A click on a cell hands over `customdata = [place]` of its first lane.
    """
    across = _steps_across(layout.steps, paper, left)
    lanes = len(layout.lanes) + _APART
    height = lanes * len(range(0, layout.steps, across)) - _APART
    shown = ShownPart("step", 0, layout.steps, layout.all_steps)
    pieces = [piece for cell in layout.cells for piece in _pieces(cell, across)]
    sheet = Sheet(
        theme,
        paper,
        subtitle=(subtitle, not shown.whole and f"{shown.words}."),
        facts={"layout": layout},
        plot_height=round(34 * height),
        left=left,
        right=EDGE,
        above=22,
        below=40,
        layout=overlaid(SMALL),
    )
    room = sheet.room if paper.printed else _WIDTH
    # Out of sight, for the colour bar alone.
    scale = probability_cells(sheet, [-9], [[0]], left=60, y=[-9], hoverinfo="skip")
    sheet.traces = [scale, _cells(pieces, layout, theme, across, room / across)]
    for cell in pieces:
        x, y = _place(cell, across, lanes)
        for first, last in _framed(cell, layout):
            name, color = frame
            ends = x + first + 0.02, x + last - 0.02
            add_frame(sheet, name, ends, (y + 0.04, y + cell.lanes - 0.04), color, 1.6)
    _add_axes(sheet, layout, across, height)
    sheet.explained.append(f"{theme.hue} of a cell: the model's own probability")
    shown.tell(sheet)
    return sheet


def _framed(cell: TreeCell, layout: TreeLayout) -> Iterator[tuple[int, int]]:
    """First and last edge of each run of framed tokens in a cell, counted from its first one."""
    lanes = layout.lanes[cell.lane : cell.lane + cell.lanes]
    steps = range(cell.depth, cell.depth + len(cell.tokens))
    framed = [any(step in lane.framed for lane in lanes) for step in steps]
    at = 0
    for marked, group in groupby(framed):
        count = len(list(group))
        if marked:
            yield at, at + count
        at += count


def _steps_across(steps: int, paper: Paper, left: int) -> int:
    """Number of steps in a row of them: all of them on a page."""
    if not paper.printed:
        return steps
    most = max(int((paper.width - left - EDGE) / _STEP), 3)
    return -(-steps // -(-steps // most))


def _pieces(cell: TreeCell, across: int) -> Iterator[TreeCell]:
    """A cell in its rows of steps."""
    start = cell.depth
    while start < cell.depth + len(cell.tokens):
        end = min(cell.depth + len(cell.tokens), (start // across + 1) * across)
        yield cell._replace(depth=start, tokens=cell.tokens[start - cell.depth : end - cell.depth])
        start = end


def _place(cell: TreeCell, across: int, lanes: float) -> tuple[float, float]:
    """A cell's left upper corner: steps and lanes."""
    return cell.depth % across, cell.lane + cell.depth // across * lanes


def _add_axes(sheet: Sheet, layout: TreeLayout, across: int, height: float) -> None:
    """Steps over each row of them, and the names of the lanes before it."""
    theme, lanes = sheet.theme, len(layout.lanes) + _APART
    every = 1 if across <= 24 else 5
    rows = [
        range(start, min(start + across, layout.steps)) for start in range(0, layout.steps, across)
    ]
    ticks = [[step for step in row if step % every == 0 or step == row[0]] for row in rows]
    sheet.layout["xaxis"] = top_axis(
        theme, [0, across], [step + 0.5 for step in ticks[0]], [str(nth(step)) for step in ticks[0]]
    )
    names = [
        f'<b><span style="color:{theme.ink}">{escaped(lane.name)}</span></b> '
        if lane.strong
        else f"{escaped(lane.name)} "
        for lane in layout.lanes
    ]
    sheet.layout["yaxis"] = named_axis(
        theme,
        names * len(rows),
        range=[height, 0.0],
        tickfont={"size": 11, "color": theme.muted},
        showline=False,
        tickvals=[lanes * at + lane + 0.5 for at in range(len(rows)) for lane in range(len(names))],
    )
    for at, shown in enumerate(ticks[1:], start=1):
        for step in shown:
            where: Properties = {
                "yanchor": "bottom",
                "yshift": -1,
                "size": SMALL,
                "color": theme.muted,
            }
            add_note(sheet, "step", str(nth(step)), step % across + 0.5, lanes * at, **where)


def _cells(
    cells: Sequence[TreeCell], layout: TreeLayout, theme: Theme, across: int, room: float
) -> Properties:
    """The cells of all rows of steps; `room` is that of a step, px."""
    colors = [theme.probability_color(cell.prob) for cell in cells]
    places = [_place(cell, across, len(layout.lanes) + _APART) for cell in cells]
    corners = [(x + len(c.tokens) / 2, y) for c, (x, y) in zip(cells, places, strict=True)]
    texts, hovers = [], []
    for cell in cells:
        count, whole = len(cell.tokens), visible_token(cell.text)
        shown = fitted(whole, count * room - _PADDING, 12, "mono")
        texts.append(escaped(shown) if shown == whole or len(shown) > 2 else "")
        names = ", ".join(lane.name for lane in layout.lanes[cell.lane : cell.lane + cell.lanes])
        many, last = count > 1, cell.depth + count
        hovers.append(
            lines(
                f"<b>{show_token(cell.text, 48)}</b>",
                f"steps {nth(cell.depth)} to {last}" if many else f"step {last}",
                f"{'geometric mean ' if many else ''}{percent(cell.prob)}",
                escaped(names),
            )
        )
    return token_cells(
        theme,
        "tokens",
        corners,
        texts,
        hovers,
        colors,
        [theme.text_on(color) for color in colors],
        width=[len(cell.tokens) for cell in cells],
        heights=[cell.lanes for cell in cells],
        textangle=0,
        customdata=[[layout.lanes[cell.lane].place] for cell in cells],
    )
