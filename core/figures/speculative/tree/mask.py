"""Attention mask with which the target scored a round's tree, and the cache rows that were kept."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....decoding.counting import nth, span_key
from ....decoding.record.trace import Trace
from ....decoding.speculative.tree.shape import path_to
from ....decoding.speculative.types import DraftRound
from ....language import N_, tr
from ...base.axes import axis, top_axis
from ...base.figure import TableRows, figure, table
from ...base.labels import escaped, settings_caption, table_text, visible_token
from ...base.marks import overlaid, token_cells
from ...base.measure import fitted
from ...base.paper import SCREEN, SMALL, Paper
from ...base.sheet import Sheet
from ...base.theme import LIGHT, Theme
from ..words import kind_color, pending_of
from .drawing import NO_TREE, kept_nodes

# Left margin with the tokens' texts, largest and smallest side of a square, px.
_NAMES, _SQUARE, _LEAST = 112, 24, 3
_MARGIN = 8


def _sees(step: DraftRound, row: int, column: int) -> bool:
    """Return whether a fed token attends to another; -1 is the root."""
    return column < 0 or column in path_to(step.tree, row)


@table("round row row_token column column_token position attends kept")
def spec_mask_data(trace: Trace, at: int) -> TableRows:
    """Return every pair of tokens that the target was fed in the round; text is raw. Row and column
    0 are the last token before the drafted ones, which all attend to.
    """
    for step in trace.rounds[at : at + 1] if at >= 0 else ():
        kept, texts = kept_nodes(step), [pending_of(trace, at)[1], *(t.text for t in step.drafted)]
        depths = (-1, *step.depths)
        for row in range(-1, len(step.drafted)):
            for column in range(-1, len(step.drafted)):
                yield (
                    *(nth(at), nth(row), table_text(texts[row + 1])),
                    *(nth(column), table_text(texts[column + 1])),
                    step.target_cache.before + 1 + depths[row + 1],
                    _sees(step, row, column),
                    row in kept,
                )


@figure(
    N_("Attention mask of the drafts"),
    settings_caption,
    spec_mask_data,
    subtitle=lambda step: (
        tr(
            "A row is a token that the target was fed behind {cached} cached ones; it attends to "
            "the columns that are filled.",
            cached=step.target_cache.before,
        ),
        tr("The legend names the mark of the rows that stay in the cache."),
    ),
    alt=lambda step, at: tr(
        "Attention mask of round {round}: {fed} fed tokens, each attends to itself and to the "
        "tokens before it in the tree; {kept} rows stay in the cache.",
        round=nth(at),
        fed=len(step.drafted) + 1,
        kept=len(step.accepted) + 1,
    ),
    key=lambda theme: [
        [
            (kind_color("accepted", theme), tr("attends, stays in the cache")),
            (theme.muted, tr("attends, is removed")),
            (theme.panel, tr("doesn’t attend")),
        ]
    ],
)
def spec_mask(trace: Trace, at: int, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw which fed tokens of round `at` attend to which, and whose cache rows are kept."""
    if not 0 <= at < len(trace.rounds) or not trace.rounds[at].drafted:
        return tr(NO_TREE)
    step, count = trace.rounds[at], len(trace.rounds[at].drafted) + 1
    side = max(_LEAST, min(_SQUARE, (paper.width - _NAMES - _MARGIN) / count))
    named = side >= 13
    right = round(max(_MARGIN, paper.width - _NAMES - side * count))
    texts = [pending_of(trace, at)[1], *(token.text for token in step.drafted)]
    sheet = Sheet(
        theme,
        paper,
        facts={"step": step, "at": at},
        meta={"shown": [span_key("round", at)]},
        plot_height=round(side * count),
        left=_NAMES,
        right=right,
        above=24,
        below=34,
        key_offset=10,
    )
    _add_squares(sheet, step, texts)
    labels = [
        escaped(fitted(visible_token(text, 40), _NAMES - 44, SMALL, "mono")) for text in texts
    ]
    depths, nodes = (-1, *step.depths), range(-1, count - 1)
    places = [step.target_cache.before + 1 + depth for depth in depths]
    every = 1 if named else math.ceil(13 / side)
    sheet.layout |= overlaid() | {
        "xaxis": top_axis(
            theme,
            [-1.5, count - 1.5],
            [*nodes][::every] if side >= 20 else [-1],
            [str(place) for place in places][::every] if side >= 20 else [f"{places[0]}"],
        ),
        "yaxis": axis(
            theme,
            range=[count - 1.5, -1.5],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=[*nodes][::every],
            ticktext=[f"{label} {place} " for label, place in zip(labels, places, strict=True)][
                ::every
            ],
            tickfont={"size": SMALL, "color": theme.muted, "family": theme.mono},
        ),
    }
    return sheet


def _add_squares(sheet: Sheet, step: DraftRound, texts: Sequence[str]) -> None:
    theme, kept, nodes = sheet.theme, kept_nodes(step), range(-1, len(step.drafted))
    squares = [(row, column, _sees(step, row, column)) for row in nodes for column in nodes]
    groups = {
        "attends, stays in the cache": (kind_color("accepted", theme), True, True),
        "attends, is removed": (theme.muted, True, False),
        "doesn’t attend": (theme.panel, False, None),
    }
    for name, (color, attends, stays) in groups.items():
        shown = [
            (row, column)
            for row, column, sees in squares
            if sees is attends and (stays is None or (row in kept) is stays)
        ]
        sheet.traces.append(
            token_cells(
                theme,
                name,
                [(column, row - 0.5) for row, column in shown],
                [""] * len(shown),
                [
                    f"{escaped(visible_token(texts[row + 1]))} → "
                    f"{escaped(visible_token(texts[column + 1]))}<br>{tr(name)}"
                    for row, column in shown
                ],
                color,
                theme.ink,
            )
        )
