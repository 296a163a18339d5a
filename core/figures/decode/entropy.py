"""Entropy before each draw and surprisal of the drawn token, over the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import pandas as pd

from ...decoding.counting import nth
from ...decoding.reading.types import TextToken, predicted_tokens
from ...decoding.record.trace import Trace
from ..base.axes import CHOSEN_TOKENS, MOST_TICKS, READ_TOKENS, axis, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_selection, hover_texts, strokes
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

Unit: TypeAlias = Literal["nats", "bits"]

_PER_NAT = {"nats": 1.0, "bits": 1 / math.log(2)}
# Position on the uncertainty ramp for bars behind marks.
_PALE = 0.3


@table("step token_id token rank entropy surprisal")
def _steps_data(trace: Trace, scale: float, reads: bool) -> TableRows:
    before = 0 if reads else len(trace.prompt_ids)
    for token in predicted_tokens(trace, reads):
        name = (nth(token.place - before), token.token_id, table_text(token.text), token.rank)
        yield (*name, (token.entropy or 0.0) * scale, (token.surprisal or 0.0) * scale)


def uncertainty_data(trace: Trace, *, unit: Unit = "nats", reads: bool = False) -> pd.DataFrame:
    """Return entropy and surprisal of every step, in `unit`, with the tokens' raw text.

    Args:
        reads: as of `uncertainty`; the first column is `position` then.
    """
    names = {name: f"{name}_{unit}" for name in ("entropy", "surprisal")}
    names |= {"step": "position"} if reads else {}
    return _steps_data(trace, _PER_NAT[unit], reads).rename(columns=names)


@figure(
    "Entropy and surprisal",
    settings_caption,
    uncertainty_data,
    subtitle=lambda trace, reads: (
        "The bars are the entropy before each token of the text, the marks its surprisal."
        if reads
        else "The bars are the entropy before each draw, the marks the drawn token's surprisal."
        if trace.known is None
        # For a server that names only the likeliest tokens.
        else "The entropy is a lower bound by known tokens, the surprisal that of the draw."
    ),
    alt=lambda unit, entropy, surprisal, strangest, strangest_number, word, place_words: (
        f"Entropy and surprisal in {unit} at {place_words}. Mean entropy "
        f"{sum(entropy) / len(entropy):.2f}, mean surprisal "
        f"{sum(surprisal) / len(surprisal):.2f}.",
        f"The most surprising token is {visible_token(strangest.text, 24)} at {word} "
        f"{strangest_number} with {max(surprisal):.2f} {unit}.",
    ),
    key=lambda theme: [
        [(theme.uncertainty_color(_PALE), "entropy"), (theme.second, "surprisal", "◆")]
    ],
)
def uncertainty(
    trace: Trace,
    *,
    unit: Unit = "nats",
    selected: int | None = None,
    reads: bool = False,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw entropy before every step and surprisal of every chosen token, both of the raw
    distribution.

    Args:
        reads: the trace is a text that was read: tokens have their positions in the text.

    A click on a point hands over `customdata = [step index, token id]`.
    """
    tokens, before = predicted_tokens(trace, reads), len(trace.prompt_ids)
    if not tokens:
        return "This run emitted no token, so there is no uncertainty to show."
    scale = _PER_NAT[unit]
    entropy = [(token.entropy or 0.0) * scale for token in tokens]
    surprisal = [(token.surprisal or 0.0) * scale for token in tokens]
    top = max(1.0, *filter(math.isfinite, (*entropy, *surprisal))) * 1.08
    first, word = nth(before if reads else 0), "token" if reads else "step"
    numbers = [nth(token.place if reads else token.place - before) for token in tokens]
    strangest = surprisal.index(max(surprisal))
    sheet = token_sheet(
        theme,
        paper,
        [(number, token.text) for number, token in zip(numbers, tokens, strict=True)],
        axis(theme, unit, 6, range=[0, top], nticks=6),
        title=READ_TOKENS if reads else CHOSEN_TOKENS,
        facts={
            "entropy": entropy,
            "surprisal": surprisal,
            "strangest": tokens[strangest],
            "strangest_number": numbers[strangest],
            "word": word,
            "place_words": f"tokens {numbers[0]} to {numbers[-1]} of the text"
            if reads
            else f"{len(tokens)} steps",
        },
    )
    keys = [(token.place - before, token.token_id) for token in tokens]
    _add_marks(sheet, tokens, keys, entropy, surprisal, unit, numbers)
    if selected is not None and paper.selection:
        add_selection(sheet, first + selected)
    return sheet


def _add_marks(
    sheet: Sheet,
    tokens: Sequence[TextToken],
    keys: Sequence[tuple[int, int]],
    entropy: list[float],
    surprisal: list[float],
    unit: Unit,
    numbers: Sequence[int],
) -> None:
    """Add bars for the entropy, diamonds for the surprisal, and stems between them; an upward stem
    marks a surprise.
    """
    hovers = [
        lines(
            f"<b>{show_token(token.text, 40)}</b>",
            f"{sheet.facts['word']} {number} · rank {token.rank or 0:,}",
            f"entropy {expected:.3f} {unit}",
            f"surprisal {surprise:.3f} {unit}",
            f"model {percent(math.exp(-(token.surprisal or 0.0)))}",
        )
        for number, token, expected, surprise in zip(
            numbers, tokens, entropy, surprisal, strict=True
        )
    ]
    shared = {
        "x": list(numbers),
        **hover_texts(hovers),
        "customdata": [list(key) for key in keys],
    }
    sheet.traces.append(
        {
            "type": "bar",
            "name": "entropy",
            "y": entropy,
            "width": 0.94,
            "marker": {"color": sheet.theme.uncertainty_color(_PALE), "line": {"width": 0}},
            **shared,
        }
    )
    if len(tokens) <= 60:
        ends = zip(shared["x"], entropy, surprisal, strict=True)
        stems = strokes(((x, low), (x, high)) for x, low, high in ends)
        line = {"color": sheet.theme.second, "width": 1.5}
        sheet.traces.append({**stems, "name": "difference", "line": line})
    marker: Properties = {"size": 9 if len(surprisal) <= MOST_TICKS else 6, "symbol": "diamond"}
    marker |= {"color": sheet.theme.second, "line": {"color": sheet.theme.paper, "width": 1}}
    look = {"type": "scatter", "mode": "markers", "marker": marker, "cliponaxis": False}
    sheet.traces.append({"name": "surprisal", "y": surprisal, **look, **shared})
