"""One answer out of N samples of many problems, by several rules."""

from __future__ import annotations

import streamlit as st

from core.decoding.reasoning.config import Reasoning
from core.evaluation.example import RIVALRY_STEPS, TEMPERATURE
from core.evaluation.types import ProblemSet
from core.export.stored_parts import samples_caption
from core.language import N_, tr
from pages.ui import platform
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import own_problems, work
from pages.ui.reasoning.measured import sweep
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import address, shared
from pages.ui.run.display import bar
from pages.ui.run.figures import rules_of_n
from pages.ui.run.jobs import Job
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import value

_NOTICE = N_(
    "**What to notice**\n\n"
    "- With one sample all rules are one. What more samples give depends on who chooses among "
    "them.\n"
    "- The built-in reward model reads what the model expected at each token, so it often takes "
    "the likeliest sample. Where it errs, a table names the problem.\n"
    "- The arithmetic check is right whenever one sample is: it shows what a better judge could "
    "gain."
)


def draw(view: ReasonView) -> None:
    """The controls, the figure, and where the reward model errs."""
    with st.container(
        key=platform.key("many-row"), horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        control.draw("best_samples", "best_problems")
        with st.container(key=platform.key("best-side"), width="content"):
            bar.button(
                view,
                "best",
                N_("Draw samples"),
                lambda: start(view),
                key="draw_samples",
                icon="casino",
                type="primary",
            )
    sweep.progress(view, "best")
    samples = view.best_of
    if samples is None:
        st.text(tr("No samples were drawn yet."))
        return
    rules_of_n.draw(samples.sampled, samples_caption(samples), (view.version("best"),))
    st.markdown(tr(_NOTICE))


def start(view: ReasonView) -> None:
    """Draw the samples that the controls describe."""

    def begin() -> Job:
        return work.best_of(shared.model(), _problems(view), _config(), int(value("best_samples")))

    if view.attempt("best", begin):
        address.write("best", "1" if view.uploaded is None else None)


def tokens(view: ReasonView) -> int:
    """The most tokens that the samples compute.

    Raises:
        ProblemError: the problems can't be made.
    """
    return _config().max_new_tokens * int(value("best_samples")) * len(_problems(view).problems)


def _problems(view: ReasonView) -> ProblemSet:
    return own_problems.problems(view, int(value("best_problems")), RIVALRY_STEPS)


def _config() -> Reasoning:
    plain = reason_controls.reasoning(value, temperature=TEMPERATURE)
    budget = int(value(reason_controls.BUDGET.key))
    return reason_controls.reasoning(
        value,
        temperature=TEMPERATURE,
        max_thinking_tokens=budget,
        max_new_tokens=max(plain.max_new_tokens, plain.room, budget + plain.max_answer_tokens + 8),
    )
