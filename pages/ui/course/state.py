"""Session state of the course: the open lesson, its step, and the learner's progress and score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from core.lessons.facts import FACTS
from core.lessons.types import FactValue, Lesson, LessonStep
from pages.ui.course.lessons import lesson_of, own_lessons
from pages.ui.platform import slot
from pages.ui.run.view import PageView

# Characters of a text that is carried to the next page.
MOST_CARRIED = 4_000
# Called when a learner answers, and again once the run has shown the right answer: name of the
# lesson, index of its step, index of the choice, index of the right one (None before).
listeners: list[Callable[[str, int, int, int | None], None]] = []


class Guess(NamedTuple):
    """A learner's answer; `right` is None until the run has shown it, or where no choice is right.

    Args:
        judged: the run has shown which choice is right.
    """

    choice: int
    right: bool = False
    judged: bool = False


class GuessScore(NamedTuple):
    """Number of right guesses among those that a run has judged."""

    right: int = 0
    judged: int = 0


class Reached(NamedTuple):
    """Values of a step's facts when its wait was over, and before; its last words keep them."""

    now: dict[str, FactValue]
    before: dict[str, FactValue]


@dataclass
class LessonProgress:
    """A learner's way through one lesson.

    Args:
        at: index of the step.
        answers: by the index of the step that asks.
        carried: values of the step's facts on the page that the step before was on.
        finished: the learner has left the last step by Finish.
        reached: by the index of each step whose wait is over.
        best: the best score of the plays that were finished.
    """

    at: int = 0
    answers: dict[int, Guess] = field(default_factory=dict)
    carried: dict[str, FactValue] = field(default_factory=dict)
    finished: bool = False
    reached: dict[int, Reached] = field(default_factory=dict)
    best: GuessScore = field(default_factory=GuessScore)

    @property
    def score(self) -> GuessScore:
        """Score of this play."""
        judged = [answer for answer in self.answers.values() if answer.judged]
        return GuessScore(sum(answer.right for answer in judged), len(judged))

    @property
    def counted(self) -> GuessScore:
        """The score that counts: the best finished one, else this play's."""
        return self.best if self.finished else self.score

    def finish(self) -> None:
        """End this play; a better score replaces the former one."""
        self.best = max(self.best, self.score) if self.finished else self.score
        self.finished = True

    def plain(self) -> dict[str, Any]:
        """Return plain values for the browser to keep."""
        answers = {str(at): list(answer) for at, answer in self.answers.items()}
        reached = {str(at): list(facts) for at, facts in self.reached.items()}
        kept = {"carried": self.carried, "finished": self.finished, "reached": reached}
        kept["best"] = list(self.best)
        return {"at": self.at, "answers": answers, **kept}


class Mark(NamedTuple):
    """State of a page, which tells whether the learner has acted since.

    Args:
        runs: for each of its runs the number of what is shown, and whether it was run here.
        selected: index of the selected step.
        step: identity of the lab's step.
        word: value of the watched control, as the address has it.
    """

    runs: tuple[tuple[int, bool], ...]
    selected: int
    step: int
    word: str


