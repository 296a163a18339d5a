"""Stages of one step as segments of bars, as colours and as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...decoding.counting import nth
from ...decoding.record.steps import Candidate, Stage, TokenStep
from ...decoding.record.trace import Trace
from ...language import tr
from ..base.axes import axis
from ..base.figure import TableRows, table
from ..base.labels import percent_ticks, table_text
from ..base.marks import FRAME, add_frame, hover_texts, level_bars, overlaid
from ..base.paper import SMALL
from ..base.sheet import Properties, Sheet
from ..base.theme import Theme

BAR = 0.46
# Smaller probabilities are rounding errors of sums.
DUST = 1e-9


class Segment(NamedTuple):
    """A token's segment of a row's bar: its start, and its share of the whole.

    `candidate` is its index among the step's candidates; None for the other tokens.
    """

    row: int
    candidate: int | None
    low: float
    share: float


def shown_stages(step: TokenStep) -> list[Stage]:
    """Return the stages without a `final` that repeats the previous one."""
    stages = list(step.stages)
    if len(stages) > 1 and stages[-1].name == "final" and stages[-1].probs == stages[-2].probs:
        stages.pop()
    return stages


def drawn_interval(step: TokenStep) -> tuple[float, float] | None:
    """Return the chosen token's interval; None of a forced token, whose step records the interval
    of the pick that it replaced.
    """
    return None if step.origin == "forced" else step.draw.interval


def draw_order(step: TokenStep) -> list[int]:
    """Return the candidates' indices in the order of the draw: by falling probability, ties by id,
    then removed ones by rank.
    """
    places = range(len(step.candidates))
    if drawn_interval(step) is None:
        return list(places)
    keys = [(-c.prob, c.token_id if c.prob else c.rank) for c in step.candidates]
    return sorted(places, key=keys.__getitem__)


def stage_segments(row: int, stage: Stage, step: TokenStep) -> list[Segment]:
    """Return the bar of a stage: the candidates in the order of the draw, then all other tokens.

    Other tokens that precede the chosen one in the draw precede it in every row.
    """
    order = draw_order(step)
    at = [step.candidates[place].token_id for place in order].index(step.token_id)
    chosen, others = step.candidates[order[at]], 0.0
    interval = drawn_interval(step)
    if interval is not None:
        named = sum(step.candidates[place].prob for place in order[:at])
        others = max(0.0, interval[0] - named)
    # Filters keep the ratio of probabilities; a temperature changes it slightly.
    others *= stage.probs[order[at]] / chosen.prob if chosen.prob else 0.0
    others = min(others, stage.tail_mass)
    shares: list[tuple[int | None, float]] = [(place, stage.probs[place]) for place in order]
    if others > DUST:
        shares.insert(at, (None, others))
    low, segments = 0.0, []
    for place, share in [*shares, (None, stage.tail_mass - others)]:
        segments.append(Segment(row, place, low, share))
        low += share
    return segments


def segment_bars(segments: Sequence[Segment], width: float = BAR) -> Properties:
    """Return horizontal bars of these segments, each in its row."""
    return level_bars(
        [segment.row for segment in segments],
        [segment.low for segment in segments],
        [segment.share for segment in segments],
        width,
    )


def add_segments(
    sheet: Sheet,
    step: TokenStep,
    segments: Sequence[Segment],
    text: Callable[[Candidate, Segment], str],
    hover: Callable[[Candidate, Segment], str],
    others: tuple[str, Callable[[Segment], str]],
) -> None:
    """Add the candidates' segments in their colours, those of all other tokens, and the chosen
    token's frame.

    Args:
        text, hover: return the Plotly texts of a candidate's segment.
        others: name of the other tokens, and a function that returns the hover text of their
            segment.
    """
    theme, (words, other_hover) = sheet.theme, others
    named = [(step.candidates[s.candidate], s) for s in segments if s.candidate is not None]
    hidden = [segment for segment in segments if segment.candidate is None]
    colors = [theme.token_color(candidate.rank) for candidate, _ in named]
    widths = [0.3 if color == theme.unnamed else 0.8 for color in colors]
    inks = [theme.text_on(color) for color in colors]
    sheet.traces += [
        {
            **segment_bars([segment for _, segment in named]),
            "name": "segments",
            "text": [text(*pair) for pair in named],
            "textfont": {"family": theme.mono, "size": 12, "color": inks},
            "marker": {"color": colors, "line": {"color": theme.paper, "width": widths}},
            **hover_texts([hover(*pair) for pair in named]),
            "customdata": [[step.index, candidate.token_id] for candidate, _ in named],
        },
        {
            **segment_bars(hidden),
            "name": words,
            "text": [words] * len(hidden),
            "textfont": {"family": theme.sans, "size": 12, "color": theme.muted},
            "marker": {
                "color": theme.panel,
                "line": {"color": theme.paper, "width": 0.8},
                "pattern": {"shape": "/", "fgcolor": theme.rest, "solidity": 0.15},
            },
            **hover_texts([other_hover(segment) for segment in hidden]),
            "customdata": [[step.index, -1]] * len(hidden),
        },
    ]
    for candidate, (row, _, low, share) in named:
        if candidate.token_id == step.token_id:
            upright = (row - BAR / 2, row + BAR / 2)
            add_frame(sheet, "chosen", (low, low + share), upright, theme.accent, FRAME)
    sheet.layout |= overlaid(SMALL)


def others_name(step: TokenStep, trace: Trace) -> str:
    """Return the name of all tokens outside the candidates."""
    if trace.known is not None and trace.known <= len(step.candidates):
        return tr("unknown tokens")
    return tr("other tokens")


def across(theme: Theme, title: str) -> Properties:
    """Return an axis from 0 to 100 %."""
    return axis(theme, title, **{"range": [0, 1], "showgrid": False, **percent_ticks(1.0)})


@table("step stage token_id token rank prob kept removed_mass", whole="token_id rank")
def step_stages_data(
    step: TokenStep | None,
    trace: Trace,
) -> TableRows:
    """Return every stage's probability of every candidate, and of all other tokens (without a token
    id).
    """
    if step is None:
        return
    for stage in step.stages:
        who, counts = (nth(step.index), stage.name), (stage.kept, stage.removed_mass)
        for c, prob in zip(step.candidates, stage.probs, strict=True):
            yield (*who, c.token_id, table_text(c.text), c.rank, prob, *counts)
        yield (*who, None, None, None, stage.tail_mass, *counts)
