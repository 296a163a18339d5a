"""The canvas of masked diffusion as it fills: positions down, steps across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...decoding.counting import counted, nth
from ...decoding.diffusion.canvas import canvas_steps, listed_in
from ...decoding.diffusion.types import CanvasStep, OpenPosition
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
from ..base.labels import (
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.paper import SCREEN, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart, cut_window, numbered, window_of

NOTHING_FILLED = N_("This run filled no position, so there is nothing to show.")
# Positions that a window draws at most.
_MOST_ROWS = 20


@table(
    "step position token_id token probability entropy score filled masked_again_at_step",
    whole="masked_again_at_step",
)
def canvas_fill_data(trace: Trace, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return a row for each open position of each step, with the proposed token's raw text.

    Args:
        first: index of the first step to include.
        columns: maximum number of steps; by default all.
    """
    again = {(f.step, f.position): f.masked_again for f in filled_positions(trace)}
    return [
        (
            nth(at),
            nth(opened.position),
            opened.token_id,
            table_text(opened.text),
            opened.prob,
            opened.entropy,
            opened.score,
            opened.filled,
            nth(end) if (end := again.get((step.index, opened.position))) is not None else None,
        )
        for at, step in numbered(canvas_steps(trace), first, columns)
        for opened in step.open
    ]


class Filled(NamedTuple):
    """A filled position: its step, its token, and the probability with which it came.

    Args:
        step: on a canvas of noise the step since which the token has been the most probable one.
        masked_again: the step that masked it again; None if the token stayed.
    """

    step: int
    position: int
    token_id: int
    text: str
    prob: float
    masked_again: int | None = None

    def stands_at(self, step: int) -> bool:
        """Return whether the token stands on the canvas when a step begins."""
        return self.step < step and (self.masked_again is None or step <= self.masked_again)


def filled_positions(trace: Trace) -> list[Filled]:
    """Return the filled positions in the order of filling, those that were masked again too."""
    filled, last = list[Filled](), dict[int, int]()
    for step in canvas_steps(trace):
        for position in step.remasked:
            filled[last[position]] = filled[last[position]]._replace(masked_again=step.index)
        if step.canvas and step.filled:
            filled += _settled(trace, step)
            continue
        for one in step.filled:
            last[one.index] = len(filled)
            token = one.chosen
            filled.append(Filled(step.index, one.index, token.token_id, token.text, token.raw_prob))
    return filled


def _settled(trace: Trace, finished: CanvasStep) -> list[Filled]:
    """Return the positions of a canvas of noise, in the order in which their most probable tokens
    became the final ones.
    """
    since = {one.index: Filled(finished.index, one.index, one.token_id, one.chosen.text, 1.0)
             for one in finished.filled}  # fmt: skip
    going = {*since}
    for step in reversed(canvas_steps(trace)[: finished.index + 1]):
        listed = listed_in(step.candidates)
        for position in sorted(going):
            first = next(iter(listed.get(position, ())), None)
            if first is None or first.token_id != since[position].token_id:
                going.discard(position)
            else:
                since[position] = since[position]._replace(step=step.index, prob=first.prob)
    return sorted(since.values(), key=lambda one: (one.step, one.position))


def _alt(trace: Trace, steps: Sequence[CanvasStep], rows: Sequence[int]) -> Sequence[str]:
    filled = [f for f in filled_positions(trace) if steps[0].index <= f.step <= steps[-1].index]
    return (
        tr(
            "Grid of positions {top} to {bottom} over steps {first} to {last}. Filled, in this "
            "order:",
            top=nth(rows[0]),
            bottom=nth(rows[-1]),
            first=nth(steps[0].index),
            last=nth(steps[-1].index),
        ),
        tr("; ").join(
            tr(
                "{token} at position {position} with {probability}",
                token=visible_token(f.text, 16),
                position=nth(f.position),
                probability=percent(f.prob),
            )
            for f in filled[:12]
        )
        + tr("."),
    )


