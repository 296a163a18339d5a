"""Figures that leave the app: the sidebar's choices, and panels drawn one after another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import streamlit as st

from core.export.panels import Panels
from core.figures import LIGHT, candidate_bars, printed
from pages.ui.run.figures import panels
from pages.ui.run.figures.export import ExportState
from pages.ui.widgets.controls import figure_choices
from tests.export.drawings import raw
from tests.figures.traces import make_trace

NATURE = {"figure_journal": "nature", "figure_width": "page", "figure_theme": "grey"}


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The state of a session in which nothing was chosen."""
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


@pytest.mark.parametrize(
    ("chosen", "paper", "words"),
    [
        ({}, printed("85mm"), "85mm · Light ("),
        (NATURE, printed("page", journal="nature"), "Nature · 183mm · Grey ("),
        (NATURE | {"figure_texts": True}, {"title": True, "caption": True}, ""),
        ({"figure_journal": "none", "figure_title": False}, {"title": False, "caption": True}, ""),
    ],
)
def test_a_figure_is_a_column_wide_with_its_title_unless_a_journal_says_otherwise(
    session, chosen, paper, words
) -> None:
    session |= chosen
    chosen_paper = figure_choices.paper()
    assert chosen_paper == (replace(chosen_paper, **paper) if isinstance(paper, dict) else paper)
    assert figure_choices.words().startswith(words)


def test_panels_are_drawn_one_after_another_and_leave_as_one_file() -> None:
    trace, state = make_trace(3), ExportState.of("panels")
    placed = Panels.of(printed("page", journal="nature"), 3)
    draw = partial(candidate_bars, trace=trace, theme=LIGHT, paper=placed.panel)
    figures = [draw(step) for step in trace.token_steps]
    panels._next(state, panels._Drawing("run-panels", "svg", placed, figures))
    for at in range(3):
        assert state.message == f"Panel {at + 1} of 3" and state.task.figure is figures[at]
        state.take({"id": state.task.number, "svg": raw(f"word{at}")})
    assert state.task is None and state.file["name"] == "run-panels.svg"
