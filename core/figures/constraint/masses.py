"""Probability mass that a constraint allowed at each step of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...decoding.constraints.reading import ConstrainedStep, constrained_steps, text_logprob
from ...decoding.counting import nth
from ...decoding.record.trace import Trace
from ..base.axes import PERCENT_TICKS, axis, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    lines,
    nats,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_selection, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme

_PALE = 0.3
# Height of the marks of forced steps, above every bar.
_TOP = 1.05


@table(
    "step token_id token allowed forced mass log_mass wanted_id wanted wanted_probability place",
    whole="wanted_id",
)
def constraint_masses_data(trace: Trace) -> TableRows:
    """Return the numbers of each step under the constraint, with the tokens' raw text."""
    for step in constrained_steps(trace):
        name = (nth(step.at_step), step.token.token_id, table_text(step.token.text))
        mass = (step.allowed, step.forced, math.exp(step.log_mass), step.log_mass)
        wanted = step.wanted and (table_text(step.wanted.text), step.wanted.raw_prob)
        wanted_id = step.wanted and step.wanted.token_id
        yield (*name, *mass, wanted_id, *(wanted or (None, None)), table_text(step.place))


def _price(trace: Trace, free: Trace | None, log_mass: Sequence[float]) -> str:
    """Return the constraint's price in words."""
    own, kept = text_logprob(trace), math.fsum(log_mass)
    sentence = (
        f"The {len(trace.token_ids)} tokens have ln p = {nats(own, 2)} under the model and "
        f"{nats(own - kept, 2)} within the constraint; the sum of ln S is the "
        f"difference, {nats(kept, 2)}."
    )
    if free is None:
        return sentence
    return (
        f"{sentence} The {len(free.token_ids)} tokens of the free run have ln p = "
        f"{nats(text_logprob(free), 2)}."
    )


@figure(
    "Mass that the constraint allowed",
    settings_caption,
    constraint_masses_data,
    subtitle=lambda trace, free, log_mass: _price(trace, free, log_mass),
    alt=lambda forced, refused, log_mass, lowest, lowest_number: (
        f"The model's probability mass on the allowed tokens at {len(log_mass)} steps; at "
        f"{forced} of them one token alone was allowed, and at {refused} the model's likeliest "
        "token was not.",
        f"It is lowest at step {lowest_number}, before {visible_token(lowest.token.text, 24)}, "
        f"with {percent(math.exp(lowest.log_mass))}.",
    ),
    key=lambda theme: [
        [
            (theme.uncertainty_color(_PALE), "S: mass of the allowed tokens"),
            (theme.first, "one allowed: forced", "■"),
            (theme.second, "the likeliest token, not allowed", "◆"),
        ]
    ],
)
def constraint_masses(
    trace: Trace,
    *,
    free: Trace | None = None,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the model's probability mass on the allowed tokens of each step, and the probability of
    its likeliest token where that one was not allowed.

    Args:
        free: a run with the same settings without the constraint, for the price.

    A click on a bar hands over `customdata = [step index, token id]`.
    """
    steps = constrained_steps(trace)
    if not steps:
        return "No constraint acted in this run, so there is nothing to show."
    lowest = min(steps, key=lambda step: step.log_mass)
    sheet = token_sheet(
        theme,
        paper,
        [(nth(step.at_step), step.token.text) for step in steps],
        axis(theme, "probability", 6, range=[0, 1.1], **PERCENT_TICKS),
        facts={
            "forced": sum(step.forced for step in steps),
            "refused": sum(step.wanted is not None for step in steps),
            "log_mass": [step.log_mass for step in steps],
            "lowest": lowest,
            "lowest_number": nth(lowest.at_step),
        },
    )
    bars = {
        "width": 0.94,
        "marker": {"color": theme.uncertainty_color(_PALE), "line": {"width": 0}},
    }
    heights = [math.exp(step.log_mass) for step in steps]
    sheet.traces.append({"type": "bar", "name": "S", "y": heights, **bars, **_shared(steps)})
    forced = [step for step in steps if step.forced]
    sheet.traces.append(_marks(theme, "forced", forced, [_TOP] * len(forced)))
    wanted = [(step, step.wanted.raw_prob) for step in steps if step.wanted]
    refused = [step for step, _ in wanted]
    sheet.traces.append(_marks(theme, "not allowed", refused, [prob for _, prob in wanted]))
    if selected is not None and paper.selection:
        add_selection(sheet, nth(selected))
    return sheet


def _marks(
    theme: Theme, name: str, steps: Sequence[ConstrainedStep], heights: list[float]
) -> dict[str, object]:
    """Return squares of forced steps, or diamonds of refused tokens."""
    forced = name == "forced"
    marker = {
        "size": 7 if forced else 8,
        "symbol": "square" if forced else "diamond",
        "color": theme.first if forced else theme.second,
        "line": {"color": theme.paper, "width": 1},
    }
    look = {"type": "scatter", "mode": "markers", "marker": marker, "cliponaxis": False}
    return {"name": name, "y": heights, **look, **_shared(steps)}


def _shared(steps: Sequence[ConstrainedStep]) -> dict[str, object]:
    """Return places, hover texts and click data of some steps."""
    hovers = [
        lines(
            f"<b>{show_token(step.token.text, 40)}</b>",
            f"step {nth(step.at_step)} · at {show_token(step.place, 60) or 'the root'}",
            "one token allowed: forced" if step.forced else f"{step.allowed:,} tokens allowed",
            f"S = {percent(math.exp(step.log_mass))}, ln S = {nats(step.log_mass)}",
            *(
                [f"not allowed: {show_token(step.wanted.text, 40)} {percent(step.wanted.raw_prob)}"]
                if step.wanted
                else []
            ),
        )
        for step in steps
    ]
    return {
        "x": [nth(step.at_step) for step in steps],
        **hover_texts(hovers),
        "customdata": [[step.at_step, step.token.token_id] for step in steps],
    }
