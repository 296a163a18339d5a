"""Several continuations of one text as one tree: what they share is drawn once."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.decoding.lab.types import Continuation, Continuations
from core.figures.base.axes import add_key, axis, key_entry
from core.figures.base.grid import probability_bar
from core.figures.base.labels import NBSP, percent, show_token, table_text, visible_token
from core.figures.base.sheet import EDGE, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.base.token_tree import Cell, Layout, lay_out_tree
from core.figures.lab.words import continuations_caption

_TITLE = "Many ways on"
_LANE, _LEFT, _WIDTH = 34, 64, 800
_CHARACTER, _PADDING = 7.3, 8


def lab_tree(grown: Continuations, *, fold: bool = True, theme: Theme = LIGHT) -> go.Figure:
    """Steps across, a lane for each continuation; colour for the model's own probability.

    Args:
        fold: a run of tokens that no row leaves is one cell, coloured by the geometric mean.
    """
    layout = lay_out_tree(grown.rows, fold=fold)
    if not layout.cells:
        sentence = "No token was drawn yet."
        return plain_sentence(theme, sentence, title=_TITLE, caption=continuations_caption(grown))
    sheet = Sheet(theme)
    lay_out(
        sheet,
        title=_TITLE,
        subtitle="A cell is shared by the rows it spans; a framed cell lies on the greedy path."
        + _cut(layout),
        caption=continuations_caption(grown),
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
            _frame(sheet, cell)
    sheet.layout |= _axes(layout, theme)
    sheet.layout |= {"barmode": "overlay", "bargap": 0}
    sheet.layout["uniformtext"] = {"minsize": 9, "mode": "hide"}
    add_key(sheet, [key_entry(theme.ink, "greedy", "<b>□</b>")], _LEFT)
    return sheet.figure()


def _cut(layout: Layout) -> str:
    if layout.steps == layout.all_steps:
        return ""
    return f" The first {layout.steps} of {layout.all_steps} steps are drawn."


def _scale(sheet: Sheet) -> dict[str, object]:
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


def _cells(layout: Layout, theme: Theme) -> dict[str, object]:
    cells = layout.cells
    colors = [theme.probability_color(cell.prob) for cell in cells]
    return {
        "type": "bar",
        "name": "tokens",
        "x": [cell.depth + len(cell.tokens) / 2 for cell in cells],
        "width": [len(cell.tokens) for cell in cells],
        "base": [cell.lane for cell in cells],
        "y": [cell.lanes for cell in cells],
        "text": [_text(cell, layout.steps) for cell in cells],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {
            "family": theme.mono,
            "size": 12,
            "color": [theme.text_on(color) for color in colors],
        },
        "hovertext": [_hover(cell, layout) for cell in cells],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"color": colors, "line": {"color": theme.paper, "width": 1.5}},
    }


def _text(cell: Cell, steps: int) -> str:
    room = len(cell.tokens) * _WIDTH / steps - _PADDING
    fitting = int(room / _CHARACTER)
    shown = show_token(cell.text, max(fitting, 3))
    return shown if fitting >= min(3, len(cell.text)) else ""


def _hover(cell: Cell, layout: Layout) -> str:
    rows = layout.lanes[cell.lane : cell.lane + cell.lanes]
    names = ", ".join(_name(row) for row in rows)
    count = len(cell.tokens)
    mean = "geometric mean " if count > 1 else ""
    span = f"steps {cell.depth} to {cell.depth + count - 1}" if count > 1 else f"step {cell.depth}"
    return f"<b>{show_token(cell.text, 48)}</b><br>{span}<br>{mean}{percent(cell.prob)}<br>{names}"


def _name(row: Continuation) -> str:
    return "greedy" if row.seed is None else f"seed {row.seed}"


def _frame(sheet: Sheet, cell: Cell) -> None:
    sheet.shapes.append(
        {
            "name": "greedy",
            "type": "rect",
            "x0": cell.depth + 0.02,
            "x1": cell.depth + len(cell.tokens) - 0.02,
            "y0": cell.lane + 0.04,
            "y1": cell.lane + cell.lanes - 0.04,
            "line": {"color": sheet.theme.ink, "width": 1.6},
            "fillcolor": "rgba(0,0,0,0)",
        }
    )


def _axes(layout: Layout, theme: Theme) -> dict[str, object]:
    every = 1 if layout.steps <= 24 else 5
    ticks = [step for step in range(layout.steps) if step % every == 0]
    return {
        "xaxis": axis(
            theme,
            range=[0, layout.steps],
            side="top",
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=[step + 0.5 for step in ticks],
            ticktext=[str(step) for step in ticks],
            tickangle=0,
            tickfont={"size": 10, "color": theme.muted},
        ),
        "yaxis": axis(
            theme,
            range=[len(layout.lanes), 0],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=[lane + 0.5 for lane in range(len(layout.lanes))],
            ticktext=[_label(row, theme) for row in layout.lanes],
            tickfont={"size": 11, "color": theme.muted},
        ),
    }


def _label(row: Continuation, theme: Theme) -> str:
    if row.seed is not None:
        return f"{_name(row)} "
    return f'<b><span style="color:{theme.ink}">{_name(row)}</span></b> '


def _alt(grown: Continuations, layout: Layout) -> str:
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
            step,
            token.token_id,
            table_text(token.text),
            token.raw_prob,
            token.prob,
        )
        for row in grown.rows
        for step, token in enumerate(row.tokens)
    ]
    return pd.DataFrame(records, columns=names).astype({"seed": "Int64"})


def rows_data(rows: Sequence[Continuation]) -> pd.DataFrame:
    """A row for each continuation: its text, and how varied and how probable it is."""
    names = ["row", "text", "tokens", "mean ln p", "distinct-1", "distinct-2", "ended"]
    records = [
        (
            _name(row),
            table_text(row.text),
            len(row.tokens),
            row.mean_logprob,
            row.distinct(1),
            row.distinct(2),
            row.finish_reason,
        )
        for row in rows
    ]
    return pd.DataFrame(records, columns=names)
