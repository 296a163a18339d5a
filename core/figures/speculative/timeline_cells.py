"""Cells of the timeline: drafted tokens and the target's own tokens, with their marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...decoding.counting import nth
from ...decoding.speculative.analysis.rejections import preferred_over, rejection_probability
from ...decoding.speculative.types import DraftRound
from ...language import tr
from ..base.labels import escaped, lines, percent, show_token, visible_token
from ..base.marks import add_frame, token_cells
from ..base.measure import fitted
from ..base.paper import SMALL
from ..base.sheet import Properties, Sheet
from .words import (
    EXTRA,
    KINDS,
    SYMBOLS,
    Kind,
    extra_kind,
    kind_color,
    kind_words,
    number,
    shown_kind,
    soft_color,
)

# Minimum width of a column with horizontal text, px.
LEVEL = 46
# From this width on a cell has room for the common words in the full size, px.
_ROOMY = 60
# Gap between the draft positions and the target's own row.
GAP = 0.22
# Room for a mark in a vertical cell, font size (1 px less in print), and longest text; px.
_MARK_ROOM, _TEXT, _LONGEST = 24, 12, 116
# Padding of horizontal text in its cell, px; Plotly rounds the cell's edges to whole px.
_PADDING = 7


class TokenCell(NamedTuple):
    """A cell; `place` is its token's place in the round."""

    column: int
    row: float
    kind: Kind
    text: str
    hover: str
    key: tuple[int, int]


def rows_of(step: DraftRound) -> list[tuple[int, int]]:
    """Return the row and the place of each drafted token to show; of a tree those of its path."""
    places = step.path if step.parents else range(len(step.drafted))
    return [(step.depths[place], place) for place in places]


def cells_of_rounds(rounds: Sequence[DraftRound], first: int, depth: int) -> list[TokenCell]:
    """Return the cells of these rounds; `first` is the number of the first one."""
    cells = []
    for column, step in enumerate(rounds):
        at = first + column
        for row, place in rows_of(step):
            token = step.drafted[place]
            hover = lines(
                f"<b>{show_token(token.text, 40)}</b>",
                tr(
                    "round {round} · position {position} · {kind}",
                    round=nth(at),
                    position=nth(row),
                    kind=shown_kind(token.outcome),
                ),
                f"target_prob {percent(token.target_prob)}",
                f"draft_prob {percent(token.draft_prob)}",
                f"accept_prob {number(token.accept_prob)}",
                token.refused and tr("not allowed by the constraint"),
                token.uniform is not None
                and tr("uniform number {number}", number=number(token.uniform)),
                *_rejection(step, place),
            )
            cells.append(TokenCell(column, row, token.outcome, token.text, hover, (at, place)))
        if (extra := step.extra) is not None:
            kind = extra_kind(step)
            hover = lines(
                f"<b>{show_token(extra.text, 40)}</b>",
                tr("round {round} · {kind}", round=nth(at), kind=shown_kind(kind)),
                tr("drawn with {prob}", prob=percent(extra.prob)),
                f"target_prob {percent(extra.target_prob)}",
            )
            cells.append(TokenCell(column, depth + GAP, kind, extra.text, hover, (at, EXTRA)))
    return cells


def _rejection(step: DraftRound, place: int) -> tuple[str, ...]:
    """Return what the target preferred to a rejected token, and the rejection's probability."""
    token = step.drafted[place]
    if token.outcome != "rejected" or not token.candidates:
        return ()
    best = preferred_over(token)
    return (
        tr(
            "the target prefers {token} {prob}",
            token=show_token(best.text, 40),
            prob=percent(best.target_prob),
        ),
        tr(
            "rejection probability {likelihood}",
            likelihood=number(rejection_probability(step, place)),
        ),
    )


def add_cells(
    sheet: Sheet, cells: Sequence[TokenCell], width: float, height: int, *, flat: bool
) -> None:
    """Add a bar for each cell, in the colour of its kind, with its token.

    Args:
        width, height: size of a cell, px.
    """
    theme, narrow = sheet.theme, width < LEVEL
    # A small cell shows only the mark.
    bare = flat and narrow
    small = not narrow and not flat and width < _ROOMY and not sheet.paper.printed
    room = height - _MARK_ROOM if narrow else width - _PADDING - 20 * flat
    longest, size = min(room, _LONGEST), SMALL if small else _TEXT - sheet.paper.printed
    # On a phone's page Plotly rotates horizontal texts that don't fit.
    turned: Properties = (
        {"textangle": -90 if narrow else 0} if narrow or sheet.paper.printed else {}
    )
    for kind in (kind for kind in KINDS if any(cell.kind == kind for cell in cells)):
        group = [cell for cell in cells if cell.kind == kind]
        ground, out = soft_color(kind, theme), kind == "not_reached"
        hatch = {"shape": "/", "fgcolor": theme.grid, "bgcolor": ground, "size": 7}
        sheet.traces.append(
            token_cells(
                theme,
                kind_words(kind),
                [(cell.column, cell.row - 0.5) for cell in group],
                [
                    ""
                    if bare
                    else escaped(fitted(visible_token(cell.text, 60), longest, size, "mono"))
                    for cell in group
                ],
                [cell.hover for cell in group],
                ground,
                theme.muted if out else theme.text_on(ground),
                size=size,
                pattern={**hatch, "solidity": 0.15} if out else None,
                insidetextanchor="middle" if flat else "end",
                customdata=[list(cell.key) for cell in group],
                **turned,
            )
        )


def add_marks(
    sheet: Sheet, cells: Sequence[TokenCell], width: float, height: int, *, flat: bool
) -> None:
    """Add the marks over the tokens; in flat rows beside the token, or instead of it."""
    narrow = width < LEVEL
    aside = 0.4 if flat and not narrow else 0.0
    up = 0.0 if flat else 0.5 - 11 / height if narrow else 0.25
    size = 8 if narrow else 9
    sheet.traces.append(
        {
            "type": "scatter",
            "name": "marks",
            "mode": "markers",
            "x": [cell.column - aside for cell in cells],
            "y": [cell.row - up for cell in cells],
            "hoverinfo": "skip",
            "marker": {
                "symbol": [SYMBOLS[cell.kind] for cell in cells],
                "color": [kind_color(cell.kind, sheet.theme) for cell in cells],
                "size": [size + (3 if cell.kind == "bonus" else 0) for cell in cells],
                "line": {"width": 0},
            },
        }
    )


def add_ring(sheet: Sheet, cells: Sequence[TokenCell], selected: tuple[int, int] | None) -> None:
    """Add a ring around the selected token if it is drawn."""
    for cell in cells:
        if cell.key == selected and sheet.paper.selection:
            add_frame(
                sheet,
                "selected",
                (cell.column - 0.48, cell.column + 0.48),
                (cell.row - 0.47, cell.row + 0.47),
                sheet.theme.ink,
                2.5,
            )
