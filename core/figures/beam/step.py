"""One step of a beam search: its candidates by rank, and how far each is from surviving."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.decoding.beam.compare import winner_candidates
from core.decoding.beam.types import BeamCandidate, BeamStep
from core.decoding.counting import nth, span_key
from core.decoding.record.trace import Trace
from core.figures.base.axes import axis, key_entry, named_axis
from core.figures.base.color import blend
from core.figures.base.figure import figure
from core.figures.base.labels import NBSP, escaped, show_token, text_columns, visible_token
from core.figures.base.marks import CLEAR, add_frame, add_line
from core.figures.base.measure import text_width
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.sheet import Properties, Sheet, no_selection
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.words import beam_caption, beam_tree_data, fate_words, nats

_LIMIT = 10
# A number behind a bar takes so many px.
_NUMBER = 40
_MOST_ROWS, _LEAST_PRUNED = 20, 4
# Outcomes of a candidate, in the order of the key, and as their bars lie on each other.
_KINDS = {"best": "best path", "kept": "kept", "finished": "finished", "pruned": "pruned"}
_LAYERS = ("pruned", "kept", "finished", "best")
_HOVER = (
    "<b>%{customdata[2]}</b><br>log-prob %{customdata[3]} · sum %{customdata[4]}"
    "<br>%{customdata[5]}<extra></extra>"
)


def beam_step_data(trace: Trace, index: int) -> pd.DataFrame:
    """The candidates of one step, as in `beam_tree_data`."""
    return beam_tree_data(trace, first=index, columns=1)


@figure("The candidates of a step", beam_caption, beam_step_data)
def beam_step(
    trace: Trace,
    index: int,
    *,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """A step's candidates, of the selected one's group only: nats before or behind the cut.

    Args:
        selected: the place of the one that is looked at.

    A click on a bar hands over `customdata`, which begins with `[step, place]`.
    """
    if not 0 <= index < len(trace.beam_steps):
        return no_selection(paper, "step", "a token in the tree")
    step, before = trace.beam_steps[index], _parents(trace, index)
    shown = _shown(step, selected)
    labels = _aligned([_label(before, step.candidates[place], theme) for place in shown])
    left = 24 + round(7.2 * max(text_columns(plain) for plain, _ in labels))
    margins, strong = _margins(step, shown), _strong(trace, index)
    across = _ends(margins, paper.width - left - 18)
    kinds = ["best" if place == strong else step.candidates[place].fate for place in shown]
    names = [words for _, words in labels]
    sheet = Sheet(
        theme,
        paper,
        title=f"Candidates at step {nth(index)}",
        subtitle=_subtitle(step, shown),
        alt=_alt(step, index, shown, margins),
        meta={"shown": [span_key("step", index)]},
        plot_height=22 * len(shown),
        left=left,
        right=18,
        below=72,
        traces=[
            _rows(step, index, shown, across),
            *(_bars(k, step, index, shown, margins, kinds, theme) for k in _LAYERS),
        ],
        key=["".join(key_entry(_color(k, theme), words) for k, words in _KINDS.items())],
        key_offset=52,
        layout={
            "barmode": "overlay",
            "bargap": 0.3,
            "xaxis": axis(theme, "difference, nats", 6, range=list(across), nticks=6),
            "yaxis": named_axis(theme, names, range=[len(names) - 0.5, -0.5]),
        },
    )
    add_line(sheet, "cut", 0, (0, 1), theme.ink, 1.2, yref="paper")
    if selected in shown and paper.selection:
        _mark(sheet, shown.index(selected), left)
    return sheet


def _ends(margins: Sequence[float], width: float) -> tuple[float, float]:
    """The ends of the axis, with room for the numbers behind the bars."""
    low, high = min(*margins, 0.0), max(*margins, 0.0)
    room = max(high - low, 0.1) * max(_NUMBER / max(width - 2 * _NUMBER, _NUMBER), 0.2)
    return low - room, high + room


def _shown(step: BeamStep, selected: int | None) -> list[int]:
    """Places of the candidates of one group, in order of rank; of many pruned ones the first."""
    at = selected if selected is not None and selected < len(step.candidates) else 0
    group = _own(step, at)
    going = sum(step.candidates[place].fate != "pruned" for place in group)
    room = max(_MOST_ROWS - going, _LEAST_PRUNED)
    pruned = [place for place in group if step.candidates[place].fate == "pruned"]
    out = {place for place in pruned[room:] if place != selected}
    return [place for place in group if place not in out]


def _own(step: BeamStep, at: int) -> list[int]:
    """Places of the candidates of the group that a place belongs to."""
    group = step.group_of(step.candidates[at])
    return [place for place, c in enumerate(step.candidates) if step.group_of(c) == group]


def _parents(trace: Trace, index: int) -> list[str]:
    """Return the text of each row of a step's beam; empty texts for the prompt."""
    if index == 0:
        return [""] * len(trace.beam_steps[0].groups)
    return [row.text for row in trace.beam_steps[index - 1].kept]


def _strong(trace: Trace, index: int) -> int | None:
    """The place of the best path's candidate in a step."""
    winner = next(iter(trace.hypotheses), None)
    if winner is None or index >= len(winner.token_ids):
        return None
    path = winner_candidates(trace.beam_steps, winner)
    return trace.beam_steps[index].candidates.index(path[index])


