"""Problem sets: the project's own, from a seed, and a CSV or JSONL file of one's own."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from core.decoding.errors import ConfigError, ProblemError
from core.decoding.validation import brief
from core.evaluation.answers import MAX_DIGITS, normal_number
from core.evaluation.chains import MOST_STEPS, Chain, ask_in_symbols, ask_in_words, draw_chain
from core.evaluation.hard_sums import ask_hard_sum, draw_hard_sum
from core.evaluation.types import Problem, ProblemSet
from core.traces.bounded_file import file_bytes, within

THINKING_SYSTEM = "Think step by step."
CALCULATOR_SYSTEM = "Use the calculator."
MAX_PROBLEMS = 2_000
MAX_BYTES = 1_000_000
MAX_QUESTION = 4_000
_TRIES = 500


def make_problems(
    count: int, *, seed: int = 0, steps: Sequence[int] = tuple(range(1, MOST_STEPS + 1))
) -> ProblemSet:
    """Chains that no training text contains, in words and in symbols, the difficulties in turn.

    A last round that is not whole is spread over the difficulties: 4 problems of 1 to 8 steps have
    2, 4, 6 and 8. A larger set of the same seed holds all problems of a smaller one.

    Args:
        steps: difficulties from 1 to 8.

    Raises:
        ConfigError: a difficulty that there isn't, or more problems than it has.
    """
    wanted = sorted(set(steps))
    if not wanted or not all(1 <= one <= MOST_STEPS for one in wanted):
        raise ConfigError(f"steps must lie in [1, {MOST_STEPS}], got {brief(str(list(steps)))}.")
    rounds, rest = divmod(_checked(count), len(wanted))
    rng, keys = random.Random(seed), set[str]()
    problems = [_new_problem(rng, one, keys) for _ in range(rounds) for one in wanted]
    if rest:
        last = [_new_problem(rng, one, keys) for one in wanted]
        problems += [last[(2 * at + 1) * len(wanted) // (2 * rest)] for at in range(rest)]
    levels = ",".join(map(str, sorted({problem.steps or 0 for problem in problems})))
    return ProblemSet(f"chains of {levels} steps, seed {seed}", tuple(problems))


def make_hard_sums(count: int, *, seed: int = 0) -> ProblemSet:
    """Sums that the embedded model can't do alone and calls its calculator for."""
    rng, problems = random.Random(seed), dict[str, Problem]()
    _checked(count)
    while len(problems) < count:
        chain = draw_hard_sum(rng, held_out=True)
        question = ask_hard_sum(rng, chain)
        problems.setdefault(chain.key, _problem(chain, question, CALCULATOR_SYSTEM))
    return ProblemSet(f"hard sums, seed {seed}", tuple(problems.values()))


def _checked(count: int) -> int:
    if not 1 <= count <= MAX_PROBLEMS:
        raise ConfigError(f"count must lie in [1, {MAX_PROBLEMS}], got {count}.")
    return count


def _new_problem(rng: random.Random, steps: int, keys: set[str]) -> Problem:
    """A chain that the set doesn't have yet, asked in words or in symbols."""
    chain = _new_chain(rng, steps, keys)
    keys.add(chain.key)
    ask = ask_in_symbols if rng.random() < 0.5 else ask_in_words
    question = ask(rng, chain)
    return _problem(chain, question, THINKING_SYSTEM)


def _new_chain(rng: random.Random, steps: int, keys: set[str]) -> Chain:
    for _ in range(_TRIES):
        chain = draw_chain(rng, steps, held_out=True)
        if chain.key not in keys:
            return chain
    raise ConfigError(
        f"There are no more problems of {steps} step{'s' * (steps > 1)} that the model was not "
        "trained on; ask for fewer, or for more steps."
    )


def _problem(chain: Chain, question: str, system: str) -> Problem:
    return Problem(chain.key, question, str(chain.answer), len(chain.steps), system)


