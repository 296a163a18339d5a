"""Read question files: CSV, JSONL and JSON with aliases, and SQuAD's and GSM8K's own formats.

In GSM8K the answer follows `####` (Cobbe et al. 2021). In SQuAD the paragraph precedes the
question, every listed answer counts (Rajpurkar et al. 2016), and questions that version 2 marks as
unanswerable are left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from ...decoding.errors import ProblemError
from ...decoding.validation import brief, shortened
from ...language import N_, Message
from ...traces.bounded_file import bytes_of
from .table import (
    QuestionRow,
    checked_question,
    checked_text,
    csv_rows,
    decoded,
    is_jsonl,
    json_value,
    jsonl_rows,
    plain_number,
    shown,
    with_names,
)
from .types import Question, QuestionSet

MAX_BYTES = 5_000_000
MAX_QUESTIONS = 2_000
MAX_TEXT, MAX_CONTEXT, MAX_ALIASES = 4_000, 20_000, 50
MAX_NAME = 200
_KNOWN = {"id", "question", "answer", "answers", "aliases", "kind", "context", "is_impossible"}
GSM8K_MARK = "####"
ALIAS_SIGN = "|"


def read_questions(source: bytes | str | Path, name: str = "") -> QuestionSet:
    """Return the questions in a file of any format above, detected by its content.

    Args:
        source: the file's bytes, or its path.
        name: name of the set; the file name by default.

    Raises:
        ProblemError: the first fault, with its line.
    """
    text = decoded(bytes_of(source, MAX_BYTES, Message("file of questions"), ProblemError))
    if not text.strip():
        raise ProblemError(N_("The file is empty; give each a question and an answer."))
    named = name or (Path(source).name if not isinstance(source, bytes) else "questions of a file")
    questions: list[Question] = []
    left_out, keys = 0, set[str]()
    for line, row in _rows(text, named):
        answers = _answers(line, row)
        if not answers:
            left_out += 1
            continue
        if len(questions) == MAX_QUESTIONS:
            raise ProblemError(
                Message(
                    "Line {line}: at most {max_questions:,} questions are allowed.",
                    line=line,
                    max_questions=MAX_QUESTIONS,
                )
            )
        question = _question(line, len(questions) + 1, row, answers)
        if question.key in keys:
            raise ProblemError(
                Message(
                    "Line {line}: another question has the id {given}.",
                    line=line,
                    given=brief(question.key),
                )
            )
        keys.add(question.key)
        questions.append(question)
    if not questions and left_out:
        raise ProblemError(
            Message(
                "None of the {left_out:,} questions of the file has an answer.", left_out=left_out
            )
        )
    if not questions:
        raise ProblemError(N_("The file holds no question; give each a question and an answer."))
    return QuestionSet(shortened(named, MAX_NAME), tuple(questions), left_out)


def _rows(text: str, name: str) -> Iterator[QuestionRow]:
    if not is_jsonl(text, name):
        return csv_rows(text)
    return _json_rows(text) if _is_one_value(text) else jsonl_rows(text)


def _is_one_value(text: str) -> bool:
    """Return True for one JSON value: a list, or an object that isn't just a line of JSONL."""
    start = text.lstrip()
    first, _, others = start.partition("\n")
    return (
        start.startswith("[")
        or not first.rstrip().endswith("}")
        or (not others.strip() and '"data"' in first and '"paragraphs"' in first)
    )


def _json_rows(text: str) -> Iterator[QuestionRow]:
    """Yield the rows of a list of objects, or of SQuAD's `data`, `paragraphs`, `qas`."""
    value = json_value(text)
    if isinstance(value, dict) and "data" in value:
        for article in _list_of(value, "data"):
            for paragraph in _list_of(article, "paragraphs"):
                for item in _list_of(paragraph, "qas"):
                    yield item.line, {"context": paragraph.get("context", ""), **item}
        return
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            raise ProblemError(N_("The JSON list must hold objects with question and answer."))
        yield item.line, with_names(item)  # type: ignore[attr-defined]


