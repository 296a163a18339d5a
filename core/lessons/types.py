"""A lesson and its steps, as a file describes them; frozen values without a page's widgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

FactValue: TypeAlias = str | float
"""A fact's value, and the value that a choice stands for."""

Wait: TypeAlias = Literal["", "run", "move", "select"]


class GuessChoice(NamedTuple):
    """One answer to a question.

    Args:
        value: the fact's value that makes it right; None if an interval or nothing does.
        least, most: ends of the interval of right values, both included.
        otherwise: it is right where no other choice is.
    """

    words: str
    value: FactValue | None = None
    least: float | None = None
    most: float | None = None
    otherwise: bool = False

    def holds(self, found: FactValue) -> bool:
        """Return whether a fact's value makes this choice right, apart from `otherwise`."""
        if self.value is not None:
            return _same(self.value, found)
        if self.otherwise or isinstance(found, str):
            return False
        low, high = self._interval
        return low <= found <= high

    def overlaps(self, other: GuessChoice) -> bool:
        """Return whether a value of the fact makes both choices right."""
        if self.otherwise or other.otherwise:
            return self.otherwise and other.otherwise
        if self.value is not None:
            return other.holds(self.value)
        if other.value is not None:
            return self.holds(other.value)
        lows, highs = zip(self._interval, other._interval, strict=True)
        return bool(max(lows) <= min(highs))

    @property
    def _interval(self) -> tuple[float, float]:
        low = -float("inf") if self.least is None else self.least
        return low, float("inf") if self.most is None else self.most


class GuessQuestion(NamedTuple):
    """A question that is asked before the page shows its answer.

    Args:
        fact: name of the fact that decides which choice is right.
    """

    words: str
    fact: str
    choices: tuple[GuessChoice, ...]

    def right(self, found: FactValue) -> int | None:
        """Return the index of the right choice for the fact's value; None if there is none."""
        places = range(len(self.choices))
        exact = next((at for at in places if self.choices[at].holds(found)), None)
        if exact is not None:
            return exact
        return next((at for at in places if self.choices[at].otherwise), None)


class Target(NamedTuple):
    """Value that a moved control must reach: a bound (`>=`, `<=`), or a word of the address."""

    relation: Literal[">=", "<=", "is"]
    word: str

    def reached(self, word: str) -> bool:
        """Return whether a control's value, as the address has it, is far enough."""
        if self.relation == "is":
            return word == self.word
        try:
            number, bound = float(word), float(self.word)
        except ValueError:
            return False
        return number >= bound if self.relation == ">=" else number <= bound


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A step of a lesson; it says one thing.

    Args:
        say: the first words.
        page: path of the page on which it begins anew, with the controls `settings` and without a
            run; empty to go on with what the step before has left.
        settings: words of the address by the names of the controls.
        ask: asked before anything else is done.
        do: what the learner is asked to do.
        point: name of the control that is highlighted.
        wait: what must happen: a run has ended, the pointed control has moved, another token was
            selected; empty for nothing.
        to: the value that the moved control must reach; None for any other one.
        reveal: the last words. In all of them facts are named in braces: in the reveal as the
            learner's act has left them, elsewhere as they were before it.
    """

    say: str
    page: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    ask: GuessQuestion | None = None
    do: str = ""
    point: str = ""
    wait: Wait = ""
    to: Target | None = None
    reveal: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that may name facts."""
        return (self.say, self.ask.words if self.ask else "", self.do, self.reveal)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson.

    Args:
        name: its name in links.
        minutes: about how long it takes.
        summary: what the learner finds out, in one sentence.
    """

    name: str
    title: str
    minutes: int
    summary: str
    steps: tuple[LessonStep, ...]

    @property
    def questions(self) -> Iterator[int]:
        """Yield the indices of the steps that ask."""
        return (at for at, step in enumerate(self.steps) if step.ask is not None)

    def begins(self, at: int) -> int:
        """Return the index of the step at or before this one that begins on a page."""
        return next((i for i in range(at, -1, -1) if self.steps[i].page), 0)


def _same(expected: FactValue, found: FactValue) -> bool:
    if isinstance(expected, str) or isinstance(found, str):
        return str(expected).strip().casefold() == str(found).strip().casefold()
    return expected == found
