"""The bars are the step's numbers."""

from dataclasses import replace
from types import SimpleNamespace

from core.decoding.shaping.config import Shaping
from core.export.catalog import entries_of
from core.figures import LIGHT, candidate_bars, candidate_bars_data, stage_name
from core.figures.base.paper import WIDE
from core.figures.decode.candidates import SHOWN
from pages.ui.decode.parts import CANDIDATES
from tests.figures.looking import annotations, trace_named
from tests.figures.traces import make_trace

TRACE = make_trace(12, shaping=Shaping(temperature=0.8, top_k=40, top_p=0.9))


def test_a_chosen_token_of_low_rank_is_added_below():
    step = next(step for step in TRACE.token_steps if step.chosen.rank > 5)
    keys = trace_named(candidate_bars(step, TRACE, count=5), "final").customdata
    assert keys[-1][1] == step.token_id and len(keys) == 6


def test_only_the_chosen_bar_is_framed():
    for step in TRACE.token_steps:
        figure = candidate_bars(step, TRACE)
        final = trace_named(figure, "final")
        widths = zip(final.customdata, final.marker.line.width, strict=True)
        assert [key[1] for key, width in widths if width] == [step.token_id]
        assert final.marker.line.color == LIGHT.accent
        bold = [text for text in figure.layout.yaxis.ticktext if "font-weight:700" in text]
        assert len(bold) == 1


def test_bars_are_the_probabilities_and_say_what_removed_a_candidate():
    for step in TRACE.token_steps:
        figure = candidate_bars(step, TRACE, count=20)
        raw, final = trace_named(figure, "raw"), trace_named(figure, "final")
        assert list(raw.x) == [c.raw_prob for c in step.candidates]
        assert list(final.x) == [c.prob for c in step.candidates]
        for place, candidate in enumerate(step.candidates):
            if candidate.removed_by:
                assert final.text[place] == f"removed by {stage_name(candidate.removed_by)}"
                assert raw.marker.pattern.shape[place] == "/" and raw.x[place] > 0
            else:
                assert final.text[place].endswith("%")
                assert f"after shaping {final.text[place]}" in final.hovertext[place]


def test_greedy_is_told_once_and_its_rows_are_plain():
    greedy = make_trace(3, "greedy")
    figure = candidate_bars(greedy.token_steps[1], greedy)
    (subtitle,) = [a.text for a in figure.layout.annotations if a.name == "subtitle"]
    assert "Greedy keeps the highest." in subtitle
    assert list(trace_named(figure, "final").text[1:]) == [""] * (SHOWN - 1)
    assert set(trace_named(figure, "raw").marker.pattern.shape) == {""}
    assert not any("removed" in text for text in annotations(figure))


def test_a_candidate_that_a_filter_removed_is_told_in_greedy_too():
    greedy = make_trace(3, "greedy")
    step = greedy.token_steps[1]
    banned = step.candidates[2]._replace(removed_by="no_repeat_ngram_size")
    step = replace(step, candidates=(*step.candidates[:2], banned, *step.candidates[3:]))
    final = trace_named(candidate_bars(step, greedy), "final")
    assert final.text[2] == "removed by no repeated n-gram"
    assert final.text[3] == ""


def test_the_page_the_archive_and_the_command_line_have_the_same_candidates() -> None:
    """One file name stands for one figure, wherever it is written."""
    step = TRACE.token_steps[4]
    page_part = CANDIDATES.part(SimpleNamespace(step=step, selected=4), TRACE)
    listed = {e.name: e.part(4, WIDE) for e in entries_of(TRACE)}
    keys = [
        [key[1] for key in trace_named(part.drawn()(), "raw").customdata]
        for part in (page_part, listed["candidates"])
    ]
    assert keys[0] == keys[1] and len(keys[0]) in (SHOWN, SHOWN + 1)
    for part in (page_part, listed["candidates"]):
        assert part.data is not None and len(part.data()) == len(step.candidates) > SHOWN + 1


def test_the_table_is_what_is_drawn():
    step = TRACE.token_steps[4]
    table = candidate_bars_data(step, TRACE, count=7)
    drawn = trace_named(candidate_bars(step, TRACE, count=7), "raw")
    assert table["raw_prob"].tolist() == list(drawn.x)
    assert table["token_id"].tolist() == [key[1] for key in drawn.customdata]
    assert table["chosen"].sum() == 1