def _list_of(container: Any, name: str) -> list[Any]:
    """Return a list of objects in a SQuAD object."""
    items = container.get(name)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ProblemError(
            Message(
                "Line {line}: {name} must be a list of objects, as in SQuAD.",
                line=container.line,
                name=name,
            )
        )
    return items


def _answers(line: int, row: dict[str, Any]) -> tuple[str, ...]:
    """Return the reference answer and its aliases, each once; empty if unanswerable."""
    if str(row.get("is_impossible")).lower() == "true":
        return ()
    if "answers" in row:
        texts = _of_squad(line, row["answers"])
        if not texts and "answer" not in row:
            return ()
    elif "answer" not in row:
        raise ProblemError(
            Message("Line {line}: an answer is needed beside the question.", line=line)
        )
    else:
        texts = []
    if "answer" in row:
        values = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
        texts = [*(_after_mark(_written(line, answer)) for answer in values), *texts]
    texts += _aliases(line, row.get("aliases"))
    if len(texts) > MAX_ALIASES:
        raise ProblemError(
            Message(
                "Line {line}: at most {max_aliases} answers a question are allowed.",
                line=line,
                max_aliases=MAX_ALIASES,
            )
        )
    return tuple(dict.fromkeys(texts))


def _of_squad(line: int, answers: Any) -> list[str]:
    """Return the texts in `[{"text": ...}]`, in `{"text": [...]}`, or in a list of texts."""
    if isinstance(answers, dict):
        answers = answers.get("text")
    if not isinstance(answers, list):
        raise ProblemError(
            Message("Line {line}: answers must be a list of texts, as in SQuAD.", line=line)
        )
    return [
        _written(line, answer.get("text") if isinstance(answer, dict) else answer)
        for answer in answers
    ]


def _aliases(line: int, value: Any) -> list[str]:
    """Return the aliases from a list, or from a text with bars between them."""
    if value is None or value == "":
        return []
    parts = value.split(ALIAS_SIGN) if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise ProblemError(
            Message("Line {line}: aliases must be a list, or texts with | between them.", line=line)
        )
    return [_written(line, part) for part in parts]


def _after_mark(answer: str) -> str:
    """Return the result of a GSM8K solution; any other answer unchanged."""
    if GSM8K_MARK not in answer:
        return answer
    return answer.rpartition(GSM8K_MARK)[2].strip().replace(",", "") or answer


def _written(line: int, answer: Any) -> str:
    text = plain_number(answer)
    if not isinstance(text, str) or not text.strip():
        raise ProblemError(
            Message(
                "Line {line}: the answer must be a text or a number, got {answer}.",
                line=line,
                answer=shown(answer),
            )
        )
    return checked_text(line, Message("answer"), text, MAX_TEXT)


def _question(line: int, number: int, row: dict[str, Any], answers: tuple[str, ...]) -> Question:
    text = checked_question(line, row.get("question"), MAX_TEXT)
    context = row.get("context") or ""
    if not isinstance(context, str):
        raise ProblemError(
            Message(
                "Line {line}: the context must be a text, got {given}.",
                line=line,
                given=brief(context),
            )
        )
    kind = row.get("kind")
    return Question(
        key=_key(line, row.get("id")) or f"question {number}",
        question=text,
        answers=answers,
        kind=shortened(kind, 40) if isinstance(kind, str) else "",
        context=checked_text(line, Message("context"), context, MAX_CONTEXT),
        columns=tuple(_columns(line, row)),
    )


def _key(line: int, value: Any) -> str:
    if value is not None and not isinstance(value, str | Decimal):
        raise ProblemError(
            Message(
                "Line {line}: the id must be a text or a number, got {given}.",
                line=line,
                given=brief(value),
            )
        )
    return checked_text(line, Message("id"), "" if value is None else str(value), MAX_NAME)


def _columns(line: int, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the unused columns, as texts."""
    for name, value in row.items():
        if name in _KNOWN:
            continue
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        yield (
            checked_text(line, Message("name of a column"), name, MAX_NAME),
            checked_text(line, Message("column {name}", name=brief(name)), text, MAX_TEXT),
        )
