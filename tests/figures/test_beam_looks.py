"""One step of a search, and the search beside its rivals."""

import plotly.graph_objects as go

from core.decoding.beam.compare import Rival
from core.figures import (
    LIGHT,
    beam_rivals,
    beam_rivals_data,
    beam_step,
    beam_step_data,
)
from tests.figures.beams import make_search
from tests.figures.looking import annotations, shapes_named, trace_named

FATES = ("pruned", "kept", "finished", "best")
RIVALS = (
    Rival("Greedy", "a", 4, -8.0, -2.0, 3, 3),
    Rival("Beam search", "b", 5, -7.5, -1.5, 4, 16),
    Rival("Best of <b>8</b>", "<img src=x>", 6, -12.0, -2.0, 40, 40),
)


def shown(figure: go.Figure) -> dict[int, float]:
    """Place -> length of its bar."""
    return {
        values[1]: length
        for name in FATES
        for values, length in zip(
            trace_named(figure, name).customdata, trace_named(figure, name).x, strict=True
        )
    }


def test_bars_are_the_distances_to_the_last_survivor():
    search = make_search()
    step = search.beam_steps[3]
    lengths = shown(beam_step(search, 3))
    assert len(beam_step_data(search, 3)) == len(step.candidates)
    assert lengths == {place: step.margin(c) for place, c in enumerate(step.candidates)}
    assert min(v for p, v in lengths.items() if step.candidates[p].fate == "kept") == 0


def test_of_a_wide_step_all_survivors_and_the_selected_one_are_shown():
    search = make_search(16, 12, model_seed=2)
    step = search.beam_steps[5]
    last = len(step.candidates) - 1
    places = set(shown(beam_step(search, 5, selected=last)))
    assert {p for p, c in enumerate(step.candidates) if c.fate != "pruned"} <= places
    assert last in places and len(places) <= 25 < len(step.candidates)
    hidden = len(step.candidates) - len(places)
    assert any(
        f"{hidden} more are pruned" in text.replace("<br>", " ")
        for text in annotations(beam_step(search, 5, selected=last))
    )


def test_groups_are_shown_one_at_a_time():
    search = make_search(num_beam_groups=2, diversity_penalty=0.7)
    step = search.beam_steps[2]
    second = next(p for p, c in enumerate(step.candidates) if step.group_of(c) == 1)
    places = shown(beam_step(search, 2, selected=second))
    assert {step.group_of(step.candidates[place]) for place in places} == {1}


def test_a_step_after_which_nothing_goes_on_measures_from_its_best():
    search = make_search(3, 2)
    assert max(shown(beam_step(search, len(search.beam_steps) - 1)).values()) == 0


def test_the_whole_row_of_a_candidate_can_be_clicked_however_short_its_bar_is():
    figure = beam_step(make_search(), 3)
    rows = trace_named(figure, "rows")
    low, high = figure.layout.xaxis.range
    assert list(rows.base) == [low] * len(rows.y) and set(rows.x) == {high - low}
    bars = {tuple(values[:2]) for drawn in figure.data[1:] for values in drawn.customdata or ()}
    assert {tuple(values[:2]) for values in rows.customdata} == bars


def test_the_selected_one_is_framed():
    for selected, count in ((4, 1), (None, 0)):
        figure = beam_step(make_search(), 3, selected=selected)
        assert len(shapes_named(figure, "selected")) == count


def test_rivals_show_their_totals_and_what_they_cost():
    figure = beam_rivals(RIVALS, make_search())
    bar = trace_named(figure, "rivals")
    assert list(bar.x) == [-8.0, -7.5, -12.0]
    # The best score is the strong one.
    assert [color == LIGHT.first for color in bar.marker.color] == [False, True, False]
    assert any("4 forwards, 16 rows" in text for text in annotations(figure))
    assert list(beam_rivals_data(RIVALS)["forwards"]) == [3, 4, 40]


def test_a_search_that_is_ranked_anew_says_what_it_really_took():
    """Besides what a search under the new length penalty would take; ranking runs nothing."""
    anew = RIVALS[1]._replace(ran_forwards=9, ran_rows=36, at_least=True)
    texts = " ".join(annotations(beam_rivals((RIVALS[0], anew), make_search())))
    texts = texts.replace("<br>", " ")
    assert "would take at least 4 forwards, 16 rows" in texts
    assert "The search that was run took 9 forwards, 36 rows; ranking its paths anew ran" in texts
    assert "took" not in " ".join(annotations(beam_rivals(RIVALS, make_search())))


def test_what_is_not_there_is_a_sentence():
    assert "click a token" in beam_step(make_search(), 99).layout.meta["alt"]
    assert len(beam_rivals((), make_search()).data) == 0
