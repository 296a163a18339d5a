"""Candidates of one position of the canvas over the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...decoding.counting import counted, nth
from ...decoding.diffusion.canvas import canvas_steps
from ...decoding.diffusion.types import OpenCandidate
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.grid import probability_cells
from ..base.labels import (
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_frame, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.records import chosen_label, widest
from ..base.sheet import Properties, Sheet, no_selection
from ..base.theme import LIGHT, Theme
from .canvas import filled_positions

_MOST_TOKENS, _LABEL = 12, 12


def _seen(trace: Trace, position: int) -> list[tuple[int, OpenCandidate]]:
    """Return the candidates of a position with their steps."""
    return [
        (step.index, candidate)
        for step in canvas_steps(trace)
        for candidate in step.candidates
        if candidate.position == position
    ]


@table("step position token_id token probability filled")
def canvas_position_data(trace: Trace, position: int) -> TableRows:
    """Return a row for each step at which the position was open, and each recorded candidate."""
    filled = {(f.step, f.token_id) for f in filled_positions(trace) if f.position == position}
    return [
        (
            nth(step),
            nth(position),
            candidate.token_id,
            table_text(candidate.text),
            candidate.prob,
            (step, candidate.token_id) in filled,
        )
        for step, candidate in _seen(trace, position)
    ]


@figure(
    N_("One position over the steps"),
    settings_caption,
    canvas_position_data,
    subtitle=lambda position, theme, steps: (
        tr(
            "Position {position}, open for {steps}.",
            position=nth(position),
            steps=counted(len(steps), "step"),
        ),
        theme.in_words(N_("{Hue}: probability. Empty: not among the likeliest five.")),
    ),
    alt=lambda position, steps, tokens, filled: (
        tr(
            "Candidates of position {position} at steps {first} to {last}:",
            position=nth(position),
            first=nth(steps[0]),
            last=nth(steps[-1]),
        ),
        tr("{part}.", part=tr(", ").join(visible_token(text, 16) for text in tokens.values())),
        filled
        and tr(
            "{token} was filled with {probability}.",
            token=visible_token(filled.text, 16),
            probability=percent(filled.prob),
        ),
    ),
    key=lambda theme: [[(theme.accent, tr("filled at this step"), "<b>□</b>")]],
)
def canvas_position(
    trace: Trace,
    position: int | None,
    *,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the likeliest tokens of one position down, and the steps at which it was open across."""
    seen = [] if position is None else _seen(trace, position)
    if position is None or not seen:
        return no_selection(paper, N_("position"), N_("a cell of the canvas"))
    best: dict[int, float] = {}
    for _, candidate in seen:
        best[candidate.token_id] = max(best.get(candidate.token_id, 0.0), candidate.prob)
    fillings = [one for one in filled_positions(trace) if one.position == position]
    filled = fillings[-1] if fillings else None
    shown = sorted(best, key=lambda token: -best[token])[:_MOST_TOKENS]
    texts = {candidate.token_id: candidate.text for _, candidate in seen}
    tokens = {token: texts[token] for token in shown}
    steps = sorted({step for step, _ in seen})
    taken = filled.token_id if filled else None
    left = 34 + round(7.2 * max(widest(tokens.values(), _LABEL), 6))
    names = [
        f"{chosen_label(show_token(text, _LABEL), theme, token == taken)} "
        for token, text in tokens.items()
    ]
    sheet = Sheet(
        theme,
        paper,
        facts={"steps": steps, "tokens": tokens, "filled": filled},
        plot_height=24 * len(tokens),
        left=left,
        below=96,
        key_offset=84,
        layout={
            "xaxis": axis(
                theme,
                tr("step"),
                12,
                range=[nth(steps[0]) - 0.5, max(nth(steps[-1]), nth(steps[0]) + 7) + 0.5],
                nticks=9,
            ),
            "yaxis": named_axis(theme, names, showline=False, range=[len(names) - 0.5, -0.5]),
        },
    )
    sheet.traces = [_heat(sheet, seen, tokens, steps)]
    for one in (one for one in fillings if one.token_id in tokens):
        row = list(tokens).index(one.token_id)
        color = theme.accent if one.masked_again is None else theme.muted
        across_step = (nth(one.step) - 0.5, nth(one.step) + 0.5)
        add_frame(sheet, f"filled {one.step}", across_step, (row - 0.46, row + 0.46), color, 2)
    return sheet


def _heat(
    sheet: Sheet,
    seen: Sequence[tuple[int, OpenCandidate]],
    tokens: Mapping[int, str],
    steps: Sequence[int],
) -> Properties:
    """Return the probabilities of the tokens, a row each, over the steps."""
    probs = {(step, candidate.token_id): candidate.prob for step, candidate in seen}
    grid = [
        [probs.get((step, token)) for step in range(steps[0], steps[-1] + 1)] for token in tokens
    ]
    hovers = [
        [
            lines(
                f"<b>{show_token(tokens[token], 40)}</b>",
                tr("step {step}", step=nth(step)),
                tr("not among the likeliest five")
                if (step, token) not in probs
                else percent(probs[step, token]),
            )
            for step in range(steps[0], steps[-1] + 1)
        ]
        for token in tokens
    ]
    across = [nth(step) for step in range(steps[0], steps[-1] + 1)]
    cells = probability_cells(sheet, across, grid, left=0, offset=48)
    return {**cells, **hover_texts(hovers), "xgap": 1, "ygap": 2}
