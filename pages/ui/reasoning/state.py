"""Session state of the reasoning page: a run, a budget sweep, comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

from core.decoding.errors import DecodingError
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import ReasoningSummary, pieces_of, read_run
from core.decoding.record.trace import Trace
from core.evaluation.example import ReasoningExample
from core.evaluation.example import load_example as read_example
from core.evaluation.scoring.answers import judge
from core.evaluation.scoring.verifier import worked_out
from core.evaluation.sweep.types import BudgetField, BudgetSweep
from core.evaluation.types import (
    Attempt,
    AttemptOutcome,
    Problem,
    ProblemSet,
    Rivalry,
    StopStrip,
    Transcript,
    Vote,
)
from core.evaluation.votes.best_of import SampledProblems
from core.language import N_
from pages.ui.reasoning import problem as reason_problem
from pages.ui.resources import examples
from pages.ui.run.view import Source, View


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """Answer of a run and its outcome; no outcome where the right answer isn't known."""

    answer: str | None
    outcome: AttemptOutcome | None


@dataclass(eq=False)
class ReasonView(View):
    """One session's view of the reasoning page.

    Args:
        problem: of the run that is shown; None where a file doesn't say.
        strip: where the shown run's thinking knew the answer, once that was asked.
        sweeps: by the bound that they sweep; `swept` says whether it was run here.
        rivalry: one long attempt against many short ones.
        vote: samples of one problem.
        tools: a problem without the calculator and with it.
        best_of: samples of problems, for the rules that choose one of them.
        uploaded: the visitor's own problems; `refused` says why a file wasn't taken.
        versions: counts what each measurement showed, for the figures.
        live: the rows of a sweep under way.
        looked: a tab was drawn, and the link that opened the page was looked at for it.
    """

    key: ClassVar[str] = "reason"
    measurements: ClassVar[dict[str, str]] = {
        "stops": "strip",
        "rivals": "rivalry",
        "vote": "vote",
        "tools": "tools",
        "best": "best_of",
    }
    of_trace: ClassVar[tuple[str, ...]] = ("check", "stops")

    problem: Problem | None = None
    strip: StopStrip | None = None
    sweeps: dict[BudgetField, BudgetSweep] = field(default_factory=dict)
    swept: set[BudgetField] = field(default_factory=set)
    rivalry: Rivalry | None = None
    vote: Vote | None = None
    tools: tuple[Transcript, Transcript] | None = None
    best_of: SampledProblems | None = None
    uploaded: ProblemSet | None = None
    refused: str = ""
    versions: dict[str, int] = field(default_factory=dict)
    live: BudgetSweep | None = None
    looked: bool = False

    @classmethod
    def initial(cls) -> Self:
        """The stored example, where it can be read."""
        view, example = cls(), load_example()
        if example is not None:
            view.show_example(example)
        return view

    def show_example(self, example: ReasoningExample) -> None:
        """Look at a stored run with its problem, and at every measurement."""
        self.show(example.run, "example")
        self.sweeps = {s.plan.budget_field: s for s in (example.sweep, example.cut)}
        self.rivalry, self.vote, self.tools = example.rivalry, example.vote, example.tools
        self.best_of = example.best_of

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run; of one made here the request knows the problem."""
        super().show(trace, source)
        self.problem = getattr(self.request, "problem", None) if source == "run" else None
        example = load_example() if source == "example" else None
        if example is not None and trace is example.run:
            self.problem, self.strip = example.strip.problem, example.strip

    def collect(self, name: str, result: Any) -> None:
        """Take over what a job has left; of a sweep that was stopped its rows so far."""
        super().collect(name, result)
        if name == "sweep":
            sweep, self.live = self.live if result is None else result, None
            if sweep is not None and sweep.rows:
                self.sweeps[sweep.plan.budget_field] = sweep
                self.swept.add(sweep.plan.budget_field)
        self.versions[name] = self.version(name) + 1

    def made_here(self, name: str) -> str:
        """Name the owner of a measurement: the visitor if it was made here, else the example."""
        return N_("your own") if self.version(name) else N_("the example's")

    def version(self, name: str) -> int:
        """Return how often the measurement of this name has ended."""
        return self.versions.get(name, 0)


def load_example() -> ReasoningExample | None:
    """The stored example; None where the file is missing or damaged."""
    return examples.example("reasoning.json", read_example)


def reading(trace: Trace) -> ReasoningSummary:
    """The shown run's two texts and what was spent on each."""
    return read_run(pieces_of(trace.token_steps), cast(Reasoning, trace.config))


def verdict_of(attempt: Attempt, problem: Problem) -> RunVerdict:
    """The same of an attempt; an unknown right answer judges nothing but the lack of an answer."""
    judged = bool(problem.answer) or attempt.answer is None
    return RunVerdict(attempt.answer, attempt.outcome if judged else None)


def verdict(trace: Trace, problem: Problem | None) -> RunVerdict:
    """Return the run's answer and whether it is right."""
    right = problem.answer if problem is not None else ""
    answer, outcome = judge(reading(trace).answer, right, trace.finish_reason)
    return RunVerdict(answer, outcome if right or answer is None else None)


def problem_of(view: ReasonView) -> Problem | None:
    """The problem of the shown run: a right answer that is given later counts as well.

    Of a run that came without one, the answer is worked out where the question is arithmetic.
    """
    if view.trace is None:
        return None
    question = view.trace.prompt
    try:
        named = reason_problem.problem()
    except DecodingError:
        if reason_problem.own_question() == question:
            # Nobody can say what a right answer that is no number would be.
            return Problem(question, question, "")
        named = None
    if named is not None and named.question == question and named.answer:
        return named
    if view.problem is not None:
        return view.problem
    right = worked_out(question)
    return Problem(question, question, right) if right else None
