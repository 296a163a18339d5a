"""Figures on paper: widths, measured text, themes, what print says and leaves out."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import plotly.graph_objects as go
import pytest

from core.decoding.errors import FigureError
from core.figures import GREY, beam_tree, printed, probability_heatmap
from core.figures.base.color import contrast, to_oklab
from core.figures.base.fonts import FACES
from core.figures.base.labels import visible_token
from core.figures.base.measure import (
    advances,
    fitted,
    markup_width,
    text_width,
    wrapped,
    wrapped_markup,
)
from core.figures.base.paper import SMALL
from core.figures.beam.bands import bands_of, part_of, stem_of
from core.figures.beam.graph import beam_graph, node_of, path_to
from tests.figures.beams import make_search
from tests.figures.font_advances import measured
from tests.figures.gallery import draw, entries
from tests.figures.looking import figure_names, strings, trace_named
from tests.figures.traces import make_trace

COLUMN = printed("85mm")


def test_a_width_in_print_is_as_many_px_as_its_type_allows() -> None:
    assert printed("85mm", type_pt=7.5).width == pytest.approx(85 / 25.4 * 72 * 12 / 7.5, abs=0.01)
    assert printed("8.5 cm").mm == 85 and printed("3.5in").mm == pytest.approx(88.9)
    assert printed(640) == printed("640px") and printed(640).mm is None
    for size in (7, 7.5, 8):
        assert printed("85mm", type_pt=size).type_pt == pytest.approx(size, rel=1e-3)
        assert SMALL / 12 * size > 6


@pytest.mark.parametrize("width", ["8mm", "9999px", "wide", "-85mm", "", float("nan"), 0, None])
def test_a_width_that_is_none_is_refused_in_a_sentence(width) -> None:
    with pytest.raises(FigureError, match=r"^The width .*\.$"):
        printed(width)
    with pytest.raises(FigureError, match="between 7 and 9 points"):
        printed("85mm", type_pt=4)


def test_the_stored_advances_are_those_of_the_fonts() -> None:
    fonts = measured()
    for face in FACES:
        assert {c: int(w) for w, chars in fonts[face].items() for c in chars} == advances(face)


def test_text_is_measured_cut_and_broken_by_the_fonts_advances() -> None:
    advance = advances("sans")["a"] * 12 / 1000
    assert text_width("aaa") == pytest.approx(3 * advance)
    assert text_width("日本", 10) == 20 and text_width("␣", 10, "mono") == pytest.approx(6.02)
    for room in range(12, 90, 3):
        cut = fitted("unbelievable", room)
        assert text_width(cut) <= room + 0.1 and (cut == "unbelievable" or cut.endswith("…"))
        lines = wrapped("an unbelievable story", room)
        assert all(text_width(line) <= room for line in lines)
        assert "".join(lines).replace(" ", "") == "anunbelievablestory"
    marked = 'a <span style="color:#000000;font-size:6px">a</span> <b>a</b> &lt;'
    plain = 1.5 * advance + advances("sans bold")["a"] * 0.012 + text_width("   <")
    # The space inside the tag is none of the text.
    assert markup_width(marked) == pytest.approx(plain, abs=0.01)
    assert len(wrapped_markup(marked, 1)) == 4


@cache
def in_print() -> dict[str, go.Figure]:
    """Every figure in a column, by the entry's name."""
    return {entry[0]: draw(entry, paper=COLUMN) for entry in entries()}


def test_every_figure_is_among_those_that_the_tests_draw() -> None:
    assert set(figure_names()) <= {name for _, name, *_ in entries()}


def test_print_says_nothing_of_clicking_and_has_its_own_size() -> None:
    for name, figure in in_print().items():
        assert (figure.layout.width, figure.layout.autosize) == (COLUMN.width, False), name
        assert "click" not in " ".join(strings(figure)).lower(), name
        assert not [s for s in figure.layout.shapes if s.name == "selected"], name
        assert set(figure.layout.meta) >= {"alt", "caption", "title", "subtitle"}, name


def test_a_selection_is_printed_when_asked_for() -> None:
    search = make_search()
    for selection in (True, False):
        paper = printed("174mm", selection=selection)
        names = {bars.name for bars in beam_tree(search, selected=(2, 0), paper=paper).data}
        assert ({"selected", "selected path"} <= names) is selection


def test_title_caption_and_ground_are_drawn_by_choice() -> None:
    trace = make_trace(4)
    bare = printed("85mm", title=False, caption=False, transparent=True)
    figure, full = (probability_heatmap(trace, paper=paper) for paper in (bare, COLUMN))
    names = [note.name for note in figure.layout.annotations]
    assert not {"subtitle", "caption"} & set(names) and not figure.layout.title.text
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.meta == full.layout.meta and full.layout.meta["title"]
    assert figure.layout.height < full.layout.height
    # In print the caption names the prompt.
    live = probability_heatmap(trace)
    assert ["prompt “" in drawn.layout.meta["caption"] for drawn in (full, live)] == [True, False]


