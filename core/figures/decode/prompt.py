"""Predictions of the model inside the prompt, which a run doesn't use."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...decoding.counting import nth
from ...decoding.record.steps import Candidate, PromptPosition, TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis
from ..base.color import blend
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
    NBSP,
    escaped,
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_note, hover_texts, strokes
from ..base.measure import text_width, wrapped
from ..base.paper import WIDE, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart, window_of

_ROWS = (N_("guess"), N_("actual"), N_("rank"))
_BARS, _GAP = 100, 26
# Font size and line height of the words over the last column, px.
_USED, _USED_LINE = 11, 15


@table(
    "position token_id token guess_id guess guess_prob next_id next next_prob next_rank "
    "next_is_generated surprisal entropy",
    whole="guess_id next_id next_rank",
)
def prompt_reading_data(trace: Trace, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return one row for each prompt position: token, first guess and following token, with
    probabilities, nats and raw text.

    Args:
        columns: maximum number of positions; by default all.
    """
    prompt = trace.prompt_step
    everything = prompt.positions if prompt else ()
    generated = trace.token_steps[0] if trace.token_steps else None
    for position in window_of(everything, first, columns or len(everything)):
        guess = position.candidates[0] if position.candidates else None
        after = _following(position, everything, generated)
        ranked = after if after and after.rank else None
        yield (
            nth(position.index),
            position.token_id,
            table_text(position.text),
            guess and guess.token_id,
            guess and table_text(guess.text),
            guess and guess.raw_prob,
            after and after.token_id,
            after and table_text(after.text),
            ranked and ranked.raw_prob,
            ranked and ranked.rank,
            position.next_token_id is None,
            _surprisal(after),
            position.entropy,
        )


