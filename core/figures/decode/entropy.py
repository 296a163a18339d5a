"""Entropy before each draw and surprisal of the drawn token, over the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import pandas as pd

from ...decoding.counting import counted, nth
from ...decoding.reading.types import TextToken, predicted_tokens
from ...decoding.record.trace import Trace
from ...language import N_, tr
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
from ..base.records import numbered_place
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

Unit: TypeAlias = Literal["nats", "bits"]

_PER_NAT = {N_("nats"): 1.0, N_("bits"): 1 / math.log(2)}
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
    N_("Entropy and surprisal"),
    settings_caption,
    uncertainty_data,
    subtitle=lambda trace, reads: (
        tr("The bars are the entropy before each token of the text, the marks its surprisal.")
        if reads
        else tr("The bars are the entropy before each draw, the marks the drawn token's surprisal.")
        if trace.known is None
        # For a server that names only the likeliest tokens.
        else tr("The entropy is a lower bound by known tokens, the surprisal that of the draw.")
    ),
    alt=lambda unit, entropy, surprisal, strangest, strangest_place, place_words: (
        tr(
            "Entropy and surprisal in {unit} at {places}. Mean entropy {entropy:.2f}, mean "
            "surprisal {surprisal:.2f}.",
            unit=tr(unit),
            places=place_words,
            entropy=sum(entropy) / len(entropy),
            surprisal=sum(surprisal) / len(surprisal),
        ),
        tr(
            "The most surprising token is {token} at {place} with {surprisal:.2f} {unit}.",
            token=visible_token(strangest.text, 24),
            place=strangest_place,
            surprisal=max(surprisal),
            unit=tr(unit),
        ),
    ),
    key=lambda theme: [
        [(theme.uncertainty_color(_PALE), tr("entropy")), (theme.second, tr("surprisal"), "◆")]
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
        return tr("This run emitted no token, so there is no uncertainty to show.")
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
        axis(theme, tr(unit), 6, range=[0, top], nticks=6),
        title=READ_TOKENS if reads else CHOSEN_TOKENS,
        facts={
            "entropy": entropy,
            "surprisal": surprisal,
            "strangest": tokens[strangest],
            "strangest_place": numbered_place(word, numbers[strangest] - 1),
            "word": word,
            "place_words": tr(
                "tokens {first} to {last} of the text", first=numbers[0], last=numbers[-1]
            )
            if reads
            else tr(counted(len(tokens), "step")),
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
            tr(
                "{place} · rank {rank:,}",
                place=numbered_place(sheet.facts["word"], number - 1),
                rank=token.rank or 0,
            ),
            tr("entropy {number:.3f} {unit}", number=expected, unit=tr(unit)),
            tr("surprisal {number:.3f} {unit}", number=surprise, unit=tr(unit)),
            tr("model {probability}", probability=percent(math.exp(-(token.surprisal or 0.0)))),
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
