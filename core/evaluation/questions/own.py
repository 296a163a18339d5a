"""The project's own question sets: handwritten, and held out of the embedded models' training.

The training is evaluated on these questions, and its corpus must not contain their texts
(`training/evaluation/questions`). Using the same files keeps both consistent.
"""

from __future__ import annotations

from functools import cache

from ...decoding.errors import ProblemError
from ...decoding.files import reason_of
from ...decoding.reasoning.calculator import result_of
from ...decoding.validation import brief
from ...installation import ROOT
from ...language import Message
from .types import Question, QuestionSet

OWN_PREFIX = "own:"
FOLDER = ROOT / "training" / "evaluation" / "questions"
# Lists with one right answer.
_WHOLE_LISTS = {
    "days of the week, in order": "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday",
    "Run through the months of the year for me.": "January, February, March, April, May, June, "
    "July, August, September, October, November, December",
    "Enumerate the planets.": "Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune",
}
OWN_SETS = ("facts", "sums", "lists", "mixed")
_MIXED = {"facts": 60, "sums": 37}


@cache
def own_questions(name: str) -> QuestionSet:
    """Return a question set by its name, with or without `own:`.

    `facts` have questions in many wordings; `sums` in words, stories and symbols; `lists` have one
    right answer each; `mixed` has the first facts and sums, and the lists.

    Raises:
        ProblemError: there is no such set.
    """
    bare = name.removeprefix(OWN_PREFIX)
    if bare not in OWN_SETS:
        raise ProblemError(
            Message(
                "There is no own set {given}; take one of {own_sets}.",
                given=brief(bare),
                own_sets=", ".join(OWN_SETS),
            )
        )
    made = {"facts": _facts, "sums": _sums, "lists": _lists, "mixed": _mixed}[bare]()
    return QuestionSet(OWN_PREFIX + bare, made)


def _rows(name: str) -> list[list[str]]:
    """Return the rows of a question file, split at " | "; the first line is a title."""
    try:
        lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()[1:]
    except OSError as error:
        raise ProblemError(
            Message(
                "The own set {name} can't be read: {reason}.", name=name, reason=reason_of(error)
            )
        ) from None
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def _facts() -> tuple[Question, ...]:
    return tuple(
        Question(f"fact {number}", text, tuple(answers.split("/")), f"facts, {kind}")
        for number, (kind, text, answers) in enumerate(_rows("facts"), start=1)
    )


def _sums() -> tuple[Question, ...]:
    return tuple(
        Question(f"sum {number}", text, (result_of(expression),), f"sums, {kind}")
        for number, (kind, text, expression) in enumerate(_rows("sums"), start=1)
    )


def _lists() -> tuple[Question, ...]:
    texts = [row[0] for row in _rows("lists") if row[0] in _WHOLE_LISTS]
    return tuple(
        Question(f"list {number}", text, (_WHOLE_LISTS[text],), "lists")
        for number, text in enumerate(texts, start=1)
    )


def _mixed() -> tuple[Question, ...]:
    return (*_facts()[: _MIXED["facts"]], *_sums()[: _MIXED["sums"]], *_lists())
