"""A grid over two settings as a matrix of its runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from ...decoding.comparison.reasons import first_difference
from ...decoding.counting import counted, nth
from ...decoding.many.types import ManyRuns
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import Shaping
from ...language import N_, tr
from ..base.axes import named_axis
from ..base.color import blend
from ..base.figure import TableRows, figure, table
from ..base.labels import escaped, lines, show_token, table_text
from ..base.marks import add_frame, overlaid, token_cells
from ..base.measure import text_width
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import many_caption, mean_surprisal, setting_name

GridMeasure: TypeAlias = Literal["surprisal", "distinct", "parts"]
_ROW, _WIDEST = 44, 130
NO_GRID = N_("These runs are no grid: they differ in something else than one or two knobs.")


class MeasureWords(NamedTuple):
    """Words of a measure, and its value for a run of a grid; None where there is none.

    Args:
        missing: what a cell without a value holds.
    """

    words: str
    value: Callable[[Trace, Trace], float | None]
    shown: Callable[[float], str]
    missing: str = "–"


def _distinct(trace: Trace, _: Trace) -> float | None:
    pairs = list(zip(trace.token_ids, trace.token_ids[1:], strict=False))
    return len(set(pairs)) / len(pairs) if pairs else None


def _parts(trace: Trace, first: Trace) -> float | None:
    at = first_difference(first.token_ids, trace.token_ids)
    return None if at is None else float(nth(at))


GRID_MEASURES: dict[GridMeasure, MeasureWords] = {
    "surprisal": MeasureWords(
        N_("mean surprisal of the tokens, nats"),
        lambda trace, _: mean_surprisal(trace),
        lambda value: f"{value:.2f}",
    ),
    "distinct": MeasureWords(
        N_("share of different pairs of tokens"), _distinct, lambda value: f"{value:.2f}"
    ),
    "parts": MeasureWords(
        N_("step at which the run parts from the first one"),
        _parts,
        lambda value: f"{value:.0f}",
        N_("same"),
    ),
}


class _Grid(NamedTuple):
    """Names of the two knobs, their values in order, and the run of each pair of them."""

    names: tuple[str, str]
    values: tuple[list[str], list[str]]
    runs: dict[tuple[str, str], int]

    def cell(self, pair: tuple[str, str]) -> tuple[int, int]:
        """Return column and row of a pair of values."""
        return self.values[1].index(pair[1]), self.values[0].index(pair[0])


def is_grid(many: ManyRuns) -> bool:
    """Return whether the runs differ in one or two knobs and in nothing else."""
    return _grid_of(many) is not None


def _grid_of(many: ManyRuns) -> _Grid | None:
    names = list(many.settings[0])
    if not 1 <= len(names) <= 2 or any(n not in Shaping.__dataclass_fields__ for n in names):
        return None
    down, across = (*names, "")[:2]
    pairs = [(row[down], row.get(across, "")) for row in many.settings]
    if len(set(pairs)) < len(pairs):
        return None
    values = ([*dict.fromkeys(pair[side] for pair in pairs)] for side in (0, 1))
    return _Grid((down, across), tuple(values), {pair: at for at, pair in enumerate(pairs)})  # type: ignore[arg-type]


@table("run setting value other_setting other_value mean_surprisal distinct_2 parts_at text")
def many_matrix_data(many: ManyRuns) -> TableRows:
    """A row for each run of the grid with all measures; `parts_at` is empty where it never does."""
    grid = _grid_of(many)
    for (one, other), place in grid.runs.items() if grid else ():
        trace = many.traces[place]
        measured = (words.value(trace, many.traces[0]) for words in GRID_MEASURES.values())
        yield (
            nth(place),
            grid.names[0] if grid else "",
            one,
            grid.names[1] if grid else "",
            other,
            *measured,
            table_text(trace.text),
        )


@figure(
    N_("Grid of two settings"),
    many_caption,
    many_matrix_data,
    subtitle=lambda measure: tr(
        "Each cell is the {measure}.", measure=tr(GRID_MEASURES[measure].words)
    ),
    alt=lambda many, measure, grid: (
        tr(
            "Matrix of {runs}: {measure}.",
            runs=counted(many.count, "run"),
            measure=tr(GRID_MEASURES[measure].words),
        ),
        tr("; ").join(
            f"{_cell_words(grid, pair)}: {_shown(many, place, measure)}"
            for pair, place in grid.runs.items()
        )
        + tr("."),
    ),
)
def many_matrix(
    many: ManyRuns,
    *,
    measure: GridMeasure = "surprisal",
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """One knob down, the other across; colour and number for a measure of each run's text.

    Args:
        selected: place of the run whose cell has a frame.

    A click on a cell hands over `customdata = [place of a run]`.
    """
    grid = _grid_of(many)
    if grid is None:
        return NO_GRID
    down, across = grid.values
    left = round(max(text_width(value, 12, "mono") for value in down)) + 48
    sheet = Sheet(
        theme,
        paper,
        facts={"grid": grid},
        plot_height=_ROW * len(down),
        left=left,
        right=max(EDGE, round(paper.width - left - _WIDEST * len(across))),
        above=40 if grid.names[1] else 8,
        below=8,
        rows=escaped(setting_name(grid.names[0])),
        traces=[_cells(many, grid, measure, theme)],
        layout={
            **overlaid(SMALL),
            "xaxis": named_axis(
                theme,
                across,
                setting_name(grid.names[1]) if grid.names[1] else "",
                6,
                side="top",
                range=[-0.5, len(across) - 0.5],
            ),
            "yaxis": named_axis(theme, down, range=[len(down) - 0.5, -0.5]),
        },
    )
    pair = next((pair for pair, place in grid.runs.items() if place == selected), None)
    if pair is not None and paper.selection:
        x, y = grid.cell(pair)
        add_frame(sheet, "selected", (x - 0.49, x + 0.49), (y - 0.48, y + 0.48), theme.ink, 2)
    return sheet


def _cells(many: ManyRuns, grid: _Grid, measure: GridMeasure, theme: Theme) -> Properties:
    """Return the coloured cells with their numbers."""
    values = [
        GRID_MEASURES[measure].value(many.traces[at], many.traces[0]) for at in grid.runs.values()
    ]
    known = [value for value in values if value is not None] or [0.0]
    span = max(known) - min(known) or 1.0
    colors = [
        theme.panel
        if value is None
        else blend(theme.first, theme.paper, 0.88 - 0.5 * (value - min(known)) / span)
        for value in values
    ]
    corners = [(x, y - 0.5) for x, y in map(grid.cell, grid.runs)]
    return token_cells(
        theme,
        "runs",
        corners,
        [escaped(_shown(many, at, measure)) for at in grid.runs.values()],
        [_hover(many, grid, pair, measure) for pair in grid.runs],
        colors,
        [theme.text_on(color) for color in colors],
        customdata=[[at] for at in grid.runs.values()],
        textangle=0,
    )


def _shown(many: ManyRuns, place: int, measure: GridMeasure) -> str:
    value = GRID_MEASURES[measure].value(many.traces[place], many.traces[0])
    words = GRID_MEASURES[measure]
    if value is not None:
        return words.shown(value)
    return tr("first") if measure == "parts" and place == 0 else tr(words.missing)


def _cell_words(grid: _Grid, pair: tuple[str, str]) -> str:
    named = zip(grid.names, pair, strict=True)
    return tr(", ").join(f"{setting_name(name)} {value}" for name, value in named if name)


def _hover(many: ManyRuns, grid: _Grid, pair: tuple[str, str], measure: GridMeasure) -> str:
    place = grid.runs[pair]
    return lines(
        f"<b>{escaped(_cell_words(grid, pair))}</b>",
        f"{tr(GRID_MEASURES[measure].words)}: {_shown(many, place, measure)}",
        tr(counted(len(many.traces[place].token_ids), "token")),
        show_token(many.traces[place].text, 60),
    )
