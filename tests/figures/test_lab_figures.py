"""The lab's figures: what they draw is what was measured, and no token is markup."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Sampling, collect, load_model
from core.decoding.lab.step import lab_step, read_step_logits
from core.decoding.lab.types import (
    Continuations,
    KnobBoundaries,
    LabExample,
    Rolls,
    Sweep,
    TokenInterval,
)
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.orders import LLAMA_CPP, VLLM
from core.figures import (
    lab_cuts,
    lab_cuts_data,
    lab_decision_boundaries,
    lab_decision_boundaries_data,
    lab_draw,
    lab_draw_data,
    lab_rolls,
    lab_rolls_data,
    lab_stages,
    lab_stages_data,
    lab_sweep,
    lab_sweep_data,
    lab_temperatures,
    lab_temperatures_data,
    lab_tree,
    lab_tree_data,
    nearest_boundaries,
    rows_data,
)
from core.figures.base.labels import percent
from core.figures.base.paper import SCREEN, Paper, printed
from core.figures.base.theme import LIGHT
from core.figures.decode.stage_bars import shown_stages
from core.figures.lab.stages import shown_rows
from core.figures.lab.words import number, number_within
from core.figures.samplers.xtc import xtc_words
from pages.ui.decode.methods import repeats
from tests.figures.labs import make_lab
from tests.figures.looking import annotations, assert_sound, shapes_named, trace_named

PANELS = (0, 2, 3, 4, 5)  # What the axes of five panels are called by.
EVERYTHING = Shaping(
    temperature=0.9,
    top_k=60,
    top_p=0.97,
    min_p=0.005,
    typical_p=0.95,
    epsilon_cutoff=0.001,
    eta_cutoff=0.002,
    repetition_penalty=1.3,
)


@pytest.fixture(scope="module")
def lab() -> LabExample:
    return make_lab()


def lab_figures(found: LabExample) -> dict[str, go.Figure]:
    return {
        "stages": lab_stages(found.step),
        "draw": lab_draw(found.step),
        "flips": lab_decision_boundaries(found.step, found.flips),
        "rolls": lab_rolls(found.step, found.rolls),
        "sweep": lab_sweep(found.step, found.sweep),
        "tree": lab_tree(found.continuations),
        "unfolded": lab_tree(found.continuations, fold=False),
    }


VARIANTS = {
    "plain": {},
    "gumbel": {"shaping": EVERYTHING, "draw": "gumbel", "order": LLAMA_CPP},
    "multinomial": {"shaping": EVERYTHING, "draw": "multinomial", "order": VLLM},
    "greedy": {"shaping": Shaping(temperature=0)},
    "unshaped": {"shaping": Shaping()},
    "hostile": {"shaping": Shaping(), "draw": "multinomial", "hostile": True},
}


@pytest.fixture(params=VARIANTS)
def found(request) -> LabExample:
    return make_lab(**VARIANTS[request.param])


def test_every_figure_is_sound_and_says_what_made_it(found) -> None:
    for name, figure in lab_figures(found).items():
        assert_sound(figure, name)
        assert "embedded:target · sampling" in figure.layout.meta["caption"], name
        if name not in ("tree", "unfolded"):
            assert f"roll 3 · order of {found.step.order.label}" in figure.layout.meta["caption"]


def test_a_panel_a_stage_with_its_own_probabilities(lab) -> None:
    figure, stages = lab_stages(lab.step), shown_stages(lab.step.step)
    assert [stage.name for stage in stages] == ["raw", "temperature", "top_k", "top_p", "min_p"]
    shown = shown_rows(lab.step, 12)
    for place, stage in enumerate(stages):
        drawn = trace_named(figure, stage.name)
        assert list(drawn.x)[:-1] == [row.probs[place] for row in shown]
        assert sum(drawn.x) == pytest.approx(1, abs=1e-6)
        assert drawn.yaxis == "y"
    domains = [figure.layout[f"xaxis{at or ''}"].domain for at in PANELS]
    assert all(left[1] <= right[0] for left, right in pairwise(domains))
    assert len({figure.layout[f"xaxis{at or ''}"].range for at in PANELS}) == 1


def test_on_a_phone_many_panels_stand_in_rows_with_the_tokens_beside_each(lab) -> None:
    figure = lab_stages(lab.step, paper=Paper(370))
    upper, lower = figure.layout.yaxis, figure.layout.yaxis2
    assert upper.ticktext == lower.ticktext and upper.range == lower.range
    assert lower.domain[0] == 0 and lower.domain[1] < upper.domain[0] and upper.domain[1] == 1
    drawn = [trace_named(figure, stage.name) for stage in shown_stages(lab.step.step)]
    assert [bars.yaxis for bars in drawn] == ["y", "y", "y", "y2", "y2"]
    (line,) = shapes_named(figure, "crossing")
    assert line.yref == "y2"
    heads = [note for note in figure.layout.annotations if note.name == "head"]
    assert [head.y for head in heads] == [1, 1, 1, lower.domain[1], lower.domain[1]]
    assert [head.x for head in heads[:2]] == [head.x for head in heads[3:]]


def test_more_than_five_panels_stand_in_rows_on_a_screen_and_in_one_row_in_print() -> None:
    step = make_lab(Shaping(temperature=0.8, top_k=9, top_p=0.9, min_p=0.01, typical_p=0.9)).step
    names = [stage.name for stage in shown_stages(step.step)]
    assert len(names) == 6
    for paper, rows in ((SCREEN, 2), (printed(640), 1)):
        figure = lab_stages(step, paper=paper)
        assert len({trace_named(figure, name).yaxis for name in names}) == rows


def test_xtc_s_number_and_what_it_removed_stand_above_the_stages() -> None:
    for seed in range(4):
        step = make_lab(Shaping(xtc_probability=0.5, xtc_threshold=0.02), seed=seed).step
        stage = next(stage for stage in step.step.stages if stage.name == "xtc_probability")
        subtitle = lab_stages(step).layout.meta["subtitle"]
        removed = [c.rank for c in step.step.candidates if c.removed_by == stage.name]
        assert f"its number {stage.noise:.4f}" in subtitle
        assert bool(removed) == (stage.noise < 0.5)
        ranks = ", ".join(map(str, removed))
        assert (f"XTC removed ranks {ranks}, " in subtitle) == bool(removed)


def test_the_token_that_dry_lowers_most_stands_above_the_stages() -> None:
    model = load_model("embedded:target")
    ids = model.encode("red, green, blue. red, green, blue. red, green,")
    shaping = Shaping(dry_multiplier=2.0)
    step = lab_step(read_step_logits(model, ids), Sampling(shaping=shaping))
    trace = collect(model, ids, Sampling(shaping=shaping, max_new_tokens=1))
    sentence = repeats.lowered(trace, trace.token_steps[0])
    assert sentence.startswith("DRY lowers the logit of “") and " by 2 × 1.75^(" in sentence
    assert sentence in lab_stages(step).layout.meta["subtitle"]
    lowered = step.lowered
    assert lowered and lowered.candidate.text == model.token_text(lowered.candidate.token_id)
    # A breaker in the text: nothing is repeated since.
    broken = Shaping(dry_multiplier=2.0, dry_sequence_breakers=(",",))
    assert lab_step(read_step_logits(model, ids), Sampling(shaping=broken)).lowered is None
    assert lab_step(read_step_logits(model, ids), Sampling()).lowered is None


def test_one_token_that_xtc_removed_is_no_sum() -> None:
    probs = make_lab(Shaping()).step.step.stages[0].probs
    for removed in (1, 2):
        threshold = (probs[removed] + probs[removed + 1]) / 2
        shaping = Shaping(xtc_probability=1.0, xtc_threshold=threshold)
        words = xtc_words(shaping, make_lab(shaping).step.step)
        taken = percent(sum(probs[:removed]))
        assert f"XTC removed rank 1, {taken}: its" in words or removed == 2
        assert f"XTC removed ranks 1, 2, {taken} together: its" in words or removed == 1


def test_a_removed_token_keeps_its_row_with_what_it_had() -> None:
    step = make_lab(Shaping(temperature=0.8, top_p=0.5)).step
    figure, stages = lab_stages(step, rows=60), shown_stages(step.step)
    shown = shown_rows(step, 60)
    gone = [row for row in shown if row.candidate.removed_by == "top_p"]
    assert gone
    drawn = trace_named(figure, "removed by top_p")
    place = [stage.name for stage in stages].index("top_p")
    assert list(drawn.x) == [row.probs[place - 1] for row in gone]
    assert set(drawn.text) == {"out"}


def test_the_crossing_is_marked_under_its_own_row(lab) -> None:
    figure = lab_stages(lab.step)
    (line,) = shapes_named(figure, "crossing")
    ids = [row.candidate.token_id for row in shown_rows(lab.step, 12)]
    assert line.y0 == ids.index(lab.step.crossing.candidate.token_id) + 0.5
    assert not shapes_named(lab_stages(make_lab(Shaping(top_k=5)).step), "crossing")


def test_the_number_falls_into_the_drawn_token_s_piece(lab) -> None:
    figure = lab_draw(lab.step)
    marks = shapes_named(figure, "uniform")
    number = lab.step.step.draw.uniform
    assert [mark.x0 for mark in marks] == [number, number]
    framed = [frame for frame in shapes_named(figure, "chosen") if round(frame.y0) == 1]
    assert len(framed) == 1 and framed[0].x0 <= number < framed[0].x1


def test_the_piece_under_the_number_keeps_its_name_beside_the_mark() -> None:
    lab = make_lab(Shaping(top_k=1)).step
    number = lab.step.draw.uniform
    assert number is not None and abs(number - 0.5) > 0.01
    names = [note for note in lab_draw(lab).layout.annotations if note.name == "hit"]
    (name,) = [note for note in names if note.y == 1]
    assert "100" in name.text and (name.x < number) == (number > 0.5)


def test_noisy_bars_end_at_the_scores_and_the_highest_is_drawn() -> None:
    for draw in ("gumbel", "multinomial"):
        step = make_lab(draw=draw).step
        bars = trace_named(lab_draw(step), "noise" if draw == "gumbel" else "quotient")
        bases = bars.base or [0] * len(bars.x)
        ends = [base + length for base, length in zip(bases, bars.x, strict=True)]
        assert ends == sorted(ends, reverse=True)
        assert draw != "gumbel" or ends[0] == pytest.approx(
            max(filter(None, step.step.draw.scores))
        )
        assert bars.marker.line.width[0] > 0


def test_a_track_a_knob_without_gaps_and_the_mark_where_the_knob_stands(lab) -> None:
    figure = lab_decision_boundaries(lab.step, lab.flips)
    for row, knob in enumerate(lab.flips):
        drawn = trace_named(figure, knob.name)
        assert set(drawn.y) == {row}
        at = 0.0
        for low, width in zip(drawn.base, drawn.x, strict=True):
            assert low == pytest.approx(at, abs=1e-9)
            at = low + width
        assert at == pytest.approx(1)
    assert shapes_named(figure, "value")[0].x0 == pytest.approx(0.8 / 2)
    lines = nearest_boundaries(lab.flips)
    assert any(line.startswith("temperature 0.8: ") for line in lines)
    assert all(" at " in line for line in lines)


def test_a_knob_that_the_library_lacks_says_so() -> None:
    example = make_lab(order=VLLM)
    texts = annotations(lab_decision_boundaries(example.step, example.flips))
    # typical-p, epsilon, eta, top-n-sigma and XTC with its threshold
    assert texts.count("not in this library") == 6


@given(st.floats(1e-6, 100), st.floats(0, 1))
def test_a_shown_end_of_a_piece_lies_in_the_piece(low, width) -> None:
    high = low + width
    for edge in (low, high):
        assert low <= float(number_within(edge, low, high)) <= high
    assert number_within(2.862e-06, 2.862e-06, 0.1) == "0.000002862"
    assert number_within(0.123449, 0.1, 0.123449) == "0.1234"
    assert number_within(0.123451, 0.1, 0.123451) == "0.1234"
    assert number_within(0.123451, 0.1234509, 0.123451) == "0.123451"


def test_the_bars_are_the_counts_and_the_ticks_the_expected(lab) -> None:
    figure = lab_rolls(lab.step, lab.rolls, rows=50)
    assert list(trace_named(figure, "rolled").x) == [bin_.rolls for bin_ in lab.rolls.bins]
    assert list(trace_named(figure, "expected").x) == [bin_.prob * 300 for bin_ in lab.rolls.bins]
    few = trace_named(lab_rolls(lab.step, lab.rolls, rows=3), "rolled")
    assert len(few.x) == 4 and sum(few.x) == 300


def test_the_heatmap_is_the_sweep_and_removed_cells_are_empty(lab) -> None:
    figure = lab_sweep(lab.step, lab.sweep)
    z = trace_named(figure, "probability").z
    for drawn, row in zip(z, lab.sweep.probs, strict=True):
        assert [0 if cell is None or cell != cell else cell for cell in drawn] == list(row)
    assert list(trace_named(figure, "entropy").y) == list(lab.sweep.entropies)
    (now,) = shapes_named(figure, "now")
    assert now.x0 == 0.8


def test_what_is_empty_says_so_in_a_sentence(lab) -> None:
    greedy = lab_draw(make_lab(Shaping(temperature=0)).step)
    assert "draws nothing" in " ".join(annotations(greedy))
    none = Continuations("m", "", lab.continuations.config, ())
    rolls = Rolls("gumbel", 1, 0, 0, (), 0.0, 0, None)
    sweep = Sweep((), (), (), (), ())
    for figure in (
        lab_tree(none),
        lab_decision_boundaries(lab.step, ()),
        lab_rolls(lab.step, rolls),
        lab_sweep(lab.step, sweep),
    ):
        assert [a.name for a in figure.layout.annotations].count("sentence") == 1


def test_the_tables_hold_numbers_and_raw_text(found) -> None:
    tables = {
        "stages": lab_stages_data(found.step),
        "draw": lab_draw_data(found.step),
        "flips": lab_decision_boundaries_data(found.step, found.flips),
        "rolls": lab_rolls_data(found.rolls),
        "sweep": lab_sweep_data(found.sweep),
        "tree": lab_tree_data(found.continuations),
        "rows": rows_data(found.continuations.rows),
    }
    assert all(isinstance(table, pd.DataFrame) and len(table) for table in tables.values())
    sums = tables["stages"].groupby("stage")["prob"].sum()
    assert sums.tolist() == pytest.approx([1] * len(sums), abs=1e-6)
    if found.step.crossing:
        assert tables["stages"]["threshold_crossed"].sum() == 1


def test_a_whole_number_is_written_out() -> None:
    shown = [number(value) for value in (10_000, 0.0, 0.123456, 1e-7, 1e-12)]
    assert shown == ["10000", "0", "0.1235", "0.0000001", "1e-12"]


def test_a_search_that_was_stopped_is_not_said_never_to_flip(lab) -> None:
    for here, end in ((200, 40), (7, 100)):
        knob = KnobBoundaries("top_k", here, (TokenInterval(0, end, 1, "a"),))
        texts = annotations(lab_decision_boundaries(lab.step, [knob]))
        assert ("never flips" in texts) is (here < end)


def test_a_panel_for_each_temperature_holds_the_sweep_s_numbers(lab: LabExample) -> None:
    assert lab.sweep is not None
    figure = lab_temperatures(lab.step, lab.sweep)
    assert_sound(figure)
    rows = lab_temperatures_data(lab.sweep)
    assert rows.groupby("temperature")["prob"].sum().to_list() == pytest.approx(
        [1.0] * len(figure.data)
    )
    for drawn, (temperature, panel) in zip(figure.data, rows.groupby("temperature"), strict=True):
        assert drawn.name == f"temperature {number(temperature)}"
        assert list(drawn.x) == pytest.approx(panel["prob"].to_list())
    widths = [figure.layout[f"xaxis{at or ''}"].range for at in (0, 2, 3)]
    assert len(set(widths)) == 1, "all panels have one scale"
    named = rows.dropna(subset="token_id").groupby("temperature")["prob"]
    assert all(list(probs) == sorted(probs, reverse=True) for _, probs in named)
    assert any("nats" in text for text in annotations(figure))


def test_the_panel_of_the_knob_s_temperature_is_framed(lab: LabExample) -> None:
    assert lab.sweep is not None

    def framed(temperature: float) -> int:
        config = replace(lab.step.config, shaping=Shaping(temperature=temperature))
        step = replace(lab.step, trace=replace(lab.step.trace, config=config))
        return len(shapes_named(lab_temperatures(step, lab.sweep), "now"))

    assert framed(lab.sweep.temperatures[-1]) == 1 and framed(0.123) == 0


def test_all_cuts_fill_what_a_filter_keeps_and_leave_hollow_what_it_removes() -> None:
    lab = make_lab()
    figure = lab_cuts(lab.step, lab.cuts)
    assert len(figure.data) == len(lab.cuts) + 1
    for cut in lab.cuts:
        bar = trace_named(figure, cut.name)
        assert sum(bar["x"]) == pytest.approx(1, abs=1e-6)
        hollow = [color == LIGHT.paper for color in bar["marker"]["color"]]
        assert hollow[:-2] == [not kept for kept in cut.keeps]
        filled = sum(x for x, is_hollow in zip(bar["x"], hollow, strict=True) if not is_hollow)
        assert filled == pytest.approx(cut.mass, abs=1e-5)
    rows = list(lab_cuts_data(lab.step, lab.cuts).to_dict("records"))
    assert len(rows) == len(lab.cuts) * len(lab.step.step.candidates)
