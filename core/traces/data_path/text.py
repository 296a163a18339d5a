"""Format a data path as indented text: arguments, results, files and lines."""

from __future__ import annotations

from collections.abc import Iterator

from ...decoding.counting import counted, duration
from ...language import tr
from .fold import FoldedRow, fold
from .phases import BEGAN, BEGINS
from .steps import starts_step
from .types import PHASES, DataPath, FunctionCall, PathPhase

_INDENT = "  "


# Phases before the run; each is one line if a depth is given.
_BRIEF: tuple[PathPhase, ...] = ("request", "load")


def as_lines(path: DataPath, depth: int | None = None) -> Iterator[str]:
    """Yield a line for each function call, one for its arguments and one for its result.

    Args:
        depth: number of nested calls to show, counted from the function that starts a phase of the
            run; phases before the run then take one line. None shows all.
    """
    yield from _lines(fold(path.calls), 0, 0, depth, None)
    if path.left_out:
        yield tr("({count:,} more calls were not kept)", count=path.left_out)


def _lines(
    rows: list[FoldedRow], at: int, level: int, depth: int | None, around: PathPhase | None
) -> Iterator[str]:
    """Yield the lines of rows inside a call, with a title at the start of each phase.

    Args:
        at: the indentation.
        level: number of nested calls since the phase started.
        around: the phase of the caller.
    """
    before = around
    for row in rows:
        # The second step represents all: it is the first with its own forward. If there are only
        # two, the last one just ends the run.
        shown_round = int(row.times > 2 and any(map(starts_step, row.rounds[0])))
        call = row.rounds[shown_round][0]
        place = call.file, call.function
        begins = place in BEGINS or place in BEGAN
        own_level = 0 if begins else level
        shown = depth is None or own_level < depth
        if shown:
            if call.phase not in (around, before):
                yield f"{_INDENT * at}== {tr(PHASES[call.phase])}"
            before = call.phase
            yield from _of(row, call, at)
        if depth is not None and begins and call.phase in _BRIEF:
            calls = counted(sum(1 for _ in call.walk()) - 1, "call")
            yield _INDENT * (at + 1) + tr("({calls} inside)", calls=calls)
        else:
            yield from _lines(row.inside(shown_round), at + shown, own_level + 1, depth, call.phase)


def _of(row: FoldedRow, call: FunctionCall, at: int) -> Iterator[str]:
    indent = _INDENT * at
    if len(row.functions) > 1:
        names = ", ".join(row.functions)
        yield f"{indent}{tr('loop')} x {row.times}: {names}  {duration(row.seconds)}"
        return
    many = f" x {row.times}" if row.times > 1 else ""
    goes_on, took = f" {tr('(goes on)')}" if call.resumed else "", duration(row.seconds)
    yield f"{indent}{call.function}{goes_on}{many}  {call.file}:{call.line}  {took}"
    if call.arguments:
        arguments = ", ".join(f"{name}: {text}" for name, text in call.arguments)
        yield f"{indent}{_INDENT}-> {arguments}"
    if call.result and call.result != "None":
        yield f"{indent}{_INDENT}<- {call.result}"
