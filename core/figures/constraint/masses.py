"""Probability mass that a constraint allowed at each step of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...decoding.constraints.reading import ConstrainedStep, constrained_steps, text_logprob
from ...decoding.counting import counted, nth
from ...decoding.record.trace import Trace
from ...language import N_, tr
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
from ..base.sheet import Properties, Sheet, joined
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
    beside = node if node and path != best else None
    numbers = {
        "tokens": counted(count, "token"),
        "own": nats(own, 2),
        "within": nats(own - kept, 2),
        "kept": nats(kept, 2),
    }
    if beside is None:
        price = tr(
            "ln p of the {tokens}: {own} nats under the model, {within} within the constraint; the "
            "difference {kept} is the sum of ln S.",
            **numbers,
        )
    else:
        price = tr(
            "ln p of the {tokens} of the path to step {step}: {own} nats under the model, {within} "
            "within the constraint; the difference {kept} is the sum of ln S.",
            step=nth(beside[0]),
            **numbers,
        )
    answer = not path and begin > 0
    return joined(
        [
            answer and tr("It acts in the answer, from step {step} on.", step=nth(begin)),
            price,
            *(_against(trace, beside, free) if free else ()),
        ]
    )


def _against(trace: Trace, node: Node | None, free: Trace) -> Iterator[str]:
    """Yield sentences that compare a text with the free run's, per token as their lengths differ.

    Args:
        node: a node beside the best path; None compares the best path alone.
    """
    path, best = path_of(trace, node), path_of(trace)
    count, free_count = len(path or trace.token_ids), len(free.token_ids)
    own, other = text_logprob(trace, path), text_logprob(free, path_of(free))
    tokens = counted(free_count, "token")
    if node:
        yield tr(
            "The free run's {tokens}: {free}; the best path here: {best}.",
            tokens=tokens,
            free=nats(other, 2),
            best=nats(text_logprob(trace, best), 2),
        )
    else:
        yield tr("The free run's {tokens}: {free}.", tokens=tokens, free=nats(other, 2))
    if not count or not free_count or not math.isfinite(own - other):
        return
    less = other / free_count - own / count
    numbers = {
        "own": nats(own / count, 2),
        "free": nats(other / free_count, 2),
        "difference": nats(abs(less), 2),
    }
    if round(less, 2) == 0:
        yield tr(
            "Per token {own} here and {free} there: to the model, the text under the constraint is "
            "as likely per token.",
            **numbers,
        )
    elif less > 0:
        yield tr(
            "Per token {own} here and {free} there: to the model, the text under the constraint is "
            "{difference} nats per token less likely.",
            **numbers,
        )
    else:
        yield tr(
            "Per token {own} here and {free} there: to the model, the text under the constraint is "
            "{difference} nats per token more likely.",
            **numbers,
        )


@figure(
    N_("Mass that the constraint allowed"),
    settings_caption,
    constraint_masses_data,
    subtitle=_price,
    alt=lambda forced, refused, log_mass, lowest, lowest_number: (
        tr(
            "The model's probability mass on the allowed tokens at {steps}; at {forced} of them "
            "one token alone was allowed, and at {refused} the model's likeliest token was not.",
            steps=counted(len(log_mass), "step"),
            forced=forced,
            refused=refused,
        ),
        tr(
            "It is lowest at step {number}, before {token}, with {mass}.",
            number=lowest_number,
            token=visible_token(lowest.token.text, 24),
            mass=percent(math.exp(lowest.log_mass)),
        ),
    ),
    key=lambda theme: [
        [
            (theme.uncertainty_color(_PALE), tr("ln S; number: S, mass of the allowed tokens")),
            (theme.first, tr("one allowed: forced"), "■"),
            (theme.second, tr("ln p of the likeliest token, not allowed"), "◆"),
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
        return tr("No constraint acted in this run, or its masks weren't recorded.")
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
        axis(theme, tr("ln S, nats"), 6, range=[1.06 * depth, 0], nticks=6),
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
            tr(
                "step {number} · at {place}",
                number=nth(step.at_step),
                place=show_token(step.place, 60) or tr("the root"),
            ),
            tr("one token allowed: forced")
            if step.forced
            else tr("{count:,} tokens allowed", count=step.allowed),
            f"S = {percent(math.exp(step.log_mass))}, ln S = {nats(step.log_mass)}",
            step.wanted
            and tr(
                "not allowed: {token} {probability}",
                token=show_token(step.wanted.text, 40),
                probability=percent(step.wanted.raw_prob),
            ),
        )
        for step in steps
    ]
    return {
        "x": [nth(step.at_step) for step in steps],
        **hover_texts(hovers),
        "customdata": [[step.at_step, step.token.token_id] for step in steps],
    }
