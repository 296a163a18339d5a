"""What one browser session looks at on the reasoning page: a run, a sweep, comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import Reading, pieces_of, read_run
from core.decoding.trace import Trace
from core.evaluation.answers import judge
from core.evaluation.example import ReasoningExample
from core.evaluation.example import load_example as read_example
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
from core.evaluation.verifier import worked_out
from pages.ui.decode import controls
from pages.ui.reasoning import problem as reason_problem
from pages.ui.run import bar
from pages.ui.run.state import Source, View
from pages.ui.shell import examples

EXAMPLE = Path(__file__).parents[3] / "assets" / "traces" / "reasoning.json"
# The job of each part that is run on demand, and the field of the view that it fills.
PARTS = {"stops": "strip", "sweep": "", "rivals": "rivalry", "vote": "vote", "tools": "tools"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run answered, and what that makes of it; no outcome where nobody knows the answer."""

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
        uploaded: the visitor's own problems; `refused` says why a file wasn't taken.
        failures: of the parts that are run on demand, by job.
        versions: counts what each part showed, for the figures.
        live: the rows of a sweep under way.
        counts: how many runs of how many have ended, by job.
        looked: a tab was drawn, and the link that opened the page was looked at for it.
    """

    problem: Problem | None = None
    strip: StopStrip | None = None
    sweeps: dict[BudgetField, BudgetSweep] = field(default_factory=dict)
    swept: set[BudgetField] = field(default_factory=set)
    rivalry: Rivalry | None = None
    vote: Vote | None = None
    tools: tuple[Transcript, Transcript] | None = None
    uploaded: ProblemSet | None = None
    refused: str = ""
    failures: dict[str, str] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    live: BudgetSweep | None = None
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    looked: bool = False

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run; whose problem it is has to be said after it."""
        super().show(trace, source)
        self.problem = self.strip = None
        if job := self.jobs.pop("stops", None):
            job.stop()

    def changed(self, part: str) -> None:
        """Say that a part shows something else now."""
        self.versions[part] = self.versions.get(part, 0) + 1

    def version(self, part: str) -> int:
        return self.versions.get(part, 0)


def view() -> ReasonView:
    """This session's view of the reasoning page, with the stored example at first."""
    if "reason" not in st.session_state:
        found = ReasonView()
        example = load_example()
        if example is not None:
            _show_example(found, example)
        st.session_state["reason"] = found
    shown: ReasonView = st.session_state["reason"]
    return shown


def _show_example(found: ReasonView, example: ReasoningExample) -> None:
    found.show(example.run, "example")
    found.problem, found.strip = example.strip.problem, example.strip
    found.sweeps = {s.plan.budget_field: s for s in (example.sweep, example.cut)}
    found.rivalry, found.vote, found.tools = example.rivalry, example.vote, example.tools


def load_example() -> ReasoningExample | None:
    """The stored example; None where the file is missing or damaged."""
    return examples.example(EXAMPLE, read_example)


def settle(found: ReasonView) -> None:
    """Take over what finished work has left."""
    before = found.number
    bar.settle(found)
    if found.number != before:
        found.problem = getattr(found.request, "problem", None)
    for part in PARTS:
        job = found.jobs.get(part)
        if job is not None and not job.active:
            del found.jobs[part]
            found.seen.pop(part, None)
            found.failures[part] = job.error
            _take(found, part, job.result)


def _take(found: ReasonView, part: str, result: Any) -> None:
    if part == "sweep":
        sweep, found.live = found.live if result is None else result, None
        if sweep is not None and sweep.rows:
            found.sweeps[sweep.plan.budget_field] = sweep
            found.swept.add(sweep.plan.budget_field)
    elif result is not None:
        setattr(found, PARTS[part], result)
    found.changed(part)


def reading(trace: Trace) -> Reading:
    """The shown run's two texts and what was spent on each."""
    return read_run(pieces_of(trace.token_steps), trace.config)


def verdict_of(attempt: Attempt, asked: Problem) -> Verdict:
    """The same of an attempt; an unknown right answer judges nothing but the lack of an answer."""
    judged = bool(asked.answer) or attempt.answer is None
    return Verdict(attempt.answer, attempt.outcome if judged else None)


def verdict(trace: Trace, asked: Problem | None) -> Verdict:
    """What the run answered, and whether that is right."""
    right = asked.answer if asked is not None else ""
    answer, outcome = judge(reading(trace).answer, right, trace.finish_reason)
    return Verdict(answer, outcome if right or answer is None else None)


def problem_of(found: ReasonView) -> Problem | None:
    """The problem of the shown run: a right answer that is given later counts as well.

    Of a run that came without one, the answer is worked out where the question is arithmetic.
    """
    if found.trace is None:
        return None
    try:
        named = reason_problem.problem()
    except DecodingError:
        named = None
    question = found.trace.prompt
    if named is not None and named.question == question and named.answer:
        return named
    if found.problem is not None:
        return found.problem
    right = worked_out(question)
    return Problem(question, question, right) if right else None


def needs_run(found: ReasonView, asked: Problem, wanted: Reasoning) -> bool:
    """Whether the controls describe another run than the one that is shown."""
    trace = found.trace
    if trace is None:
        return True
    names = ("max_thinking_tokens", "max_new_tokens", "max_answer_tokens", "ignore_end")
    names += ("calculator", "draws", "seed", "shaping")
    if wanted.ignore_end:
        names += ("wait_text",)
    run = trace.config
    other = any(getattr(run, name, None) != getattr(wanted, name) for name in names)
    # A file doesn't say which system prompt its question was asked with.
    told = asked.system if found.problem is None else found.problem.system
    chosen = str(controls.value("model")).strip()
    asks = (trace.prompt, told, trace.model_id)
    return other or asks != (asked.question, asked.system, chosen)


def tell_link(flag: str, *, told: bool) -> None:
    """Let the address say that a link makes this measurement again, or no longer say so."""
    if told:
        st.query_params[flag] = "1"
    else:
        st.query_params.pop(flag, None)
