"""Flame chart of the recorded calls: the caller and the duration of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...decoding.counting import counted, duration, nth
from ...language import N_, tr
from ...traces.data_path.steps import act_of, part_of, starts_step
from ...traces.data_path.types import FunctionCall
from ..base.axes import axis, bare_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import escaped, lines, table_text, visible_token, with_prompt
from ..base.marks import INSIDE, hover_texts, overlaid
from ..base.measure import fitted
from ..base.paper import SMALL, WIDE, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

_TEXT_SIZE = 11
_DEEPEST, _MOST_MARKS = 16, 450
# Narrower calls are left out, px.
_NARROWEST = 0.75
_LONGEST = 60
# Padding of a bar's text, and minimum width for a name, px.
_PADDING, _LEAST = 8, 26
# In the order of a step.
ACTS = {
    "forward": N_("forward"),
    "attention": N_("attention"),
    "mlp": "MLP",
    "shaping": N_("shaping"),
    "draw": N_("draw"),
    "text": N_("text"),
    "record": N_("recording of the step"),
    "other": N_("what calls them"),
}
_COLORS = {
    "forward": "sky",
    "attention": "purple",
    "mlp": "blue",
    "shaping": "green",
    "draw": "yellow",
    "text": "vermillion",
}


class _Mark(NamedTuple):
    """A call with its position; `step` is the run's step, -1 outside of steps."""

    call: FunctionCall
    depth: int
    act: str
    step: int


@table("step depth act function file line start_ms ms in out", whole="step")
def flame_chart_data(calls: tuple[FunctionCall, ...], *, first_step: int = -1) -> TableRows:
    """Return every call as a row, by start time, including calls that the figure leaves out."""
    return [
        (
            nth(mark.step) if mark.step >= 0 else None,
            mark.depth,
            mark.act,
            table_text(mark.call.function),
            mark.call.file,
            mark.call.line,
            1e3 * mark.call.start,
            1e3 * mark.call.seconds,
            table_text(tr(", ").join(f"{name}: {text}" for name, text in mark.call.arguments)),
            table_text(mark.call.result),
        )
        for mark in _marks(calls, 0, "other", first_step)
    ]


def _color(act: str, theme: Theme) -> str:
    special = {"record": theme.categories[4], "other": theme.panel}
    return special[act] if act in special else theme.named[_COLORS[act]]


def _key(theme: Theme, shown: Sequence[_Mark]) -> list[list[tuple[str, str, str]]]:
    acts = [act for act in ACTS if any(mark.act == act for mark in shown)]
    entries = [
        (theme.muted, tr(ACTS[act]), "□")
        if act == "other"
        else (_color(act, theme), tr(ACTS[act]), "■")
        for act in acts
    ]
    return [entries[at : at + 4] for at in range(0, len(entries), 4)]


