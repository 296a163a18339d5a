"""Probability heatmap: the most probable tokens at every step, as a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import pandas as pd

from ...decoding.counting import nth
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.grid import (
    GRID_LEFT,
    ROW_HEIGHT,
    Cell,
    add_grid,
    columns_for,
    frame_of,
)
from ..base.labels import settings_caption, visible_token
from ..base.paper import WIDE, Paper
from ..base.records import (
    CANDIDATE_COLUMNS,
    by_position,
    candidate_hover,
    candidate_record,
    token_place,
)
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart, cut_window, window_of

HeatmapValue: TypeAlias = Literal["raw", "final"]

# Minimum number of columns, so that a run's first cells aren't too wide.
_FEWEST_COLUMNS = 6
_NARROW = N_("Steps at which it was almost certain are narrow.")
_OPEN = N_("Steps at which it was almost certain are narrow; click one to open it.")
_SUBTITLES = {
    "raw": N_("The {hue} is the model's own probability."),
    "final": N_("The {hue} is the probability after all settings."),
}
_ALT = {
    "raw": N_("Heatmap of the model's own probability for the likeliest tokens, {places}."),
    "final": N_("Heatmap of the probability after shaping for the likeliest tokens, {places}."),
}
_SPANS = {"step": N_("steps {first} to {last}"), "token": N_("tokens {first} to {last}")}


def probability_heatmap_data(
    trace: Trace,
    *,
    first: int = 0,
    columns: int | None = None,
    rows: int = 10,
    reads: bool = False,
) -> pd.DataFrame:
    """Return the cells of `probability_heatmap`, one per row, with the tokens' raw text.

    Args:
        columns: maximum number of steps; by default all.
        reads: as of `probability_heatmap`; the first column is `position` then.
    """
    return by_position(_cells_data(trace, first, columns, rows), trace, reads=reads)


@table(CANDIDATE_COLUMNS)
def _cells_data(trace: Trace, first: int, columns: int | None, rows: int) -> TableRows:
    ranks = _shape(trace, rows)[0] if trace.token_steps else 0
    return [
        candidate_record(step, candidate)
        for step in window_of(trace.token_steps, first, columns or len(trace.token_steps))
        for candidate in step.candidates
        if candidate.rank <= ranks or candidate.token_id == step.token_id
    ]


@figure(
    N_("The likeliest tokens at every step"),
    settings_caption,
    probability_heatmap_data,
    subtitle=lambda theme, paper, value, part, frame: (
        part.sentence(paper),
        tr(_SUBTITLES[value], hue=tr(theme.hue)),
        not all(frame.wide) and tr(_NARROW if paper.printed else _OPEN),
    ),
    alt=lambda value, steps, frame, places: (
        tr(
            _ALT[value],
            places=tr(_SPANS[places[0][0]], first=nth(places[0][1]), last=nth(places[-1][1])),
        ),
        tr(
            "The most probable token was chosen at {count} of {total} places.",
            count=sum(step.chosen.rank == 1 for step in steps),
            total=len(steps),
        ),
        not all(frame.wide)
        and tr("{count} of them are drawn narrow.", count=frame.wide.count(False)),
        tr(
            "Chosen tokens: {tokens}",
            tokens=" ".join(visible_token(step.chosen.text, 24) for step in steps),
        ),
    ),
    key=lambda theme, paper, value, steps, ranks, beyond: [
        [
            (theme.accent, tr("chosen"), "<b>□</b>"),
            value == "final"
            and any(c.removed_by for step in steps for c in step.candidates)
            and (theme.muted, tr("removed"), "<b>×</b>" if paper.journal else "▨"),
        ],
        *[tr("&gt;{ranks}: chosen beyond rank {ranks}", ranks=ranks)] * beyond,
    ],
)
def probability_heatmap(
    trace: Trace,
    *,
    first: int = 0,
    columns: int = 40,
    rows: int = 10,
    value: HeatmapValue = "raw",
    selected: int | None = None,
    beside: Trace | None = None,
    reads: bool = False,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Draw steps across, candidates by rank down, colours for probabilities, and rings for chosen
    tokens.

    Args:
        first: index of the first step drawn.
        columns: maximum number of steps. If not all fit as text, the steps with the highest entropy
            and the selected step have text, and the others are narrow.
        rows: maximum number of ranks; chosen tokens of lower rank get an extra row.
        value: `raw` before shaping, or `final` after it, with removed candidates faded.
        selected: index of the step to mark.
        beside: a run whose heatmap is drawn above or below: the same steps have text in both.
        reads: the trace is a text that was read: tokens have their positions in the text.

    A click on a cell hands over `customdata = [step index, token id]`.
    """
    if not trace.token_steps:
        return tr("This run emitted no token, so there are no candidates to show.")
    held = columns_for(paper.window) if paper.printed else columns
    steps = window_of(trace.token_steps, *cut_window(first, columns, held, selected))
    ranks, beyond = _shape(trace, rows)
    names = [str(rank) for rank in range(1, ranks + 1)] + [f">{ranks}"] * beyond
    places = [token_place(step, trace, reads=reads) for step in steps]
    (unit, start), begin = places[0], steps[0].index
    part = ShownPart(unit, begin, begin + len(steps), len(trace.token_steps), start - begin)
    opened = [at for at, step in enumerate(steps) if step.index == selected]
    others = {step.index: step.entropy for step in beside.token_steps} if beside else {}
    entropies = [max(step.entropy, others.get(step.index, 0.0)) for step in steps]
    frame = frame_of(entropies, paper.width, _FEWEST_COLUMNS, opened)
    cells = _cells(steps, ranks, value, places)
    header = (tr(unit), tr("text") if reads else tr("chosen"))
    numbers = [at for _, at in places]
    marked = numbers[opened[0]] if opened else None
    sheet = Sheet(
        theme,
        paper,
        facts={"part": part, "frame": frame, "steps": steps, "ranks": ranks, "beyond": beyond}
        | {"places": places},
        plot_height=ROW_HEIGHT * (len(names) + 1),
        left=GRID_LEFT,
        above=24,
        below=40,
    )
    add_grid(sheet, cells, names, numbers, frame, marked, names=header, title=tr("rank"))
    part.tell(sheet, columns_for)
    return sheet


def _shape(trace: Trace, rows: int) -> tuple[int, bool]:
    """Return the number of ranks to draw, and whether a chosen token ranks lower; equal in every
    window.
    """
    steps = trace.token_steps
    known = max(sum(c.rank <= len(step.candidates) for c in step.candidates) for step in steps)
    ranks = max(1, min(rows, known))
    return ranks, any(step.chosen.rank > ranks for step in steps)


def _cells(
    steps: Sequence[TokenStep], ranks: int, value: HeatmapValue, places: Sequence[tuple[str, int]]
) -> list[Cell]:
    cells = []
    for column, (step, place) in enumerate(zip(steps, places, strict=True)):
        chosen, hover = step.chosen, candidate_hover(step, step.chosen, place)
        cells.append(Cell(column, -1, None, chosen.text, hover, (step.index, chosen.token_id)))
        for candidate in step.candidates:
            ringed = candidate.token_id == step.token_id
            if candidate.rank > ranks and not ringed:
                continue
            cells.append(
                Cell(
                    column=column,
                    row=min(candidate.rank - 1, ranks),
                    prob=candidate.raw_prob if value == "raw" else candidate.prob,
                    token=candidate.text,
                    hover=candidate_hover(step, candidate, place),
                    key=(step.index, candidate.token_id),
                    faded=value == "final" and candidate.removed_by is not None,
                    ringed=ringed,
                )
            )
    return cells
