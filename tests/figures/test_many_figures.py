"""Figures of many runs by their data: shares, margins, agreement, and the cells of a grid."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.decoding.autoregressive.config import Sampling
from core.decoding.many.types import ManyRuns
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import Shaping
from core.figures import (
    many_agreement,
    many_caption,
    many_forks,
    many_forks_data,
    many_matrix,
    many_runs_data,
    many_tree,
    many_tree_data,
    many_verdict,
)
from core.figures.base.paper import WIDE, printed
from core.figures.many import forks
from core.figures.many.forks import NO_MARGIN
from core.figures.many.matrix import NO_GRID, is_grid
from core.figures.many.tree import MOST_TEXTS
from core.figures.many.words import runs_words
from core.language import tr, use
from core.traces.many_file import read_many
from tests.figures.looking import trace_named
from tests.figures.manys import make_many

TRACES = Path(__file__).parents[2] / "assets/traces"
GRID = read_many(TRACES / "many-grid.jsonl")
SEEDS = read_many(TRACES / "many-again.jsonl")
TIES = make_many()


def test_each_text_is_a_lane_with_its_runs_and_a_click_names_one_of_them() -> None:
    figure = many_tree(TIES)
    names = [re.sub("<[^>]*>", "", name).strip() for name in figure.layout.yaxis.ticktext]
    counts = sorted((len(text.runs) for text in TIES.texts), reverse=True)
    assert sorted((int(name.split()[0]) for name in names), reverse=True) == counts
    assert sum(counts) == TIES.count == 30
    places = {place for place, _ in trace_named(figure, "tokens").customdata}
    assert {TIES.text_of(place) for place in places} == set(range(len(TIES.texts)))


def test_the_shares_on_the_hover_of_a_fork_sum_to_1() -> None:
    for many in (TIES, GRID, SEEDS):
        hovers = trace_named(many_tree(many), "tokens").hovertext
        shares = [re.search(r"(\d+) of \d+ runs; .* of the (\d+) at", text) for text in hovers]
        found = [(int(match[1]), int(match[2])) for match in shares if match]
        total = sum(len(fork.branches) for fork in many.forks)
        assert len(found) == total
        assert sum(runs / all_runs for runs, all_runs in found) == pytest.approx(len(many.forks))


def test_the_tree_of_one_text_has_room_for_its_colours() -> None:
    paper = replace(WIDE, caption=False)
    one = many_tree(ManyRuns((SEEDS.traces[0],) * 2), paper=paper)
    assert one.layout.margin.b == many_tree(SEEDS, paper=paper).layout.margin.b


def test_rare_texts_are_left_out_and_counted() -> None:
    trace = SEEDS.traces[0]
    traces = tuple(
        replace(trace, token_ids=(*trace.token_ids[:-1], 3000 + at)) for at in range(MOST_TEXTS + 6)
    )
    figure = many_tree(ManyRuns(traces))
    assert len(figure.layout.yaxis.ticktext) == MOST_TEXTS
    assert "6 rarer texts are left out" in figure.layout.meta["subtitle"]


def test_a_printed_tree_is_no_higher_than_a_page_and_says_which_steps_it_shows() -> None:
    trace = SEEDS.traces[0]
    traces = tuple(
        replace(trace, token_ids=(*trace.token_ids[:-1], 3000 + at)) for at in range(MOST_TEXTS)
    )
    paper = printed("85mm")
    figure = many_tree(ManyRuns(traces), paper=paper)
    assert figure.layout.height * paper.scale < 297 - 2 * 15
    first, last = figure.layout.meta["window"]
    total = len(trace.token_steps)
    assert first == 0 < last < total
    assert f"Steps 1 to {last} of {total}." in figure.layout.meta["subtitle"]
    drawn = {int(step) for _, step in trace_named(figure, "tokens").customdata}
    assert drawn and max(drawn) < last


def test_margins_and_rounding_stand_on_the_axis_by_their_numbers() -> None:
    figure, data = many_forks(SEEDS), many_forks_data(SEEDS)
    margins = trace_named(figure, "margin")
    assert list(margins.x) == pytest.approx(data.margin_nats.tolist())
    for fork in SEEDS.forks:
        one, other = (SEEDS.traces[b.runs[0]].token_steps[fork.at] for b in fork.branches[:2])
        own = abs(math.log(one.chosen.raw_prob / other.chosen.raw_prob))
        assert fork.margin == pytest.approx(own, rel=1e-4)
    # No rounding was measured: the mark is at the 0 of the axis.
    assert set(data.rounding_nats) == {0}
    axis = figure.layout.xaxis
    assert (
        trace_named(figure, "rounding").x[0]
        == dict(zip(axis.ticktext, axis.tickvals, strict=True))["0"]
    )
    assert margins.customdata[0] == [SEEDS.forks[0].branches[1].runs[0]]


def test_forks_that_are_not_drawn_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "MOST_SHOWN", 4)
    trace = SEEDS.traces[0]
    short = replace(trace, steps=trace.steps[:-3], token_ids=trace.token_ids[:-3])
    assert many_forks(ManyRuns((trace, short))).layout.meta["alt"] == NO_MARGIN
    assert "no fork: all" in many_forks(ManyRuns((trace, trace))).layout.meta["alt"]
    figure = many_forks(ManyRuns((*SEEDS.traces, short)))
    assert len(trace_named(figure, "margin").x) == 4
    subtitle = figure.layout.meta["subtitle"]
    assert "the smaller of the two runs' distances" in subtitle
    assert "1 fork without a known margin (a run may end there) left out." in subtitle
    assert f"{len(SEEDS.forks) - 4} later forks left out." in subtitle


def test_agreement_never_rises_and_ends_at_the_share_of_the_largest_text() -> None:
    for many in (TIES, SEEDS):
        line = trace_named(many_agreement(many), "agreement")
        assert list(line.y) == sorted(line.y, reverse=True)
        assert line.y[-1] == pytest.approx(len(many.texts[0].runs) / many.count)
        assert line.x[0] == 1


def test_a_grid_has_a_cell_for_each_run_and_numbers_by_arithmetic() -> None:
    figure = many_matrix(GRID, measure="surprisal", selected=5)
    cells = trace_named(figure, "runs")
    assert [place for (place,) in cells.customdata] == list(range(9))
    for place, text in enumerate(cells.text):
        steps = GRID.traces[place].token_steps
        assert text == f"{-sum(math.log(s.chosen.raw_prob) for s in steps) / len(steps):.2f}"
    assert list(figure.layout.yaxis.ticktext) == ["0.3", "0.8", "1.3"]
    assert list(figure.layout.xaxis.ticktext) == ["0.5", "0.9", "1"]
    (frame,) = (shape for shape in figure.layout.shapes if shape.name == "selected")
    assert (round(frame.x0 + frame.x1), round(frame.y0 + frame.y1)) == (4, 2)
    parts = trace_named(many_matrix(GRID, measure="parts"), "runs").text
    ids = [trace.token_ids for trace in GRID.traces]
    assert parts[0] == "first"
    for text, own in zip(parts[1:], ids[1:], strict=True):
        assert own[: int(text) - 1] == ids[0][: int(text) - 1] and own != ids[0]
        assert own[int(text) - 1] != ids[0][int(text) - 1]


def test_a_cell_without_a_value_says_so_by_its_measure() -> None:
    short = replace(GRID.traces[1], steps=(), token_ids=(), text="")
    runs = replace(GRID, traces=(GRID.traces[0], short, *GRID.traces[2:]))
    for measure in ("surprisal", "distinct"):
        assert trace_named(many_matrix(runs, measure=measure), "runs").text[1] == "–"
    ids = GRID.traces[0].token_ids
    same = replace(GRID, traces=tuple(replace(trace, token_ids=ids) for trace in GRID.traces))
    with use("ja"):
        texts = trace_named(many_matrix(same, measure="parts"), "runs").text
        assert texts == (tr("first"), *[tr("same")] * (GRID.count - 1))
    assert not {"first", "same"} & set(texts)


def test_runs_that_differ_otherwise_are_no_grid() -> None:
    assert is_grid(GRID) and not is_grid(SEEDS) and not is_grid(TIES)
    assert many_matrix(SEEDS).layout.meta["alt"] == NO_GRID


def test_the_verdict_counts_runs_texts_and_shared_tokens() -> None:
    assert many_verdict(ManyRuns(TIES.traces[:1])).startswith("1 run gave 14 tokens")
    trace = SEEDS.traces[0]
    same = ManyRuns((trace,) * 100)
    assert many_verdict(same) == (
        "100 of 100 runs gave the same 20 tokens. Their recorded probabilities are equal "
        "to the last bit."
    )
    assert many_verdict(SEEDS) == ("20 runs gave 20 different texts. All agree on the first token.")
    assert many_verdict(ManyRuns((trace, _with_faint(trace)))).endswith(
        "No recorded probability above 0.0001 differs."
    )
    assert "; 14 gave the most frequent one" in many_verdict(TIES)
    assert "on the first 2 tokens" in many_verdict(TIES)


def _with_faint(trace: Trace) -> Trace:
    """Return the trace with another probability of a token that comparisons leave out."""
    step = trace.token_steps[0]
    last = step.candidates[-1]
    faint = last._replace(rank=99, raw_prob=9e-5, token_id=3999)
    first, second = (
        replace(step, candidates=(*step.candidates, faint._replace(raw_prob=prob)))
        for prob in (9e-5, 8e-5)
    )
    assert first != second
    return replace(trace, steps=tuple(second if one is step else one for one in trace.steps))


def test_the_caption_says_what_is_shared_and_what_varies() -> None:
    caption = many_caption(GRID)
    assert "9 runs · varied: temperature 0.3, 0.8, 1.3; top-p 0.5, 0.9, 1" in caption
    assert "seed 16" in caption and caption.count("temperature") == 1
    assert "seed 16 ·" not in many_caption(SEEDS) and "varied: seed 16, 17" in many_caption(SEEDS)
    config = Sampling(shaping=Shaping(temperature=0), max_new_tokens=9, stop_strings=("x",))
    traces = [replace(SEEDS.traces[0], config=replace(config, seed=seed)) for seed in (1, 2)]
    assert "stop strings “x” · 2 runs · varied: seed 1, 2" in many_caption(ManyRuns(tuple(traces)))
    assert runs_words(TIES, (0, 5, 1)) == "alone ×2, in a batch of 2 rows"


def test_the_tables_have_every_run_and_every_token_of_every_text() -> None:
    runs = many_runs_data(TIES)
    assert len(runs) == 30 and runs.text.nunique() == len(TIES.texts)
    tokens = many_tree_data(TIES)
    assert len(tokens) == sum(len(text.trace.token_ids) for text in TIES.texts)
    assert tokens.groupby("text").share.first().sum() == pytest.approx(1)
