"""Times of a run: the prompt, the steps in total, and every step."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted, nth
from ...decoding.record.notes import RECOMPUTED
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    escaped,
    lines,
    milliseconds,
    plain_name,
    settings_caption,
    table_text,
)
from ..base.marks import hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..base.totals import (
    add_part,
    add_whiskers,
    name_total,
    of_runs,
    step_axes,
    total_axes,
)

_LINES, _GAP = 190, 68
_PARTS = {
    "prefill": N_("prefill"),
    "forward": N_("forward"),
    "shaping": N_("shaping"),
    "draw": N_("draw"),
    "other": N_("other"),
}


@table("run part step forward_s shaping_s draw_s total_s", whole="step")
def timing_data(runs: Sequence[tuple[str, Trace]]) -> TableRows:
    """Return the seconds: one row for each run's prompt (without a step number) and one for each
    step.
    """
    for name, trace in runs:
        prefill = trace.timings.prefill
        yield (table_text(name), "prefill", None, prefill, 0.0, 0.0, prefill)
        for step in trace.token_steps:
            times = (*step.seconds, step.seconds.total)
            yield (table_text(name), "step", nth(step.index), *times)


def _captions(runs: Sequence[tuple[str, Trace]], paper: Paper) -> str:
    """Return the settings of each run, and the steps that took longer as the cache was
    recomputed.
    """
    lines = []
    for name, trace in runs:
        anew = [plain_name(tr(words), 200) for key, words in trace.notes if key == RECOMPUTED]
        head = f"{plain_name(name)}: " if len(runs) > 1 else ""
        lines.append(head + " · ".join([settings_caption(trace, paper), *anew]))
    return "\n".join(lines)


@figure(
    N_("Time of runs and steps"),
    _captions,
    timing_data,
    subtitle=lambda runs: (
        escaped(_ratio(runs)),
        tr("Above: the run; tokens/s: tokens after the first over decode time. Below: each step."),
        not any(trace.token_steps[0].seconds.forward for _, trace in runs if trace.token_steps)
        and tr("Step 1 needs no forward: the prompt's gave its logits."),
    ),
    alt=lambda runs: (
        tr("Times of the runs."),
        _ratio(runs),
        *(
            tr(
                "{name}: {times}, {steps}.",
                name=plain_name(name),
                times=_summary(trace),
                steps=counted(len(trace.token_steps), "step"),
            )
            for name, trace in runs
        ),
    ),
    key=lambda runs, theme: [
        [(color, tr(_PARTS[part])) for part, color in _part_colors(theme).items()],
        [
            (_ink(number, theme), escaped(plain_name(name)), "●◆"[number % 2])
            for number, (name, _) in enumerate(runs)
        ],
    ],
)
def timing(
    runs: Sequence[tuple[str, Trace]],
    *,
    others: Sequence[Sequence[Trace]] = (),
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw a bar with the total of every run, and below it the time of every step, in ms.

    Args:
        runs: names and traces, such as cache on and cache off.
        others: for each trace, all runs that it is the median of, to show their spread.
    """
    if not any(trace.steps for _, trace in runs):
        return tr("No run to time: nothing was processed.")
    upper = 58 * len(runs)
    height = upper + _GAP + _LINES
    times = [
        [1000 * sum(_parts(trace).values()) for trace in runs_of_one] for runs_of_one in others
    ]
    totals = [1000 * sum(_parts(trace).values()) for _, trace in runs] + list(map(max, times))
    sheet = Sheet(
        theme,
        paper,
        plot_height=height,
        left=56,
        right=20,
        below=74,
        key_offset=40,
        layout={
            **total_axes(theme, "ms", totals, upper / height, rows=len(runs), tickformat=","),
            **step_axes(
                theme,
                (tr("step"), tr("ms a step")),
                max(len(trace.token_steps) for _, trace in runs),
                _LINES / height,
                8,
                rangemode="tozero",
            ),
            "barmode": "stack",
        },
    )
    _add_totals(sheet, runs, times)
    sheet.traces += [_line(number, *run, theme) for number, run in enumerate(runs)]
    return sheet