def read_problems(source: bytes | str | Path, name: str = "", system: str = "") -> ProblemSet:
    """Problems from a CSV with the columns question and answer, or a JSONL of such objects.

    Args:
        source: the file's bytes, or its path.
        name: of the set; the path's own if not given.
        system: the system prompt that every problem is asked with.

    Raises:
        ProblemError: the first fault, with its line number.
    """
    if isinstance(source, bytes):
        data = within(source, MAX_BYTES, "file of problems", ProblemError)
    else:
        data = file_bytes(source, MAX_BYTES, "file of problems", ProblemError)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ProblemError(f"Line {line} of the problems is not UTF-8 text.") from None
    named = name or (str(source) if not isinstance(source, bytes) else "problems from a file")
    rows = _jsonl_rows(text) if _is_jsonl(text, named) else _csv_rows(text)
    problems: list[Problem] = []
    for line, question, answer in rows:
        if len(problems) == MAX_PROBLEMS:
            raise ProblemError(f"Line {line}: at most {MAX_PROBLEMS:,} problems are allowed.")
        problems.append(_checked_problem(line, question, answer, system))
    if not problems:
        raise ProblemError("The file holds no problem; give each a question and an answer.")
    return ProblemSet(named, tuple(problems))


def _is_jsonl(text: str, name: str) -> bool:
    """By its first character; else by its name, but for a file that names a CSV's columns."""
    first = text.lstrip().partition("\n")[0].lower()
    named = name.lower().endswith((".jsonl", ".json"))
    return first.startswith(("{", "[")) or (named and "question" not in first)


def _jsonl_rows(text: str) -> Iterator[tuple[int, object, object]]:
    if text.lstrip().startswith("["):
        raise ProblemError(
            "The file is one JSON list; write JSONL, an object with question and answer on each "
            "line."
        )
    # Not splitlines: it would also split at characters that JSON strings may hold.
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            # The number as it is written: 1e16 is a whole one, and 0.00001 has no exponent.
            item = json.loads(row, parse_float=_number, parse_int=_number)
        except (ValueError, RecursionError):
            raise ProblemError(f"Line {line} of the problems is not JSON.") from None
        if not isinstance(item, dict) or not {"question", "answer"} <= set(item):
            raise ProblemError(f"Line {line}: an object with question and answer is needed.")
        yield line, item["question"], item["answer"]


def _number(text: str) -> Decimal:
    """A number as it is written; infinity where its exponent is beyond what Decimal can hold."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")


def _csv_rows(text: str) -> Iterator[tuple[int, object, object]]:
    _require_commas(text.partition("\n")[0])
    reader, started = csv.reader(io.StringIO(text, newline=""), strict=True), 1
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if not {"question", "answer"} <= set(header):
            raise ProblemError("Line 1: the first line must name the columns question and answer.")
        columns = header.index("question"), header.index("answer")
        started = reader.line_num + 1
        for row in reader:
            if any(cell.strip() for cell in row):
                if len(row) != len(header):
                    raise ProblemError(
                        f"Line {started}: {len(row)} columns, the first line has {len(header)}; "
                        "put a text that holds a comma in quotes."
                    )
                yield started, row[columns[0]], row[columns[1]]
            started = reader.line_num + 1
    except csv.Error as error:
        raise ProblemError(f"Line {started} of the problems is no CSV: {error}.") from None


def _require_commas(header: str) -> None:
    """Raises ProblemError for a first line whose columns no commas separate."""
    for sign, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if {"question", "answer"} <= {cell.strip(' "\r').lower() for cell in header.split(sign)}:
            raise ProblemError(
                f"Line 1: {name} stand between the columns; save the file with commas between them."
            )


def _checked_problem(line: int, question: object, answer: object, system: str) -> Problem:
    if not isinstance(question, str) or not question.strip():
        raise ProblemError(f"Line {line}: the question must be a text, got {_named(question)}.")
    if not _is_text(question):
        raise ProblemError(f"Line {line}: the question holds half a character that can't be asked.")
    if len(question) > MAX_QUESTION:
        raise ProblemError(f"Line {line}: the question has more than {MAX_QUESTION:,} characters.")
    found = normal_number(_written(answer))
    if found is None:
        raise ProblemError(f"Line {line}: the answer must be a number, got {_named(answer)}.")
    return Problem(f"line {line}", question.strip(), found, None, system)


def _written(answer: object) -> str:
    """An answer as a text without an exponent; empty where it is no number of a size to answer."""
    if isinstance(answer, Decimal):
        return format(answer, "f") if abs(answer.adjusted()) < MAX_DIGITS else ""
    return answer if isinstance(answer, str) else ""


def _named(answer: object) -> str:
    return brief(str(answer)) if isinstance(answer, Decimal) else brief(answer)


def _is_text(text: str) -> bool:
    """Whether UTF-8 can write it: JSON can name halves of a character alone."""
    return not any("\ud800" <= char <= "\udfff" for char in text)
