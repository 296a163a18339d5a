"""Several continuations of one text as one tree: what they share is drawn once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.decoding.counting import nth, span_key
from core.decoding.lab.types import Continuation, Continuations
from core.figures.base.axes import key_entry, named_axis, top_axis
from core.figures.base.figure import TableRows, figure, table
from core.figures.base.grid import probability_bar
from core.figures.base.labels import (
    escaped,
    percent,
    show_token,
    table_text,
    visible_token,
)
from core.figures.base.marks import add_frame, add_note, cell_bars, hover_texts, overlaid
from core.figures.base.measure import fitted
from core.figures.base.paper import SCREEN, SMALL, Paper
from core.figures.base.sheet import EDGE, Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.base.window import ShownPart, numbered
from core.figures.lab.token_tree import TreeCell, TreeLayout, lay_out_tree
from core.figures.lab.words import continuations_caption

_LEFT, _WIDTH = 64, 800.0
_PADDING = 8
# In print a step has so much room at least, px; further steps stand in a row of steps of their own.
_STEP = 46
# Between two rows of steps, lanes.
_APART = 0.8


@table("row seed step token_id token raw_prob prob", whole="seed")
def lab_tree_data(grown: Continuations, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Every token of every continuation; the greedy row has no seed.

    Args:
        first: the first step.
        columns: so many steps at most; all of them by default.
    """
    return [
        (
            _name(row),
            row.seed,
            nth(step),
            token.token_id,
            table_text(token.text),
            token.raw_prob,
            token.prob,
        )
        for row in grown.rows
        for step, token in numbered(row.tokens, first, columns)
    ]


