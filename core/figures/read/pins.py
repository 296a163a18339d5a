"""Probabilities of pinned tokens through all steps of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from ...decoding.counting import counted, nth
from ...decoding.reading.types import PinnedToken
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import CHOSEN_TOKENS, MOST_TICKS, READ_TOKENS, power_axis, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    escaped,
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_selection, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

_SIGNS = (
    ("circle", "●"),
    ("square", "■"),
    ("diamond", "◆"),
    ("triangle-up", "▲"),
    ("star", "★"),
)


@table("token_id token step chosen_id chosen probability ln_p rank at_most", whole="rank")
def _pins_data(pins: Sequence[PinnedToken], trace: Trace, first: int) -> TableRows:
    for pin in pins:
        columns = zip(trace.token_steps, pin.logprobs, pin.ranks, pin.bounds, strict=False)
        for step, logprob, rank, bound in columns:
            yield (
                pin.token_id,
                table_text(pin.text),
                first + step.index,
                step.token_id,
                table_text(step.chosen.text),
                None if logprob is None else math.exp(logprob),
                logprob,
                rank,
                None if bound is None else math.exp(bound),
            )


def pinned_lines_data(
    pins: Sequence[PinnedToken], trace: Trace, *, reads: bool = False
) -> pd.DataFrame:
    """One pinned token at one step a row; `at_most` bounds a probability that isn't known.

    Args:
        reads: as of `pinned_lines`; the column `step` is `position` then.
    """
    rows = _pins_data(pins, trace, _first(trace, reads))
    return rows.rename(columns={"step": "position"}) if reads else rows


def _first(trace: Trace, reads: bool) -> int:
    """Return the number of the first step; in a text that was read, its token's position."""
    return nth(len(trace.prompt_ids) if reads else 0)


