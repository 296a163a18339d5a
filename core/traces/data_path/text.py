"""A data path as indented text: what went in, what came out, where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from core.decoding.counting import counted, duration
from core.traces.data_path.fold import FoldedRow, fold
from core.traces.data_path.phases import BEGAN, BEGINS
from core.traces.data_path.steps import starts_step
from core.traces.data_path.types import PHASES, DataPath, FunctionCall, PathPhase

_INDENT = "  "


# Parts before the run itself; each is one line where a depth is given.
_BRIEF: tuple[PathPhase, ...] = ("request", "load")


def as_lines(path: DataPath, depth: int | None = None) -> Iterator[str]:
    """A line for each function that ran, one for what went in and one for what came out.

    Args:
        depth: of the calls within calls that are shown, counted from the function that begins a
            part of the run; what comes before the run is one line then. None shows all.
    """
    yield from _lines(fold(path.calls), 0, 0, depth, None)
    if path.left_out:
        yield f"({path.left_out:,} more calls were not kept)"


def _lines(
    rows: list[FoldedRow], at: int, level: int, depth: int | None, around: PathPhase | None
) -> Iterator[str]:
    """The rows inside a call, with titles where a part of the run begins.

    Args:
        at: the indentation.
        level: calls since the part of the run began.
        around: the part that the caller belongs to.
    """
    before = around
    for row in rows:
        # Of a run's steps the second stands for all: its forward is its own. Of two steps the last
        # only ends the run.
        shown_round = int(row.times > 2 and any(map(starts_step, row.rounds[0])))
        call = row.rounds[shown_round][0]
        place = call.file, call.function
        begins = place in BEGINS or place in BEGAN
        own_level = 0 if begins else level
        shown = depth is None or own_level < depth
        if shown:
            if call.phase not in (around, before):
                yield f"{_INDENT * at}== {PHASES[call.phase]}"
            before = call.phase
            yield from _of(row, call, at)
        if depth is not None and begins and call.phase in _BRIEF:
            yield f"{_INDENT * (at + 1)}({counted(sum(1 for _ in call.walk()) - 1, 'call')} inside)"
        else:
            yield from _lines(row.inside(shown_round), at + shown, own_level + 1, depth, call.phase)


def _of(row: FoldedRow, call: FunctionCall, at: int) -> Iterator[str]:
    indent = _INDENT * at
    if len(row.functions) > 1:
        names = ", ".join(row.functions)
        yield f"{indent}loop x {row.times}: {names}  {duration(row.seconds)}"
        return
    many = f" x {row.times}" if row.times > 1 else ""
    goes_on, took = " (goes on)" if call.resumed else "", duration(row.seconds)
    yield f"{indent}{call.function}{goes_on}{many}  {call.file}:{call.line}  {took}"
    if call.arguments:
        arguments = ", ".join(f"{name}: {text}" for name, text in call.arguments)
        yield f"{indent}{_INDENT}-> {arguments}"
    if call.result and call.result != "None":
        yield f"{indent}{_INDENT}<- {call.result}"