@figure("Many ways on", continuations_caption, lab_tree_data)
def lab_tree(
    grown: Continuations, *, fold: bool = True, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Steps across, a lane for each continuation; colour for the model's own probability.

    Args:
        fold: a run of tokens that no row leaves is one cell, coloured by the geometric mean.
    """
    layout = lay_out_tree(grown.rows, fold=fold)
    if not layout.cells:
        return "No token was drawn yet."
    across = _steps_across(layout.steps, paper)
    lanes = len(layout.lanes) + _APART
    height = lanes * len(range(0, layout.steps, across)) - _APART
    shown = ShownPart("step", 0, layout.steps, layout.all_steps)
    part = "" if shown.whole else f" {shown.words}."
    pieces = [piece for cell in layout.cells for piece in _pieces(cell, across)]
    sheet = Sheet(
        theme,
        paper,
        subtitle="A cell is shared by the rows it spans; a framed cell lies on the greedy path."
        + part,
        alt=_alt(grown, layout),
        meta={} if shown.whole else {"shown": [span_key("step", 0, layout.steps)]},
        plot_height=round(34 * height),
        left=_LEFT,
        right=EDGE,
        above=22,
        below=40,
        key=[key_entry(theme.ink, "greedy", "<b>□</b>")],
        layout=overlaid(SMALL),
    )
    sheet.traces = [
        _scale(sheet),
        _cells(pieces, layout, theme, across, (sheet.room if paper.printed else _WIDTH) / across),
    ]
    for cell in pieces:
        if cell.greedy:
            x, y = _place(cell, across, lanes)
            add_frame(
                sheet,
                "greedy",
                (x + 0.02, x + len(cell.tokens) - 0.02),
                (y + 0.04, y + cell.lanes - 0.04),
                theme.ink,
                1.6,
            )
    _add_axes(sheet, layout, across, height)
    sheet.explained.append(f"{theme.hue} of a cell: the model's own probability")
    shown.tell(sheet)
    return sheet


def _steps_across(steps: int, paper: Paper) -> int:
    """Number of steps in a row of them: all of them on a page."""
    if not paper.printed:
        return steps
    most = max(int((paper.width - _LEFT - EDGE) / _STEP), 3)
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
    sheet.layout["yaxis"] = _lane_axis(
        layout, theme, [lanes * at for at in range(len(rows))], height
    )
    for at, shown in enumerate(ticks[1:], start=1):
        for step in shown:
            where = {"yanchor": "bottom", "yshift": -1}
            name, x = str(nth(step)), step % across + 0.5
            add_note(sheet, "step", name, x, lanes * at, size=SMALL, color=theme.muted, **where)


def _lane_axis(
    layout: TreeLayout, theme: Theme, tops: Sequence[float], height: float
) -> Properties:
    """The lanes' names, from the top of each row of steps on."""
    names = [
        f'<b><span style="color:{theme.ink}">{_name(row)}</span></b> '
        if row.seed is None
        else f"{_name(row)} "
        for row in layout.lanes
    ]
    return named_axis(
        theme,
        names * len(tops),
        range=[height, 0.0],
        tickfont={"size": 11, "color": theme.muted},
        showline=False,
        tickvals=[top + lane + 0.5 for top in tops for lane in range(len(names))],
    )


def _scale(sheet: Sheet) -> Properties:
    """A heatmap out of sight that brings the colour bar."""
    return {
        "type": "heatmap",
        "name": "probability",
        "x": [-9],
        "y": [-9],
        "z": [[0]],
        "zmin": 0,
        "zmax": 1,
        "colorscale": sheet.theme.colorscale(),
        "hoverinfo": "skip",
        "showscale": True,
        "colorbar": probability_bar(sheet, left=60),
    }


def _cells(
    cells: Sequence[TreeCell], layout: TreeLayout, theme: Theme, across: int, room: float
) -> Properties:
    """The cells of all rows of steps; `room` is that of a step, px."""
    lanes = len(layout.lanes) + _APART
    colors = [theme.probability_color(cell.prob) for cell in cells]
    corners = [
        (x + len(c.tokens) / 2, y)
        for c, (x, y) in zip(cells, [_place(cell, across, lanes) for cell in cells], strict=True)
    ]
    return {
        **cell_bars(corners, [len(cell.tokens) for cell in cells], [cell.lanes for cell in cells]),
        "name": "tokens",
        "text": [_text(cell, room) for cell in cells],
        "textangle": 0,
        "textfont": {
            "family": theme.mono,
            "size": 12,
            "color": [theme.text_on(color) for color in colors],
        },
        **hover_texts([_hover(cell, layout) for cell in cells]),
        "marker": {"color": colors, "line": {"color": theme.paper, "width": 1.5}},
    }


def _text(cell: TreeCell, room: float) -> str:
    """Part of a cell's text that fits, where a step has `room` px."""
    room, whole = len(cell.tokens) * room - _PADDING, visible_token(cell.text)
    shown = fitted(whole, room, 12, "mono")
    return escaped(shown) if shown == whole or len(shown) > 2 else ""


def _hover(cell: TreeCell, layout: TreeLayout) -> str:
    rows = layout.lanes[cell.lane : cell.lane + cell.lanes]
    names = ", ".join(_name(row) for row in rows)
    count = len(cell.tokens)
    mean = "geometric mean " if count > 1 else ""
    first = nth(cell.depth)
    span = f"steps {first} to {cell.depth + count}" if count > 1 else f"step {first}"
    return f"<b>{show_token(cell.text, 48)}</b><br>{span}<br>{mean}{percent(cell.prob)}<br>{names}"


def _name(row: Continuation) -> str:
    return "greedy" if row.seed is None else f"seed {row.seed}"


def _alt(grown: Continuations, layout: TreeLayout) -> str:
    texts = "; ".join(f"{_name(row)}: {visible_token(row.text, 60)}" for row in grown.rows[:4])
    return (
        f"Tree of {len(grown.rows)} continuations over {layout.steps} steps in {len(layout.cells)} "
        f"cells with their probabilities. {texts}."
    )


@table(["row", "text", "tokens", "mean ln p", "distinct-1", "distinct-2", "ended"])
def rows_data(rows: Sequence[Continuation]) -> TableRows:
    """A row for each continuation: its text, and how varied and how probable it is."""
    for row in rows:
        yield (
            _name(row),
            table_text(row.text),
            len(row.tokens),
            row.mean_logprob,
            row.distinct(1),
            row.distinct(2),
            row.finish_reason,
        )
