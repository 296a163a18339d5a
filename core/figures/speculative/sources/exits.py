"""Early exit: acceptance by exit layer, beside the layers' words."""

from __future__ import annotations

from ....decoding.counting import nth
from ....decoding.record.trace import Trace
from ....decoding.speculative.measurement.report import ExitLayer, ExitLayers
from ....language import N_, tr
from ...base.figure import TableRows, figure, table
from ...base.grid import ROW_HEIGHT, Cell, add_grid, frame_of, wide_columns
from ...base.labels import (
    NBSP,
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
)
from ...base.paper import SCREEN, Paper
from ...base.sheet import Sheet
from ...base.theme import LIGHT, Theme
from ...base.window import ShownPart, cut_window, numbered, window_of

_LEFT = 104


@table("position token_id token layer likeliest_id likeliest probability accept_prob")
def spec_exits_data(exits: ExitLayers, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return a row for each drawn token of the run and each exit layer.

    Args:
        first: index of the first token.
        columns: number of tokens; None for all.
    """
    return [
        (
            nth(at),
            exits.token_ids[at],
            table_text(exits.texts[at]),
            exit_layer.layer,
            cell.token_id,
            table_text(cell.text),
            cell.prob,
            cell.accept,
        )
        for exit_layer in exits.exits
        for at, cell in numbered(exit_layer.cells, first, columns)
    ]


def exit_words(exits: ExitLayers) -> str:
    """Return a sentence on the exit with the highest expected speed-up."""
    if not exits.exits:
        return tr("The target has one layer only: there is no earlier exit.")
    best = max(exits.exits, key=exits.speedup)
    speedup = exits.speedup(best)
    values = {
        "layers": exits.layers,
        "length": exits.draft_length,
        "layer": best.layer,
        "speedup": speedup,
    }
    if speedup > 1:
        return tr(
            "If a forward costs its share of the {layers} layers and {length} tokens are drafted a "
            "round, the fastest exit is after layer {layer}: {speedup:.2f} times the speed of the "
            "target alone.",
            **values,
        )
    return tr(
        "If a forward costs its share of the {layers} layers and {length} tokens are drafted a "
        "round, no exit pays; the best is after layer {layer}: {speedup:.2f} times the speed of "
        "the target alone.",
        **values,
    )


@figure(
    N_("Acceptance by exit layer"),
    settings_caption,
    spec_exits_data,
    subtitle=lambda exits, theme, part: (
        not part.whole and f"{tr(part.words)}.",
        theme.in_words(
            tr(
                "Each row: the likeliest token if the model ended after that layer, and the mean "
                "acceptance of its drafts. {Hue}: the token's probability."
            )
        ),
        exit_words(exits),
    ),
    alt=lambda exits: (
        tr("Grid of the likeliest token after each exit layer, by the run's tokens."),
        tr("; ").join(
            tr("layer {layer}: {rate} accepted", layer=one.layer, rate=percent(one.alpha))
            for one in exits.exits
        )
        + tr("."),
        exit_words(exits),
    ),
    key=lambda theme: [[(theme.accent, tr("the token that came out"), "<b>□</b>")]],
)
def spec_exits(
    exits: ExitLayers,
    trace: Trace,
    *,
    first: int = 0,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the run's tokens across and the exit layers upwards, each with its acceptance.

    Args:
        first: index of the first token to draw.
    """
    if not exits.exits or not exits.texts:
        return exit_words(exits)
    width = paper.width - _LEFT + 64
    count, held = len(exits.texts), wide_columns(width)
    first, held = cut_window(min(max(first, 0), count - 1), held, held, None)
    texts = window_of(exits.texts, first, held)
    numbers = range(first, first + len(texts))
    names = [_name(one) for one in reversed(exits.exits)]
    cells = [cell for column, at in enumerate(numbers) for cell in _cells(exits, column, at)]
    part = ShownPart("token", first, first + len(texts), count)
    sheet = Sheet(
        theme,
        paper,
        facts={"part": part},
        plot_height=ROW_HEIGHT * (len(names) + 1),
        left=_LEFT,
        above=24,
        below=40,
    )
    frame = frame_of([0.0] * len(texts), width, max(len(texts), 3))
    add_grid(sheet, cells, names, numbers, frame, None, names=(tr("token"), tr("came out")))
    part.tell(sheet, wide_columns)
    return sheet


def _name(exit_layer: ExitLayer) -> str:
    layer = tr("layer{nbsp}{layer}", nbsp=NBSP, layer=exit_layer.layer)
    return f"{layer}:{NBSP}<b>{percent(exit_layer.alpha)}</b>"


def _cells(exits: ExitLayers, column: int, at: int) -> list[Cell]:
    height, text = len(exits.exits), exits.texts[at]
    came_out = f"<b>{tr('token {nth}', nth=nth(at))}: {show_token(text, 40)}</b>"
    key = (at, exits.token_ids[at])
    return [
        Cell(column, -1, None, text, came_out, key),
        *(
            Cell(
                column,
                height - 1 - row,
                cell.prob,
                cell.text,
                lines(
                    came_out,
                    tr(
                        "after layer {layer}: {token} {prob}",
                        layer=one.layer,
                        token=show_token(cell.text, 40),
                        prob=percent(cell.prob),
                    ),
                    tr(
                        "a token drafted here is accepted with probability {prob}",
                        prob=percent(cell.accept),
                    ),
                ),
                key,
                ringed=cell.token_id == exits.token_ids[at],
            )
            for row, one in enumerate(exits.exits)
            for cell in (one.cells[at],)
        ),
    ]
