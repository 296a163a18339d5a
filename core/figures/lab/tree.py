"""Tree of several continuations of one text; common beginnings are drawn once."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import nth
from ...decoding.lab.types import Continuation, Continuations
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.labels import table_text, visible_token
from ..base.paper import SCREEN, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import numbered
from ..lanes.lane_tree import lane_tree
from ..lanes.token_tree import Lane, lay_out_tree
from .words import continuations_caption


@table("row seed step token_id token raw_prob prob", whole="seed")
def lab_tree_data(grown: Continuations, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return every token of every continuation; the greedy row has no seed.

    Args:
        first: the first step.
        columns: maximum number of steps; by default all.
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


@figure(
    N_("Tree of continuations"),
    continuations_caption,
    lab_tree_data,
    alt=lambda grown, layout: (
        tr(
            "Tree of {rows} continuations over {steps} steps in {cells} cells with their "
            "probabilities.",
            rows=len(grown.rows),
            steps=layout.steps,
            cells=len(layout.cells),
        ),
        tr("; ").join(f"{_name(row)}: {visible_token(row.text, 60)}" for row in grown.rows[:4])
        + tr("."),
    ),
    key=lambda theme: [[(theme.ink, tr("greedy"), "<b>□</b>")]],
)
def lab_tree(
    grown: Continuations, *, fold: bool = True, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw steps across and a lane for each continuation; the colour is the raw probability.

    Args:
        fold: whether a sequence of tokens without a branch is one cell, coloured by the geometric
            mean.
    """
    lanes = [
        Lane(_name(row), row.tokens, frozenset(range(len(row.tokens) if greedy else 0)), greedy)
        for row, greedy in ((row, row.seed is None) for row in grown.rows)
    ]
    layout = lay_out_tree(lanes, fold=fold)
    if not layout.cells:
        return tr("No token was drawn yet.")
    return lane_tree(
        layout,
        theme,
        paper,
        subtitle=tr(
            "A cell is shared by the rows it spans; a framed cell lies on the greedy path."
        ),
        frame=(tr("greedy"), theme.ink),
    )


def _name(row: Continuation) -> str:
    return tr("greedy") if row.seed is None else tr("seed {seed}", seed=row.seed)


@table(["row", "text", "tokens", "mean ln p", "distinct-1", "distinct-2", "ended"])
def rows_data(rows: Sequence[Continuation]) -> TableRows:
    """Return a row for each continuation: its text, diversity and mean log-probability."""
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