@figure(
    N_("Pinned tokens"),
    settings_caption,
    pinned_lines_data,
    subtitle=lambda reads: (
        tr("The model's own probability of each pinned token at every token of the text.")
        if reads
        else tr(
            "The model's own probability of each pinned token at every step, before any setting."
        )
    ),
    alt=lambda pins, word, first, places: (
        tr(
            "Probability of {tokens} at {places}.",
            tokens=counted(len(pins), "pinned token"),
            places=places,
        ),
        tr("; ").join(_alt_of(pin, word, first) for pin in pins) + tr("."),
    ),
    key=lambda pins, colors, theme: [
        [
            (color, escaped(_name(pin)), sign)
            for pin, color, (_, sign) in zip(pins, colors, _SIGNS, strict=False)
        ],
        *[[(theme.muted, tr("less than this: not among the candidates"), "▽")]]
        * any(bound is not None for pin in pins for bound in pin.bounds),
    ],
)
def pinned_lines(
    pins: Sequence[PinnedToken],
    trace: Trace,
    *,
    selected: int | None = None,
    reads: bool = False,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Probability of up to five tokens at every step, on a logarithmic axis.

    A token that a step's candidates lack is drawn as an open triangle at the least probable
    candidate, which bounds it, and its line is broken there.

    Args:
        reads: the trace is a text that was read: tokens have their positions in the text.

    A click on a point hands over `customdata = [step index, token id]`.
    """
    steps = trace.token_steps
    if not pins or not steps:
        return tr("No token is pinned: write a token, or #id, into the field above the figure.")
    shown = [v for pin in pins for v in (*pin.logprobs, *pin.bounds) if v is not None]
    if not shown:
        return tr("The model gives the pinned tokens no probability.")
    first = _first(trace, reads)
    low = min(min(shown) / math.log(10), -1.0)
    green, purple, _, _, olive = theme.categories
    colors = (theme.first, theme.second, green, purple, olive)
    bounded = any(bound is not None for pin in pins for bound in pin.bounds)
    sheet = token_sheet(
        theme,
        paper,
        [(first + step.index, step.chosen.text) for step in steps],
        power_axis(theme, tr("probability"), low, 0.0, percent=True),
        left=72,
        below=116 + 16 * bounded,
        title=READ_TOKENS if reads else CHOSEN_TOKENS,
        facts={
            "colors": colors,
            "word": "token" if reads else "step",
            "first": first,
            "places": tr(
                "tokens {first} to {last} of the text", first=first, last=first + len(steps) - 1
            )
            if reads
            else counted(len(steps), "step"),
        },
    )
    if bounded:
        _add_bounds(sheet, pins, steps)
    for pin, color, (symbol, _) in zip(pins, colors, _SIGNS, strict=False):
        _add_pin(sheet, pin, steps, color, symbol)
    if selected is not None and paper.selection:
        add_selection(sheet, first + selected)
    return sheet


def _add_pin(
    sheet: Sheet, pin: PinnedToken, steps: Sequence[TokenStep], color: str, symbol: str
) -> None:
    if all(value is None for value in pin.logprobs):
        return
    sheet.traces.append(
        {
            "name": show_token(pin.text, 24),
            "mode": "lines+markers",
            "y": [None if value is None else value / math.log(10) for value in pin.logprobs],
            "line": {"color": color, "width": 2},
            "marker": {"color": color, "symbol": symbol, "size": _size(steps)},
            "customdata": [[step.index, pin.token_id] for step in steps],
            **hover_texts([_hover(sheet, pin, step, at) for at, step in enumerate(steps)]),
            **_along(sheet, steps),
        }
    )


def _add_bounds(sheet: Sheet, pins: Sequence[PinnedToken], steps: Sequence[TokenStep]) -> None:
    """Add a triangle at each step whose candidates lack a pinned token; all share its bound."""
    bounds = [next((b for b in column if b is not None), None) for column in _columns(pins)]
    marker = {"color": sheet.theme.muted, "symbol": "triangle-down-open", "size": _size(steps)}
    sheet.traces.append(
        {
            "name": "bounds",
            "mode": "markers",
            "y": [None if bound is None else bound / math.log(10) for bound in bounds],
            "marker": marker,
            "customdata": [[step.index, step.token_id] for step in steps],
            **hover_texts([_bound_hover(sheet, pins, step, at) for at, step in enumerate(steps)]),
            **_along(sheet, steps),
        }
    )


def _columns(pins: Sequence[PinnedToken]) -> Iterable[tuple[float | None, ...]]:
    return zip(*(pin.bounds for pin in pins), strict=True)


def _along(sheet: Sheet, steps: Sequence[TokenStep]) -> Properties:
    numbers = [sheet.facts["first"] + step.index for step in steps]
    return {"type": "scatter", "x": numbers, "cliponaxis": False}


def _numbered(sheet: Sheet, step: TokenStep) -> str:
    return f"{sheet.facts['word']} {sheet.facts['first'] + step.index}"


def _size(steps: Sequence[TokenStep]) -> int:
    return 8 if len(steps) <= 2 * MOST_TICKS else 5


def _bound_hover(sheet: Sheet, pins: Sequence[PinnedToken], step: TokenStep, at: int) -> str:
    lacking = [(pin, pin.bounds[at]) for pin in pins]
    return lines(
        tr("{step}, not among the candidates:", step=_numbered(sheet, step)),
        *(
            tr(
                "{token} at most {probability}",
                token=show_token(pin.text, 24),
                probability=percent(math.exp(bound)),
            )
            for pin, bound in lacking
            if bound is not None
        ),
        tr("chosen: {token}", token=show_token(step.chosen.text)),
    )


def _hover(sheet: Sheet, pin: PinnedToken, step: TokenStep, at: int) -> str:
    logprob, rank = pin.logprobs[at], pin.ranks[at]
    return lines(
        f"<b>{show_token(pin.text, 40)}</b>",
        f"{_numbered(sheet, step)} · id {pin.token_id}",
        logprob is not None and tr("model {probability}", probability=percent(math.exp(logprob))),
        logprob is not None and f"ln p {logprob:.3f}",
        rank is not None and tr("rank {rank:,}", rank=rank),
        tr("chosen here")
        if step.token_id == pin.token_id
        else tr("chosen: {token}", token=show_token(step.chosen.text)),
    )


def _name(pin: PinnedToken) -> str:
    return visible_token(pin.text, 16)


def _alt_of(pin: PinnedToken, word: str, first: int) -> str:
    known = [value for value in pin.logprobs if value is not None]
    if not known:
        return tr("{token} is never among the candidates", token=_name(pin))
    places = [at for at, value in enumerate(pin.logprobs) if value == max(known)]
    return tr(
        "{token}: most {probability} at {place} {number}",
        token=_name(pin),
        probability=percent(math.exp(max(known))),
        place=tr(word),
        number=first + places[0],
    )
