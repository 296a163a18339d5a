"""Session state of the Evaluate page: stored lessons, and the session's own runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.types import Evaluation, EvaluationPlan
from core.evaluation.questions.types import QuestionSet
from pages.ui.evaluate.controls import OWN
from pages.ui.resources import examples
from pages.ui.run.view import View
from pages.ui.widgets.controls.control import value

FOLDER = Path(examples.FOLDER).parent / "evaluation"


@dataclass(eq=False)
class EvaluateView(View):
    """One session's view of evaluations.

    Args:
        made: evaluations that were run here, by what the control `lesson` says.
        live: the rows of one under way, and which it is.
        plan: one's own, and its text; `questions` are those that were given beside it.
        refused: why a file wasn't taken.
        rendered: a plan's ways and a question with their inputs, once that was asked for.
        version: counts what was collected, for the figures.
    """

    key: ClassVar[str] = "evaluate"
    measurements: ClassVar[dict[str, str]] = {"render": "rendered"}

    made: dict[str, Evaluation] = field(default_factory=dict)
    live: tuple[str, Evaluation] | None = None
    plan: EvaluationPlan | None = None
    questions: QuestionSet | None = None
    refused: str = ""
    version: int = 0
    rendered: Any = None

    @classmethod
    def initial(cls) -> Self:
        """Nothing of its own: the lessons are stored files."""
        return cls()

    def collect(self, name: str, result: Any) -> None:
        """Take over what a job has left; of a run that was stopped its rows so far."""
        super().collect(name, result)
        if name == "evaluate" and self.live is not None:
            which, so_far = self.live
            evaluation = result or so_far
            self.live = None
            if evaluation.rows:
                self.made[which] = evaluation
            self.version += 1


def lesson(name: str) -> Evaluation | None:
    """A stored evaluation; None where the file is missing or damaged."""
    return examples.example(str(FOLDER / f"{name}.jsonl"), read_evaluation)


def shown(view: EvaluateView) -> Evaluation | None:
    """The one under way if it is the chosen one, else the last run of it here, else the stored."""
    which = str(value("evaluation"))
    if view.live is not None and view.live[0] == which:
        return view.live[1]
    if which == OWN and (which not in view.made or not same_plan(view.made[which], view.plan)):
        return None
    return view.made.get(which) or lesson(which)


def chosen_plan(view: EvaluateView) -> EvaluationPlan | None:
    """The plan that Run would run; None where there is none yet."""
    which = str(value("evaluation"))
    if which == OWN:
        return view.plan
    stored = lesson(which)
    return replace(stored.plan, revisions=()) if stored else None


def same_plan(evaluation: Evaluation, plan: EvaluationPlan | None) -> bool:
    """Return whether an evaluation has this plan, whatever the revision of its weights."""
    return replace(evaluation.plan, revisions=()) == plan


def unfinished(view: EvaluateView) -> Evaluation | None:
    """One's own stopped run of the chosen plan."""
    evaluation = view.made.get(str(value("evaluation")))
    if evaluation is None or evaluation.complete or not same_plan(evaluation, chosen_plan(view)):
        return None
    return evaluation
