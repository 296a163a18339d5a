"""Strategies with the same budget: one long attempt, a vote of many short ones, best of N."""

from __future__ import annotations

import streamlit as st

from core.decoding.counting import sentences
from core.evaluation.example import RIVALRY_STEPS
from core.evaluation.types import Rivalry
from core.figures.base.labels import table_text
from core.figures.reasoning.compare import RULE_WORDS, ballot_words
from core.language import N_, tr
from pages.ui import platform
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import own_problems, work
from pages.ui.reasoning.measured import one_vote, sweep
from pages.ui.reasoning.parts import RIVALS
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import address, shared
from pages.ui.run.display import bar
from pages.ui.run.figures import figure
from pages.ui.widgets import table
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import value

_NOTICE = N_(
    "## What to notice\n\n"
    "- Equal is what each way may spend, not what it spends. One attempt ends when it has done; a "
    "vote pays for all of its samples.\n"
    "- Compare the vote with the greedy attempt too. Drawing costs accuracy, and a vote first has "
    "to win that back.\n"
    "- A vote helps where the samples err in different ways. Where one attempt is nearly always "
    "right, it only spends tokens; where all make the same slip, it confirms it.\n"
    "- Best of N takes the sample that the model itself finds likeliest. Being sure is not being "
    "right.\n"
    "- A check that really works the answer out can't be fooled by a majority."
)


def draw(view: ReasonView) -> None:
    """The comparison's controls, its figure and the votes."""
    with st.container(
        key=platform.key("many-row"), horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        control.draw("total", "voters", "vote_problems", "vote_temperature")
        _button(view)
    sweep.progress(view, "rivals")
    rivalry = view.rivalry
    if rivalry is None:
        st.text(tr("Nothing was compared yet."))
        one_vote.draw(view)
        return
    with st.container(key=platform.key("pair")):
        left, right = st.columns(2, gap="small")
        with left:
            figure.chart(RIVALS.part(view, view.trace), (view.version("rivals"),))
        with right, st.container(key=platform.key("notice-votes")):
            st.markdown(tr(_NOTICE))
    _votes(rivalry)
    one_vote.draw(view)


def _button(view: ReasonView) -> None:
    with st.container(key=platform.key("rivals-side"), width="content"):
        bar.button(
            view,
            "rivals",
            N_("Compare"),
            lambda: start(view),
            key="compare_ways",
            icon="balance",
            type="primary",
        )


def start(view: ReasonView) -> None:
    """Start the comparison that the controls describe."""
    if view.attempt("rivals", lambda: work.compare(_contest(view))):
        address.write("rivals", "1" if view.uploaded is None else None)


def tokens(view: ReasonView) -> int:
    """The most tokens that the controls' comparison computes: a problem is asked in three ways.

    Raises:
        ProblemError: the problems can't be made.
    """
    return 3 * int(value("total")) * len(_contest(view).problems.problems)


def _contest(view: ReasonView) -> work.Contest:
    return work.Contest(
        model=shared.model(),
        problems=own_problems.problems(view, int(value("vote_problems")), RIVALRY_STEPS),
        config=reason_controls.reasoning(value, temperature=float(value("vote_temperature"))),
        total=int(value("total")),
        samples=int(value("voters")),
    )


def _votes(rivalry: Rivalry) -> None:
    votes = rivalry.votes
    if not votes:
        return
    table.draw(
        "votes",
        {
            "question": [table_text(vote.problem.question) for vote in votes],
            "right answer": [vote.problem.answer for vote in votes],
            "votes": [ballot_words(vote) for vote in votes],
            "vote margin": [vote.margin for vote in votes],
            **{
                RULE_WORDS[rule]: [
                    _answer(vote.answer_by(rule), vote.problem.answer) for vote in votes
                ]
                for rule in ("majority", "best_of_n", "verifier")
            },
        },
        widths={"question": 235, "votes": 190},
        most_rows=10,
    )
    first = tr(
        "The votes on the first {votes} of {problems} problems.",
        votes=len(votes),
        problems=len(rivalry.problems.problems),
    )
    st.caption(tr(sentences(first, _window_words(rivalry))))


def _window_words(rivalry: Rivalry) -> str:
    """Why one attempt may have had less than the whole."""
    whole = rivalry.total_tokens
    if all(rival.budget == whole // rival.samples for rival in rivalry.rivals):
        return ""
    return tr("An attempt ends with the model's window at the latest.")


def _answer(answer: str | None, right: str) -> str:
    return tr("none") if answer is None else f"{answer} {'✓' if answer == right else '✗'}"
