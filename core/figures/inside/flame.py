"""Recorded calls over time: who called whom, and how long each took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from core.decoding.counting import counted, duration, nth
from core.figures.base.axes import axis, bare_axis, key_entry
from core.figures.base.figure import TableRows, figure, table
from core.figures.base.labels import escaped, table_text, visible_token, with_prompt
from core.figures.base.marks import INSIDE, hover_texts, overlaid
from core.figures.base.measure import fitted
from core.figures.base.paper import SMALL, WIDE, Paper
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.traces.data_path.steps import act_of, part_of, starts_step
from core.traces.data_path.types import FunctionCall

_TEXT_SIZE = 11
_DEEPEST, _MOST_MARKS = 16, 450
# A call that is narrower, px, is left out.
_NARROWEST = 0.75
_LONGEST = 60
# What a bar keeps free of its text, and the least that a name needs, px.
_PADDING, _LEAST = 8, 26
# In the order of a step.
ACTS = {
    "forward": "forward",
    "attention": "attention",
    "mlp": "MLP",
    "shaping": "shaping",
    "draw": "draw",
    "text": "text",
    "record": "recording of the step",
    "other": "what calls them",
}


class _Mark(NamedTuple):
    """A call with its place; `step` is the run's, -1 outside of any."""

    call: FunctionCall
    depth: int
    act: str
    step: int


@table("step depth act function file line start_ms ms in out", whole="step")
def flame_chart_data(calls: tuple[FunctionCall, ...], *, first_step: int = -1) -> TableRows:
    """Every call, one a row, in the order of their beginnings; those left out of the figure too."""
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
            table_text(", ".join(f"{name}: {text}" for name, text in mark.call.arguments)),
            table_text(mark.call.result),
        )
        for mark in _marks(calls, 0, "other", first_step)
    ]


