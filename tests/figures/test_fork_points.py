"""The figure of fork points: a bar for each, what it stands for, and its table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.decoding.record.trace import Trace
from core.figures import LIGHT, fork_points, fork_points_data, printed
from core.figures.base.labels import NBSP
from core.figures.base.records import fork_words
from tests.figures.forks import make_points
from tests.figures.looking import strings, trace_named

TRACE = Trace.load(Path(__file__).parents[2] / "assets/traces/decode.json")
POINTS = make_points(TRACE)


def test_each_fork_point_has_a_bar_of_its_share_and_one_of_its_difference() -> None:
    figure = fork_points(TRACE, POINTS)
    shares, differences = (trace_named(figure, name) for name in ("changed", "logprob"))
    assert list(shares.x) == list(differences.x) == [p.at_step + 1 for p in POINTS]
    assert list(shares.y) == [p.changed / p.length for p in POINTS]
    assert list(differences.y) == [p.logprob_change for p in POINTS]
    limit = figure.layout.yaxis2.range[1]
    assert all(abs(point.logprob_change) < limit for point in POINTS)
    assert [tuple(row) for row in shares.customdata] == [
        (point.at_step, place) for place, point in enumerate(POINTS)
    ]


def test_an_ending_that_comes_together_again_is_pale_and_the_key_says_so() -> None:
    apart = [replace(point, together_after=None) for point in POINTS]
    joined = [replace(apart[0], together_after=3), *apart[1:]]
    colors = trace_named(fork_points(TRACE, joined), "changed").marker.color
    assert colors[0] != colors[1] == LIGHT.first and len(set(colors)) == 2
    for points, said in ((joined, True), (apart, False)):
        words = " ".join(strings(fork_points(TRACE, points))).replace(NBSP, " ")
        assert ("comes together again" in words) is said
    assert "together again after 3 tokens" in fork_words(joined[0])
    assert "not together again" in fork_words(apart[0])
    assert "together again at once" in fork_words(replace(apart[0], together_after=0))


def test_the_table_has_the_measures() -> None:
    table = fork_points_data(TRACE, POINTS)
    assert table.step.tolist() == [point.at_step + 1 for point in POINTS]
    assert (table.changed / table.tokens).tolist() == pytest.approx(table.share.tolist())
    assert table.other[0] == POINTS[0].other.text


def test_without_fork_points_it_says_so_and_it_fits_a_column() -> None:
    sentences = [a.text for a in fork_points(TRACE, ()).layout.annotations if a.name == "sentence"]
    assert sentences == ["No step of this run was forked yet."]
    assert fork_points(TRACE, POINTS, paper=printed("85mm")).layout.width
