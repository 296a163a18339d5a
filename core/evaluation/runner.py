"""Runs of a plan (an evaluation or a sweep): missing runs in units, and the collected rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from ..decoding.errors import ConfigError
from ..language import Message
from .workers.work import RunUnit

Place: TypeAlias = tuple[str, Any, int]
"""A run's question, way or budget, and sample."""


class RunPlan(Protocol):
    """Everything that determines the rows of a file, except their seconds."""

    @property
    def places(self) -> list[Place]:
        """All runs, question by question."""


class RunRow(Protocol):
    """A row of one run; `failure` is the reason why the run failed, or empty."""

    @property
    def place(self) -> Place: ...

    @property
    def failure(self) -> str: ...


R = TypeVar("R", bound=RunRow)


def missing(plan: RunPlan, rows: Sequence[RunRow]) -> list[Place]:
    """Return the runs without a successful row, question by question."""
    done = {row.place for row in rows if not row.failure}
    return [place for place in plan.places if place not in done]


@dataclass(frozen=True, slots=True)
class PlanWork(Generic[R]):
    """A plan as `Work`: its missing runs, in units of a question or a batch.

    Args:
        load: loads the models and returns the function that does the runs of a unit; must be
            picklable for processes.
        batch: number of concurrent runs; None for the runs of one question, one by one.
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
    """Return the successful rows in `done`, followed by the new rows.

    Args:
        on_row: called with each new row and the current number of rows.
    """
    rows = [row for row in done if not row.failure]
    for row in coming:
        rows.append(row)
        if on_row is not None:
            on_row(row, len(rows))
    return tuple(rows)


def require_rows(rows: int) -> None:
    """Raise ConfigError unless at least one run at once is allowed."""
    if rows < 1:
        raise ConfigError(
            Message(", the runs at once, must be 1 or more, got {rows}.", rows=rows), "rows", ""
        )
