"""Logit lens: the prediction after every layer, by position."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...decoding.counting import nth
from ...decoding.inside.types import Lens, LensPosition
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
from ..base.labels import (
    lines,
    percent,
    show_token,
    table_text,
    visible_token,
    with_prompt,
)
from ..base.paper import WIDE, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart, cut_window, numbered, window_of

Content: TypeAlias = Literal["token", "rank"]

_SUBTITLES = {
    "token": N_(
        "Read upwards: the likeliest token if the model ended after that layer. {Hue}: its "
        "probability."
    ),
    "rank": N_(
        "Read upwards: the rank, after that layer, of the token that came out. {Hue}: the "
        "likeliest token's probability."
    ),
}


@table(
    "position token_id token layer likeliest_id likeliest probability came_out_id came_out "
    "came_out_rank decided_here"
)
def lens_heatmap_data(lens: Lens, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return a row for each position and layer, with the tokens' raw text.

    Args:
        first: index, among the positions of the lens, of the first one to include.
        columns: maximum number of positions; by default all.
    """
    return [
        (
            nth(lens.first + at),
            position.token_id,
            table_text(position.text),
            name,
            cell.token_id,
            table_text(cell.text),
            cell.prob,
            position.next_id,
            table_text(position.next_text),
            cell.rank,
            position.decided == layer,
        )
        for at, position in numbered(lens.positions, first, columns)
        for layer, (name, cell) in enumerate(zip(lens.layers, position.cells, strict=True))
    ]


@figure(
    N_("Logit lens by layer"),
    with_prompt,
    lens_heatmap_data,
    subtitle=lambda show, theme, paper, part: (
        part.sentence(paper),
        theme.in_words(_SUBTITLES[show]),
    ),
    alt=lambda lens, numbers, last: (
        tr(
            "Heatmap of the likeliest token after each of {layers} layers, positions {first} to "
            "{last}. At the last one, from the embedding on:",
            layers=len(lens.layers),
            first=nth(numbers[0]),
            last=nth(numbers[-1]),
        ),
        " ".join(visible_token(cell.text, 24) for cell in last.cells) + tr("."),
        tr("{token} came out; it was decided by no layer.", token=visible_token(last.next_text, 24))
        if last.decided is None
        else tr(
            "{token} came out; it was decided at {layer}.",
            token=visible_token(last.next_text, 24),
            layer=_layer_words(lens.layers[last.decided]),
        ),
    ),
    key=lambda theme: [[(theme.accent, tr("decided here"), "<b>□</b>")]],
)
def lens_heatmap(
    lens: Lens,
    *,
    caption: str,
    prompt: str = "",
    first: int = 0,
    columns: int | None = None,
    show: Content = "token",
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Draw positions across and layers upwards from the embedding; a ring marks the deciding layer.

    Args:
        prompt: prompt of the run; in print the caption names it.
        first: index, among the positions of the lens, of the first one to draw.
        columns: maximum number of positions; by default as many as fit.
        show: content of the cells: the most probable `token`, or the `rank` of the token that
            follows.
        selected: position to mark, counted in the whole text.

    A click on a cell hands over `customdata = [position, token id]`.
    """
    held, count = wide_columns(paper.window), len(lens.positions)
    chosen = None if selected is None else selected - lens.first
    first, held = cut_window(min(max(first, 0), count - 1), columns or held, held, chosen)
    positions = window_of(lens.positions, first, held)
    part = ShownPart("position", first, first + len(positions), count, lens.first)
    numbers = range(lens.first + part.first, lens.first + part.last)
    frame = frame_of([0.0] * len(positions), paper.width, max(len(positions), 3))
    names = [*(tr(name) for name in reversed(lens.layers)), tr("token")]
    cells = [
        cell
        for column, (at, position) in enumerate(zip(numbers, positions, strict=True))
        for cell in _cells(lens, position, column, at, show)
    ]
    sheet = Sheet(
        theme,
        paper,
        facts={"part": part, "numbers": numbers, "last": positions[-1]},
        plot_height=ROW_HEIGHT * (len(names) + 1),
        left=GRID_LEFT + 14,
        above=24,
        below=40,
    )
    heads = (tr("position"), tr("came out"))
    add_grid(sheet, cells, names, numbers, frame, selected, names=heads, title=tr("layer"))
    part.tell(sheet, wide_columns)
    return sheet


def _layer_words(name: str) -> str:
    return tr("embedding") if name == "embedding" else tr("layer {layer}", layer=name)


def _cells(lens: Lens, position: LensPosition, column: int, at: int, show: Content) -> list[Cell]:
    key, height = (at, position.next_id), len(lens.layers)
    came_out = show_token(position.next_text, 40)
    head = tr("position {position}: {token}", position=nth(at), token=show_token(position.text, 40))
    hover = f"<b>{head}</b><br>{tr('came out next: {token}', token=came_out)}"
    return [
        Cell(column, -1, None, position.next_text, hover, key),
        Cell(column, height, None, position.text, hover, key),
        *(
            Cell(
                column,
                height - 1 - layer,
                cell.prob,
                cell.text if show == "token" else f"{cell.rank:,}",
                lines(
                    f"<b>{_layer_words(name)}</b>, {head}",
                    tr(
                        "would say {token} {probability}",
                        token=show_token(cell.text, 40),
                        probability=percent(cell.prob),
                    ),
                    tr("{token}, which came out: rank {rank:,}", token=came_out, rank=cell.rank),
                ),
                key,
                ringed=position.decided == layer,
            )
            for layer, (name, cell) in enumerate(zip(lens.layers, position.cells, strict=True))
        ),
    ]
