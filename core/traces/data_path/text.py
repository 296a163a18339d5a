"""A data path as indented text: what went in, what came out, where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from core.decoding.counting import duration
from core.traces.data_path.fold import FoldedRow, fold
from core.traces.data_path.types import PHASES, DataPath, FunctionCall, PathPhase

_INDENT = "  "


def as_lines(path: DataPath, depth: int | None = None) -> Iterator[str]:
    """A line for each function that ran, one for what went in and one for what came out.

    Args:
        depth: of the calls within calls that are shown; None shows all.
    """
    yield from _lines(fold(path.calls), 0, depth, None)
    if path.left_out:
        yield f"({path.left_out:,} more calls were not kept)"


def _lines(
    rows: list[FoldedRow], at: int, depth: int | None, around: PathPhase | None
) -> Iterator[str]:
    """The rows at one depth, with titles where a part of the run begins.

    Args:
        around: the part that the caller belongs to.
    """
    if depth is not None and at >= depth:
        return
    before = around
    for row in rows:
        phase = row.first.phase
        if phase not in (around, before):
            yield f"{_INDENT * at}== {PHASES[phase]}"
        before = phase
        yield from _of(row, at)
        yield from _lines(row.inside(), at + 1, depth, phase)


def _of(row: FoldedRow, at: int) -> Iterator[str]:
    call, indent = row.first, _INDENT * at
    if len(row.functions) > 1:
        names = ", ".join(row.functions)
        yield f"{indent}loop x {row.times}: {names}  {duration(row.seconds)}"
        return
    many = f" x {row.times}" if row.times > 1 else ""
    goes_on, took = " (goes on)" if call.resumed else "", duration(row.seconds)
    yield f"{indent}{call.function}{goes_on}{many}  {call.file}:{call.line}  {took}"
    if call.arguments:
        yield f"{indent}{_INDENT}-> {put_in(call)}"
    if call.result and call.result != "None":
        yield f"{indent}{_INDENT}<- {call.result}"


def put_in(call: FunctionCall) -> str:
    """A call's arguments in one line."""
    return ", ".join(f"{name}: {text}" for name, text in call.arguments)
