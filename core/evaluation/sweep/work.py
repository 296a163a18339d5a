"""A sweep's runs in pieces that any process can do: a batch at a time, the same as one would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.decoding.errors import SweepError
from core.evaluation.attempts import ROWS, require_rows
from core.evaluation.sweep.run import missing, sweep_rows
from core.evaluation.sweep.types import SweepPlan, SweepRow

SweepPlace = tuple[str, int, int]
"""A run's problem, budget and sample."""


@dataclass(frozen=True, slots=True)
class SweepWork:
    """A plan with its revision, and how its model is loaded.

    Args:
        where: as given to `load_model`.
        batch: runs at once in a process.
    """

    plan: SweepPlan
    where: str
    dtype: str | None = None
    device: str | None = None
    batch: int = ROWS

    def __post_init__(self) -> None:
        require_rows(self.batch)

    def key(self, row: SweepRow) -> SweepPlace:
        """What names a row's run."""
        return row.problem, row.budget, row.sample

    def units(self, done: Sequence[SweepRow]) -> list[list[SweepPlace]]:
        """The runs that are missing, in the batches of one process."""
        places = [(one.key, budget, sample) for one, budget, sample in missing(self.plan, done)]
        return [places[at : at + self.batch] for at in range(0, len(places), self.batch)]

    def begin(self) -> Callable[[list[SweepPlace]], Iterator[SweepRow]]:
        """Load the model; the function does the runs of a unit.

        Raises:
            SweepError: the model is another than the plan's.
        """
        from core.models.registry import load_model

        model = load_model(self.where, dtype=self.dtype, device=self.device)
        if model.revision != self.plan.model_revision:
            raise SweepError("The model's weights were changed meanwhile; start again.")

        def rows(unit: list[SweepPlace]) -> Iterator[SweepRow]:
            marks = model.think_marks
            return sweep_rows(model, self.plan, marks=marks, batch=self.batch, only=unit)

        return rows
