"""Read rows with question, answer and line number from CSV, JSONL and JSON.

The columns of a CSV are separated by commas, semicolons, tabs or bars, detected in its first line.
"""

from __future__ import annotations

import csv
import io
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from json.decoder import JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from ...decoding.errors import ProblemError
from ...decoding.validation import brief
from ...language import N_, Message
from ...traces.bounded_file import text_of
from ..scoring.answers import MAX_DIGITS

REQUIRED = {"question", "answer"}
# Other tools' names of these columns.
_ALSO = {"prompt": "question", "target": "answer"}
_SEPARATORS = ",;\t|"
# Limit on brackets and commas in a JSON file, those in texts included: 1 s of parsing. 5 MB of
# SQuAD have about half as many.
MAX_MARKS = 300_000
QuestionRow = tuple[int, dict[str, Any]]


def decoded(data: bytes) -> str:
    """Return a file's text.

    Raises:
        ProblemError: it is neither UTF-8 nor UTF-16 with a byte order mark.
    """
    try:
        return text_of(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ProblemError(
            Message("Line {line} of the problems is not UTF-8 text.", line=line)
        ) from None


def with_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """Rename `prompt` and `target` to question and answer, unless these exist."""
    return {(new if (new := _ALSO.get(name, name)) not in row else name): row[name] for name in row}


def is_jsonl(text: str, name: str) -> bool:
    """Return True if a text is JSON, by its first character or else by its name."""
    first = text.lstrip().partition("\n")[0].lower()
    named = name.lower().endswith((".jsonl", ".json"))
    return first.startswith(("{", "[")) or (named and _separator(first) is None)


def jsonl_rows(text: str) -> Iterator[QuestionRow]:
    """Yield the objects of a JSONL file, numbers as written.

    Raises:
        ProblemError: a line is no object.
    """
    # Not splitlines: it would also split at characters that JSON strings may hold.
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            # Keep the number as written: 1e16 is a whole number, and 0.00001 has no exponent.
            item = json.loads(row, parse_float=_number, parse_int=_number)
        except (ValueError, RecursionError):
            raise ProblemError(
                Message("Line {line} of the problems is not JSON.", line=line)
            ) from None
        if not isinstance(item, dict):
            raise ProblemError(
                Message("Line {line}: an object with question and answer is needed.", line=line)
            )
        yield line, with_names(item)


class Located(dict[str, Any]):
    """An object in a JSON file, with the number of its first line."""

    line: int = 1


class _Locating(json.JSONDecoder):
    """JSON decoder that returns `Located` objects; uses the library's parser in Python."""

    def __init__(self, text: str) -> None:
        super().__init__(parse_float=_number, parse_int=_number)
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self.parse_object = self._located
        self.scan_once = py_make_scanner(self)

    def _located(self, text_and_start: tuple[str, int], *options: Any) -> tuple[Located, int]:
        values, end = JSONObject(text_and_start, *options)
        located = Located(values)
        located.line = bisect_right(self._starts, text_and_start[1] - 1)
        return located, end


def json_value(text: str) -> Any:
    """Return one JSON value; every object in it is `Located`.

    Raises:
        ProblemError: it is not JSON (the message has the line), or holds too many values.
    """
    if sum(map(text.count, "[{,")) > MAX_MARKS:
        raise ProblemError(
            Message(
                "The file holds more than {max_marks:,} values; give a part of the questions.",
                max_marks=MAX_MARKS,
            )
        )
    try:
        return _Locating(text).decode(text)
    except json.JSONDecodeError as error:
        raise ProblemError(
            Message("Line {lineno} of the problems is not JSON.", lineno=error.lineno)
        ) from None
    except (ValueError, RecursionError):
        raise ProblemError(N_("The file is nested too deep, or is not JSON.")) from None


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")


def csv_rows(text: str) -> Iterator[QuestionRow]:
    """Yield the rows of a CSV by lower-case column names.

    Raises:
        ProblemError: a column is missing, a row has another length, or it is no CSV.
    """
    separator = _separator(next(iter(text.splitlines()), "")) or ","
    # Quotes after a space, as in `a, "b"`, are quotes too.
    lines = io.StringIO(text, newline="")
    reader, started = csv.reader(lines, strict=True, skipinitialspace=True, delimiter=separator), 1
    try:
        header = list(map(_plain, next(reader, [])))
        header = (
            list(with_names(dict.fromkeys(header))) if len({*header}) == len(header) else header
        )
        if not set(header) >= REQUIRED:
            raise ProblemError(
                N_("Line 1: the first line must name the columns question and answer.")
            )
        started = reader.line_num + 1
        for row in reader:
            if any(cell.strip() for cell in row):
                if len(row) != len(header):
                    raise ProblemError(
                        Message(
                            "Line {started}: {row} columns, the first line has "
                            "{header}; put a text that holds {separator!r} in quotes.",
                            started=started,
                            row=len(row),
                            header=len(header),
                            separator=separator,
                        )
                    )
                # The first of two columns with the same name counts.
                yield started, dict(reversed(list(zip(header, row, strict=True))))
            started = reader.line_num + 1
    except csv.Error as error:
        raise ProblemError(
            Message(
                "Line {started} of the problems is no CSV: {error}.", started=started, error=error
            )
        ) from None


def _separator(header: str) -> str | None:
    """Return the separator of a CSV's first line; None if it has no such columns."""
    for sign in _SEPARATORS:
        if with_names(dict.fromkeys(map(_plain, header.split(sign)))).keys() >= REQUIRED:
            return sign
    return None


def _plain(name: str) -> str:
    return name.strip(' "\r\n').lower()


def checked_text(line: int, what: Message, text: str, most: int) -> str:
    """Return a text without surrounding spaces.

    Raises:
        ProblemError: it is too long, or has half a surrogate pair, which UTF-8 can't encode.
    """
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ProblemError(
            Message(
                "Line {line}: the {what} holds half a character that can't be asked.",
                line=line,
                what=what,
            )
        )
    if len(text) > most:
        raise ProblemError(
            Message(
                "Line {line}: the {what} has more than {most:,} characters.",
                line=line,
                what=what,
                most=most,
            )
        )
    return text.strip()


def checked_question(line: int, question: object, most: int) -> str:
    """Return a question; raise ProblemError if it is no text."""
    if not isinstance(question, str) or not question.strip():
        raise ProblemError(
            Message(
                "Line {line}: the question must be a text, got {question}.",
                line=line,
                question=shown(question),
            )
        )
    return checked_text(line, Message("question"), question, most)


def plain_number(value: object) -> object:
    """Return a number as text without an exponent; other values, and huge numbers, unchanged."""
    if isinstance(value, Decimal) and abs(value.adjusted()) < MAX_DIGITS:
        return format(value, "f")
    return value


def shown(value: object) -> str:
    """Return a value as text for an error message."""
    return brief(str(value) if isinstance(value, Decimal) else value)
