"""The tokens of a text, each over the model's favourite at its place."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import nth
from ...decoding.reading.types import TextToken, text_tokens
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.grid import (
    GRID_LEFT,
    ROW_HEIGHT,
    Cell,
    add_grid,
    frame_of,
    wide_columns,
)
from ..base.labels import table_text, visible_token
from ..base.paper import WIDE, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart, window_of
from ..decode.prompt import add_surprisal
from .words import NOTHING_READ, reading_caption, token_hover

_ROWS = (N_("favourite"), N_("rank"))
_BARS, _GAP = 100, 26


@table(
    "position token_id token surprisal rank entropy favourite_id favourite favourite_prob",
    whole="rank favourite_id",
)
def reading_favourites_data(
    trace: Trace, *, first: int = 0, columns: int | None = None
) -> TableRows:
    """One token of the text a row, with the prediction before it; nats, raw text.

    Args:
        columns: so many tokens at most; all of them by default.
    """
    tokens = text_tokens(trace)
    for token in window_of(tokens, first, columns or len(tokens)):
        favourite = token.expected[0] if token.expected else None
        yield (
            nth(token.place),
            token.token_id,
            table_text(token.text),
            token.surprisal,
            token.rank,
            token.entropy,
            favourite and favourite.token_id,
            favourite and table_text(favourite.text),
            favourite and favourite.raw_prob,
        )


@figure(
    N_("The model's favourites in the text"),
    reading_caption,
    reading_favourites_data,
    subtitle=lambda part, paper: (
        part.sentence(paper),
        tr("Below each token is the model's most probable one, with the rank of the text's own."),
    ),
    alt=lambda tokens: (
        tr(
            "{tokens} tokens of the text with the model's favourite at each place; "
            "{same} times they are the same.",
            tokens=len(tokens),
            same=sum(token.rank == 1 for token in tokens),
        ),
        tr("The favourites read across:"),
        " ".join(visible_token(t.expected[0].text, 24) for t in tokens if t.expected),
    ),
    key=lambda theme: [[(theme.second, tr("surprisal"), "●"), (theme.ink, tr("rank 1"), "✓")]],
)
def reading_favourites(
    trace: Trace,
    *,
    first: int = 0,
    columns: int | None = None,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Every token of a text, the model's favourite there, its rank and its surprisal.

    Args:
        first: place of the first token drawn.
        columns: so many tokens are drawn at most; as many as the width holds by default.
        selected: place of the token to mark.

    A click on a cell hands over `customdata = [place, token id]`.
    """
    everything = text_tokens(trace)
    if not everything:
        return NOTHING_READ
    columns = min(columns or wide_columns(paper.window), len(everything))
    tokens = window_of(everything, first, columns)
    numbers = [token.place for token in tokens]
    frame = frame_of([0.0] * len(tokens), paper.width, max(columns, 3))
    grid = ROW_HEIGHT * (len(_ROWS) + 1)
    height = grid + _GAP + _BARS
    before = everything[0].place
    first = tokens[0].place - before
    part = ShownPart("token", first, first + len(tokens), len(everything), before)
    sheet = Sheet(
        theme,
        paper,
        facts={"part": part, "tokens": tokens},
        plot_height=height,
        left=GRID_LEFT,
        above=24,
        below=40,
    )
    add_grid(
        sheet,
        _cells(tokens),
        [tr(name) for name in _ROWS],
        numbers,
        frame,
        selected,
        names=(tr("token"), tr("text")),
        domain=((height - grid) / height, 1),
    )
    add_surprisal(
        sheet,
        [token.surprisal for token in tokens],
        [token_hover(token) for token in tokens],
        [(token.place, token.token_id) for token in tokens],
        _BARS / height,
    )
    sheet.explained.append(tr("{hue} of a cell: the model's probability", hue=tr(theme.hue)))
    part.tell(sheet, wide_columns)
    return sheet


def _cells(tokens: Sequence[TextToken]) -> list[Cell]:
    cells = []
    for column, token in enumerate(tokens):
        text, key = token_hover(token), (token.place, token.token_id)
        cells.append(Cell(column, -1, None, token.text, text, key))
        if token.expected:
            guess = token.expected[0]
            cells.append(Cell(column, 0, guess.raw_prob, guess.text, text, key))
        if token.rank is not None:
            mark = "✓" if token.rank == 1 else f"{token.rank}"
            cells.append(Cell(column, 1, None, mark, text, key))
    return cells
