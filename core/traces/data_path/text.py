"""A data path as indented text: what went in, what came out, where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from core.traces.data_path.fold import Row, fold
from core.traces.data_path.types import PHASES, Call, DataPath, Phase

_INDENT = "  "


def as_lines(path: DataPath, depth: int | None = None) -> Iterator[str]:
    """A line for each function that ran, one for what went in and one for what came out.

    Args:
        depth: of the calls within calls that are shown; None shows all.
    """
    phase: Phase | None = None
    for at, row in _rows(fold(path.calls), 0, depth):
        call = row.first
        if call.phase != phase:
            phase = call.phase
            yield f"{_INDENT * at}== {PHASES[phase]}"
        yield from _of(row, at)
    if path.left_out:
        yield f"({path.left_out:,} more calls were not kept)"


def _rows(rows: list[Row], at: int, depth: int | None) -> Iterator[tuple[int, Row]]:
    if depth is not None and at >= depth:
        return
    for row in rows:
        yield at, row
        yield from _rows(row.inside(), at + 1, depth)


def _of(row: Row, at: int) -> Iterator[str]:
    call, indent = row.first, _INDENT * at
    many = f" x {row.times}" if row.times > 1 else ""
    goes_on = " (goes on)" if call.resumed else ""
    yield f"{indent}{call.function}{goes_on}{many}  {call.file}:{call.line}  {in_ms(row.seconds)}"
    if call.arguments:
        yield f"{indent}{_INDENT}-> {put_in(call)}"
    if call.result and call.result != "None":
        yield f"{indent}{_INDENT}<- {call.result}"


def put_in(call: Call) -> str:
    """A call's arguments in one line."""
    return ", ".join(f"{name}: {text}" for name, text in call.arguments)


def in_ms(seconds: float) -> str:
    """As "1.25 ms"."""
    return f"{1e3 * seconds:.2f} ms"
