"""Rows of a lab step's tokens: the shown ones with their probabilities after each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...decoding.lab.types import LabStep
from ...decoding.record.steps import Candidate, Stage
from ...language import tr
from ..base.labels import percent
from ..decode.stage_bars import shown_stages


class StageRow(NamedTuple):
    """A token with its probability in every shown stage."""

    candidate: Candidate
    probs: tuple[float, ...]

    @property
    def removed_at(self) -> int | None:
        """Index of the stage that removed the token."""
        return next((at for at, prob in enumerate(self.probs) if at and prob == 0), None)


def shown_rows(lab: LabStep, rows: int) -> list[StageRow]:
    """Return the most probable tokens by rank, including the chosen one and top-p's last one."""
    step, count = lab.step, len(shown_stages(lab.step))
    rows_by_id = {
        candidate.token_id: StageRow(candidate, tuple(s.probs[place] for s in step.stages[:count]))
        for place, candidate in enumerate(step.candidates)
        if place < max(rows, 1) or candidate.token_id == step.token_id
    }
    if lab.crossing is not None:
        last = StageRow(lab.crossing.candidate, lab.crossing.probs[:count])
        rows_by_id.setdefault(last.candidate.token_id, last)
    return sorted(rows_by_id.values(), key=lambda row: row.candidate.rank)


def others_mass(place: int, stage: Stage, shown: Sequence[StageRow]) -> float:
    """Return the mass of the tokens without a row."""
    alive = sum(row.probs[place] > 0 for row in shown)
    return max(0.0, 1 - sum(row.probs[place] for row in shown)) if stage.kept > alive else 0.0


def taken_by(
    stages: Sequence[Stage], shown: Sequence[StageRow], at: int, row: int
) -> tuple[float, str]:
    """Return the probability up to which a row of a stage has a bar, and the text after it."""
    if row == len(shown):
        others = others_mass(at, stages[at], shown)
        return others, percent(others)
    probs = shown[row].probs
    if shown[row].removed_at == at:
        return probs[at - 1], tr("out")
    return probs[at], percent(probs[at])
