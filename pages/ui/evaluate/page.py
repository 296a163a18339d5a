"""The Evaluate page as it is drawn: progress, accuracy and agreement, and what lies behind them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.evaluation.plan.statistics import all_paired, failures, results
from core.evaluation.plan.types import Evaluation
from core.export.part import Part
from core.export.stored_parts import evaluation_parts
from core.figures.base.labels import table_text
from core.language import N_, tr
from pages.ui import platform
from pages.ui.evaluate import answers, best_of_tab, files, plans, work
from pages.ui.evaluate.controls import LESSONS, OWN
from pages.ui.evaluate.state import EvaluateView, chosen_plan, shown, unfinished
from pages.ui.run import jobs
from pages.ui.run.display import bar, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure
from pages.ui.shell import glossary
from pages.ui.widgets import table
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import value

LIVE_SECONDS = 3.0
NO_PLAN = N_("Open a plan of your own under Plan file; a stored plan can be saved as a beginning.")
_ANSWERS = {
    "leak": N_("""
It costs the answers where the target lacks it, and only speed where the draft lacks it.

- Without its chat template the target isn't told that a user asks. It continues the text, writes
  question and answer marks of its own, and is scored on all of that.
- Where only the draft lacks it, far fewer drafted tokens are accepted and no answer changes: under
  a lossless rule a bad draft makes a run slow, never wrong.
- The forwards of the prompt count too. The prompt gives greedy decoding its first token, but
  speculation reads its last token again in the first round: a draft that is never accepted costs
  one forward more.
"""),
    "hot-draft": N_("""
No: it costs speed and nothing else, as long as the target is greedy.

- All ways with a greedy target give the same answers. A draft that samples at a higher temperature
  is rejected more often, so the target runs more forwards. The last way samples from the target
  too, so its answers may differ.
- If a report finds that speculative decoding gets 0 % right, compare the inputs of both models
  first: the acceptance rule can't cause that.
"""),
    "samplers": N_("""
None of them, by so few questions: all intervals overlap, and no paired test finds a difference.

- The plain cuts (top-p, min-p, typical-p, top-nσ) have the most right answers and the least
  variety: on questions with one answer the unlikely tokens that they drop are mostly wrong ones.
- XTC and adaptive-p are made for stories. They turn away from the likeliest token, which costs
  answers here.
- Mirostat and no cut lie between: at tau 3 hardly any token of this model is dropped.
"""),
    "beam": N_("""
No: it finds texts that are more probable, and here none of them turns a wrong answer into a right
one.

- It takes more seconds for the same accuracy.
- The intervals are wide: with so few questions, two ways must differ by much before that means
  anything.
"""),
}


def controls(view: EvaluateView) -> None:
    """Draw the choice of the evaluation, the visitor's own plan, Run or Stop, and the files."""
    control.draw("evaluation")
    plans.draw(view)
    bar.button(
        view,
        "evaluate",
        N_("Resume") if unfinished(view) else N_("Run"),
        partial(_start, view),
        key="start_evaluation",
        stop_key="stop_evaluation",
        type="primary",
        disabled=chosen_plan(view) is None,
    )


def _start(view: EvaluateView) -> None:
    plan, which = chosen_plan(view), str(value("evaluation"))
    if plan is not None:
        view.attempt("evaluate", lambda: work.evaluate(view, which, plan, unfinished(view)))


def draw(view: EvaluateView) -> None:
    """Everything below the controls."""
    if job := view.active("evaluate"):
        platform.poll(panel.progress, jobs.poll_seconds)(job)
        platform.part(_figures, run_every=LIVE_SECONDS)(view)
    else:
        panel.failure(view.failures.get("evaluate", "") or view.failure)
        _figures(view)
    panel.watch(view)


