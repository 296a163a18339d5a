"""Rules that choose one of N samples, and errors of the reward model."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import figures
from core.evaluation.votes.best_of import Sampled, mistakes
from core.export.part import of_figure
from core.figures.base.labels import table_text
from core.language import tr
from pages.ui.run.figures import figure
from pages.ui.widgets import table


def draw(sampled: Sequence[Sampled], caption: str, version: tuple[object, ...]) -> None:
    """Draw the figure, and the questions for which the reward model takes a wrong sample."""
    figure.chart(
        of_figure("best-of-n", figures.best_of, sampled, caption=caption), version, across=True
    )
    wrong = mistakes(sampled)
    if not any(row.reward is not None for each in sampled for row in each.samples):
        return
    tried = sum(len({row.right for row in each.samples}) == 2 for each in sampled)
    st.text(
        tr(
            "Of {tried} questions with right and wrong samples, the reward model "
            "chooses a wrong one in {wrong}.",
            tried=tried,
            wrong=len(wrong),
        )
    )
    if wrong:
        table.draw(
            "reward-mistakes",
            {
                "question": [table_text(row.sampled.question) for row in wrong],
                "right answer": [table_text(row.sampled.expected) for row in wrong],
                "chosen, wrong": [table_text(row.taken.text) for row in wrong],
                "score of chosen": [row.taken.reward for row in wrong],
                "right, not chosen": [table_text(row.better.text) for row in wrong],
                "score of right": [row.better.reward for row in wrong],
            },
            numbers={"score of chosen": "%.2f", "score of right": "%.2f"},
            widths={"question": 260, "chosen, wrong": "large", "right, not chosen": "large"},
            most_rows=8,
        )
