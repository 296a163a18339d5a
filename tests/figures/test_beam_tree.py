"""The tree of a beam search: every stored backpointer an edge, and nothing else."""

from dataclasses import replace
from itertools import pairwise

import plotly.graph_objects as go
import pytest

from core import guess_parents, rerank
from core.decoding.beam.replay import ranked_anew
from core.decoding.constraints.value import constraint_in
from core.decoding.record.steps import NO_RECORD
from core.decoding.shaping.config import Shaping
from core.figures import beam_step, beam_tree, beam_tree_data
from core.figures.beam.columns import fitted
from core.figures.beam.graph import (
    beam_graph,
    best_path,
    lay_out_beams,
    node_of,
    parent_of,
    path_to,
)
from core.figures.beam.window import MOST_NODES, window
from core.figures.beam.words import nats, place_words
from tests.figures.beams import backpointers, make_search
from tests.figures.looking import strings, trace_named
from tests.figures.traces import make_trace

SEARCHES = {
    "plain": {},
    "drawn": {"do_sample": True, "seed": 3},
    "groups": {"num_beam_groups": 2, "diversity_penalty": 0.7},
    "early": {"early_stopping": True, "length_penalty": -0.5},
    "one beam": {"num_beams": 1},
}


@pytest.fixture(params=SEARCHES)
def search(request):
    return make_search(**SEARCHES[request.param])


def bars(figure: go.Figure) -> dict[tuple[int, int], tuple[str, float, float]]:
    """Node -> the name of its trace, its left edge and its lane."""
    placed = {}
    for name in ("pruned", "kept", "best"):
        trace = trace_named(figure, name)
        for values, left, lane in zip(trace.customdata, trace.base, trace.y, strict=True):
            placed[values[0], values[1]] = (name, left, lane)
    return placed