def _ratio(runs: Sequence[tuple[str, Trace]]) -> str:
    """Return how many times longer the slower of two runs takes; empty unless there are two."""
    if len(runs) != 2:
        return ""
    (_, least), (slow, most) = sorted(
        ((name, sum(_parts(trace).values())) for name, trace in runs), key=lambda one: one[1]
    )
    if least <= 0:
        return ""
    return tr("{name} takes {ratio:.2f} times as long.", name=plain_name(slow), ratio=most / least)


def _parts(trace: Trace) -> dict[str, float]:
    """Return the seconds until the first token, those of the later steps' parts, and the rest as
    `other`.
    """
    seconds = [step.seconds for step in trace.token_steps[1:]]
    parts = {
        "prefill": trace.timings.prefill,
        "forward": sum(item.forward for item in seconds),
        "shaping": sum(item.shaping for item in seconds),
        "draw": sum(item.draw for item in seconds),
    }
    inside = parts["forward"] + parts["shaping"] + parts["draw"]
    return {**parts, "other": max(0.0, trace.timings.decode - inside)}


def _ink(number: int, theme: Theme) -> str:
    """Return the colour of a run's line; dashes and markers also distinguish the lines."""
    return (theme.ink, theme.second, theme.first, theme.muted)[number % 4]


def _part_colors(theme: Theme) -> dict[str, str]:
    return {
        **{
            part: theme.named[color]
            for part, color in zip(_PARTS, ("purple", "sky", "green", "yellow"), strict=False)
        },
        "other": theme.rest,
    }


def _add_totals(
    sheet: Sheet, runs: Sequence[tuple[str, Trace]], times: Sequence[Sequence[float]]
) -> None:
    totals = [_parts(trace) for _, trace in runs]
    for part, color in _part_colors(sheet.theme).items():
        values = [1000 * total[part] for total in totals]
        trace = add_part(sheet, part, range(len(runs)), values, color)
        name = tr(_PARTS[part])
        trace |= hover_texts([f"{name} {milliseconds(value / 1000)}" for value in values])
        trace["customdata"] = [[number, -1] for number in range(len(runs))]
    for row, (name, run) in enumerate(runs):
        median_of = of_runs(times[row]) if times else ""
        name_total(sheet, row, escaped(plain_name(name)), _summary(run), median_of)
    add_whiskers(sheet, times)


def _summary(trace: Trace) -> str:
    timings = trace.timings
    return tr(
        "prefill {prefill} · decode {decode} · {speed:,.0f}{nbsp}tokens/s",
        prefill=milliseconds(timings.prefill),
        decode=milliseconds(timings.decode),
        speed=trace.tokens_per_second,
        nbsp=NBSP,
    )


def _line(number: int, name: str, trace: Trace, theme: Theme) -> Properties:
    steps, color = trace.token_steps, _ink(number, theme)
    hovers = [
        lines(
            tr(
                "<b>{name}</b>, step {number}",
                name=escaped(plain_name(name)),
                number=nth(step.index),
            ),
            milliseconds(step.seconds.total),
            *(
                f"{tr(_PARTS[part])} {milliseconds(getattr(step.seconds, part))}"
                for part in ("forward", "shaping", "draw")
            ),
        )
        for step in steps
    ]
    return {
        "type": "scatter",
        "name": escaped(plain_name(name)),
        "xaxis": "x2",
        "yaxis": "y2",
        "x": [nth(step.index) for step in steps],
        "y": [1000 * step.seconds.total for step in steps],
        "mode": "lines+markers" if len(steps) <= 80 else "lines",
        "line": {
            "color": color,
            "dash": ("solid", "dash", "dot", "dashdot")[number % 4],
            "width": 2,
        },
        "marker": {"symbol": ("circle", "diamond")[number % 2], "size": 7, "color": color},
        "cliponaxis": False,
        **hover_texts(hovers),
        "customdata": [[step.index, step.token_id] for step in steps],
    }
