"""The cells of the timeline: a drafted token, or the target's own, with its mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.decoding.counting import nth
from core.decoding.speculative.types import DraftRound
from core.figures.base.labels import escaped, percent, show_token, visible_token
from core.figures.base.marks import add_frame, cell_bars, hover_texts
from core.figures.base.measure import fitted
from core.figures.base.sheet import Properties, Sheet
from core.figures.speculative.words import (
    EXTRA,
    KINDS,
    SYMBOLS,
    Kind,
    extra_kind,
    kind_color,
    kind_words,
    number,
    soft_color,
)

# A narrower column has no room for level text, px.
LEVEL = 46
# Between the draft positions and the target's own row.
GAP = 0.22
# What a mark takes of an upright cell, the size of its text (1 px less in print), and the
# longest text; px.
_MARK_ROOM, _TEXT, _LONGEST = 24, 12, 116
# What keeps a level text from the edges of its cell, px.
_PADDING = 6


class TokenCell(NamedTuple):
    """A cell; `place` is that of the token in its round."""

    column: int
    row: float
    kind: Kind
    text: str
    hover: str
    key: tuple[int, int]


def token_cells(rounds: Sequence[DraftRound], first: int, depth: int) -> list[TokenCell]:
    """The cells of these rounds; `first` is the number of the first one."""
    cells = []
    for column, step in enumerate(rounds):
        at = first + column
        for place, token in enumerate(step.drafted):
            hover = _draft_hover(at, place, step)
            cells.append(TokenCell(column, place, token.outcome, token.text, hover, (at, place)))
        if step.extra is not None:
            extra = step.extra
            assert extra is not None
            hover = "<br>".join(
                [
                    f"<b>{show_token(extra.text, 40)}</b>",
                    f"round {nth(at)} · {kind_words(extra_kind(step))}",
                    f"drawn with {percent(extra.prob)}",
                    f"target_prob {percent(extra.target_prob)}",
                ]
            )
            cells.append(
                TokenCell(
                    column, depth + GAP, extra_kind(step), step.extra.text, hover, (at, EXTRA)
                )
            )
    return cells


def _draft_hover(at: int, place: int, step: DraftRound) -> str:
    token = step.drafted[place]
    lines = [
        f"<b>{show_token(token.text, 40)}</b>",
        f"round {nth(at)} · position {nth(place)} · {kind_words(token.outcome)}",
        f"target_prob {percent(token.target_prob)}",
        f"draft_prob {percent(token.draft_prob)}",
        f"accept_prob {number(token.accept_prob)}",
    ]
    if token.uniform is not None:
        lines.append(f"uniform number {number(token.uniform)}")
    return "<br>".join(lines)


def add_cells(
    sheet: Sheet, cells: Sequence[TokenCell], width: float, height: int, *, flat: bool
) -> None:
    """A bar for each cell, in the colour of its kind, with its token.

    Args:
        width, height: of a cell, px.
    """
    theme, narrow = sheet.theme, width < LEVEL
    # A small cell holds the mark alone.
    bare = flat and narrow
    room = height - _MARK_ROOM if narrow else width - _PADDING - 20 * flat
    longest, size = min(room, _LONGEST), _TEXT - sheet.paper.printed
    # On a page Plotly turns level texts where a phone has no room for them.
    turned: Properties = {"textangle": -90} if narrow else {}
    turned |= {"textangle": 0} if sheet.paper.printed and not narrow else {}
    for kind in KINDS:
        group = [cell for cell in cells if cell.kind == kind]
        if not group:
            continue
        ground = soft_color(kind, theme)
        marker: Properties = {"color": ground, "line": {"width": 1.5, "color": theme.paper}}
        if kind == "not_reached":
            marker["pattern"] = {
                "shape": "/",
                "fgcolor": theme.grid,
                "bgcolor": ground,
                "size": 7,
                "solidity": 0.15,
            }
        sheet.traces.append(
            {
                **cell_bars([(cell.column, cell.row - 0.5) for cell in group], 1),
                "name": kind_words(kind),
                "text": [
                    ""
                    if bare
                    else escaped(fitted(visible_token(cell.text, 60), longest, size, "mono"))
                    for cell in group
                ],
                "insidetextanchor": "middle" if flat else "end",
                **turned,
                "textfont": {
                    "family": theme.mono,
                    "size": size,
                    "color": (theme.muted if kind == "not_reached" else theme.text_on(ground)),
                },
                **hover_texts([cell.hover for cell in group]),
                "customdata": [list(cell.key) for cell in group],
                "marker": marker,
            }
        )


def add_marks(
    sheet: Sheet, cells: Sequence[TokenCell], width: float, height: int, *, flat: bool
) -> None:
    """Over the token; in flat rows beside it, or in its place."""
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
    """A ring around the selected token, if it is drawn."""
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
