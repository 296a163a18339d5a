"""Rows of a box's functions, and the box itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from core.decoding.counting import duration
from core.language import tr
from core.traces.data_path.fold import FoldedRow, fold
from core.traces.data_path.types import FunctionCall

Data: TypeAlias = dict[str, Any]
_DEEPEST, _MOST_ROWS = 7, 400
# The parts of a run; the loop, the fifth, is numbered where it is drawn.
_NUMBERS = {"load": "1", "request": "2", "chat": "3", "ids": "4", "finish": "6", "answer": "7"}


class FunctionRows:
    """Rows of functions, numbered by their place in the picture."""

    def __init__(self) -> None:
        self.places: dict[str, tuple[str, int]] = {}
        self._left = _MOST_ROWS

    def of(self, box: str, calls: Iterable[FunctionCall]) -> Data:
        """The rows of a box."""
        self._left = _MOST_ROWS
        recorded_calls = list(calls)
        seconds = sum(call.seconds for call in recorded_calls)
        took = duration(seconds) if recorded_calls else ""
        number = _NUMBERS.get(box, "")
        return {
            "id": box,
            "number": number,
            "took": took,
            "rows": self._rows(fold(recorded_calls), box, 0),
        }

    def _rows(self, rows: Sequence[FoldedRow], above: str, depth: int) -> list[Data]:
        if depth >= _DEEPEST:
            return []
        made = []
        for at, row in enumerate(rows):
            if self._left <= 0:
                break
            self._left -= 1
            made.append(self._row(row, f"{above}.{at}", depth))
        return made

    def _row(self, row: FoldedRow, name: str, depth: int) -> Data:
        inner = self._rows(row.inside(), name, depth + 1)
        call = row.first
        data: Data = {"id": name, "x": row.times, "ms": duration(row.seconds), "rows": inner}
        if len(row.functions) > 1:
            return data | {"name": tr("loop: {functions}", functions=", ".join(row.functions))}
        self.places[name] = (call.file, call.line)
        return data | {
            "name": tr("{function} (goes on)", function=call.function)
            if call.resumed
            else call.function,
            "place": f"{call.file}:{call.line}",
            "in": [[key, text] for key, text in call.arguments],
            "out": "" if call.result == "None" else call.result,
        }


def box(title: str, *pairs: tuple[str, str], words: str = "", chips: Sequence[Data] = ()) -> Data:
    """Return the content of a box."""
    return {"title": title, "words": words, "pairs": pairs, "chips": tuple(chips)}


def chip(text: str, value: str, share: float | None = None, *, chosen: bool = False) -> Data:
    """Return a token with its value."""
    return {"text": text, "value": value, "share": share, "chosen": chosen}
