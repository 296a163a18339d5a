"""Several continuations of one text as one tree: what they share is drawn once."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.decoding.counting import nth
from core.decoding.lab.types import Continuation, Continuations
from core.figures.base.axes import add_key, key_entry, named_axis, top_axis
from core.figures.base.grid import probability_bar
from core.figures.base.labels import NBSP, percent, show_token, table_text, visible_token
from core.figures.base.marks import add_frame, cell_bars, hover_texts, overlaid
from core.figures.base.paper import SCREEN, SMALL, Paper
from core.figures.base.sheet import EDGE, Properties, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.lab.token_tree import TreeCell, TreeLayout, lay_out_tree
from core.figures.lab.words import continuations_caption

_TITLE = "Many ways on"
_LANE, _LEFT, _WIDTH = 34, 64, 800
_CHARACTER, _PADDING = 7.3, 8


def lab_tree(
    grown: Continuations, *, fold: bool = True, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> go.Figure:
    """Steps across, a lane for each continuation; colour for the model's own probability.

    Args:
        fold: a run of tokens that no row leaves is one cell, coloured by the geometric mean.
    """
    layout, caption = lay_out_tree(grown.rows, fold=fold), continuations_caption(grown, paper)
    if not layout.cells:
        sentence = "No token was drawn yet."
        return plain_sentence(theme, paper, sentence, title=_TITLE, caption=caption)
    whole = layout.steps == layout.all_steps
    part = "" if whole else f" The first {layout.steps} of {layout.all_steps} steps are drawn."
    sheet = lay_out(
        theme,
        paper,
        title=_TITLE,
        subtitle="A cell is shared by the rows it spans; a framed cell lies on the greedy path."
        + part,
        caption=caption,
        alt=_alt(grown, layout),
        plot_height=_LANE * len(layout.lanes),
        left=_LEFT,
        right=EDGE,
        above=22,
        below=40,
    )
    sheet.traces = [_scale(sheet), _cells(layout, theme)]
    for cell in layout.cells:
        if cell.greedy:
            across = (cell.depth + 0.02, cell.depth + len(cell.tokens) - 0.02)
            down = (cell.lane + 0.04, cell.lane + cell.lanes - 0.04)
            add_frame(sheet, "greedy", across, down, theme.ink, 1.6)
    sheet.layout |= overlaid(SMALL)
    ticks = range(0, layout.steps, 1 if layout.steps <= 24 else 5)
    middles, names = [step + 0.5 for step in ticks], [str(nth(step)) for step in ticks]
    sheet.layout["xaxis"] = top_axis(theme, [0, layout.steps], middles, names)
    sheet.layout["yaxis"] = _lane_axis(layout, theme)
    add_key(sheet, [key_entry(theme.ink, "greedy", "<b>□</b>")], _LEFT)
    return sheet.figure()


def _lane_axis(layout: TreeLayout, theme: Theme) -> Properties:
    names = [
        f'<b><span style="color:{theme.ink}">{_name(row)}</span></b> '
        if row.seed is None
        else f"{_name(row)} "
        for row in layout.lanes
    ]
    middles = [lane + 0.5 for lane in range(len(names))]
    quiet = {"tickfont": {"size": 11, "color": theme.muted}, "showline": False}
    return named_axis(theme, names, range=[len(names), 0], **quiet, tickvals=middles)


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


def _cells(layout: TreeLayout, theme: Theme) -> Properties:
    cells = layout.cells
    colors = [theme.probability_color(cell.prob) for cell in cells]
    inks = [theme.text_on(color) for color in colors]
    corners = [(cell.depth + len(cell.tokens) / 2, cell.lane) for cell in cells]
    widths, heights = [len(cell.tokens) for cell in cells], [cell.lanes for cell in cells]
    return {
        **cell_bars(corners, widths, heights),
        "name": "tokens",
        "text": [_text(cell, layout.steps) for cell in cells],
        "textangle": 0,
        "textfont": {"family": theme.mono, "size": 12, "color": inks},
        **hover_texts([_hover(cell, layout) for cell in cells]),
        "marker": {"color": colors, "line": {"color": theme.paper, "width": 1.5}},
    }


def _text(cell: TreeCell, steps: int) -> str:
    room = len(cell.tokens) * _WIDTH / steps - _PADDING
    fitting = int(room / _CHARACTER)
    shown = show_token(cell.text, max(fitting, 3))
    return shown if fitting >= min(3, len(cell.text)) else ""


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
        f"cells, coloured by probability. {texts}."
    ).replace(NBSP, " ")


def lab_tree_data(grown: Continuations) -> pd.DataFrame:
    """Every token of every continuation; the greedy row has no seed."""
    names = "row seed step token_id token raw_prob prob".split()
    records = [
        (
            _name(row),
            row.seed,
            nth(step),
            own.token_id,
            table_text(own.text),
            own.raw_prob,
            own.prob,
        )
        for row in grown.rows
        for step, own in enumerate(row.tokens)
    ]
    return pd.DataFrame(records, columns=names).astype({"seed": "Int64"})


def rows_data(rows: Sequence[Continuation]) -> pd.DataFrame:
    """A row for each continuation: its text, and how varied and how probable it is."""
    names = ["row", "text", "tokens", "mean ln p", "distinct-1", "distinct-2", "ended"]
    records = []
    for row in rows:
        varied = (row.mean_logprob, row.distinct(1), row.distinct(2))
        head = (_name(row), table_text(row.text), len(row.tokens))
        records.append((*head, *varied, row.finish_reason))
    return pd.DataFrame(records, columns=names)
