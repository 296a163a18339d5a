"""The tree of runs by its cells: shared beginnings, forced tokens, sums of ln p, and its table."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.figures import LIGHT, printed, run_tree, run_tree_data
from tests.figures.forks import make_fork, make_tree
from tests.figures.looking import trace_named

TRACE = Trace.load(Path(__file__).parents[2] / "assets/traces/decode.json")
TREE = make_tree(TRACE)


def test_each_token_is_drawn_once_and_a_click_names_its_run() -> None:
    figure = run_tree(TREE)
    cells = trace_named(figure, "tokens")
    area = sum(width * height for width, height in zip(cells.width, cells.x, strict=True))
    assert area == sum(len(branch.trace.token_ids) for branch in TREE.branches)
    assert {place for place, _ in cells.customdata} == {0, 1, 2, 3}
    assert list(cells.width).count(1) >= 4 and 4 in cells.width


def test_each_forced_token_has_a_frame_at_its_step() -> None:
    frames = [shape for shape in run_tree(TREE).layout.shapes if shape.name == "forced"]
    assert sorted(math.floor(frame.x0) for frame in frames) == [2, 5, 6]
    assert all(frame.line.color == LIGHT.accent for frame in frames)
    assert all(frame.x1 - frame.x0 < 1 for frame in frames)


def test_what_a_branch_inherits_is_not_marked_in_it() -> None:
    made = make_fork(TRACE, 6)
    steps = list(made.steps)
    steps[3] = replace(steps[3], origin="forced", forced_as="given", instead_of=0)
    figure = run_tree(RunTree.of(TRACE).grown(0, 6, replace(made, steps=tuple(steps))))
    frames = [shape for shape in figure.layout.shapes if shape.name == "forced"]
    assert [math.floor(frame.x0) for frame in frames] == [6]


def test_a_lane_names_its_run_with_the_sum_of_ln_p() -> None:
    names = " ".join(run_tree(TREE, selected=2).layout.yaxis.ticktext)
    for branch in TREE.branches:
        total = sum(math.log(step.chosen.raw_prob) for step in branch.trace.token_steps)
        assert f"−{abs(total):.1f}" in names
    assert names.count("<b>") == 1 and "&lt;b&gt;boy" in names


def test_the_table_has_every_token_of_every_run() -> None:
    table = run_tree_data(TREE)
    assert len(table) == sum(len(branch.trace.token_ids) for branch in TREE.branches)
    assert table.groupby("run").sum_ln_p.last().tolist() == pytest.approx(
        [branch.logprob for branch in TREE.branches]
    )
    assert table[table.forced].step.tolist() == [3, 6, 3, 7]
    assert table.groupby("run").parent.first().tolist()[1:] == [1, 1, 2]
    assert table.name[len(TRACE.token_ids)] == "<b>boy</b>"


def test_the_caption_has_the_settings_and_the_number_of_runs() -> None:
    caption = run_tree(TREE).layout.meta["caption"]
    assert "embedded:target" in caption and "4 runs" in caption
    assert run_tree(TREE, paper=printed("85mm")).layout.width
    assert "1 run" in run_tree(RunTree.of(TRACE)).layout.meta["caption"]
