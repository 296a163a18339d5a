"""Runs of a plan, of an evaluation as of a sweep: what is missing, in units, and all rows of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from core.decoding.errors import ConfigError
from core.evaluation.workers.work import RunUnit

Place: TypeAlias = tuple[str, Any, int]
"""A run's question, way or budget, and sample."""


class RunPlan(Protocol):
    """Everything that fixes the rows of a file, save their seconds."""

    @property
    def places(self) -> list[Place]:
        """All runs, question by question."""


class RunRow(Protocol):
    """A row of one run; `failure` says why the run could not be done."""

    @property
    def place(self) -> Place: ...

    @property
    def failure(self) -> str: ...


R = TypeVar("R", bound=RunRow)


def missing(plan: RunPlan, rows: Sequence[RunRow]) -> list[Place]:
    """Return the runs that have no row yet or failed, question by question."""
    done = {row.place for row in rows if not row.failure}
    return [place for place in plan.places if place not in done]


@dataclass(frozen=True, slots=True)
class PlanWork(Generic[R]):
    """A plan as `Work`: its missing runs, a question or a batch at a time.

    Args:
        load: loads the models and returns what does the runs of a unit; can be pickled where
            processes do it.
        batch: runs at once; None for those of one question, one after another.
    """

    plan: Any
    load: Callable[[], RunUnit[R]]
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.batch is not None:
            require_rows(self.batch)

    def key(self, row: R) -> Place:
        """Return the place of a row."""
        return row.place

    def units(self, done: Sequence[R]) -> list[list[Place]]:
        """Return the missing runs in batches, or those of one question together."""
        places = missing(self.plan, done)
        if self.batch is None:
            return [list(group) for _, group in groupby(places, lambda place: place[0])]
        return [places[at : at + self.batch] for at in range(0, len(places), self.batch)]

    def begin(self) -> RunUnit[R]:
        """Load the models."""
        return self.load()


def gathered(
    coming: Iterator[R], done: Sequence[R], on_row: Callable[[R, int], object] | None
) -> tuple[R, ...]:
    """Return the rows that are there, but for failed ones, and those that come.

    Args:
        on_row: called with each new row and how many rows there are now.
    """
    rows = [row for row in done if not row.failure]
    for row in coming:
        rows.append(row)
        if on_row is not None:
            on_row(row, len(rows))
    return tuple(rows)


def require_rows(rows: int) -> None:
    """Raises ConfigError unless there is room for one run at once."""
    if rows < 1:
        raise ConfigError(f", the runs at once, must be 1 or more, got {rows}.", "rows", "")
