"""The tree of several methods' texts: a lane for each run, shared cells, numbers at the forks."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.decoding.many.methods import tokens_of
from core.decoding.many.types import ManyRuns
from core.figures import (
    methods_caption,
    methods_data,
    methods_tree,
    methods_tree_data,
    methods_verdict,
    run_name,
)
from core.figures.base.labels import NBSP
from core.figures.base.paper import WIDE, Paper
from core.traces.many_file import read_runs
from tests.figures.looking import trace_named

STORED = read_runs(Path(__file__).parents[2] / "assets/traces/home.jsonl")


def test_each_run_is_a_lane_and_a_shared_text_is_one_cell() -> None:
    cells = trace_named(methods_tree(STORED, paper=WIDE), "tokens")
    lanes = cells.width
    shared = [cell for cell, count in zip(cells.hovertext, lanes, strict=True) if count == 6]
    assert len(shared) == 1 and "steps 1 to 4" in shared[0]
    # The cells of each step fill all lanes, as no run ends before the others.
    for step in range(20):
        pairs = zip(cells.base, cells.x, lanes, strict=True)
        assert sum(count for base, length, count in pairs if base <= step < base + length) == 6


def test_the_number_at_a_fork_is_the_model_s_probability_of_its_first_token() -> None:
    cells = trace_named(methods_tree(STORED), "tokens")
    by_lane = {place: tokens_of(trace) for place, trace in enumerate(STORED.traces)}
    found = 0
    for base, (place, step), text in zip(cells.base, cells.customdata, cells.text, strict=True):
        assert step == base
        if match := re.match(rf"{NBSP}([\d.]+){NBSP}?%", text):
            prob = by_lane[place][int(base)].raw_prob
            assert float(match[1]) == pytest.approx(100 * prob, rel=0.05)
            found += 1
    assert found >= 4


def test_a_cell_too_narrow_for_its_first_token_has_it_upright_with_the_whole_number() -> None:
    figure = methods_tree(STORED, paper=Paper(width=960))
    (note,) = [one for one in figure.layout.annotations if one.name == "upright"]
    assert re.sub("<[^>]*>", "", note.text) == f"30.9{NBSP}%{NBSP}{NBSP}␣little"
    assert note.textangle == -90 and note.font.color
    cells = trace_named(figure, "tokens")
    assert list(cells.text).count("") == 1


@pytest.mark.parametrize("width", range(640, 1300, 60))
def test_a_number_at_a_fork_keeps_its_unit(width: int) -> None:
    cells = trace_named(methods_tree(STORED, paper=Paper(width=width)), "tokens")
    for text in cells.text:
        assert not re.search(rf"\d(?!{NBSP}?%|[\d.])", text), text


def test_table_and_verdict_follow_from_the_runs() -> None:
    table, tokens = methods_data(STORED), methods_tree_data(STORED)
    assert list(table["run"]) == [run_name(trace) for trace in STORED.traces]
    for row in table.itertuples():
        probs = tokens[tokens["run"] == row.run]["raw_prob"]
        assert sum(map(math.log, probs)) == pytest.approx(row.logprob)
    best = table.loc[table["logprob"].idxmax(), "run"]
    greedy, drafted = table.iloc[0], table.iloc[-1]
    assert best == "Beam search" and greedy["generated"] == drafted["generated"]
    words = methods_verdict(STORED)
    assert "6 runs of one prompt gave 5 different texts" in words and "beam search" in words
    assert f"with {drafted['forwards']} forward passes" in words
    assert words.endswith(f"in place of {greedy['forwards']}.")
    one = ManyRuns(STORED.traces[1:2])
    assert methods_verdict(one).startswith("1 run of one prompt gave 1 different text.")


def test_the_verdict_of_runs_with_one_text() -> None:
    twice = ManyRuns(STORED.traces[:1] * 2)
    assert methods_verdict(twice) == "All 2 runs of one prompt gave the same text."
    empty = replace(STORED.traces[0], text="")
    words = methods_verdict(ManyRuns((empty, empty)))
    assert words == "All 2 runs ended at once, without a character of text."


def test_caption_names_each_methods_settings_once() -> None:
    caption = methods_caption(STORED)
    assert caption.count("temperature 0.8") == 1 and "seeds 16, 17, 18" in caption
    assert "num beams 5" in caption and "draft length 5" in caption
    assert "Once upon a time" not in caption
    assert "Once upon a time" in methods_caption(STORED, Paper(printed=True))