@figure(
    N_("The canvas as it fills"),
    settings_caption,
    canvas_fill_data,
    subtitle=lambda theme, paper, part: (
        part.sentence(paper),
        theme.in_words(N_("{Hue}: how sure the model was of a position’s token.")),
    ),
    alt=_alt,
    key=lambda theme, steps: [
        [
            (theme.accent, tr("kept by this step"), "<b>□</b>"),
            any(step.remasked for step in steps) and (theme.muted, tr("masked again"), "▨"),
            any(step.canvas for step in steps) and (theme.muted, tr("new noise"), "▨"),
        ]
    ],
)
def canvas_fill(
    trace: Trace,
    *,
    first: int = 0,
    columns: int | None = None,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw positions down and steps across; a ring marks the step that fills a position.

    Args:
        first: index of the first step.
        columns: maximum number of steps; by default as many as fit.
        selected: position to mark.

    A click on a cell hands over `customdata = [step, position]`; `meta["ends"]` has the ends of
    the steps.
    """
    steps = canvas_steps(trace)
    if not steps:
        return tr(NOTHING_FILLED)
    held = wide_columns(paper.window)
    first, held = cut_window(min(max(first, 0), len(steps) - 1), columns or held, held, None)
    shown = window_of(steps, first, held)
    part = ShownPart("step", first, first + len(shown), len(steps))
    rows = rows_of(shown, selected)
    fewest = min(8, wide_columns(paper.window))
    frame = frame_of([0.0] * len(shown), paper.width, max(len(shown), fewest))
    names = [
        str(nth(row)) if at else tr("position {position}", position=nth(row))
        for at, row in enumerate(rows)
    ]
    sheet = Sheet(
        theme,
        paper,
        facts={"part": part, "steps": shown, "rows": rows},
        meta={"ends": [(e + 0.5) / (frame.end + 0.5) for e in frame.edges[1:]], "first": first},
        plot_height=ROW_HEIGHT * (len(rows) + 1),
        left=GRID_LEFT + 22,
        above=24,
        below=40,
    )
    cells = _cells(trace, shown, rows)
    numbers = range(part.first, part.last)
    add_grid(sheet, cells, names, numbers, frame, None, names=(tr("step"), tr("filled")))
    part.tell(sheet, wide_columns)
    return sheet


def rows_of(steps: Sequence[CanvasStep], selected: int | None) -> list[int]:
    """Return the positions that a window of steps draws: those that were open in it."""
    opened = sorted(
        {
            position
            for step in steps
            for position in (*(one.position for one in step.open), *step.remasked)
        }
    )
    if len(opened) <= _MOST_ROWS:
        return opened
    filled = [one.position for step in steps for one in step.open if one.filled]
    wanted = dict.fromkeys([*([] if selected is None else [selected]), *filled, *opened])
    return sorted(row for row in list(wanted)[:_MOST_ROWS] if row in opened)


def _cells(trace: Trace, steps: Sequence[CanvasStep], rows: Sequence[int]) -> list[Cell]:
    filled, every, cells = filled_positions(trace), canvas_steps(trace), list[Cell]()
    for column, step in enumerate(steps):
        standing = {one.position: one for one in filled if one.stands_at(step.index)}
        opened = {one.position: one for one in step.open}
        kept = [one for one in step.open if one.filled]
        told = str(len(kept)) if len(kept) > 1 else kept[0].text
        cells.append(Cell(column, -1, None, told, _head(step), (step.index, kept[0].position)))
        after = _noise_after(step, every)
        final = {one.index: one.chosen.text for one in step.filled} if step.canvas else {}
        for row, position in enumerate(rows):
            key = (step.index, position)
            if here := opened.get(position):
                cell = Cell(column, row, here.prob, here.text, _hover(step, here), key)
                if position in after:
                    cell = cell._replace(token=after[position], faded=True)
                cell = cell._replace(token=final.get(position, cell.token))
                cells.append(cell._replace(ringed=here.filled or position in final))
            elif done := standing.get(position):
                again = done.masked_again == step.index
                hover = lines(
                    f"<b>{show_token(done.text, 40)}</b>",
                    tr(
                        "filled at step {step} with probability {probability}",
                        step=nth(done.step),
                        probability=percent(done.prob),
                    ),
                    again and tr("masked again at step {step}", step=nth(step.index)),
                )
                cells.append(Cell(column, row, None, done.text, hover, key, faded=again))
    return cells


def _noise_after(step: CanvasStep, steps: Sequence[CanvasStep]) -> dict[int, str]:
    """Return the random tokens that a step on a canvas of noise leaves, by position."""
    if not step.canvas or step.filled or step.index + 1 == len(steps):
        return {}
    left = zip(step.open, steps[step.index + 1].canvas, strict=True)
    return {one.position: token.text for one, token in left if not one.filled}


def _hover(step: CanvasStep, here: OpenPosition) -> str:
    stays, goes, before = N_("filled"), N_("proposed, stays masked"), ""
    if step.canvas:
        stays, goes = N_("accepted"), N_("proposed, replaced by noise")
        on_it = step.canvas[here.position - step.open[0].position].text
        before = tr("on the canvas before: {token}", token=show_token(on_it, 40))
    return lines(
        f"<b>{show_token(here.text, 40)}</b>",
        tr(
            "step {step} · position {position}: {result}",
            step=nth(step.index),
            position=nth(here.position),
            result=tr(stays if here.filled else goes),
        ),
        before,
        certainty(here),
    )


def certainty(here: OpenPosition) -> str:
    """Return probability and entropy of a position's proposal, for a hover text."""
    return tr(
        "probability {probability} · entropy {entropy:.3f} nats",
        probability=percent(here.prob),
        entropy=here.entropy,
    )


def _head(step: CanvasStep) -> str:
    kept = [one for one in step.open if one.filled]
    tokens = tr(", ").join(show_token(one.text, 20) for one in kept[:8])
    left = len(step.open) - len(kept)
    return lines(
        f"<b>{tr('step {step}', step=nth(step.index))}</b>",
        tr("accepted: {tokens}", tokens=tokens)
        if step.canvas
        else tr("filled: {tokens}", tokens=tokens),
        bool(step.remasked)
        and tr("masked again: {tokens}", tokens=counted(len(step.remasked), "token")),
        bool(step.filled and step.canvas) and tr("the canvas is finished"),
        tr("{positions} replaced by noise", positions=counted(left, "position"))
        if step.canvas
        else tr("{positions} of the block left", positions=counted(left, "open position")),
    )