def _label(before: Sequence[str], candidate: BeamCandidate, theme: Theme) -> tuple[str, str, str]:
    """Rank; parent's row and token, and token, as plain text and as Plotly's."""
    rank, token = f"{candidate.rank:>2}", visible_token(candidate.text, _LIMIT)
    parent = before[candidate.parent]
    bold = f"<b>{escaped(token)}</b>{NBSP}"
    if not parent:
        return rank, token, bold
    row = f"row{NBSP}{nth(candidate.parent)}"
    plain = f"{row} {visible_token(parent, _LIMIT)} → {token}"
    quiet = f'<span style="color:{theme.muted}">{row} {show_token(parent, _LIMIT)} →</span>'
    return rank, plain, f"{quiet} {bold}"


def _aligned(labels: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Whole labels, plain and Plotly's, with the ranks below each other."""
    # Of a character that the font lacks the width is no whole number of columns.
    widths = [text_width(plain, face="mono") for _, plain, _ in labels]
    column = text_width(NBSP, face="mono")
    gaps = [NBSP * round(2 + (max(widths) - width) / column) for width in widths]
    return [
        (f"{rank}{gap}{plain}", f"{rank.replace(' ', NBSP)}{gap}{shown}")
        for gap, (rank, plain, shown) in zip(gaps, labels, strict=True)
    ]


def _margins(step: BeamStep, shown: Sequence[int]) -> list[float]:
    """Distance to the worst survivor; where none survived, to the best candidate."""
    candidates = [step.candidates[place] for place in shown]
    margins = [step.margin(candidate) for candidate in candidates]
    top = max(candidate.cum_logprob for candidate in candidates)
    return [
        candidate.cum_logprob - top if margin is None else margin
        for candidate, margin in zip(candidates, margins, strict=True)
    ]


def _subtitle(step: BeamStep, shown: Sequence[int]) -> str:
    if step.margin(step.candidates[shown[0]]) is None:
        return "No path was kept after this step: each log-probability against the best one's."
    hidden = len(_own(step, shown[0])) - len(shown)
    left_out = f" {hidden} more are pruned." if hidden else ""
    drawn = "" if step.origin == "argmax" else " Drawn, in this order."
    return f"Log-probability of each path against the last one kept.{drawn}{left_out}"


def _color(name: str, theme: Theme) -> str:
    return {
        "best": theme.first,
        "kept": blend(theme.first, theme.paper, 0.6),
        "finished": theme.ink,
        "pruned": theme.rest,
    }[name]


def _told(step: BeamStep, index: int, place: int) -> list[object]:
    """Values for a click and for `_HOVER`."""
    candidate = step.candidates[place]
    return [
        index,
        place,
        show_token(candidate.text, 40),
        nats(candidate.logprob),
        nats(candidate.cum_logprob),
        escaped(fate_words(step, candidate)),
    ]


def _bars(
    name: str,
    step: BeamStep,
    index: int,
    shown: Sequence[int],
    margins: Sequence[float],
    kinds: Sequence[str],
    theme: Theme,
) -> Properties:
    """Bars of one fate; a margin of 0 still shows as a stroke."""
    color, rows = _color(name, theme), [at for at, kind in enumerate(kinds) if kind == name]
    return {
        "type": "bar",
        "name": name,
        "orientation": "h",
        "y": rows,
        "x": [margins[at] for at in rows],
        "text": [nats(margins[at], 2) for at in rows],
        "textposition": "outside",
        "textfont": {"size": 11, "color": theme.muted},
        "cliponaxis": False,
        "marker": {"color": color, "line": {"color": color, "width": 2}},
        "customdata": [_told(step, index, shown[at]) for at in rows],
        "hovertemplate": _HOVER,
    }


def _rows(
    step: BeamStep, index: int, shown: Sequence[int], ends: tuple[float, float]
) -> Properties:
    """Transparent bars over the whole rows: a bar of hardly any width can't be hit."""
    return {
        "type": "bar",
        "name": "rows",
        "orientation": "h",
        "y": list(range(len(shown))),
        "base": [ends[0]] * len(shown),
        "x": [ends[1] - ends[0]] * len(shown),
        "width": 1,
        "customdata": [_told(step, index, place) for place in shown],
        "hovertemplate": _HOVER,
        "marker": {"color": CLEAR, "line": {"width": 0}},
    }


def _mark(sheet: Sheet, row: int, left: int) -> None:
    """A frame around the selected one, its label included."""
    pixels = {"xref": "paper", "xsizemode": "pixel", "xanchor": 0, "layer": "below"}
    y = (row - 0.46, row + 0.46)
    add_frame(sheet, "selected", (6 - left, -2), y, sheet.theme.accent, 2, **pixels)


def _alt(step: BeamStep, index: int, shown: Sequence[int], margins: Sequence[float]) -> str:
    first = "; ".join(
        f"{visible_token(step.candidates[place].text, 16)} {step.candidates[place].fate} "
        f"{nats(margin, 2)}"
        for place, margin in zip(shown[:6], margins, strict=False)
    )
    order = "by rank" if step.origin == "argmax" else "in the order of drawing"
    return (
        f"{len(shown)} candidates of step {nth(index)} {order} with their distance to the "
        "last one that "
        f"went on, in nats: {first}."
    )