@figure("The calls, over time", with_prompt, flame_chart_data)
def flame_chart(
    calls: tuple[FunctionCall, ...],
    *,
    caption: str,
    prompt: str = "",
    what: str = "this step",
    first_step: int = -1,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Calls as bars, as long as they took, each below the one that made it.

    Args:
        prompt: of the run; in print the caption names it.
        what: which calls they are, in words.
        first_step: the step that they begin in; -1 for the prompt's.

    A click on a bar hands over `customdata = [step index]`, -1 for the prompt.
    """
    if not calls:
        return "Nothing was recorded here."
    start = calls[0].start
    end = max(call.start + call.seconds for call in calls)
    total = max(end - start, 1e-9)
    marks = list(_marks(calls, 0, "other", first_step))
    shown = _shown(marks, total, paper.width)
    depth = 1 + max(mark.depth for mark in shown)
    sheet = Sheet(
        theme,
        paper,
        subtitle=_subtitle(what, total, len(marks) - len(shown)),
        alt=_alt(marks, what, total),
        plot_height=22 * depth,
        left=14,
        below=72,
        key=_key({mark.act for mark in shown}, theme),
        key_offset=40,
    )
    for act in ACTS:
        group = [mark for mark in shown if mark.act == act]
        if group:
            sheet.traces.append(_bars(group, act, start, total, paper.width, theme))
    sheet.layout |= overlaid(SMALL)
    sheet.layout["xaxis"] = axis(sheet.theme, "ms", range=[0, 1e3 * total], nticks=7)
    sheet.layout["yaxis"] = bare_axis(sheet.theme, range=[depth - 0.5, -0.5])
    return sheet


def _marks(calls: Iterable[FunctionCall], depth: int, around: str, step: int) -> Iterator[_Mark]:
    for call in calls:
        step += starts_step(call)
        act = part_of(call) or (around if around != "other" else act_of(call)) or "other"
        yield _Mark(call, depth, act, step)
        yield from _marks(call.calls, depth + 1, act, step)


def _shown(marks: list[_Mark], total: float, width: float) -> list[_Mark]:
    """Calls that are wide enough to be seen, at most `_MOST_MARKS`, the longest first."""
    least = total * _NARROWEST / width
    seen = [m for m in marks if m.depth < _DEEPEST and (m.call.seconds >= least or m.depth == 0)]
    return sorted(seen, key=lambda mark: -mark.call.seconds)[:_MOST_MARKS]


def _color(act: str, theme: Theme) -> str:
    named = {
        "forward": "sky",
        "attention": "purple",
        "mlp": "blue",
        "shaping": "green",
        "draw": "yellow",
        "text": "vermillion",
    }
    special = {"record": theme.categories[4], "other": theme.panel}
    return theme.named[named[act]] if act in named else special[act]


def _bars(
    marks: list[_Mark], act: str, start: float, total: float, width: float, theme: Theme
) -> Properties:
    color = _color(act, theme)
    room = [(width - 28) * mark.call.seconds / total - _PADDING for mark in marks]
    return {
        "type": "bar",
        "orientation": "h",
        "name": ACTS[act],
        "base": [1e3 * (mark.call.start - start) for mark in marks],
        "x": [1e3 * mark.call.seconds for mark in marks],
        "y": [mark.depth for mark in marks],
        "width": 0.92,
        **INSIDE,
        "insidetextanchor": "start",
        "textangle": 0,
        "text": [_label(mark.call, held) for mark, held in zip(marks, room, strict=True)],
        "textfont": {"family": theme.mono, "size": _TEXT_SIZE, "color": theme.text_on(color)},
        "marker": {
            "color": color,
            "line": {"color": (theme.muted if act == "other" else theme.paper), "width": 0.5},
        },
        **hover_texts([_hover(mark) for mark in marks]),
        "customdata": [[mark.step] for mark in marks],
        "cliponaxis": True,
    }


def _label(call: FunctionCall, room: float) -> str:
    """The function's own name, as far as there is room, px."""
    if room < _LEAST:
        return ""
    module = call.function.partition(" ")[2]
    # An object that is called has its class's name.
    attribute = call.function.removesuffix(".__call__").rpartition(".")[2]
    name = ".".join(module.split(".")[-2:]) if module else attribute
    return escaped(fitted(visible_token(name), room, _TEXT_SIZE, "mono"))


def _hover(mark: _Mark) -> str:
    call = mark.call
    step = f"step {nth(mark.step)}" if mark.step >= 0 else "the prompt, or around the steps"
    lines = [
        f"<b>{escaped(call.function)}</b>",
        f"{escaped(call.file)}:{call.line}",
        f"{duration(call.seconds)} · {step}",
        *(f"IN {escaped(name)}: {_short(text)}" for name, text in call.arguments[:6]),
    ]
    return "<br>".join([*lines, f"OUT {_short(call.result)}"] if call.result else lines)


def _short(text: str) -> str:
    return escaped(visible_token(text, _LONGEST).replace("␣", " "))


def _key(acts: set[str], theme: Theme) -> list[str]:
    drawn = [act for act in ACTS if act in acts and act != "other"]
    entries = [key_entry(_color(act, theme), ACTS[act]) for act in drawn]
    entries += [key_entry(theme.muted, ACTS["other"], "□")] if "other" in acts else []
    return ["".join(entries[at : at + 4]) for at in range(0, len(entries), 4)]


def _subtitle(what: str, total: float, hidden: int) -> str:
    left = f" Too short to be seen: {counted(hidden, 'call')}." if hidden else ""
    return f"Each bar is a call, below the one that made it; {what} took {duration(total)}.{left}"


def _alt(marks: list[_Mark], what: str, total: float) -> str:
    longest = sorted(marks, key=lambda mark: -mark.call.seconds)[:5]
    named = ", ".join(f"{m.call.function} {1e3 * m.call.seconds:.2f} ms" for m in longest)
    return (
        f"Flame chart of the {len(marks)} calls of {what}, {1e3 * total:.1f} ms. "
        f"The longest: {named}."
    )
