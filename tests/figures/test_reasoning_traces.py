"""The figures of a trace draw a reasoning run too, and say of a forced token that it was forced."""

from __future__ import annotations

import re

import pytest

from core import Reasoning, Trace, collect
from tests.evaluation.thinkers import ID, thinker
from tests.figures.looking import all_figures, strings


@pytest.fixture(scope="module", params=[False, True], ids=["greedy", "drawn"])
def trace(request) -> Trace:
    config = Reasoning(
        ignore_end=1, wait_text="Wait,", max_thinking_tokens=6, do_sample=request.param
    )
    return collect(thinker(), [ID["q"]], config)


def plain(figure) -> str:
    """Every word in the figure, however its lines are broken."""
    return " ".join(re.sub(r"<[^>]*>|\s", " ", " ".join(strings(figure))).split())


def test_every_figure_is_drawn_and_valid(trace) -> None:
    figures = all_figures(trace)
    assert len(figures) > 2 * len(trace.token_steps)
    for figure in figures.values():
        assert len(figure.to_json()) > 500


def test_a_forced_token_is_said_to_be_forced_and_no_other_is(trace) -> None:
    figures = all_figures(trace)
    for step in trace.token_steps:
        names = ("candidate_bars", "step_stages")
        bars, stages = (plain(figures[f"{name} {step.index}"]) for name in names)
        forced = step.origin == "forced"
        assert ("The chosen token was forced." in bars) == forced
        assert ("is forced" in stages) == ("Forced: " in stages) == forced
        assert "removed by forced" not in bars