@dataclass(eq=False)
class Course(PageView):
    """One session's course.

    Args:
        lesson: the open lesson; None while none is.
        begun: index of the step on which the page has begun anew last.
        begins_page: the next run turns to the page of the step and sets its controls.
        resumes: the page repeats a run that a reached step has made; the learner hasn't acted.
        settings: words of the page's run controls as the step needs them, by name; empty until the
            page has drawn them.
        different: names of the run controls that differ from them.
        former: words of the run controls before the step set its own; empty once they came back.
        sets_again: the next run sets these controls again.
        runs_again: it also makes the run again that was begun with the former values.
        missing: fact of the step that the page doesn't show although its wait is over.
        ended: the last step was left; the panel shows the score and the way on.
        start: state of the page when the step began to wait; None before.
        before: values of the step's facts at that time.
        progress: by the name of the lesson.
        opened: the lesson of a file that was opened.
        looked: the link that opened the session was followed.
        restored: the progress that the browser keeps was taken over.
        turn: counts what the panel has shown; the browser moves the focus with it.
    """

    key: ClassVar[str] = "course"

    lesson: Lesson | None = None
    begun: int = 0
    begins_page: bool = False
    resumes: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    different: tuple[str, ...] = ()
    former: dict[str, str] = field(default_factory=dict)
    sets_again: bool = False
    runs_again: bool = False
    missing: str = ""
    ended: bool = False
    start: Mark | None = None
    before: dict[str, FactValue] = field(default_factory=dict)
    progress: dict[str, LessonProgress] = field(default_factory=dict)
    opened: Lesson | None = None
    looked: bool = False
    restored: bool = False
    turn: int = 0

    @classmethod
    def current(cls) -> Course:
        """Return this session's course, from any slot."""
        with slot.use(slot.PAGE):
            return super().current()

    @property
    def own(self) -> LessonProgress:
        """The progress in the open lesson."""
        assert self.lesson is not None
        return self.progress.setdefault(self.lesson.name, LessonProgress())

    @property
    def at(self) -> int:
        """Index of the step."""
        assert self.lesson is not None
        return min(self.own.at, len(self.lesson.steps) - 1)

    @property
    def step(self) -> LessonStep:
        """The step."""
        assert self.lesson is not None
        return self.lesson.steps[self.at]

    @property
    def reached(self) -> Reached | None:
        """The facts of the step if its wait is over."""
        return self.own.reached.get(self.at)

    @property
    def asks(self) -> bool:
        """Return whether the step's question waits for its answer."""
        return self.step.ask is not None and self.at not in self.own.answers

    def show(self, at: int) -> None:
        """Show another step on the page as it is."""
        assert self.lesson is not None
        own = self.own
        own.at = max(0, min(at, len(self.lesson.steps) - 1))
        self.start, self.before, self.different = None, {}, ()
        self.missing, self.ended = "", False
        self.turn += 1

    def answer(self, choice: int) -> None:
        """Take the learner's answer to the step's question; the first one counts."""
        ask = self.step.ask
        if self.lesson is None or ask is None or not self.asks:
            return
        if 0 <= choice < len(ask.choices):
            self.own.answers[self.at] = Guess(choice)
            self.start = None
            self._tell(choice)

    def judge(self, right: int | None) -> None:
        """Store which choice the run has made right; the first time counts."""
        given = self.own.answers.get(self.at)
        if given is not None and not given.judged:
            self.own.answers[self.at] = Guess(given.choice, given.choice == right, judged=True)
            self._tell(given.choice, right)

    def _tell(self, choice: int, right: int | None = None) -> None:
        assert self.lesson is not None
        for tell in listeners:
            tell(self.lesson.name, self.at, choice, right)

    def find(self, name: str) -> Lesson | None:
        """Return a lesson by its name: the course's, or the one that was opened from a file."""
        if self.opened is not None and self.opened.name == name:
            return self.opened
        return lesson_of(name)

    def plain(self) -> dict[str, Any]:
        """Return the progress in the course's lessons as plain values for the browser to keep."""
        names = {lesson.name for lesson in own_lessons()}
        return {name: own.plain() for name, own in self.progress.items() if name in names}

    def take(self, kept: Any) -> None:
        """Take over the progress that the browser has kept, where this session has none."""
        self.restored = True
        for name, own in read_progress(kept).items():
            self.progress.setdefault(name, own)


def read_progress(kept: Any) -> dict[str, LessonProgress]:
    """Return the progress that a browser has kept; what isn't valid is left out."""
    if not isinstance(kept, Mapping):
        return {}
    lessons = ((lesson, kept.get(lesson.name)) for lesson in own_lessons())
    return {
        lesson.name: _progress(lesson, own) for lesson, own in lessons if isinstance(own, Mapping)
    }


def _progress(lesson: Lesson, kept: Mapping[Any, Any]) -> LessonProgress:
    names = ("at", "answers", "carried", "reached")
    at, answers, carried, reached = (kept.get(name) for name in names)
    last = len(lesson.steps) - 1
    own = LessonProgress(
        at if isinstance(at, int) and 0 <= at <= last else 0,
        dict(_answers(lesson, answers)) if isinstance(answers, Mapping) else {},
        dict(_carried(carried)) if isinstance(carried, Mapping) else {},
        kept.get("finished") is True,
        dict(_reached(lesson, reached)) if isinstance(reached, Mapping) else {},
    )
    # A browser may hold progress from before there was a best score.
    own.best = _score(lesson, kept["best"]) if "best" in kept else own.score
    return own


def _score(lesson: Lesson, kept: Any) -> GuessScore:
    if isinstance(kept, list) and [type(number) for number in kept] == [int, int]:
        score = GuessScore(*kept)
        if 0 <= score.right <= score.judged <= len(list(lesson.questions)):
            return score
    return GuessScore()


def _reached(lesson: Lesson, kept: Mapping[Any, Any]) -> Iterable[tuple[int, Reached]]:
    for at in range(len(lesson.steps)):
        facts = kept.get(str(at))
        if isinstance(facts, list) and [isinstance(each, Mapping) for each in facts] == [True] * 2:
            yield at, Reached(*(dict(_carried(each)) for each in facts))


def _carried(kept: Mapping[Any, Any]) -> Iterable[tuple[str, FactValue]]:
    for name in FACTS:
        value = kept.get(name)
        if isinstance(value, str):
            if len(value) <= MOST_CARRIED:
                yield name, value
        elif isinstance(value, int | float) and math.isfinite(value):
            yield name, value


def _answers(lesson: Lesson, kept: Mapping[Any, Any]) -> Iterable[tuple[int, Guess]]:
    for at in lesson.questions:
        ask, given = lesson.steps[at].ask, kept.get(str(at))
        if ask is None or not isinstance(given, list) or len(given) != 3:
            continue
        choice, right, judged = given
        if isinstance(choice, int) and 0 <= choice < len(ask.choices):
            yield at, Guess(choice, right is True, judged is True)
