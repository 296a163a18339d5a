"""One step of a beam search: its candidates by rank, and their distances from the cut."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ...decoding.beam.compare import winner_candidates
from ...decoding.beam.types import BeamStep
from ...decoding.counting import counted, nth, span_key
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.color import blend
from ..base.figure import figure
from ..base.labels import NBSP, escaped, nats, show_token, text_columns, visible_token
from ..base.marks import CLEAR, add_frame, add_line
from ..base.measure import text_width
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet, no_selection
from ..base.theme import LIGHT, Theme
from .words import FATES, beam_caption, beam_tree_data, fate_words

_LIMIT = 10
# Width of a number after a bar, px.
_NUMBER = 40
_MOST_ROWS, _LEAST_PRUNED = 20, 4
# Outcomes of a candidate, in the order of the key and of the overlaid bars.
_KINDS = {"best": N_("best path"), **FATES}
_LAYERS = ("pruned", "kept", "finished", "best")
# Thickness of a bar, in rows: Plotly would take it from the distances within one layer.
_BAR = 0.7
_HOVER = "<b>%{customdata[2]}</b><br>%{customdata[3]}<br>%{customdata[4]}<extra></extra>"


def beam_step_data(trace: Trace, index: int) -> pd.DataFrame:
    """Return the candidates of one step, as in `beam_tree_data`."""
    return beam_tree_data(trace, first=index, columns=1)


@figure(
    N_("The candidates of a step"),
    beam_caption,
    beam_step_data,
    subtitle=lambda step, shown: (
        tr("No path was kept after this step. Bars: log-probability below the best.")
        if step.margin(step.candidates[shown[0]]) is None
        else (
            tr("Each bar is a path's log-probability above or below the last one that was kept."),
            step.origin != "argmax" and tr("Drawn, in this order."),
            len(_own(step, shown[0])) > len(shown)
            and tr("{more} more are pruned.", more=len(_own(step, shown[0])) - len(shown)),
        )
    ),
    alt=lambda step, index, shown, margins: (
        _alt(step, index, len(shown)),
        tr("; ").join(
            f"{visible_token(step.candidates[place].text, 16)} "
            f"{tr(_KINDS[step.candidates[place].fate])} {nats(margin, 2)}"
            for place, margin in zip(shown[:6], margins, strict=False)
        )
        + tr("."),
    ),
    key=lambda theme: [[(color, tr(_KINDS[kind])) for kind, color in _colors(theme).items()]],
)
def beam_step(
    trace: Trace,
    index: int,
    *,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw a step's candidates of the selected one's group: nats above or below the cut.

    Args:
        selected: place of the selected candidate.

    A click on a bar hands over `customdata`, which begins with `[step, place]`.
    """
    if not 0 <= index < len(trace.beam_steps):
        return no_selection(paper, N_("step"), N_("a token in the tree"))
    step = trace.beam_steps[index]
    shown = _shown(step, selected)
    labels = _labels(trace, index, shown, theme)
    left = 24 + round(7.2 * max(text_columns(plain) for plain, _ in labels))
    margins = _margins(step, shown)
    ends = _ends(margins, paper.width - left - 18)
    sheet = Sheet(
        theme,
        paper,
        title=tr("Candidates at step {step}", step=nth(index)),
        facts={"step": step, "shown": shown, "margins": margins},
        meta={"shown": [span_key("step", index)]},
        plot_height=22 * len(shown),
        left=left,
        right=18,
        below=72,
        traces=_bars(trace, index, shown, margins, ends, theme),
        key_offset=52,
        layout={
            "barmode": "overlay",
            "xaxis": axis(theme, tr("difference, nats"), 6, range=list(ends), nticks=6),
            "yaxis": named_axis(
                theme, [text for _, text in labels], range=[len(shown) - 0.5, -0.5]
            ),
        },
    )
    add_line(sheet, "cut", 0, (0, 1), theme.ink, 1.2, yref="paper")
    if selected in shown and paper.selection:
        where = {"xref": "paper", "xsizemode": "pixel", "xanchor": 0, "layer": "below"}
        upright = (shown.index(selected) - 0.46, shown.index(selected) + 0.46)
        add_frame(sheet, "selected", (6 - left, -2), upright, theme.accent, 2, **where)
    return sheet


def _alt(step: BeamStep, index: int, shown: int) -> str:
    counts = {"candidates": counted(shown, "candidate"), "step": nth(index)}
    if step.origin == "argmax":
        return tr(
            "{candidates} of step {step} by rank, with their distance to the last one that went "
            "on, in nats:",
            **counts,
        )
    return tr(
        "{candidates} of step {step} in the order of drawing, with their distance to the last one "
        "that went on, in nats:",
        **counts,
    )


def _ends(margins: Sequence[float], width: float) -> tuple[float, float]:
    """Return the ends of the axis, with room for the numbers after the bars."""
    low, high = min(*margins, 0.0), max(*margins, 0.0)
    room = max(high - low, 0.1) * max(_NUMBER / max(width - 2 * _NUMBER, _NUMBER), 0.2)
    return low - room, high + room


