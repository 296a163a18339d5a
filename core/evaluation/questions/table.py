"""Rows of question and answer with the line that each begins at: CSV, JSONL, JSON."""

from __future__ import annotations

import csv
import io
import json
from bisect import bisect_right
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from json.decoder import JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from core.decoding.errors import ProblemError

REQUIRED = {"question", "answer"}
# Brackets and commas of a JSON file, those of its texts included, as 1 s reads them; 5 MB of SQuAD
# have about half as many.
MAX_MARKS = 300_000
QuestionRow = tuple[int, dict[str, Any]]


def decoded(data: bytes) -> str:
    """A file's text.

    Raises:
        ProblemError: it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ProblemError(f"Line {line} of the problems is not UTF-8 text.") from None


def is_jsonl(text: str, name: str) -> bool:
    """By its first character; else by its name, but for a file that names a CSV's columns."""
    first = text.lstrip().partition("\n")[0].lower()
    named = name.lower().endswith((".jsonl", ".json"))
    return first.startswith(("{", "[")) or (named and "question" not in first)


def jsonl_rows(text: str) -> Iterator[QuestionRow]:
    """The objects of a JSONL file, numbers as they are written.

    Raises:
        ProblemError: a line that is no object.
    """
    # Not splitlines: it would also split at characters that JSON strings may hold.
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            # The number as it is written: 1e16 is a whole one, and 0.00001 has no exponent.
            item = json.loads(row, parse_float=_number, parse_int=_number)
        except (ValueError, RecursionError):
            raise ProblemError(f"Line {line} of the problems is not JSON.") from None
        if not isinstance(item, dict):
            raise ProblemError(f"Line {line}: an object with question and answer is needed.")
        yield line, item


class Located(dict[str, Any]):
    """An object of a JSON file that knows the line it begins at."""

    line: int = 1


class _Locating(json.JSONDecoder):
    """A decoder whose objects are `Located`; the library's own parser in Python."""

    def __init__(self, text: str) -> None:
        super().__init__(parse_float=_number, parse_int=_number)
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self.parse_object = self._located
        self.scan_once = py_make_scanner(self)

    def _located(self, text_and_start: tuple[str, int], *options: Any) -> tuple[Located, int]:
        values, end = JSONObject(text_and_start, *options)
        found = Located(values)
        found.line = bisect_right(self._starts, text_and_start[1] - 1)
        return found, end


def json_value(text: str) -> Any:
    """One JSON value; every object in it is `Located`.

    Raises:
        ProblemError: it is not JSON, with the line, or holds too many values.
    """
    if sum(map(text.count, "[{,")) > MAX_MARKS:
        raise ProblemError(
            f"The file holds more than {MAX_MARKS:,} values; give a part of the questions."
        )
    try:
        return _Locating(text).decode(text)
    except json.JSONDecodeError as error:
        raise ProblemError(f"Line {error.lineno} of the problems is not JSON.") from None
    except (ValueError, RecursionError):
        raise ProblemError("The file is nested too deep, or is not JSON.") from None


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")


def csv_rows(text: str) -> Iterator[QuestionRow]:
    """The rows of a CSV by the names of their columns, in small letters.

    Raises:
        ProblemError: no such columns, a row of another length, no CSV.
    """
    _require_commas(text.partition("\n")[0])
    # Quotes behind a space, as in `a, "b"`, are quotes too.
    lines = io.StringIO(text, newline="")
    reader, started = csv.reader(lines, strict=True, skipinitialspace=True), 1
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if not set(header) >= REQUIRED:
            raise ProblemError("Line 1: the first line must name the columns question and answer.")
        started = reader.line_num + 1
        for row in reader:
            if any(cell.strip() for cell in row):
                if len(row) != len(header):
                    raise ProblemError(
                        f"Line {started}: {len(row)} columns, the first line has {len(header)}; "
                        "put a text that holds a comma in quotes."
                    )
                # Of two columns with one name the first counts.
                yield started, dict(reversed(list(zip(header, row, strict=True))))
            started = reader.line_num + 1
    except csv.Error as error:
        raise ProblemError(f"Line {started} of the problems is no CSV: {error}.") from None


def _require_commas(header: str) -> None:
    """Raises ProblemError for a first line whose columns no commas separate."""
    for sign, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if {cell.strip(' "\r').lower() for cell in header.split(sign)} >= REQUIRED:
            raise ProblemError(
                f"Line 1: {name} stand between the columns; save the file with commas between them."
            )


def is_text(text: str) -> bool:
    """Whether UTF-8 can write it: JSON can name halves of a character alone."""
    return not any("\ud800" <= char <= "\udfff" for char in text)
