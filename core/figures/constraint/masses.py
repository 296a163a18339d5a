"""Probability mass that a constraint allowed at each step of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...decoding.constraints.reading import ConstrainedStep, constrained_steps, text_logprob
from ...decoding.counting import counted, nth
from ...decoding.record.trace import Trace
from ..base.axes import axis, token_sheet
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
from ..base.marks import add_note, add_selection, hover_texts
from ..base.measure import text_width
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..beam.window import Node
from .words import path_of

_PALE = 0.3
# Depth of the axis at least, nats, so that a mass of almost 1 stays a short bar.
_DEPTH = 0.5
# Width of an upright number, room between level ones, and between a number and the marks at 0, px.
_COLUMN, _APART, _GAP = 11, 3, 6


@table(
    "step token_id token allowed forced mass log_mass wanted_id wanted wanted_probability place",
    whole="wanted_id",
)
def constraint_masses_data(trace: Trace, node: Node | None = None) -> TableRows:
    """Return the numbers of each step under the constraint, with the tokens' raw text.

    Args:
        node: a node of a beam search, as in `constraint_masses`.
    """
    for step in constrained_steps(trace, path_of(trace, node)):
        name = (nth(step.at_step), step.token.token_id, table_text(step.token.text))
        mass = (step.allowed, step.forced, math.exp(step.log_mass), step.log_mass)
        wanted = step.wanted and (table_text(step.wanted.text), step.wanted.raw_prob)
        wanted_id = step.wanted and step.wanted.token_id
        yield (*name, *mass, wanted_id, *(wanted or (None, None)), table_text(step.place))


def _price(trace: Trace, node: Node | None, free: Trace | None, log_mass: Sequence[float]) -> str:
    """Return the constraint's price in words."""
    path, best = path_of(trace, node), path_of(trace)
    own, kept = text_logprob(trace, path), math.fsum(log_mass)
    begin, count = len(trace.token_ids) - len(log_mass), len(path or trace.token_ids)
    of_path = f" of the path to step {nth(node[0])}" if node and path != best else ""
    sentence = (
        f"ln p of the {counted(count, 'token')}{of_path} = {nats(own, 2)} nats under the model, "
        f"{nats(own - kept, 2)} within the constraint; the sum of ln S is the "
        f"difference, {nats(kept, 2)}."
    )
    if not path and begin > 0:
        sentence = f"It acts in the answer, from step {nth(begin)} on. {sentence}"
    if free is None:
        return sentence
    return " ".join([sentence, *_against(trace, node if of_path else None, free)])


def _against(trace: Trace, node: Node | None, free: Trace) -> Iterator[str]:
    """Yield sentences that compare a text with the free run's, per token as their lengths differ.

    Args:
        node: a node beside the best path; None compares the best path alone.
    """
    path, best = path_of(trace, node), path_of(trace)
    count, free_count = len(path or trace.token_ids), len(free.token_ids)
    own, other = text_logprob(trace, path), text_logprob(free, path_of(free))
    of_best = f", of the best path here {nats(text_logprob(trace, best), 2)}" if node else ""
    yield f"ln p of the {counted(free_count, 'token')} of the free run = {nats(other, 2)}{of_best}."
    if not count or not free_count or not math.isfinite(own - other):
        return
    less = other / free_count - own / count
    word = "less" if round(less, 2) >= 0 else "more"
    yield (
        f"Per token, these are {nats(own / count, 2)} nats here and "
        f"{nats(other / free_count, 2)} nats in the free run: the text under the constraint is "
        f"{nats(abs(less), 2)} nats per token {word} likely under the model."
    )


@figure(
    "Mass that the constraint allowed",
    settings_caption,
    constraint_masses_data,
    subtitle=_price,
    alt=lambda forced, refused, log_mass, lowest, lowest_number: (
        f"The model's probability mass on the allowed tokens at {len(log_mass)} steps; at "
        f"{forced} of them one token alone was allowed, and at {refused} the model's likeliest "
        "token was not.",
        f"It is lowest at step {lowest_number}, before {visible_token(lowest.token.text, 24)}, "
        f"with {percent(math.exp(lowest.log_mass))}.",
    ),
    key=lambda theme: [
        [
            (theme.uncertainty_color(_PALE), "ln S; number: S, mass of the allowed tokens"),
            (theme.first, "one allowed: forced", "■"),
            (theme.second, "ln p of the likeliest token, not allowed", "◆"),
        ]
    ],
)
def constraint_masses(
    trace: Trace,
    *,
    node: Node | None = None,
    free: Trace | None = None,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the logarithm of the model's probability mass on the allowed tokens of each step as a
    bar down from 0, and that of its likeliest token where that one was not allowed.

    Args:
        node: a node of a beam search, whose path is drawn; None draws the best one.
        free: a run with the same settings without the constraint, for the price.

    A click on a bar hands over `customdata = [step index, token id]`.
    """
    steps = constrained_steps(trace, path_of(trace, node))
    if not steps:
        return "No constraint acted in this run, or its masks weren't recorded."
    lowest = min(steps, key=lambda step: step.log_mass)
    wanted = [
        (step, min(0.0, math.log(step.wanted.raw_prob)))
        for step in steps
        if step.wanted and step.wanted.raw_prob > 0
    ]
    depth = min(-_DEPTH, lowest.log_mass, *(level for _, level in wanted))
    sheet = token_sheet(
        theme,
        paper,
        [(nth(step.at_step), step.token.text) for step in steps],
        axis(theme, "ln S, nats", 6, range=[1.06 * depth, 0], nticks=6),
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
    heights = [step.log_mass for step in steps]
    sheet.traces.append({"type": "bar", "name": "ln S", "y": heights, **bars, **_shared(steps)})
    forced = [step for step in steps if step.forced]
    sheet.traces.append(_marks(theme, "forced", forced, [0.0] * len(forced)))
    refused, levels = [step for step, _ in wanted], [level for _, level in wanted]
    sheet.traces.append(_marks(theme, "not allowed", refused, levels))
    if selected is not None and paper.selection:
        add_selection(sheet, nth(selected))
    _add_numbers(sheet, steps)
    return sheet


def _add_numbers(sheet: Sheet, steps: Sequence[ConstrainedStep]) -> None:
    """Write the masses above the bars: level if all have room, else upright, the lowest first."""
    first, last = sheet.layout["xaxis"]["range"]
    column = sheet.room / (last - first)
    numbers = [percent(math.exp(step.log_mass)) for step in steps]
    sizes = [text_width(number, SMALL) for number in numbers]
    level = all(
        (size + after) / 2 + _APART <= (later.at_step - step.at_step) * column
        for (step, size), (later, after) in pairwise(zip(steps, sizes, strict=True))
    )
    sheet.above = _GAP + math.ceil(4 + (SMALL if level else max(sizes)))
    look: Properties = {"yanchor": "bottom", "borderpad": 0, "yshift": _GAP}
    look |= {} if level else {"textangle": -90}
    taken = list[int]()
    rows = zip(steps, numbers, strict=True)
    for step, number in sorted(rows, key=lambda row: row[0].log_mass):
        place = nth(step.at_step)
        if level or all(abs(place - other) * column >= _COLUMN for other in taken):
            taken.append(place)
            add_note(sheet, "S", number, place, 0, size=SMALL, color=sheet.theme.muted, **look)


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
