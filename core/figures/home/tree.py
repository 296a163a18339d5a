"""Texts of several methods from one prompt, merged into one tree."""

from __future__ import annotations

from ...decoding.counting import nth
from ...decoding.many.methods import tokens_of, whole_text
from ...decoding.many.types import ManyRuns
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.labels import percent, table_text, visible_token
from ..base.measure import text_width
from ..base.paper import WIDE, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..lanes.lane_tree import lane_tree
from ..lanes.token_tree import Lane, TreeCell, lay_out_tree
from .words import methods_caption, methods_verdict, run_name

_NAME_SIZE = 11
# Narrower figures have short names, px.
_NARROW = 600


@table("run step token_id token raw_prob")
def methods_tree_data(many: ManyRuns) -> TableRows:
    """Every token of every run with the model's own probability."""
    for trace in many.traces:
        for at, token in enumerate(tokens_of(trace)):
            yield run_name(trace), nth(at), token.token_id, table_text(token.text), token.raw_prob


@figure(
    N_("What each decoder writes"),
    methods_caption,
    methods_tree_data,
    alt=lambda many: (
        tr(
            "Tree of the texts of {runs} runs of one prompt. {verdict}",
            runs=many.count,
            verdict=methods_verdict(many),
        ),
        tr("; ").join(
            f"{run_name(trace)}: {visible_token(whole_text(trace), 60)}" for trace in many.traces
        )
        + tr("."),
    ),
    key=lambda theme, many: [[(theme.accent, tr("fork"), "<b>▎</b>")]] * (len(many.texts) > 1),
)
def methods_tree(
    many: ManyRuns, *, selected: int | None = None, theme: Theme = LIGHT, paper: Paper = WIDE
) -> Sheet | str:
    """Steps across, a lane for each run; colour for the model's own probability.

    Args:
        selected: place of the run whose name stands out.

    A click on a cell hands over `customdata = [place of a run, step]`.
    """
    forks = [(fork.at, frozenset(fork.runs)) for fork in many.forks]
    lanes = [
        Lane(
            run_name(trace, short=paper.width < _NARROW),
            tokens_of(trace),
            {at for at, runs in forks if place in runs},
            place == selected and paper.selection,
            place,
        )
        for place, trace in enumerate(many.traces)
    ]
    layout = lay_out_tree(lanes, forks=True)
    if not layout.cells:
        return tr("No run has a token.")
    names = max(text_width(lane.name, _NAME_SIZE, "sans bold") for lane in lanes)

    def share(cell: TreeCell) -> tuple[str, str]:
        if cell.depth not in layout.lanes[cell.lane].framed:
            return "", ""
        prob = percent(cell.tokens[0].raw_prob)
        return prob, tr(
            "{probability} for {token} after the fork",
            probability=prob,
            token=visible_token(cell.tokens[0].text, 24),
        )

    return lane_tree(
        layout,
        theme,
        paper,
        subtitle=tr(
            "A row for each decoder. Rows share a box as long as their texts agree. "
            "The number at a fork is the model's own probability of the token."
        ),
        frame=(tr("fork"), theme.accent),
        edged=True,
        left=round(names) + 18,
        share=share,
    )
