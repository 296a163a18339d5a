"""State of a sampler over the run: mirostat's mu with the surprises, adaptive-p's average."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from ...decoding.counting import counted
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import SETTINGS
from ...decoding.shaping.spec import StageState
from ...language import N_, tr
from ..base.axes import MOST_TICKS, axis, token_sheet
from ..base.figure import figure, table
from ..base.labels import (
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_frame, add_line, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme


class Followed(NamedTuple):
    """A step with the sampler's state before it, and the number that the sampler saw of its token;
    None if it left the state as it was.
    """

    step: TokenStep
    state: float
    seen: float | None


def sampler_of(trace: Trace) -> str:
    """Return the setting of the run's sampler with a state; empty without one."""
    return next((name for step in trace.token_steps for name in step.states), "")


def _followed(trace: Trace, name: str) -> Iterator[Followed]:
    state = SETTINGS[name].state
    assert state is not None
    for step in trace.token_steps:
        place = step.candidates.index(step.chosen)
        for before, after in pairwise(step.stages):
            if after.name == name and after.state is not None:
                seen = state.seen(before.probs[place], after.probs[place])
                yield Followed(step, after.state, None if step.origin == "forced" else seen)


@table("step token_id token state seen aim")
def _rows(trace: Trace) -> Iterator[tuple[object, ...]]:
    name = sampler_of(trace)
    for step, state, seen in _followed(trace, name) if name else ():
        text = table_text(step.chosen.text)
        yield step.index + 1, step.token_id, text, state, seen, _aim(trace, name)


def sampler_state_data(trace: Trace) -> pd.DataFrame:
    """Return the state before every step, the number seen of its token, and the aim."""
    return _rows(trace)


def _aim(trace: Trace, name: str) -> float:
    state = SETTINGS[name].state
    assert state is not None
    return state.aim(trace.config.shaping.value_of(name))


def _shown(value: float, spec: StageState) -> str:
    return f"{value:.2f} {tr(spec.unit)}" if spec.unit else percent(max(value, 0.0))


@figure(
    N_("State of the sampler"),
    settings_caption,
    sampler_state_data,
    subtitle=lambda spec, label: tr(
        "The line is {sampler}'s {state} before each draw, the marks the drawn token's {seen}; "
        "the dashed line is the aim.",
        sampler=label,
        state=tr(spec.name),
        seen=tr(spec.seen_name),
    ),
    alt=lambda spec, label, followed, mean, aim: (
        tr(
            "{sampler}'s {state} over {steps}, from {first} to {last}.",
            sampler=label,
            state=tr(spec.name),
            steps=counted(len(followed), "step"),
            first=_shown(followed[0].state, spec),
            last=_shown(followed[-1].state, spec),
        ),
        tr(
            "The mean {seen} of the chosen tokens is {mean}; the aim is {aim}.",
            seen=tr(spec.seen_name),
            mean=_shown(mean, spec),
            aim=_shown(aim, spec),
        ),
    ),
    key=lambda theme, spec: [
        [(theme.first, tr(spec.name)), (theme.second, tr(spec.seen_name), "◆")]
    ],
)
def sampler_state(
    trace: Trace,
    *,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw the state of a run's sampler before every step, and what it saw of each token.

    A click on a point hands over `customdata = [step index, token id]`.
    """
    name = sampler_of(trace)
    if not name:
        return tr("No sampler of this run has a state: mirostat and adaptive-p have one.")
    spec, followed = SETTINGS[name].state, list(_followed(trace, name))
    assert spec is not None
    aim = _aim(trace, name)
    seen = [each.seen for each in followed if each.seen is not None]
    values = [*(each.state for each in followed), *seen, aim]
    low, high = min(0.0, *values), max(1.0 if spec.unit else 0.1, *values)
    room = 0.08 * (high - low)
    numbers = [each.step.index + 1 for each in followed]
    sheet = token_sheet(
        theme,
        paper,
        [(number, each.step.chosen.text) for number, each in zip(numbers, followed, strict=True)],
        axis(
            theme,
            tr(spec.unit or spec.seen_name),
            6,
            range=[low - (room if low < 0 else 0), high + room],
            nticks=6,
            **({} if spec.unit else {"tickformat": ".0%"}),
        ),
        facts={
            "spec": spec,
            "label": visible_token(tr(SETTINGS[name].label), 24),
            "followed": followed,
            "mean": sum(seen) / len(seen) if seen else 0.0,
            "aim": aim,
        },
    )
    ends = numbers[0] - 0.7, numbers[-1] + 0.7
    add_line(sheet, "aim", ends, aim, theme.muted, 1.5, dash="dash")
    _add_marks(sheet, followed, spec)
    if selected is not None and paper.selection:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        across = selected + 0.5, selected + 1.5
        add_frame(sheet, "selected", across, (0, 1), theme.ink, 1.5, **look)
    return sheet


def _add_marks(sheet: Sheet, followed: list[Followed], spec: StageState) -> None:
    hovers = [
        lines(
            f"<b>{show_token(step.chosen.text, 40)}</b>",
            tr("step {number}", number=step.index + 1),
            f"{tr(spec.name)} {_shown(state, spec)}",
            tr("it leaves the state")
            if seen is None
            else f"{tr(spec.seen_name)} {_shown(seen, spec)}",
        )
        for step, state, seen in followed
    ]
    shared = {
        "x": [each.step.index + 1 for each in followed],
        **hover_texts(hovers),
        "customdata": [[each.step.index, each.step.token_id] for each in followed],
        "type": "scatter",
        "cliponaxis": False,
    }
    sheet.traces.append(
        {
            **shared,
            "name": spec.name,
            "mode": "lines" if len(followed) > 1 else "markers",
            "line": {"color": sheet.theme.first, "width": 2, "shape": "hv"},
            "y": [each.state for each in followed],
        }
    )
    marker: Properties = {"size": 9 if len(followed) <= MOST_TICKS else 6, "symbol": "diamond"}
    marker |= {"color": sheet.theme.second, "line": {"color": sheet.theme.paper, "width": 1}}
    seen = [each.seen for each in followed]
    sheet.traces.append(
        {**shared, "name": spec.seen_name, "mode": "markers", "marker": marker, "y": seen}
    )
