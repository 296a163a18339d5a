"""The different texts of many runs as one tree, with the share of runs on each branch."""

from __future__ import annotations

from ...decoding.counting import counted, nth
from ...decoding.lab.types import RowToken
from ...decoding.many.methods import whole_text
from ...decoding.many.types import ManyRuns
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.labels import percentage, plain_name, table_text, visible_token
from ..base.measure import text_width
from ..base.paper import WIDE, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import numbered
from ..lanes.lane_tree import lane_tree
from ..lanes.token_tree import Lane, TreeCell, lay_out_tree
from .words import many_caption, many_verdict, run_words, setting_name

# Texts that are drawn, the most frequent ones.
MOST_TEXTS = 24
_NAME_LIMIT, _NAME_SIZE = 18, 11


@table("text runs share step token_id token raw_prob")
def many_tree_data(many: ManyRuns, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Every token of every different text, the most frequent text first.

    Args:
        first: the first step.
        columns: so many steps at most; all of them by default.
    """
    for place, text in enumerate(many.texts):
        for at, step in numbered(text.trace.token_steps, first, columns):
            yield (
                nth(place),
                len(text.runs),
                len(text.runs) / many.count,
                nth(at),
                step.token_id,
                table_text(step.chosen.text),
                step.chosen.raw_prob,
            )


@figure(
    N_("Where the runs part"),
    many_caption,
    many_tree_data,
    alt=lambda many: (
        tr(
            "Tree of the texts of {runs}. {verdict}",
            runs=counted(many.count, "run"),
            verdict=many_verdict(many),
        ),
        tr("; ").join(
            f"{tr(counted(len(text.runs), 'run'))}: {visible_token(whole_text(text.trace), 60)}"
            for text in many.texts[:4]
        )
        + tr("."),
    ),
    key=lambda theme, many: [[(theme.accent, tr("fork"), "<b>▎</b>")]] * (len(many.texts) > 1),
)
def many_tree(
    many: ManyRuns, *, selected: int | None = None, theme: Theme = LIGHT, paper: Paper = WIDE
) -> Sheet | str:
    """Steps across, a lane for each different text; colour for the model's own probability.

    Args:
        selected: place of the run whose text stands out.

    A click on a cell hands over `customdata = [place of a run, step]`.
    """
    chosen = many.text_of(selected) if selected is not None and paper.selection else None
    texts = many.texts[:MOST_TEXTS]
    forks = [(fork.at, frozenset(fork.runs)) for fork in many.forks]
    lanes = [
        Lane(
            _name(many, text.runs),
            tuple(
                RowToken(step.token_id, step.chosen.text, step.chosen.raw_prob, step.chosen.prob)
                for step in text.trace.token_steps
            ),
            {at for at, runs in forks if text.runs[0] in runs},
            place == chosen,
            text.runs[0],
        )
        for place, text in enumerate(texts)
    ]
    layout = lay_out_tree(lanes, forks=True)
    if not layout.cells:
        return tr("No run has a token.")
    names = max(text_width(lane.name, _NAME_SIZE, "sans bold") for lane in lanes)
    left_out = len(many.texts) - len(texts)
    named = " / ".join(map(setting_name, many.settings[0]))
    return lane_tree(
        layout,
        theme,
        paper,
        subtitle=(
            tr(
                "Runs share a cell up to their first different token. A number before a token is "
                "the share of the fork's runs, in percent."
            ),
            tr("A run alone is named by {settings}.", settings=named) if _names_one(many) else "",
            tr("{number} rarer texts are left out.", number=left_out) if left_out else "",
        ),
        frame=(tr("fork"), theme.accent),
        edged=True,
        left=round(names) + 18,
        share=lambda cell: _share(many, layout.lanes[cell.lane], cell),
    )


def _names_one(many: ManyRuns) -> bool:
    """Return whether a text of one run is named by what varies."""
    return bool(many.settings[0]) and any(len(text.runs) == 1 for text in many.texts[:MOST_TEXTS])


def _name(many: ManyRuns, runs: tuple[int, ...]) -> str:
    if len(runs) == 1 and many.settings[0]:
        return plain_name(run_words(many, runs[0]), _NAME_LIMIT)
    return tr("{number} of {total}", number=len(runs), total=many.count)


def _share(many: ManyRuns, lane: Lane, cell: TreeCell) -> tuple[str, str]:
    """Return the share of a fork's runs that go through a cell, short and in words."""
    ids = tuple(token.token_id for token in lane.tokens[: cell.depth + 1])
    here = [trace for trace in many.traces if trace.token_ids[: cell.depth] == ids[:-1]]
    through = sum(trace.token_ids[: cell.depth + 1] == ids for trace in here)
    said = tr("{number} of {runs}", number=through, runs=counted(many.count, "run"))
    if through == len(here):
        return "", said
    share = percentage(through / len(here))
    return share, tr(
        "{said}; {share} of the {here} at this fork", said=said, share=share, here=len(here)
    )