@figure(
    N_("Flame chart of the calls"),
    with_prompt,
    flame_chart_data,
    subtitle=lambda what, total, marks, shown: (
        tr(
            "Each bar is a call, below the one that made it; {calls} took {time}.",
            calls=tr(what),
            time=duration(total),
        ),
        len(shown) < len(marks)
        and tr("Too short to be seen: {calls}.", calls=counted(len(marks) - len(shown), "call")),
    ),
    alt=lambda what, total, marks: (
        tr(
            "Flame chart of the {number} calls of {calls}, {time:.1f} ms. The longest:",
            number=len(marks),
            calls=tr(what),
            time=1e3 * total,
        ),
        tr(", ").join(
            f"{mark.call.function} {1e3 * mark.call.seconds:.2f} ms"
            for mark in sorted(marks, key=lambda mark: -mark.call.seconds)[:5]
        )
        + tr("."),
    ),
    key=_key,
)
def flame_chart(
    calls: tuple[FunctionCall, ...],
    *,
    caption: str,
    prompt: str = "",
    what: str = N_("this step"),
    first_step: int = -1,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Draw calls as bars of their duration, each below its caller.

    Args:
        prompt: prompt of the run; in print the caption names it.
        what: description of the calls, a declared text.
        first_step: step in which the calls begin; -1 for the prompt.

    A click on a bar hands over `customdata = [step index]`, -1 for the prompt.
    """
    if not calls:
        return tr("Nothing was recorded here.")
    start = calls[0].start
    total = max(max(call.start + call.seconds for call in calls) - start, 1e-9)
    marks = list(_marks(calls, 0, "other", first_step))
    # Calls wide enough to be visible, the longest first.
    least = total * _NARROWEST / paper.width
    seen = [m for m in marks if m.depth < _DEEPEST and (m.call.seconds >= least or m.depth == 0)]
    shown = sorted(seen, key=lambda mark: -mark.call.seconds)[:_MOST_MARKS]
    depth = 1 + max(mark.depth for mark in shown)
    sheet = Sheet(
        theme,
        paper,
        facts={"total": total, "marks": marks, "shown": shown},
        plot_height=22 * depth,
        left=14,
        below=72,
        key_offset=40,
    )
    for act in ACTS:
        group = [mark for mark in shown if mark.act == act]
        if group:
            sheet.traces.append(_bars(group, act, start, (paper.width - 28) / total, theme))
    sheet.layout |= {
        **overlaid(SMALL),
        "xaxis": axis(theme, "ms", range=[0, 1e3 * total], nticks=7),
        "yaxis": bare_axis(theme, range=[depth - 0.5, -0.5]),
    }
    return sheet


def _marks(calls: Iterable[FunctionCall], depth: int, around: str, step: int) -> Iterator[_Mark]:
    for call in calls:
        step += starts_step(call)
        act = part_of(call) or (around if around != "other" else act_of(call)) or "other"
        yield _Mark(call, depth, act, step)
        yield from _marks(call.calls, depth + 1, act, step)


def _bars(marks: list[_Mark], act: str, start: float, scale: float, theme: Theme) -> Properties:
    """Return the bars of one stage of a step; a second is `scale` px long."""
    color = _color(act, theme)
    texts, hovers = [], []
    for call, step in ((mark.call, mark.step) for mark in marks):
        module = call.function.partition(" ")[2]
        # A called object is named by its class.
        attribute = call.function.removesuffix(".__call__").rpartition(".")[2]
        name = ".".join(module.split(".")[-2:]) if module else attribute
        room = scale * call.seconds - _PADDING
        shown = fitted(visible_token(name), room, _TEXT_SIZE, "mono") if room >= _LEAST else ""
        texts.append(escaped(shown))
        hovers.append(
            lines(
                f"<b>{escaped(call.function)}</b>",
                f"{escaped(call.file)}:{call.line}",
                f"{duration(call.seconds)} · "
                + (
                    tr("step {step}", step=nth(step))
                    if step >= 0
                    else tr("the prompt, or around the steps")
                ),
                *(f"IN {escaped(name)}: {_short(text)}" for name, text in call.arguments[:6]),
                call.result and f"OUT {_short(call.result)}",
            )
        )
    return {
        "type": "bar",
        "orientation": "h",
        "name": tr(ACTS[act]),
        "base": [1e3 * (mark.call.start - start) for mark in marks],
        "x": [1e3 * mark.call.seconds for mark in marks],
        "y": [mark.depth for mark in marks],
        "width": 0.92,
        **INSIDE,
        "insidetextanchor": "start",
        "textangle": 0,
        "text": texts,
        "textfont": {"family": theme.mono, "size": _TEXT_SIZE, "color": theme.text_on(color)},
        "marker": {
            "color": color,
            "line": {"color": (theme.muted if act == "other" else theme.paper), "width": 0.5},
        },
        **hover_texts(hovers),
        "customdata": [[mark.step] for mark in marks],
        "cliponaxis": True,
    }


def _short(text: str) -> str:
    return escaped(visible_token(text, _LONGEST).replace("␣", " "))