def lines(figure: go.Figure, name: str) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The ends of each line of a trace."""
    trace, ends, line = trace_named(figure, name), [], []
    for x, y in zip(trace.x, trace.y, strict=True):
        if x is None:
            ends.append((line[0], line[-1]))
            line = []
        else:
            line.append((x, y))
    assert not line
    return ends


def test_every_backpointer_is_an_edge_and_nothing_else(search):
    tree, figure = beam_graph(search.beam_steps), beam_tree(search, span=60, pruned=True)
    assert set(tree.edges) == backpointers(search)
    assert all(parent_of(tree, node) is None for node in tree if node[0] < 0)
    places = bars(figure)
    assert set(places) == set(tree.nodes) == {node for edge in tree.edges for node in edge}
    expected = sorted(
        (places[parent][2], places[child][1], places[child][2]) for parent, child in tree.edges
    )
    names = ("pruned", "kept", "best")
    drawn = [line for name in names for line in lines(figure, f"{name} edges")]
    assert sorted((start[1], *end) for start, end in drawn) == expected
    best = set(best_path(tree, search))
    pruned = {node for node in tree if tree.nodes[node]["kind"] == "pruned"}
    for node, (name, *_) in places.items():
        assert name == ("best" if node in best else "pruned" if node in pruned else "kept")
    finished = sum(len(step.finished) for step in search.beam_steps)
    assert len(trace_named(figure, "finished").x) == finished
    # What was pruned can be folded away.
    folded = beam_tree(search, span=60, pruned=False)
    assert set(bars(folded)) == set(tree) - pruned and not lines(folded, "pruned edges")


def test_a_selected_node_is_drawn_even_where_the_pruned_are_folded():
    search = make_search()
    tree = beam_graph(search.beam_steps)
    node = next(n for n in tree if tree.nodes[n]["kind"] == "pruned" and n[0] == 5)
    figure = beam_tree(search, selected=node)
    assert node in bars(figure)
    assert len(lines(figure, "selected path")) == node[0] + 1
    assert [tuple(values[:2]) for values in trace_named(figure, "selected").customdata] == [node]


def test_a_step_that_is_too_wide_alone_loses_its_last_pruned_ones():
    search = make_search(64, 3, ends=8)
    step = search.beam_steps[1]
    assert len(step.candidates) > MOST_NODES
    last = len(step.candidates) - 1
    assert step.candidates[last].fate == "pruned"
    figure = beam_tree(search, first=1, pruned=True, selected=(1, last))
    drawn = {node for node in bars(figure) if node[0] == 1}
    assert len(bars(figure)) == MOST_NODES
    left_out = {(1, place) for place in range(last + 1)} - drawn
    gone = [step.candidates[place] for _, place in left_out]
    assert {c.fate for c in gone} == {"pruned"} and (1, last) in drawn
    pruned_ranks = sorted(c.rank for c in step.candidates if c.fate == "pruned" and c not in gone)
    # The selected one is the last of all.
    assert pruned_ranks[-2] < min(c.rank for c in gone)
    words = " ".join(strings(figure)).replace("<br>", " ")
    assert f"{len(gone)} more pruned ones are not drawn" in words


def test_a_search_that_is_ranked_anew_says_so_and_scores_under_its_penalty():
    search = make_search(5, 12, model_seed=3, stop_strings=(".",))
    new = replace(search.config, length_penalty=-1.25)
    shown = ranked_anew(search, rerank(search, length_penalty=-1.25), new)
    figure = beam_tree(shown, span=60)
    caption = figure.layout.meta["caption"]
    assert "length penalty -1.25" in caption
    assert caption.endswith("ranked anew after a search with length penalty 1")
    table, tree = beam_tree_data(shown), beam_graph(search.beam_steps)
    ends = {tuple(values[:2]) for values in trace_named(figure, "best").customdata}
    assert ends == set(path_to(tree, node_of(search.beam_steps, shown.hypotheses[0])))
    scores = [candidate.cum_logprob * 4**1.25 for candidate in shown.beam_steps[3].candidates]
    assert list(table[table["step"] == 4]["score"]) == pytest.approx(scores, rel=1e-5)
    best = shown.hypotheses[0]
    assert list(table[table["on_best_path"]]["token_id"]) == list(best.token_ids)
    assert best.token_ids != search.hypotheses[0].token_ids


@pytest.mark.parametrize("pruned", [True, False])
def test_wide_and_long_searches_are_drawn_in_windows_of_at_most_500_nodes(pruned):
    search = make_search(16, 60, model_seed=2)
    steps, first, seen = search.beam_steps, 0, []
    assert len(steps) > 40
    while first < len(steps):
        figure = beam_tree(search, first=first, span=40, pruned=pruned)
        nodes = bars(figure)
        assert 0 < len(nodes) <= MOST_NODES
        start, last = window(steps, first, 40, pruned=pruned)
        assert start == first < last
        seen += range(start, last)
        assert {node[0] for node in nodes} == set(range(first - 1, last))
        first = last
    assert seen == list(range(len(steps)))


def test_no_two_edges_cross(search):
    tree = beam_graph(search.beam_steps)
    whole = (0, len(search.beam_steps))
    layout, folded = (lay_out_beams(tree, whole, pruned=pruned) for pruned in (True, False))
    lanes = {spot.node: spot.lane for spot in layout.positions}
    for at in range(layout.columns):
        column = [spot for spot in layout.positions if spot.column == at]
        assert all(a.lane < b.lane for a, b in pairwise(column))
        open_lanes = [spot.lane for spot in folded.positions if spot.column == at]
        assert all(b - a >= 0.999 for a, b in pairwise(open_lanes))
        assert column[0].lane >= -0.51 and column[-1].lane <= layout.lanes - 0.49
        if at:
            parents = [lanes[parent_of(tree, spot.node)] for spot in column]
            assert parents == sorted(parents)


def test_wrong_guesses_are_drawn_from_the_guessed_parent():
    search = make_search(6, 10, model_seed=4)
    guesses = guess_parents(search)
    assert guesses.wrong
    figure = beam_tree(search, span=60, guesses=guesses)
    places, beams = bars(figure), beam_graph(search.beam_steps).graph["beams"]
    expected = sorted(
        (places[beams[g.step][g.guess]][2], places[beams[g.step + 1][g.row]][2])
        for g in guesses.wrong
    )
    drawn = lines(figure, "wrong guesses")
    assert sorted((start[1], end[1]) for start, end in drawn) == expected
    assert not any(trace.name == "wrong guesses" for trace in beam_tree(search).data)


def test_a_click_and_the_hover_tell_the_node():
    search = make_search()
    figure = beam_tree(search, pruned=True)
    for name in ("pruned", "kept", "best"):
        for values in trace_named(figure, name).customdata:
            step, place = values[:2]
            if step < 0:
                continue
            candidate = search.beam_steps[step].candidates[place]
            numbers = (candidate.logprob, candidate.cum_logprob)
            shown = [f"{value:.3f}".replace("-", "\u2212") for value in numbers]
            first, second, *_ = values[3].split("<br>")
            assert first == f"step {step + 1} · rank {candidate.rank}"
            assert second == "log-prob {} · sum {}".format(*shown)


def test_a_run_without_a_step_is_a_sentence():
    figure = beam_tree(make_trace(3))
    assert len(figure.data) == 0
    assert "no step" in figure.layout.meta["alt"]


def test_a_search_under_way_has_a_best_path():
    search = make_search()
    cut = replace(search, steps=search.steps[:6], method_record=NO_RECORD)
    end = max(cut.beam_steps[-1].kept, key=lambda c: c.cum_logprob)
    ends = [tuple(values[:2]) for values in trace_named(beam_tree(cut), "best").customdata]
    assert (len(cut.beam_steps) - 1, cut.beam_steps[-1].candidates.index(end)) in ends


def test_the_table_holds_every_candidate(search):
    frame = beam_tree_data(search)
    candidates = [c for step in search.beam_steps for c in step.candidates]
    assert list(frame["token_id"]) == [c.token_id for c in candidates]
    assert list(frame["parent_row"]) == [c.parent + 1 for c in candidates]
    assert list(frame["fate"]) == [c.fate for c in candidates]
    assert frame["on_best_path"].sum() == len(search.hypotheses[0].token_ids)
    guessed = frame.dropna(subset="guessed_parent_row")
    rows = zip(guessed["step"], guessed["row"], guessed["guessed_parent_row"], strict=True)
    assert sorted(rows) == sorted(
        (guess.step + 1, guess.row + 1, guess.guess + 1) for guess in guess_parents(search).guesses
    )


@pytest.mark.parametrize(
    ("room", "shown"), [(40, "␣named"), (33, "named"), (29, "na…"), (21, "n…"), (14, "…")]
)
def test_a_cut_token_keeps_its_first_letters(room, shown):
    assert fitted(" named", room) == shown


def test_drawn_candidates_stand_in_the_order_of_drawing():
    drawn = make_search(do_sample=True)
    step = drawn.beam_steps[1]
    assert place_words(step, step.candidates[2]) == f"draw {step.candidates[2].rank}"
    assert "in the order of drawing" in beam_step(drawn, 1).layout.meta["alt"]


def test_the_sum_along_the_path_stands_beside_each_token_that_is_not_pruned(search) -> None:
    figure = beam_tree(search, span=60, scores=True)
    for name in ("best", "kept"):
        drawn = trace_named(figure, name)
        for (step, place, *_), text in zip(drawn.customdata, drawn.text, strict=True):
            if step >= 0:
                total = search.beam_steps[step].candidates[place].cum_logprob
                assert text.endswith(f">{nats(total, 2)}</span>")
    assert "font-size" not in "".join(trace_named(beam_tree(search), "best").text)


def test_the_only_token_that_a_constraint_allows_has_a_dashed_border() -> None:
    rule = constraint_in("choice= house very in\n in very")
    search = make_search(2, 4, shaping=Shaping(constraint=rule))
    figure = beam_tree(search, span=60)
    forced = {
        (at, place)
        for at, step in enumerate(search.beam_steps)
        for place, candidate in enumerate(step.candidates)
        if step.masks[candidate.parent].allowed == 1
    }
    expected = sorted(
        (left, lane) for node, (_, left, lane) in bars(figure).items() if node in forced
    )
    border = trace_named(figure, "forced")
    corners = [*zip(border.x, border.y, strict=True)][::6]
    assert expected and len(expected) < len(bars(figure))
    assert sorted((x, y + 0.36) for x, y in corners) == [pytest.approx(spot) for spot in expected]
    free = beam_tree(make_search(2, 4), span=60)
    assert "forced" not in [trace.name for trace in free.data]
