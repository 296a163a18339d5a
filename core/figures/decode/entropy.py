"""Entropy before each draw and surprisal of the drawn token, over the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import pandas as pd

from core.decoding.counting import nth
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.figures.base.axes import CHOSEN_TOKENS, MOST_TICKS, READ_TOKENS, axis, token_sheet
from core.figures.base.figure import TableRows, figure, table
from core.figures.base.labels import (
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from core.figures.base.marks import add_frame, hover_texts, strokes
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import LIGHT, Theme

Unit: TypeAlias = Literal["nats", "bits"]

_PER_NAT = {"nats": 1.0, "bits": 1 / math.log(2)}
# Position on the uncertainty ramp for bars behind marks.
_PALE = 0.3


@table("step token_id token rank entropy surprisal")
def _steps_data(trace: Trace, scale: float, reads: bool) -> TableRows:
    for number, step in zip(_numbers(trace, reads), trace.token_steps, strict=True):
        token = (number, step.token_id, table_text(step.chosen.text), step.chosen.rank)
        yield (*token, step.entropy * scale, step.surprisal * scale)


def uncertainty_data(trace: Trace, *, unit: Unit = "nats", reads: bool = False) -> pd.DataFrame:
    """Return entropy and surprisal of every step, in `unit`, with the tokens' raw text.

    Args:
        reads: as of `uncertainty`; the first column is `position` then.
    """
    names = {name: f"{name}_{unit}" for name in ("entropy", "surprisal")}
    names |= {"step": "position"} if reads else {}
    return _steps_data(trace, _PER_NAT[unit], reads).rename(columns=names)


def _numbers(trace: Trace, reads: bool) -> range:
    """Return the number of each step; in a text that was read, its token's position."""
    first = nth(len(trace.prompt_ids) if reads else 0)
    return range(first, first + len(trace.token_steps))


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
    alt=lambda unit, steps, entropy, surprisal, strangest, strangest_number, word, place_words: (
        f"Entropy and surprisal in {unit} at {place_words}. Mean entropy "
        f"{sum(entropy) / len(steps):.2f}, mean surprisal {sum(surprisal) / len(steps):.2f}.",
        f"The most surprising token is {visible_token(strangest.chosen.text, 24)} at {word} "
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
    steps = trace.token_steps
    if not steps:
        return "This run emitted no token, so there is no uncertainty to show."
    scale = _PER_NAT[unit]
    entropy = [step.entropy * scale for step in steps]
    surprisal = [step.surprisal * scale for step in steps]
    top = max(*entropy, *surprisal, 1.0) * 1.08
    numbers, word = _numbers(trace, reads), "token" if reads else "step"
    strangest = max(steps, key=lambda step: step.surprisal * scale)
    sheet = token_sheet(
        theme,
        paper,
        [(number, step.chosen.text) for number, step in zip(numbers, steps, strict=True)],
        axis(theme, unit, 6, range=[0, top], nticks=6),
        title=READ_TOKENS if reads else CHOSEN_TOKENS,
        facts={
            "steps": steps,
            "entropy": entropy,
            "surprisal": surprisal,
            "strangest": strangest,
            "strangest_number": numbers[steps.index(strangest)],
            "word": word,
            "place_words": f"tokens {numbers[0]} to {numbers[-1]} of the text"
            if reads
            else f"{len(steps)} steps",
        },
    )
    _add_marks(sheet, steps, entropy, surprisal, unit, numbers)
    if selected is not None and paper.selection:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        across = numbers[0] + selected - 0.5, numbers[0] + selected + 0.5
        add_frame(sheet, "selected", across, (0, 1), theme.ink, 1.5, **look)
    return sheet


def _add_marks(
    sheet: Sheet,
    steps: Sequence[TokenStep],
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
            f"<b>{show_token(step.chosen.text, 40)}</b>",
            f"{sheet.facts['word']} {number} · rank {step.chosen.rank:,}",
            f"entropy {before:.3f} {unit}",
            f"surprisal {of_draw:.3f} {unit}",
            f"model {percent(step.chosen.raw_prob)}",
        )
        for number, step, before, of_draw in zip(numbers, steps, entropy, surprisal, strict=True)
    ]
    shared = {
        "x": list(numbers),
        **hover_texts(hovers),
        "customdata": [[step.index, step.token_id] for step in steps],
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
    if len(steps) <= 60:
        ends = zip(shared["x"], entropy, surprisal, strict=True)
        stems = strokes(((x, low), (x, high)) for x, low, high in ends)
        line = {"color": sheet.theme.second, "width": 1.5}
        sheet.traces.append({**stems, "name": "difference", "line": line})
    marker: Properties = {"size": 9 if len(surprisal) <= MOST_TICKS else 6, "symbol": "diamond"}
    marker |= {"color": sheet.theme.second, "line": {"color": sheet.theme.paper, "width": 1}}
    look = {"type": "scatter", "mode": "markers", "marker": marker, "cliponaxis": False}
    sheet.traces.append({"name": "surprisal", "y": surprisal, **look, **shared})