def _shown(step: BeamStep, selected: int | None) -> list[int]:
    """Return the places of one group's candidates by rank; only the first of many pruned ones."""
    at = selected if selected is not None and selected < len(step.candidates) else 0
    group = _own(step, at)
    going = sum(step.candidates[place].fate != "pruned" for place in group)
    room = max(_MOST_ROWS - going, _LEAST_PRUNED)
    pruned = [place for place in group if step.candidates[place].fate == "pruned"]
    out = {place for place in pruned[room:] if place != selected}
    return [place for place in group if place not in out]


def _own(step: BeamStep, at: int) -> list[int]:
    """Return the places of the candidates in the same group as a place."""
    group = step.group_of(step.candidates[at])
    return [place for place, c in enumerate(step.candidates) if step.group_of(c) == group]


def _labels(trace: Trace, index: int, shown: Sequence[int], theme: Theme) -> list[tuple[str, str]]:
    """Return rank, parent's row and token, and token, aligned in columns, as plain text and as
    Plotly text.
    """
    step, labels = trace.beam_steps[index], []
    # The prompt has no text.
    before = [row.text for row in trace.beam_steps[index - 1].kept] if index else []
    for candidate in (step.candidates[place] for place in shown):
        token, plain, quiet = visible_token(candidate.text, _LIMIT), "", ""
        if index and (parent := before[candidate.parent]):
            row = tr("row {row}", row=nth(candidate.parent)).replace(" ", NBSP)
            plain = f"{row} {visible_token(parent, _LIMIT)} → "
            quiet = (
                f'<span style="color:{theme.muted}">{row} {show_token(parent, _LIMIT)} →</span> '
            )
        labels.append(
            (f"{candidate.rank:>2}", plain + token, f"{quiet}<b>{escaped(token)}</b>{NBSP}")
        )
    # A character that the font lacks may have a fractional width in columns.
    widths = [text_width(plain, face="mono") for _, plain, _ in labels]
    column = text_width(NBSP, face="mono")
    gaps = [NBSP * round(2 + (max(widths) - width) / column) for width in widths]
    return [
        (f"{rank}{gap}{plain}", f"{rank.replace(' ', NBSP)}{gap}{text}")
        for gap, (rank, plain, text) in zip(gaps, labels, strict=True)
    ]


def _colors(theme: Theme) -> dict[str, str]:
    """Return the colours of `_KINDS`."""
    kept = blend(theme.first, theme.paper, 0.6)
    return {"best": theme.first, "kept": kept, "finished": theme.ink, "pruned": theme.rest}


def _bars(
    trace: Trace,
    index: int,
    shown: Sequence[int],
    margins: Sequence[float],
    ends: tuple[float, float],
    theme: Theme,
) -> list[Properties]:
    """Return the bars by outcome over transparent full bars: a very short bar can't be clicked."""
    step, winner = trace.beam_steps[index], next(iter(trace.hypotheses), None)
    candidates = [step.candidates[place] for place in shown]
    best = None
    if winner is not None and index < len(winner.token_ids):
        best = step.candidates.index(winner_candidates(trace.beam_steps, winner)[index])
    told = [_told(step, index, place) for place in shown]
    shared, colors = {"type": "bar", "orientation": "h", "hovertemplate": _HOVER}, _colors(theme)
    traces = [
        {
            **shared,
            "name": "rows",
            "y": list(range(len(shown))),
            "base": [ends[0]] * len(shown),
            "x": [ends[1] - ends[0]] * len(shown),
            "width": 1,
            "customdata": told,
            "marker": {"color": CLEAR, "line": {"width": 0}},
        }
    ]
    kinds = ["best" if p == best else c.fate for p, c in zip(shown, candidates, strict=True)]
    for name in _LAYERS:
        rows = [at for at, kind in enumerate(kinds) if kind == name]
        traces.append(
            {
                **shared,
                "name": name,
                "y": rows,
                "width": _BAR,
                "x": [margins[at] for at in rows],
                "text": [nats(margins[at], 2) for at in rows],
                "textposition": "outside",
                "textfont": {"size": 11, "color": theme.muted},
                "cliponaxis": False,
                # A margin of 0 is visible as a stroke.
                "marker": {"color": colors[name], "line": {"color": colors[name], "width": 2}},
                "customdata": [told[at] for at in rows],
            }
        )
    return traces


def _told(step: BeamStep, index: int, place: int) -> list[object]:
    """Return the values for a click and for `_HOVER`."""
    candidate = step.candidates[place]
    return [
        index,
        place,
        show_token(candidate.text, 40),
        tr(
            "log-prob {log_prob} · sum {total}",
            log_prob=nats(candidate.logprob),
            total=nats(candidate.cum_logprob),
        ),
        escaped(fate_words(step, candidate)),
    ]


def _margins(step: BeamStep, shown: Sequence[int]) -> list[float]:
    """Return the distances to the worst survivor, or to the best candidate if none survived."""
    candidates = [step.candidates[place] for place in shown]
    margins = [step.margin(candidate) for candidate in candidates]
    top = max(candidate.cum_logprob for candidate in candidates)
    return [
        candidate.cum_logprob - top if margin is None else margin
        for candidate, margin in zip(candidates, margins, strict=True)
    ]
