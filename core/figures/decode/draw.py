"""The draw at the end of a step's way: where the number fell, or which noisy score won."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from core.decoding.trace import TokenStep
from core.figures.base.axes import NO_FADE, axis
from core.figures.base.labels import NBSP, show_token
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import Theme

SCORE_ROW = 26
_MOST_SCORES = 8
_DUST = 1e-9


class Scored(NamedTuple):
    """A candidate's place with its log-probability and its score, both in nats."""

    candidate: int
    log_prob: float
    score: float


def drawn_segments(step: TokenStep) -> list[tuple[int | None, float, float]]:
    """The cumulative bar of an inverse_cdf draw: (candidate or None, low, share).

    Candidates stand by falling probability, ties by id, the chosen one on its recorded interval.
    What the candidates leave open belongs to other tokens.
    """
    if step.draw.interval is None:
        return []
    places = [place for place, c in enumerate(step.candidates) if c.prob > 0]
    places.sort(key=lambda at: (-step.candidates[at].prob, step.candidates[at].token_id))
    pieces: list[tuple[int | None, float, float]] = []
    at = 0.0
    for place in places:
        candidate = step.candidates[place]
        low, high = at, at + candidate.prob
        if candidate.token_id == step.token_id:
            low, high = step.draw.interval
        if low - at > _DUST:
            pieces.append((None, at, low - at))
        pieces.append((place, low, high - low))
        at = max(high, at)
    if 1 - at > _DUST:
        pieces.append((None, at, 1 - at))
    return pieces


def mark_uniform(sheet: Sheet, step: TokenStep, row: int, bar: float) -> None:
    """A line through the draw's bar where the uniform number fell, and a pointer below it."""
    uniform = step.draw.uniform
    if uniform is None:
        return
    sheet.shapes.append(
        {
            "name": "uniform",
            "type": "line",
            "x0": uniform,
            "x1": uniform,
            "y0": row - bar / 2,
            "y1": row + bar / 2 + 0.06,
            "line": {"color": sheet.theme.ink, "width": 2.5},
        }
    )
    sheet.annotations.append(
        {
            "name": "uniform",
            "text": "▲",
            "x": uniform,
            "y": row + bar / 2,
            "yanchor": "top",
            "yshift": 1,
            "borderpad": 0,
            "showarrow": False,
            "font": {"size": 11, "color": sheet.theme.ink},
        }
    )


def scored(step: TokenStep) -> list[Scored]:
    """The candidates with the highest noisy scores, best first; empty without scores."""
    if step.draw.scores is None:
        return []
    known = [
        Scored(place, math.log(candidate.prob), score)
        for place, (candidate, score) in enumerate(
            zip(step.candidates, step.draw.scores, strict=True)
        )
        if score is not None and candidate.prob > 0
    ]
    return sorted(known, key=lambda item: -item.score)[:_MOST_SCORES]


def add_scores(sheet: Sheet, step: TokenStep, scores: Sequence[Scored], height: float) -> None:
    """The panel of noisy scores: a hollow dot at ln p, a full one at ln p + noise."""
    theme = sheet.theme
    drawn = [
        _noise(scores, theme),
        _log_probs(scores, theme),
        _score_points(step, scores, theme),
        _score_labels(step, scores, theme),
    ]
    place = {"type": "scatter", "xaxis": "x2", "yaxis": "y2", "cliponaxis": False}
    sheet.traces += [{**place, **trace} for trace in drawn]
    low = min(*(item.log_prob for item in scores), *(item.score for item in scores))
    high = max(*(item.log_prob for item in scores), *(item.score for item in scores))
    span = max(high - low, 1.0)
    across = {"range": [low - 0.06 * span, high + 0.45 * span], "anchor": "y2", "nticks": 6}
    down = {"range": [len(scores) - 0.4, -0.6], "domain": [0, height], "anchor": "x2"}
    words = "○ ln p and ● ln p + noise, nats; the highest wins"
    sheet.layout["xaxis2"] = axis(theme, words, **across)
    sheet.layout["yaxis2"] = axis(theme, **down, showgrid=False, showticklabels=False)


def _noise(scores: Sequence[Scored], theme: Theme) -> Properties:
    x: list[float | None] = []
    y: list[int | None] = []
    for row, item in enumerate(scores):
        x += [item.log_prob, item.score, None]
        y += [row, row, None]
    return {
        "name": "noise",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"color": theme.rest, "width": 2},
        "hoverinfo": "skip",
    }


def _log_probs(scores: Sequence[Scored], theme: Theme) -> Properties:
    hollow = {"color": theme.paper, "size": 8, "line": {"color": theme.muted, "width": 1.5}}
    return {
        "name": "log-probability",
        "x": [item.log_prob for item in scores],
        "y": list(range(len(scores))),
        "mode": "markers",
        "marker": hollow,
        "hovertemplate": "ln p %{x:.3f} nats<extra></extra>",
    }


def _score_points(step: TokenStep, scores: Sequence[Scored], theme: Theme) -> Properties:
    candidates = [step.candidates[item.candidate] for item in scores]
    colors = [theme.accent if c.token_id == step.token_id else theme.first for c in candidates]
    return {
        "name": "score",
        "x": [item.score for item in scores],
        "y": list(range(len(scores))),
        "mode": "markers",
        "marker": {"color": colors, "size": 10},
        "hovertemplate": "score %{x:.3f} nats<extra></extra>",
        "customdata": [[step.index, candidate.token_id] for candidate in candidates],
        **NO_FADE,
    }


def _score_labels(step: TokenStep, scores: Sequence[Scored], theme: Theme) -> Properties:
    texts = []
    for item in scores:
        candidate = step.candidates[item.candidate]
        number = f"{item.score:.2f}".replace("-", "−")
        text = f"{show_token(candidate.text, 14)} {number}"
        won = candidate.token_id == step.token_id
        texts.append(f"{NBSP} <b>{text}</b>" if won else f"{NBSP} {text}")
    ink = {"textfont": {"color": theme.ink}}
    return {
        "name": "token and score",
        "x": [max(item.score, item.log_prob) for item in scores],
        "y": list(range(len(scores))),
        "mode": "text",
        "text": texts,
        "textposition": "middle right",
        "textfont": {"family": theme.mono, "size": 11, "color": theme.ink},
        "hoverinfo": "skip",
        "selected": ink,
        "unselected": ink,
    }
