"""Many runs without a model, for tests of what is drawn from them."""

from __future__ import annotations

from dataclasses import replace

from core.decoding.many.types import ManyRuns
from core.decoding.record.notes import computed
from core.decoding.record.trace import Trace
from tests.figures.forks import make_fork
from tests.figures.traces import make_trace


def make_many(count: int = 30, *, hostile: bool = False) -> ManyRuns:
    """Runs in batches of 1 to 16 rows: most are the same, some part at step 3, 6 or 10."""
    trace = make_trace(14, hostile=hostile)
    texts = [trace, trace, trace, *(make_fork(trace, at) for at in (2, 5, 9))]
    texts.append(make_fork(texts[4], 8))
    return ManyRuns(tuple(_computed(texts[at % 7], 2 ** (at % 5)) for at in range(count)))


def _computed(trace: Trace, rows: int) -> Trace:
    return replace(trace, notes=(*trace.notes, *computed(rows, 1)))