def _figures(view: EvaluateView) -> None:
    evaluation, which = shown(view), str(value("evaluation"))
    if evaluation is None:
        st.text(
            tr(NO_PLAN)
            if chosen_plan(view) is None
            else tr("Press Run: nothing was run of this plan yet.")
        )
        return
    _words(view, evaluation, which)
    key = (which, view.version, len(evaluation.rows))
    accuracy, agreement, *sampled = evaluation_parts(evaluation)
    with st.container(key="pair"):
        left, right = st.columns(2, gap="small")
        with left:
            figure.chart(accuracy, key)
        with right:
            figure.chart(agreement, key)
            if which in _ANSWERS:
                with (
                    st.container(key="notice"),
                    st.expander(
                        tr("Show the answer"), icon=":material/visibility:", key=f"answer-{which}"
                    ),
                ):
                    answer = glossary.marked(tr(_ANSWERS[which]))
                    st.markdown(f"**{tr(LESSONS[which])}**\n{answer}")
    if evaluation.rows:
        panel.tabs(
            "evaluate_look",
            {
                "answers": Tab(N_("Answers"), partial(answers.draw, view, evaluation)),
                "pairs": Tab(N_("Paired differences"), partial(_pairs, evaluation)),
                "best": Tab(N_("Best of N"), partial(best_of_tab.draw, evaluation)),
                **(
                    {"variety": Tab(N_("Variety"), partial(_variety, sampled[0], key))}
                    if sampled
                    else {}
                ),
                "costs": Tab(N_("Costs"), partial(_costs, evaluation)),
            },
        )


def _words(view: EvaluateView, evaluation: Evaluation, which: str) -> None:
    """Describe the shown evaluation, and draw its files."""
    with st.container(
        key="evaluation-words", horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.text(_about(view, evaluation, which), width="stretch")
        files.draw(evaluation)
    if failed := failures(evaluation):
        with st.container(key="failed-ways"):
            for failure in failed:
                st.text(tr(failure.sentence))


def _about(view: EvaluateView, evaluation: Evaluation, which: str) -> str:
    if which not in view.made and which != OWN:
        source = tr("Example")
    else:
        source = tr("Your run") if evaluation.complete else tr("Your run, stopped")
    if view.active("evaluate"):
        source = tr("Your run, under way")
    runs = tr("{done:,} of {total:,} runs", done=len(evaluation.rows), total=evaluation.plan.total)
    return f"{source} · {runs}"


def _variety(part: Part, key: tuple[object, ...]) -> None:
    figure.chart(part, key, across=True)


def _pairs(evaluation: Evaluation) -> None:
    """Every way against the plan's first one, on the same questions."""
    pairs = all_paired(evaluation)
    if not pairs:
        st.text(tr("A plan of one way has nothing to compare."))
        return
    st.text(
        tr(
            "Against {way}, question by question; of several samples the majority.",
            way=pairs[0].one,
        )
    )
    table.draw(
        "pairs",
        {
            "way": [table_text(pair.other) for pair in pairs],
            "both right": [pair.both for pair in pairs],
            "only this way": [pair.second for pair in pairs],
            "only the first": [pair.first for pair in pairs],
            "neither": [pair.neither for pair in pairs],
            "p (McNemar, exact)": [pair.p_value for pair in pairs],
        },
        numbers={"p (McNemar, exact)": "%.4g"},
    )


def _share(value: float | None) -> str:
    return tr("no draft") if value is None else f"{value:.3f}"


def _costs(evaluation: Evaluation) -> None:
    """Means a run."""
    rows = results(evaluation)
    table.draw(
        "costs",
        {
            "way": [table_text(row.way) for row in rows],
            "tokens": [row.tokens for row in rows],
            "target forwards": [row.forwards for row in rows],
            "draft forwards": [row.draft_forwards for row in rows],
            "seconds": [row.seconds for row in rows],
            "accepted": [_share(row.acceptance) for row in rows],
            "F1": [row.f1 for row in rows],
            "reference, nats a token": [row.reference_logprob for row in rows],
            "with template text": [row.leaks for row in rows],
        },
        numbers={
            **dict.fromkeys(("tokens", "target forwards", "draft forwards"), "%.1f"),
            **dict.fromkeys(("seconds", "F1", "reference, nats a token"), "%.3f"),
        },
        widths={"way": 235},
    )
