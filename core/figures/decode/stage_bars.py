"""The stages of one step as pieces of bars, as colours and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from core.decoding.trace import Stage, TokenStep, Trace
from core.figures.base.labels import table_text
from core.figures.base.theme import CATEGORIES, Theme


class Segment(NamedTuple):
    """A piece of a stage's bar; `candidate` is its place among the step's candidates, None for
    the other tokens."""

    row: int
    candidate: int | None
    low: float
    share: float


def shown_stages(step: TokenStep) -> list[Stage]:
    """The stages, without a `final` that repeats the one before it."""
    stages = list(step.stages)
    if len(stages) > 1 and stages[-1].name == "final" and stages[-1].probs == stages[-2].probs:
        stages.pop()
    return stages


def stage_segments(row: int, stage: Stage) -> list[Segment]:
    low, pieces = 0.0, []
    for place, prob in enumerate(stage.probs):
        pieces.append(Segment(row, place, low, prob))
        low += prob
    return [*pieces, Segment(row, None, low, stage.tail_mass)]


def token_palette(step: TokenStep, stages: Sequence[Stage], theme: Theme) -> dict[int, str]:
    """Colours by place: the accent for the chosen token, categories for the largest others."""
    peaks = {place: max(s.probs[place] for s in stages) for place in range(len(step.candidates))}
    others = [p for p, c in enumerate(step.candidates) if c.token_id != step.token_id]
    largest = sorted(others, key=lambda place: -peaks[place])[: len(CATEGORIES)]
    colors = dict(zip(sorted(largest), CATEGORIES, strict=False))
    return {
        place: theme.accent if c.token_id == step.token_id else colors.get(place, theme.rest)
        for place, c in enumerate(step.candidates)
    }


def step_way_data(
    step: TokenStep | None,
    trace: Trace,  # noqa: ARG001 - called like the figure
) -> pd.DataFrame:
    """Every stage's probability of every candidate, and of all other tokens (no token id)."""
    names = "step stage token_id token rank prob kept removed_mass".split()
    if step is None:
        return pd.DataFrame([], columns=names)
    records: list[tuple[object, ...]] = []
    for stage in step.stages:
        counts = (stage.kept, stage.removed_mass)
        for candidate, prob in zip(step.candidates, stage.probs, strict=True):
            who = (candidate.token_id, table_text(candidate.text), candidate.rank)
            records.append((step.index, stage.name, *who, prob, *counts))
        records.append((step.index, stage.name, None, None, None, stage.tail_mass, *counts))
    frame = pd.DataFrame(records, columns=names)
    return frame.astype({"token_id": "Int64", "rank": "Int64"})
