"""One problem asked many times: the samples' answers, and what each rule makes of them."""

from __future__ import annotations

import streamlit as st

from core import figures
from core.decoding.counting import counted
from core.evaluation.types import AnswerRule, Vote
from core.export.table import csv_text
from core.figures.base.labels import plain_name, table_text
from core.figures.reasoning.compare import RULE_WORDS, ballot_words, vote_caption
from core.language import N_, tr
from pages.ui import platform
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import problem as reason_problem
from pages.ui.reasoning import work
from pages.ui.reasoning.measured import sweep
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import shared
from pages.ui.run.display import bar
from pages.ui.run.jobs import Job
from pages.ui.widgets.controls.control import value

_RULES: tuple[AnswerRule, ...] = ("majority", "best_of_n", "verifier")


def draw(view: ReasonView) -> None:
    """The button, the vote in words, and its samples."""
    with st.container(key=platform.key("one-vote"), gap="small"):
        st.markdown(tr("**The problem above, asked many times**"))
        _bar(view)
        if view.vote is not None:
            _result(view.vote, view.made_here("vote"))


def _bar(view: ReasonView) -> None:
    job, error = view.active("vote"), view.failures.get("vote", "")
    with st.container(
        key=platform.key("compare-vote"), horizontal=True, vertical_alignment="center"
    ):
        bar.button(
            view,
            "vote",
            N_("Vote on this problem"),
            lambda: start(view),
            key="run_vote",
            icon="how_to_vote",
        )
        st.text(tr(error) or ("" if job else _next_words()), width="stretch")
    if job is not None:
        sweep.progress(view, "vote")


def _next_words() -> str:
    budget = int(value(reason_controls.BUDGET.key))
    samples = int(value("voters"))
    return tr(
        "Next: {samples} samples, each with the thinking budget of {budget} set above.",
        samples=samples,
        budget=budget,
    )


def start(view: ReasonView) -> None:
    """Draw the samples of the problem that the controls name, at their budget, and vote."""
    view.attempt("vote", _vote)


def _vote() -> Job:
    config = reason_controls.config(temperature="vote_temperature")
    where = shared.model()
    return work.vote(where, reason_problem.problem(), config, int(value("voters")))


def _result(vote: Vote, whose: str) -> None:
    st.text(plain_name(vote.problem.question, 300))
    with st.container(key=platform.key("vote-rows"), gap=None):
        for name, words in [*_rows(vote), *_made_with(vote, whose)]:
            with st.container(horizontal=True, wrap=False, gap="small"):
                st.text(tr(name), width=190)
                st.text(words, width="stretch")
    st.download_button(
        tr("The vote (CSV)"),
        lambda: csv_text(figures.reason_votes_data([vote])).encode("utf-8-sig"),
        "decoding-vote.csv",
        "text/csv",
        key=platform.key("save_vote"),
        icon=":material/table_view:",
        type="tertiary",
        on_click="ignore",
    )


def _rows(vote: Vote) -> list[tuple[str, str]]:
    """The votes and the choice of each rule, in words."""
    right, tokens = vote.problem.answer, vote.tokens
    rows = [
        (
            N_("answers"),
            tr(
                "{ballots}, of {samples} samples",
                ballots=ballot_words(vote),
                samples=len(vote.attempts),
            ),
        ),
        (
            N_("vote margin"),
            tr(
                "{margin} of {votes} votes",
                margin=vote.margin,
                votes=sum(ballot.votes for ballot in vote.ballots),
            ),
        ),
    ]
    for rule in _RULES:
        if rule != "verifier" or vote.scores:
            rows.append((RULE_WORDS[rule], _chosen(vote.answer_by(rule), right)))
    return [*rows, (N_("spent"), tr(counted(tokens, "token")))]


def _made_with(vote: Vote, whose: str) -> list[tuple[str, str]]:
    """The settings of the samples, which the controls above may no longer say."""
    words = vote_caption(vote)
    return [(N_("drawn with"), f"{words} ({tr(whose)})")] if words else []


def _chosen(answer: str | None, right: str) -> str:
    if answer is None:
        return tr("no answer")
    text = table_text(answer)
    return f"{text} {'✓' if answer == right else '✗'}" if right else text
