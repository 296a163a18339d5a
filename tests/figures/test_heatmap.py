"""The heatmap shows the trace's numbers in the right cells."""

from itertools import pairwise

import pytest

from core.decoding.shaping.config import Shaping
from core.figures import LIGHT, probability_heatmap, probability_heatmap_data
from tests.figures.looking import shapes_named, trace_named
from tests.figures.traces import make_trace


@pytest.fixture(scope="module")
def trace():
    return make_trace(12, shaping=Shaping(temperature=1.2, top_p=0.9))


@pytest.mark.parametrize(("value", "field"), [("raw", "raw_prob"), ("final", "prob")])
def test_cell_colours_are_the_probabilities_by_rank(trace, value, field):
    z = trace_named(probability_heatmap(trace, value=value, rows=6), "probability").z
    for column, step in enumerate(trace.token_steps):
        for candidate in step.candidates[:6]:
            assert z[candidate.rank - 1][column] == getattr(candidate, field)


def test_the_ring_sits_on_the_chosen_cell(trace):
    ring = trace_named(probability_heatmap(trace, rows=6), "chosen")
    assert list(ring.x) == list(range(12))
    for column, base, step in zip(ring.x, ring.base, trace.token_steps, strict=True):
        row = round(base + 0.46)
        assert step.index == column
        assert row == min(step.chosen.rank - 1, 6)
    assert ring.marker.line.color == LIGHT.accent


def test_a_choice_beyond_the_rows_stands_in_a_last_row(trace):
    beyond = [step for step in trace.token_steps if step.chosen.rank > 6]
    assert beyond
    figure = probability_heatmap(trace, rows=6)
    assert figure.layout.yaxis.ticktext[-1] == ">6"
    z = trace_named(figure, "probability").z
    assert len(z) == 7
    for step in beyond:
        assert z[6][step.index] == step.chosen.raw_prob
    # None where every choice is drawn.
    figure = probability_heatmap(make_trace(6, "greedy"), rows=5)
    assert list(figure.layout.yaxis.ticktext) == ["chosen", "1", "2", "3", "4", "5"]


def test_clicks_land_on_the_cell_that_is_seen(trace):
    figure = probability_heatmap(trace, rows=6)
    by_place = {
        (x, round(base + 0.5)): tuple(key)
        for drawn in figure.data
        if drawn.customdata is not None
        for x, base, key in zip(drawn.x, drawn.base, drawn.customdata, strict=True)
    }
    step = trace.token_steps[4]
    for candidate in step.candidates[:6]:
        assert by_place[4, candidate.rank - 1] == (4, candidate.token_id)
    assert by_place[4, -1] == (4, step.token_id)


def test_the_window_starts_at_first_and_marks_the_selected_column(trace):
    figure = probability_heatmap(trace, first=5, columns=4, selected=7)
    assert list(figure.layout.xaxis.ticktext) == ["6", "7", "8", "9"]
    (mark,) = shapes_named(figure, "selected")
    assert (mark.x0, mark.x1) == (1.5, 2.5)
    assert not shapes_named(probability_heatmap(trace, selected=None), "selected")
    assert not shapes_named(probability_heatmap(trace, first=5, columns=4, selected=1), "selected")


def test_removed_candidates_fade_only_in_the_final_view(trace):
    final = probability_heatmap(trace, value="final")
    removed = trace_named(final, "removed")
    assert {tuple(key) for key in removed.customdata} == {
        (step.index, c.token_id)
        for step in trace.token_steps
        for c in step.candidates
        if c.removed_by and c.rank <= 10
    }
    assert "removed" not in [drawn.name for drawn in probability_heatmap(trace).data]


def test_a_long_window_has_level_words_at_its_most_uncertain_steps_alone():
    trace = make_trace(40)
    figure = probability_heatmap(trace, rows=6)
    edges = trace_named(figure, "probability").x
    wide = [at for at, (low, high) in enumerate(pairwise(edges)) if high - low > 0.9]
    by_entropy = sorted(trace.token_steps, key=lambda step: -step.entropy)
    assert 8 <= len(wide) <= 14
    assert wide == sorted(step.index for step in by_entropy[: len(wide)])
    named = {
        int(key[0])
        for drawn in figure.data
        if drawn.name == "tokens"
        for key, text in zip(drawn.customdata, drawn.text, strict=True)
        if text
    }
    assert named == set(wide)
    assert all(drawn.textangle == 0 for drawn in figure.data if drawn.name == "tokens")


def test_two_heatmaps_over_each_other_open_the_same_steps():
    one, other = make_trace(40), make_trace(40, seed=3)
    alone, *both = (
        trace_named(probability_heatmap(trace, beside=beside), "probability").x
        for trace, beside in ((one, None), (one, other), (other, one))
    )
    assert list(both[0]) == list(both[1]) != list(alone)


def test_the_selected_step_is_open_and_takes_the_place_of_the_surest_one():
    trace = make_trace(40)
    surest = min(trace.token_steps, key=lambda step: step.entropy).index
    before, after = (probability_heatmap(trace, selected=at) for at in (None, surest))
    (mark,) = shapes_named(after, "selected")
    assert mark.x1 - mark.x0 == pytest.approx(1)
    ends = [trace_named(figure, "probability").x[-1] for figure in (before, after)]
    assert ends[0] == pytest.approx(ends[1])


def test_every_cell_of_a_narrow_column_can_be_clicked_and_is_in_the_table():
    trace = make_trace(40)
    figure, table = probability_heatmap(trace, rows=6), probability_heatmap_data(trace, rows=6)
    keys = {tuple(key) for drawn in figure.data for key in drawn.customdata or ()}
    assert keys == set(zip(table["step"] - 1, table["token_id"], strict=True))
    assert "steps 1 to 40" in figure.layout.meta["alt"] and "narrow" in figure.layout.meta["alt"]


def test_few_steps_use_the_whole_width():
    figure = probability_heatmap(make_trace(8))
    edges = trace_named(figure, "probability").x
    assert list(figure.layout.xaxis.range) == [edges[0], edges[-1]]
    assert all(high - low == 1 for low, high in pairwise(edges))


def test_the_table_is_what_is_drawn(trace):
    table = probability_heatmap_data(trace, first=2, columns=3, rows=6)
    assert set(table["step"]) == {3, 4, 5}
    row = table[(table["step"] == 4) & (table["rank"] == 2)].iloc[0]
    candidate = trace.token_steps[3].candidates[1]
    assert (row.token_id, row.token) == (candidate.token_id, candidate.text)
    assert (row.raw_prob, row.final_prob) == (candidate.raw_prob, candidate.prob)
    assert table.groupby("step")["chosen"].sum().tolist() == [1, 1, 1]