@figure(
    N_("Predictions inside the prompt"),
    settings_caption,
    prompt_reading_data,
    subtitle=lambda part, paper: (
        part.sentence(paper),
        tr(
            "After each token of the prompt the model predicts the next one; only the last "
            "prediction is used."
        ),
    ),
    alt=lambda positions: (
        tr(
            "The model's guess after each of {count} prompt tokens. The first guess was right at "
            "{right} of {known} positions.",
            count=len(positions),
            right=sum(position.next_rank == 1 for position in positions),
            known=sum(position.next_rank is not None for position in positions),
        ),
        tr("The guesses read across:"),
        " ".join(visible_token(p.candidates[0].text, 24) for p in positions if p.candidates),
    ),
    key=lambda theme: [
        [(theme.accent, tr("the prediction that is used"), "<b>□</b>")],
        tr("✓ the guess was right, else the rank"),
    ],
)
def prompt_reading(
    trace: Trace,
    *,
    first: int = 0,
    columns: int | None = None,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Draw every prompt token, the guess for the next token, the token that follows, and its
    surprisal.

    The last token is followed by the first generated token; only that prediction is used by the
    run.

    Args:
        first: first prompt position to draw.
        columns: maximum number of positions; by default as many as fit.
        selected: position to mark.

    A click on a cell hands over `customdata = [position, token id]`.
    """
    prompt = trace.prompt_step
    if prompt is None or not prompt.positions:
        return tr("The prompt was not processed, so there is nothing to read.")
    columns = min(columns or wide_columns(paper.window), len(prompt.positions))
    positions = window_of(prompt.positions, first, columns)
    numbers = [position.index for position in positions]
    frame = frame_of([0.0] * len(positions), paper.width, max(columns, 3))
    grid = ROW_HEIGHT * (len(_ROWS) + 1)
    height = grid + _GAP + _BARS
    generated = trace.token_steps[0] if trace.token_steps else None
    following = [_following(position, prompt.positions, generated) for position in positions]
    part = ShownPart("position", numbers[0], numbers[-1] + 1, len(prompt.positions))
    cells, header = _cells(positions, following), (tr("position"), tr("prompt"))
    domain = ((height - grid) / height, 1)
    sheet = Sheet(
        theme,
        paper,
        facts={"part": part, "positions": positions},
        plot_height=height,
        left=GRID_LEFT,
        above=42,
        below=40,
    )
    add_grid(sheet, cells, [*map(tr, _ROWS)], numbers, frame, selected, names=header, domain=domain)
    add_surprisal(
        sheet,
        [_surprisal(candidate) for candidate in following],
        [_hover(*pair) for pair in zip(positions, following, strict=True)],
        [(position.index, position.token_id) for position in positions],
        _BARS / height,
    )
    if positions[-1].next_token_id is None:
        _point_at_last(sheet, len(positions) - 1, frame.end)
    sheet.explained.append(tr("{hue} of a cell: the model's probability", hue=tr(theme.hue)))
    part.tell(sheet, wide_columns)
    return sheet


def _point_at_last(sheet: Sheet, last: int, end: float) -> None:
    """Write above the last column, on the side with more room, in as many lines as that needs."""
    right, column = last >= end / 2, sheet.room / (end + 0.5)
    room = sheet.left + column * (last + 1) if right else column * (end - last + 0.5) + sheet.right
    room -= EDGE + text_width(f"{NBSP}▼", _USED, "sans bold")
    words = list(
        map(escaped, wrapped(tr("the only prediction that is used"), room, _USED, "sans bold"))
    )
    words[-1] = f"{words[-1]}{NBSP}▼" if right else f"▼{NBSP}{words[-1]}"
    sheet.above += _USED_LINE * (len(words) - 1)
    side = "right" if right else "left"
    where = {"xanchor": side, "align": side, "yanchor": "bottom", "yshift": 18, "yref": "paper"}
    x, ink = last + (0.5 if right else -0.5), sheet.theme.accent_text()
    text = f"<b>{'<br>'.join(words)}</b>"
    add_note(sheet, "used", text, x, 1, size=_USED, color=ink, **where)


def _following(
    position: PromptPosition, everything: Sequence[PromptPosition], generated: TokenStep | None
) -> Candidate | None:
    """Return the token that follows, with the model's probability and rank for it."""
    if position.next_token_id is None:
        return generated.chosen if generated else None
    # Rank 0 stands for a token that the server doesn't name.
    prob, rank = position.next_prob or 0.0, position.next_rank or 0
    after = everything[position.index + 1 : position.index + 2]
    return Candidate(
        position.next_token_id, after[0].text if after else "", rank, math.nan, prob, prob
    )


def _surprisal(following: Candidate | None) -> float | None:
    """Return the surprisal in nats; None if nothing follows or the probability rounds to 0."""
    if following is None:
        return None
    return -math.log(following.raw_prob) if following.raw_prob > 0 else None


def _cells(
    positions: Sequence[PromptPosition], following: Sequence[Candidate | None]
) -> list[Cell]:
    cells = []
    for column, (position, after) in enumerate(zip(positions, following, strict=True)):
        last = position.next_token_id is None
        text = _hover(position, after)
        key = (position.index, position.token_id)
        cells.append(Cell(column, -1, None, position.text, text, key))
        if position.candidates:
            guess = position.candidates[0]
            key = (position.index, guess.token_id)
            cells.append(Cell(column, 0, guess.raw_prob, guess.text, text, key, ringed=last))
        if after is not None:
            key = (position.index, after.token_id)
            mark = tr("chosen") if last else "✓" if after.rank == 1 else f"{after.rank or '?'}"
            cells.append(
                Cell(column, 1, after.raw_prob if after.rank else None, after.text, text, key)
            )
            cells.append(Cell(column, 2, None, mark, text, key))
    return cells


def _hover(position: PromptPosition, following: Candidate | None) -> str:
    return lines(
        f"<b>{show_token(position.text, 40)}</b>",
        tr("position {number}", number=nth(position.index)),
        *(
            tr(
                "guess {number}: {token} {probability}",
                number=at,
                token=show_token(guess.text, 30),
                probability=percent(guess.raw_prob),
            )
            for at, guess in enumerate(position.candidates[:3], start=1)
        ),
        *(_following_words(position, following) if following else ()),
        tr("entropy {entropy:.3f} nats", entropy=position.entropy),
    )


def _following_words(position: PromptPosition, following: Candidate) -> list[str]:
    """Return the lines of a hover text on the token that follows."""
    word = tr("chosen") if position.next_token_id is None else tr("actual")
    token, surprisal = f"{word}: {show_token(following.text, 30)}", _surprisal(following)
    if not following.rank:
        return [token, tr("not among the tokens that the server names")]
    return [
        f"{token} {percent(following.raw_prob)}",
        tr("rank {rank:,}", rank=following.rank)
        if surprisal is None
        else tr(
            "rank {rank:,}, surprisal {surprisal:.3f} nats",
            rank=following.rank,
            surprisal=surprisal,
        ),
    ]


def add_surprisal(
    sheet: Sheet,
    values: Sequence[float | None],
    hovers: Sequence[str],
    keys: Sequence[tuple[int, int]],
    height: float,
) -> None:
    """Add stems with dots; bars would keep Plotly from hiding cell text that doesn't fit.

    Args:
        values: nats, by column; None where there is none.
        hovers: escaped Plotly text.
        keys: what a click on each hands over.
        height: share of the plotting area's height.
    """
    theme = sheet.theme
    lower: Properties = {"yaxis": "y2"}
    dots = {
        "type": "scatter",
        "name": "surprisal",
        "x": list(range(len(values))),
        "y": values,
        "mode": "markers",
        "marker": {"color": theme.second, "size": 8},
        "cliponaxis": False,
        **hover_texts(hovers),
        "customdata": [list(key) for key in keys],
    }
    sheet.traces += [
        {
            **strokes(((at, 0), (at, value)) for at, value in enumerate(values)),
            **lower,
            "line": {"color": blend(theme.second, theme.paper, 0.4), "width": 4},
        },
        {**dots, **lower},
    ]
    top = 1.12 * max([1.0, *(value for value in values if value is not None)])
    sheet.layout["yaxis2"] = axis(
        theme, tr("surprisal, nats"), domain=[0, height], anchor="x", range=[0, top], nticks=4
    )
