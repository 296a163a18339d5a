"""Figures of reasoning: budgets, outcomes, costs, difficulties, stops and rivals, by their data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.evaluation.scoring.intervals import wilson
from core.evaluation.sweep.types import BudgetSweep
from core.evaluation.types import OUTCOMES, StopStrip, StrategyResult
from core.figures import (
    DARK,
    LIGHT,
    Theme,
    reason_accuracy,
    reason_accuracy_data,
    reason_difficulty,
    reason_difficulty_data,
    reason_outcomes,
    reason_rivals,
    reason_rivals_data,
    reason_rows_data,
    reason_spent,
    reason_spent_data,
    reason_stops,
    reason_stops_data,
    reason_votes_data,
)
from core.figures.base.color import contrast
from core.figures.base.theme import OKABE_ITO
from tests.figures.looking import annotations, assert_sound, shapes_named, trace_named
from tests.figures.reasons import HOSTILE, make_rivalry, make_strip, make_sweep

CAPTION = "embedded:target · reasoning"
CUT = make_sweep(field="max_new_tokens")
OF_A_SWEEP = (reason_outcomes, reason_spent, reason_difficulty)


def test_hostile_names_stay_text() -> None:
    sweep = make_sweep(name=HOSTILE)
    figures = [draw(sweep) for draw in (reason_accuracy, *OF_A_SWEEP)]
    figures += [reason_accuracy(make_sweep(count=5)), reason_outcomes(CUT)]
    figures += [reason_stops(make_strip(piece=f" {HOSTILE}"), caption=CAPTION)]
    for figure in (*figures, reason_rivals(make_rivalry(HOSTILE))):
        assert_sound(figure)


def test_accuracy_is_the_share_of_right_answers_with_wilson_s_interval() -> None:
    figure = reason_accuracy(make_sweep())
    line, band = trace_named(figure, "accuracy"), trace_named(figure, "interval")
    assert list(line.x) == [0, 32, 64]
    assert list(line.y) == [0.0, 0.25, 0.75]
    shares = [wilson(hits, 4) for hits in (0, 1, 3)]
    assert list(band.y) == [s.high for s in shares] + [s.low for s in reversed(shares)]
    assert list(band.x) == [0, 32, 64, 64, 32, 0]
    assert list(line.customdata) == [[0], [32], [64]]


def test_levels_and_the_set_budget_are_marked_where_the_axis_holds_them() -> None:
    figure = reason_accuracy(make_sweep(), marked=40)
    assert {a.text for a in figure.layout.annotations if a.name == "level"} == {"low", "medium"}
    assert [shape.x0 for shape in shapes_named(figure, "now")] == [40]
    assert not any("lies beyond" in text for text in annotations(figure))
    beyond = reason_accuracy(make_sweep(), marked=4096)
    assert not shapes_named(beyond, "now")
    assert any(
        "the budget that is set, 4,096, lies beyond" in text.replace("\u00a0", " ")
        for text in annotations(beyond)
    )
    assert not shapes_named(reason_accuracy(CUT), "level")


def test_an_unfinished_sweep_says_how_far_it_is() -> None:
    part = make_sweep(count=5)
    for draw in (reason_accuracy, *OF_A_SWEEP):
        words = " ".join(annotations(draw(part))).replace("<br>", " ")
        assert "So far the first problem of 4, each at every budget." in words
    assert list(trace_named(reason_accuracy(part), "accuracy").y) == [0.0, 1.0, 1.0]
    assert list(reason_accuracy_data(part)["runs"]) == [1, 1, 1]
    assert not any("So far" in text for text in annotations(reason_accuracy(make_sweep())))


@pytest.mark.parametrize("count", [0, 2])
def test_a_sweep_without_a_whole_problem_is_a_sentence(count: int) -> None:
    for draw in (reason_accuracy, reason_outcomes, reason_spent):
        assert [
            a.text for a in draw(make_sweep(count=count)).layout.annotations if a.name == "sentence"
        ] == ["No problem has been run at every budget yet."]


def test_outcomes_are_stacked_to_the_whole() -> None:
    figure = reason_outcomes(make_sweep())
    shares = {outcome: list(trace_named(figure, outcome).y) for outcome in OUTCOMES}
    assert shares["correct"] == [0, 0.25, 0.75]
    assert shares["truncated"] == [0.25, 0.25, 0]
    assert shares["unparsable"] == [0.25, 0, 0]
    assert [sum(column) for column in zip(*shares.values(), strict=True)] == [1, 1, 1]
    assert len({trace.marker.color for trace in figure.data}) == len(OUTCOMES)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_grey_bars_stand_out_from_the_paper(theme: Theme) -> None:
    sweep = make_sweep()
    outcomes, spent = reason_outcomes(sweep, theme=theme), reason_spent(sweep, theme=theme)
    for trace in (trace_named(outcomes, "truncated"), trace_named(spent, "answer")):
        assert contrast(trace.marker.color, theme.paper) > 2


def test_what_was_spent_are_means_of_a_run() -> None:
    figure = reason_spent(make_sweep())
    assert list(trace_named(figure, "thinking").y) == [0, 32, 64]
    assert list(trace_named(figure, "answer").y) == [10, 10, 10]
    assert list(trace_named(figure, "seconds").y) == [0.5, 0.5, 0.5]


def test_a_panel_for_each_difficulty_on_one_scale() -> None:
    figure = reason_difficulty(make_sweep())
    assert list(trace_named(figure, "steps 1").y) == [0, 0.5, 1]
    assert list(trace_named(figure, "steps 3").y) == [0, 0, 0.5]
    assert {"<b>1 step</b>", "<b>3 steps</b>"} <= set(annotations(figure))
    assert figure.layout.yaxis.range == figure.layout.yaxis2.range


def test_problems_without_a_difficulty_have_no_panels() -> None:
    sweep = make_sweep()
    bare = BudgetSweep(sweep.plan, tuple(replace(row, steps=None) for row in sweep.rows))
    assert "how many steps" in " ".join(annotations(reason_difficulty(bare)))
    # What is not there is a sentence in the other figures too.
    strip = StopStrip(make_strip().problem, ())
    assert "not stopped" in " ".join(annotations(reason_stops(strip, caption=CAPTION)))
    nothing = replace(make_rivalry(), rivals=(), votes=())
    assert "Nothing was compared yet." in annotations(reason_rivals(nothing))


def test_the_first_stop_from_which_all_are_right_is_marked() -> None:
    figure = reason_stops(make_strip(), caption=CAPTION)
    texts = " ".join(annotations(figure))
    assert [texts.count(words) for words in ("knew it from here", "✓", "✗")] == [1, 3, 2]
    bars = trace_named(figure, "stops")
    assert list(bars.x) == [0, 10, 20, 30, 40]
    assert list(trace_named(figure, "no tokens").x) == [0]
    green, red = OKABE_ITO["green"], OKABE_ITO["vermillion"]
    assert list(bars.marker.color) == [red, green, red, green, green]
    assert "From 30 tokens on" in figure.layout.meta["alt"]


def test_the_band_of_several_samples_is_one_over_problems() -> None:
    sweep = make_sweep()
    drawn = replace(sweep.plan, config=replace(sweep.plan.config, do_sample=True), samples=3)
    rows = tuple(replace(row, sample=at) for row in sweep.rows for at in range(3))
    figure = reason_accuracy(replace(sweep, plan=drawn, rows=rows))
    assert "interval over problems" in " ".join(annotations(figure)).replace("<br>", " ")
    assert "over problems" not in " ".join(annotations(reason_accuracy(sweep)))


def test_without_a_known_answer_nothing_is_judged() -> None:
    figure = reason_stops(make_strip(right=""), caption=CAPTION)
    assert not any(mark in text for text in annotations(figure) for mark in "✓✗")
    assert len(set(trace_named(figure, "stops").marker.color)) == 1
    assert reason_stops_data(make_strip(right=""))["outcome"].isna().all()


def test_many_stops_are_a_window_around_the_first_right_one() -> None:
    outcomes = ("wrong",) * 60 + ("correct",) * 20
    figure = reason_stops(make_strip(outcomes), caption=CAPTION)
    assert len(trace_named(figure, "stops").x) == 16
    assert sum("knew it from here" in text for text in annotations(figure)) == 1
    seen = [custom[0] // 10 for custom in trace_named(figure, "stops").customdata]
    assert seen == [0, *range(53, 67), 79]
    words = " ".join(annotations(figure)).replace("<br>", " ")
    assert "Of 80 stops: the first, 53 to 66, the last." in words
    assert len(shapes_named(figure, "gap")) == 2
    assert len(reason_stops_data(make_strip(outcomes))) == 80


@pytest.mark.parametrize(("count", "gaps"), [(1, 0), (16, 0), (17, 1), (18, 1), (40, 1)])
def test_the_stop_where_the_run_really_ended_is_always_drawn(count: int, gaps: int) -> None:
    strip = make_strip(("wrong",) * count)
    figure = reason_stops(strip, caption=CAPTION)
    custom = trace_named(figure, "stops").customdata
    assert custom[-1][0] == strip.points[-1].tokens and len(custom) == min(count, 16)
    assert len(shapes_named(figure, "gap")) == gaps


def test_rivals_are_shares_with_what_they_spent() -> None:
    rivalry = make_rivalry()
    bars = trace_named(reason_rivals(rivalry), "rivals")
    assert list(bars.x) == [0.5, 0.25, 0.75, 0.5]
    assert bars.error_x.array[2] == pytest.approx(wilson(3, 4).high - 0.75)
    assert bars.error_x.arrayminus[2] == pytest.approx(0.75 - wilson(3, 4).low)
    assert all(contrast(bars.error_x.color, color) > 4.5 for color in bars.marker.color)
    strong = [color == bars.marker.color[2] for color in bars.marker.color]
    assert strong == [False, False, True, False]
    caption = reason_rivals(rivalry).layout.meta["caption"]
    odd = replace(rivalry, rivals=(StrategyResult("single", 1, 128, wilson(15, 24), 60.0, 0.5),))
    assert any("62.5\u00a0%" in text for text in annotations(reason_rivals(odd)))
    words = " ".join(annotations(reason_rivals(rivalry)))
    assert "<b>60</b> tokens" in words and "<b>110</b> tokens" in words
    assert "temperature 0.8" in caption and "seed 3" in caption and "128 tokens" in caption


def test_tables_hold_what_was_measured() -> None:
    sweep, rivalry = make_sweep(name=HOSTILE), make_rivalry()
    rows = reason_rows_data(sweep)
    assert len(rows) == 12 and rows["problem"][0] == f"{HOSTILE} 0"
    assert list(reason_accuracy_data(sweep)["accuracy"]) == [0, 0.25, 0.75]
    assert list(reason_difficulty_data(sweep)["steps"]) == [1, 1, 1, 3, 3, 3]
    assert list(reason_spent_data(sweep)["wrong"]) == [2, 2, 1]
    assert list(reason_rivals_data(rivalry)["correct"]) == [2, 1, 3, 2]
    (vote,) = reason_votes_data(rivalry.votes).to_dict("records")
    assert vote["ballots"] == "4 ×2, 5 ×1" and vote["margin"] == 1
    assert (vote["majority_right"], vote["best_of_n_right"]) == (True, False)
