"""Draw at the end of a step: the position of the uniform number, or the highest noisy score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...decoding.record.steps import TokenStep
from ...language import tr
from ..base.axes import axis
from ..base.labels import show_token
from ..base.marks import FRAME, add_line, numbers_behind, strokes
from ..base.sheet import Properties, Sheet
from ..base.theme import Theme
from .stage_bars import BAR, DUST, Segment, draw_order, drawn_interval

SCORE_ROW = 26


class Scored(NamedTuple):
    """Index of a candidate with its log-probability and its score, both in nats."""

    candidate: int
    log_prob: float
    score: float


def drawn_segments(step: TokenStep, row: int = 0) -> list[Segment]:
    """Return the cumulative bar of an inverse_cdf draw.

    Candidates are ordered by falling probability, ties by id; the chosen one has its recorded
    interval. The gaps between them belong to other tokens. A forced step has no bar.
    """
    interval = drawn_interval(step)
    if interval is None:
        return []
    places = [place for place in draw_order(step) if step.candidates[place].prob > 0]
    segments: list[Segment] = []
    at = 0.0
    for place in places:
        candidate = step.candidates[place]
        low, high = at, at + candidate.prob
        if candidate.token_id == step.token_id:
            low, high = interval
        if low - at > DUST:
            segments.append(Segment(row, None, at, low - at))
        segments.append(Segment(row, place, low, high - low))
        at = max(high, at)
    if 1 - at > DUST:
        segments.append(Segment(row, None, at, 1 - at))
    return segments


def mark_uniform(sheet: Sheet, number: float, row: int) -> None:
    """Add a line at the uniform number through the draw's bar, outlined for contrast with any
    colour.
    """
    ends = (row - BAR / 2, row + BAR / 2 + 0.06)
    add_line(sheet, "uniform border", number, ends, sheet.theme.paper, 6)
    # Below the chosen token's frame, which it would interrupt.
    sheet.shapes.insert(0, sheet.shapes.pop())
    add_line(sheet, "uniform", number, ends, sheet.theme.ink, 2.5)
    entry = [(sheet.theme.ink, tr("the uniform number that was drawn"), "┃")]
    if entry not in sheet.explained:
        sheet.explained.append(entry)


def scored(step: TokenStep) -> list[Scored]:
    """Return the candidates with the highest noisy scores, best first; empty without scores
    and for a forced token.
    """
    if step.draw.scores is None or step.origin == "forced":
        return []
    known = [
        Scored(place, math.log(candidate.prob), score)
        for place, (candidate, score) in enumerate(
            zip(step.candidates, step.draw.scores, strict=True)
        )
        if score is not None and candidate.prob > 0
    ]
    return sorted(known, key=lambda item: -item.score)[:8]


def add_scores(sheet: Sheet, step: TokenStep, scores: Sequence[Scored], height: float) -> None:
    """Add the panel of noisy scores: a hollow dot at ln p, a filled dot at ln p + noise."""
    theme = sheet.theme
    noise = (((s.log_prob, row), (s.score, row)) for row, s in enumerate(scores))
    drawn = [
        {**strokes(noise), "name": "noise", "line": {"color": theme.rest, "width": 2}},
        *_score_points(step, scores, theme),
        _score_labels(step, scores, theme),
    ]
    place = {"type": "scatter", "xaxis": "x2", "yaxis": "y2", "cliponaxis": False}
    sheet.traces += [{**trace, **place} for trace in drawn]
    values = [value for item in scores for value in (item.log_prob, item.score)]
    span = max(max(values) - min(values), 1.0)
    sheet.layout["xaxis2"] = axis(
        theme,
        tr("○ ln p and ● ln p + noise, nats; the highest wins"),
        range=[min(values) - 0.06 * span, max(values) + 0.45 * span],
        anchor="y2",
        nticks=6,
    )
    sheet.layout["yaxis2"] = axis(
        theme,
        range=[len(scores) - 0.4, -0.6],
        domain=[0, height],
        anchor="x2",
        showgrid=False,
        showticklabels=False,
    )


def _score_points(
    step: TokenStep, scores: Sequence[Scored], theme: Theme
) -> tuple[Properties, Properties]:
    """Return the traces of the log-probabilities and of the scores."""
    candidates = [step.candidates[item.candidate] for item in scores]
    shared: Properties = {"y": list(range(len(scores))), "mode": "markers"}
    logs = {
        **shared,
        "name": "log-probability",
        "x": [item.log_prob for item in scores],
        "marker": {"color": theme.paper, "size": 8, "line": {"color": theme.muted, "width": 1.5}},
        "hovertemplate": f"{tr('ln p {number} nats', number='%{x:.3f}')}<extra></extra>",
    }
    points = {
        **shared,
        "name": "score",
        "x": [item.score for item in scores],
        "marker": {
            "color": [theme.token_color(candidate.rank) for candidate in candidates],
            "size": 11,
            "line": {
                "color": theme.accent,
                "width": [FRAME if c.token_id == step.token_id else 0 for c in candidates],
            },
        },
        "hovertemplate": f"{tr('score {number} nats', number='%{x:.3f}')}<extra></extra>",
        "customdata": [[step.index, candidate.token_id] for candidate in candidates],
    }
    return logs, points


def _score_labels(step: TokenStep, scores: Sequence[Scored], theme: Theme) -> Properties:
    named = [(step.candidates[item.candidate], f"{item.score:.2f}") for item in scores]
    texts = [
        f" <b>{text}</b>" if token.token_id == step.token_id else f" {text}"
        for token, text in (
            (token, f"{show_token(token.text, 14)} {score.replace('-', '−')}")
            for token, score in named
        )
    ]
    ends = [max(item.score, item.log_prob) for item in scores]
    font = {"family": theme.mono, "size": 11, "color": theme.ink}
    return numbers_behind("token and score", ends, texts, font)
