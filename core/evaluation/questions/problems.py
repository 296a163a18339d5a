"""Problem sets: the project's own, from a seed, and the user's CSV or JSONL files."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...decoding.counting import counted
from ...decoding.errors import ConfigError, ProblemError
from ...decoding.validation import brief
from ...language import N_, Message
from ...traces.bounded_file import bytes_of
from ..scoring.answers import normal_number
from ..types import Problem, ProblemSet
from .chains import (
    MOST_STEPS,
    Chain,
    ask_in_symbols,
    ask_in_words,
    draw_chain,
)
from .hard_sums import ask_hard_sum, draw_hard_sum
from .table import (
    REQUIRED,
    QuestionRow,
    checked_question,
    csv_rows,
    decoded,
    is_jsonl,
    jsonl_rows,
    plain_number,
    shown,
)

THINKING_SYSTEM = "Think step by step."
CALCULATOR_SYSTEM = "Use the calculator."
MAX_PROBLEMS = 2_000
MAX_BYTES = 1_000_000
MAX_QUESTION = 4_000
_TRIES = 500


def make_problems(
    count: int, *, seed: int = 0, steps: Sequence[int] = tuple(range(1, MOST_STEPS + 1))
) -> ProblemSet:
    """Return held-out chains, in words and in symbols, with the difficulties in turn.

    An incomplete last round is spread over the difficulties: 4 problems of 1 to 8 steps have 2, 4,
    6 and 8. A larger set of the same seed contains all problems of a smaller one.

    Args:
        steps: difficulties from 1 to 8.

    Raises:
        ConfigError: a difficulty out of range, or more problems than exist.
    """
    difficulties = sorted(set(steps))
    if not difficulties or not all(1 <= difficulty <= MOST_STEPS for difficulty in difficulties):
        raise ConfigError(
            Message(
                "must lie in [1, {most_steps}], got {given}.",
                most_steps=MOST_STEPS,
                given=brief(str(list(steps))),
            ),
            "steps",
            "",
        )
    rounds, remainder = divmod(_checked(count), len(difficulties))
    rng, keys = random.Random(seed), set[str]()
    problems = [
        _new_problem(rng, difficulty, keys) for _ in range(rounds) for difficulty in difficulties
    ]
    if remainder:
        last = [_new_problem(rng, difficulty, keys) for difficulty in difficulties]
        problems += [
            last[(2 * at + 1) * len(difficulties) // (2 * remainder)] for at in range(remainder)
        ]
    levels = ",".join(map(str, sorted({problem.steps or 0 for problem in problems})))
    return ProblemSet(f"chains of {levels} steps, seed {seed}", tuple(problems))


def make_hard_sums(count: int, *, seed: int = 0) -> ProblemSet:
    """Return sums that are too hard for the embedded model without its calculator."""
    rng, problems = random.Random(seed), dict[str, Problem]()
    _checked(count)
    while len(problems) < count:
        chain = draw_hard_sum(rng, held_out=True)
        problem = _problem(chain, ask_hard_sum(rng, chain), CALCULATOR_SYSTEM)
        problems.setdefault(chain.key, problem)
    return ProblemSet(f"hard sums, seed {seed}", tuple(problems.values()))


def _checked(count: int) -> int:
    if not 1 <= count <= MAX_PROBLEMS:
        raise ConfigError(
            Message(
                "must lie in [1, {max_problems}], got {count}.",
                max_problems=MAX_PROBLEMS,
                count=count,
            ),
            "problems",
            "",
        )
    return count


def _new_problem(rng: random.Random, steps: int, keys: set[str]) -> Problem:
    """Return a chain that is new in the set, with a question in words or in symbols."""
    chain = _new_chain(rng, steps, keys)
    keys.add(chain.key)
    ask = ask_in_symbols if rng.random() < 0.5 else ask_in_words
    return _problem(chain, ask(rng, chain), THINKING_SYSTEM)


def _new_chain(rng: random.Random, steps: int, keys: set[str]) -> Chain:
    for _ in range(_TRIES):
        chain = draw_chain(rng, steps, held_out=True)
        if chain.key not in keys:
            return chain
    raise ConfigError(
        Message(
            "There are no more problems of {steps} that the model was not trained on; "
            "ask for fewer, or for more steps.",
            steps=counted(steps, "step"),
        )
    )


def _problem(chain: Chain, question: str, system: str) -> Problem:
    return Problem(chain.key, question, str(chain.answer), len(chain.steps), system)


def read_problems(source: bytes | str | Path, name: str = "", system: str = "") -> ProblemSet:
    """Return problems from a CSV with columns question and answer, or a JSONL of such objects.

    Args:
        source: the file's bytes, or its path.
        name: name of the set; the path by default.
        system: system prompt of every problem.

    Raises:
        ProblemError: the first fault, with its line number.
    """
    content = decoded(bytes_of(source, MAX_BYTES, Message("file of problems"), ProblemError))
    named = name or (str(source) if not isinstance(source, bytes) else "problems from a file")
    rows = _objects(content) if is_jsonl(content, named) else csv_rows(content)
    problems: list[Problem] = []
    for line, row in rows:
        if len(problems) == MAX_PROBLEMS:
            raise ProblemError(
                Message(
                    "Line {line}: at most {max_problems:,} problems are allowed.",
                    line=line,
                    max_problems=MAX_PROBLEMS,
                )
            )
        question = checked_question(line, row["question"], MAX_QUESTION)
        text = plain_number(row["answer"])
        number = normal_number(text) if isinstance(text, str) else None
        if number is None:
            raise ProblemError(
                Message(
                    "Line {line}: the answer must be a number, got {row}.",
                    line=line,
                    row=shown(row["answer"]),
                )
            )
        problems.append(Problem(f"line {line}", question, number, None, system))
    if not problems:
        raise ProblemError(N_("The file holds no problem; give each a question and an answer."))
    return ProblemSet(named, tuple(problems))


def _objects(text: str) -> Iterator[QuestionRow]:
    if text.lstrip().startswith("["):
        raise ProblemError(
            N_(
                "The file is one JSON list; write JSONL, an object with question and "
                "answer on each line."
            )
        )
    for line, row in jsonl_rows(text):
        if not row.keys() >= REQUIRED:
            raise ProblemError(
                Message("Line {line}: an object with question and answer is needed.", line=line)
            )
        yield line, row