def test_grey_is_grey_and_tells_its_categories_apart() -> None:
    named = [GREY.named[name] for name in ("green", "vermillion", "sky", "purple")]
    for colors in (GREY.categories, named):
        assert all(abs(to_oklab(color)[1]) < 0.01 for color in colors)
        looks = {(round(to_oklab(c)[0], 1), GREY.patterns.get(c, "")) for c in colors}
        assert len(looks) == len(colors)
        for first, second in pairwise(colors):
            assert abs(to_oklab(first)[0] - to_oklab(second)[0]) > 0.05
    for color in GREY.categories:
        assert contrast(color, GREY.text_on(color)) >= 4.5
    candidates = next(e for e in entries() if e[0] == "candidate_bars 5")
    final = trace_named(draw(candidates, theme=GREY), "final")
    # Each bar's own ground below its lines: Plotly drops the ground in the other mode.
    assert final.marker.pattern.fillmode == "overlay" and len(set(final.marker.color)) > 3


def test_no_token_of_a_tree_is_cut_without_an_ellipsis() -> None:
    search = make_search(16, 40)
    for width in ("85mm", "640px", "1200px"):
        figure = beam_tree(search, span=40, pruned=False, paper=printed(width))
        for bars in (trace_named(figure, name) for name in ("kept", "best")):
            for shown, (step, place, *_) in zip(bars.text, bars.customdata, strict=True):
                if step < 0:
                    continue
                whole = visible_token(search.beam_steps[step].candidates[place].text)
                assert shown == whole or (shown.endswith("…") and len(shown) > 2), shown


def test_every_step_of_a_window_stands_in_one_of_its_rows() -> None:
    search = make_search(16, 40)
    wide, narrow = (beam_tree(search, span=20, paper=printed(w)) for w in ("1200px", "85mm"))
    assert len({tuple(row) for row in narrow.layout.meta["rows"]}) > 1
    for figure in (wide, narrow):
        assert len(figure.layout.meta["ends"]) == len(figure.layout.meta["rows"])
    nodes = [
        {tuple(data[:2]) for bars in figure.data if bars.type == "bar" for data in bars.customdata}
        for figure in (wide, narrow)
    ]
    assert nodes[0] == nodes[1]


def test_a_row_of_steps_begins_with_the_end_of_the_row_before() -> None:
    """With its number, and its nodes in the same order."""
    search = make_search(5, 20)
    figure = beam_tree(search, pruned=False, paper=printed("85mm"))
    numbers = next(trace.text for trace in figure.data if trace.name == "step numbers")
    assert numbers[:2] == tuple(str(int(figure.layout.xaxis.ticktext[-1]) + at) for at in (0, 1))
    tree = beam_graph(search.beam_steps)
    first, second = bands_of(
        tree, (0, 8), lambda _: "a word", 160, pruned=False, best=(), selected=None
    )[:2]
    start = [at.node for at in second.layout.positions if at.column == 0]
    before = [at.node for at in first.layout.positions if at.node in start]
    assert start == before and set(start) == set(tree.graph["beams"][first.layout.last])


def test_the_best_paths_alone_are_the_stored_hypotheses() -> None:
    search = make_search(4, 12, num_return_sequences=3)
    tree = beam_graph(search.beam_steps)
    part = part_of(tree, search, 2, None)
    ends = [node_of(search.beam_steps, hypothesis) for hypothesis in search.hypotheses[:2]]
    assert set(part) == {node for end in ends for node in path_to(tree, end)}
    few = part_of(tree, search, None, 1)
    assert set(few) < set(tree) and all(set(beam) <= set(few) for beam in few.graph["beams"])


def test_what_all_paths_share_is_one_box() -> None:
    search = make_search(16, 40)
    figure = beam_tree(search, span=40, pruned=False, paths=3, collapse=True, paper=COLUMN)
    part = part_of(beam_graph(search.beam_steps), search, 3, None)
    stem = stem_of(part, 0, 40)
    assert len(stem) > 2 and figure.layout.meta["first"] == len(stem)
    assert len({hypothesis.token_ids[: len(stem)] for hypothesis in search.hypotheses[:3]}) == 1
    shared = "".join(search.beam_steps[s].candidates[p].text for s, p in stem)
    box = trace_named(figure, "best").text[0].replace("<br>", " ").removeprefix("… ")
    assert re.sub(r"\s+", " ", shared).strip().endswith(box)
    assert f"{len(stem)} tokens that all paths share" in figure.layout.meta["subtitle"]
