"""Rules that choose one of N samples, and errors of the reward model."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import figures
from core.evaluation.votes.best_of import Sampled, mistakes
from core.export.part import of_figure
from core.figures.base.labels import table_text
from pages.ui.run.figures import figure
from pages.ui.widgets import table


def draw(sampled: Sequence[Sampled], said: str, version: tuple[object, ...]) -> None:
    """Draw the figure, and the questions for which the reward model takes a wrong sample."""
    figure.chart(
        of_figure("best-of-n", figures.best_of, sampled, caption=said), version, across=True
    )
    found = mistakes(sampled)
    if not any(one.reward is not None for each in sampled for one in each.samples):
        return
    tried = sum(len({one.right for one in each.samples}) == 2 for each in sampled)
    st.text(
        f"Of {tried} questions with right and wrong samples, the reward model takes a wrong one in "
        f"{len(found)}."
    )
    if found:
        table.draw(
            "reward-mistakes",
            {
                "question": [table_text(one.sampled.question) for one in found],
                "right answer": [table_text(one.sampled.expected) for one in found],
                "taken, and wrong": [table_text(one.taken.text) for one in found],
                "its score": [one.taken.reward for one in found],
                "right, and left": [table_text(one.better.text) for one in found],
                "score of that": [one.better.reward for one in found],
            },
            numbers={"its score": "%.2f", "score of that": "%.2f"},
            widths={"question": 260, "taken, and wrong": "large", "right, and left": "large"},
            most_rows=8,
        )
