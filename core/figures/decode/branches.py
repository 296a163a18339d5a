"""Tree of runs that branch off each other; common beginnings are drawn once."""

from __future__ import annotations

from itertools import accumulate

from ...decoding.counting import counted, nth
from ...decoding.lab.types import RowToken
from ...decoding.record.tree import Branch, RunTree
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.labels import plain_name, settings_caption, table_text, visible_token
from ..base.measure import text_width
from ..base.paper import SCREEN, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import numbered
from ..lanes.lane_tree import lane_tree
from ..lanes.token_tree import Lane, lay_out_tree

_NAME_LIMIT, _NAME_SIZE = 14, 11


@table("run name parent from_step step token_id token raw_prob sum_ln_p forced", whole="parent")
def run_tree_data(tree: RunTree, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return every token of every run; runs and steps count from 1, and the first run has no
    parent.

    Args:
        first: the first step.
        columns: maximum number of steps; by default all.
    """
    for place, branch in enumerate(tree.branches):
        sums = [*accumulate(-step.surprisal for step in branch.trace.token_steps)]
        parent = None if branch.parent is None else nth(branch.parent)
        for at, step in numbered(branch.trace.token_steps, first, columns):
            yield (
                nth(place),
                table_text(branch.name),
                parent,
                nth(branch.at_step),
                nth(at),
                step.token_id,
                table_text(step.chosen.text),
                step.chosen.raw_prob,
                sums[at],
                step.forced_as is not None,
            )


@figure(
    N_("The tree of runs"),
    lambda tree, paper=SCREEN: " · ".join(
        [
            settings_caption(tree.branches[0].trace, paper),
            tr(counted(len(tree.branches), "run")),
        ]
    ),
    run_tree_data,
    alt=lambda tree: (
        tr(
            "Tree of {runs} with the probabilities of tokens.",
            runs=counted(len(tree.branches), "run"),
        ),
        tr("; ").join(
            tr(
                "{name}, {number} nats: {words}",
                name=plain_name(branch.name, _NAME_LIMIT),
                number=_nats(branch),
                words=visible_token(branch.trace.text, 60),
            )
            for branch in tree.branches[:4]
        )
        + tr("."),
    ),
    key=lambda theme: [[(theme.accent, tr("forced token"), "<b>▎</b>")]],
)
def run_tree(
    tree: RunTree, *, selected: int | None = None, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw steps across and a lane for each run; the colour is the raw probability.

    Args:
        selected: index of the run whose name is highlighted.

    A click on a cell hands over `customdata = [place of a run, step]`.
    """
    shown = selected if paper.selection else None
    lanes = [
        Lane(
            f"{plain_name(branch.name, _NAME_LIMIT)} {_nats(branch)}",
            tuple(
                RowToken(step.token_id, step.chosen.text, step.chosen.raw_prob, step.chosen.prob)
                for step in branch.trace.token_steps
            ),
            # Earlier tokens belong to the run that it branched off, even with another seed.
            {
                step.index
                for step in branch.trace.token_steps[branch.at_step :]
                if step.forced_as is not None
            },
            place == shown,
            place,
        )
        for place, branch in enumerate(tree.branches)
    ]
    layout = lay_out_tree(lanes, forks=True)
    if not layout.cells:
        return tr("No run of this tree has a token.")
    names = max(text_width(lane.name, _NAME_SIZE, "sans bold") for lane in lanes)
    return lane_tree(
        layout,
        theme,
        paper,
        subtitle=tr(
            "Runs share a cell up to their first different token. The number beside a name is the "
            "sum of its tokens' ln p, nats."
        ),
        frame=("forced", theme.accent),
        edged=True,
        left=round(names) + 18,
    )


def _nats(branch: Branch) -> str:
    return f"{branch.logprob:.1f}".replace("-", "−")
