"""Agreement: share of questions to which two ways give exactly the same reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...evaluation.plan.statistics import agreement, compared_ways
from ...evaluation.plan.types import Evaluation
from ...evaluation.types import Share
from ...language import N_, tr
from ..base.axes import axis
from ..base.color import blend
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, escaped, lines, plain_name, table_text, unspaced
from ..base.marks import hover_texts
from ..base.measure import fitted
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import NOTHING_YET, caption, so_far

_NAME, _KEY, _LINE = 56, 18, 16
# Maximum width of a cell, px.
_WIDEST = 90
# Width of a number with and without its percent sign, px.
_NUMBER, _BARE_NUMBER = 40, 22


@table("way other same questions share")
def evaluate_agreement_data(evaluation: Evaluation) -> TableRows:
    """Return one row for each pair of ways."""
    return [
        (table_text(first), table_text(second), share.hits, share.total, share.value)
        for (first, second), share in agreement(evaluation).items()
    ]


@figure(
    N_("Agreement between ways"),
    caption,
    evaluate_agreement_data,
    subtitle=lambda evaluation: (
        tr(
            "Each cell is the share of questions that two ways answer with the same "
            "text. A lossless rule agrees with its target on all of them."
        ),
        so_far(evaluation),
    ),
    alt=lambda ways, shares: (
        tr("Questions answered with the same text as {way}:", way=plain_name(ways[0], _NAME)),
        tr("; ").join(
            tr(
                "{way} {hits} of {total}",
                way=plain_name(name, _NAME),
                hits=share.hits,
                total=share.total,
            )
            for name, share in ((name, shares[ways[0], name]) for name in ways[1:])
        )
        + tr("."),
    ),
    key=lambda ways, paper: [
        f"{at}{NBSP}{NBSP}"
        + escaped(fitted(plain_name(name, 2 * _NAME), paper.width - 4 * EDGE, 11)).replace(
            " ", NBSP
        )
        for at, name in enumerate(ways, start=1)
    ],
)
def evaluate_agreement(
    evaluation: Evaluation, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw a matrix with the share of questions that two ways answer with the same text."""
    shares = agreement(evaluation)
    ways = [way.name for way in compared_ways(evaluation)]
    if not any(share.total for share in shares.values()):
        return NOTHING_YET
    end = min(1.0, _WIDEST * len(ways) / (paper.width - 2 * EDGE - _KEY))
    return Sheet(
        theme,
        paper,
        facts={"ways": ways, "shares": shares},
        plot_height=max(90, 34 * len(ways)),
        left=EDGE + _KEY,
        right=EDGE,
        above=_KEY,
        below=_LINE * len(ways) + 12,
        traces=[_cells(ways, shares, theme, end * (paper.width - 2 * EDGE - _KEY) / len(ways))],
        layout={
            "xaxis": axis(theme, type="category", side="top", showgrid=False, domain=[0, end]),
            "yaxis": axis(theme, type="category", autorange="reversed", showgrid=False),
        },
    )


def _cells(
    ways: Sequence[str], shares: Mapping[tuple[str, str], Share], theme: Theme, room: float
) -> Properties:
    """Return the matrix; a cell without room in px has no number."""
    numbers = [str(at) for at in range(1, len(ways) + 1)]
    rows = [[shares[row_way, way].value for way in ways] for row_way in ways]
    return {
        "type": "heatmap",
        "name": "agreement",
        "x": numbers,
        "y": numbers,
        "z": rows,
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
        "colorscale": [[0, theme.panel], [1, blend(theme.first, theme.paper, 0.4)]],
        "text": [[f"{100 * value:.0f}" for value in row] for row in rows],
        "texttemplate": unspaced(f"%{{text}}{NBSP}%")
        if room >= _NUMBER
        else "%{text}"
        if room >= _BARE_NUMBER
        else "",
        "textfont": {"size": 12 if room >= _NUMBER else SMALL, "color": theme.ink},
        **hover_texts(
            [
                [
                    lines(
                        escaped(plain_name(row_way, _NAME)),
                        escaped(plain_name(way, _NAME)),
                        tr("<b>{hits} of {total}</b> the same", hits=share.hits, total=share.total),
                    )
                    for way, share in ((way, shares[row_way, way]) for way in ways)
                ]
                for row_way in ways
            ]
        ),
    }
