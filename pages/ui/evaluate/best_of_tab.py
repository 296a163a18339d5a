"""One answer out of N samples: the rules side by side, and where the reward model errs."""

from __future__ import annotations

import streamlit as st

from core.evaluation.plan.types import Evaluation
from core.evaluation.votes.best_of import of_way
from core.figures.base.labels import plain_name, table_text
from core.figures.evaluate.words import caption
from core.language import N_, tr
from pages.ui.evaluate.controls import choose
from pages.ui.run.figures import rules_of_n

NO_SAMPLES = N_(
    "No way of this plan draws several samples. In your plan, write "
    "“samples: 16” at a way with a temperature; for the reward model's "
    "choice write “reward: embedded:reward” above the ways."
)


def draw(evaluation: Evaluation) -> None:
    """The rules of one way with several samples."""
    ways = [way for way in evaluation.plan.ways if way.samples > 1]
    if not ways:
        st.text(tr(NO_SAMPLES))
        return
    names = {way.name: table_text(way.name) for way in ways}
    name = choose("best_of_way", tr("Way"), names) if len(names) > 1 else ways[0].name
    sampled = of_way(evaluation, name)
    title = f"{plain_name(name, 60)} · {caption(evaluation)}"
    rules_of_n.draw(sampled, title, (name, len(evaluation.rows)))
