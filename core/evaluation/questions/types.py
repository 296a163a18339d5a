"""Questions with their reference answers: frozen values, without torch and pandas."""

from __future__ import annotations

from dataclasses import dataclass

from ...decoding.errors import ConfigError
from ...decoding.validation import ShortRepr
from ...language import N_


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its accepted answers.

    Args:
        key: name of the question in its set.
        answers: the reference answer, then its aliases.
        kind: kind of question, such as `sums`; empty if unknown.
        context: text that the question refers to; precedes it in the prompt.
        columns: names and texts of the file's other columns, copied to tables of rows.
    """

    key: str
    question: str
    answers: tuple[str, ...]
    kind: str = ""
    context: str = ""
    columns: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.question.strip() or not self.answers or not all(self.answers):
            raise ConfigError(N_("A question needs a text and an answer."))

    @property
    def asked(self) -> str:
        """The text for the model: the context, if there is one, and the question."""
        return f"{self.context}\n\n{self.question}" if self.context else self.question


@dataclass(frozen=True, slots=True, repr=False)
class QuestionSet(ShortRepr):
    """Questions with a name that states their source.

    Args:
        left_out: number of unanswerable SQuAD questions, which no metric here can judge.
    """

    name: str
    questions: tuple[Question, ...]
    left_out: int = 0
