"""Properties of every figure: escaping, captions, axes, themes, empty runs."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

import core.figures
from core.decoding.record.steps import PromptStep
from core.decoding.shaping.config import Shaping
from core.figures import (
    DARK,
    LIGHT,
    candidate_bars,
    candidate_bars_data,
    probability_heatmap,
    probability_heatmap_data,
    prompt_reading,
    prompt_reading_data,
    step_stages,
    step_stages_data,
    timing,
    timing_data,
    uncertainty,
    uncertainty_data,
)
from tests.figures.gallery import draw, entries
from tests.figures.looking import all_figures, assert_sound, strings
from tests.figures.traces import make_trace

# Their signs are named where they stand.
WITHOUT_KEY = {
    *("attention_map", "beam_rivals", "evaluate_accuracy", "lab_decision_boundaries"),
    *("evaluate_variety", "many_agreement", "many_matrix", "dola_layers"),
    *("reason_difficulty", "reason_rivals", "softmax_row", "step_stages"),
}
ESCAPED = ("&lt;img", "&lt;b&gt;", "日本語", "↵", "&#37;{meta.caption}")


@pytest.fixture(scope="module")
def trace():
    return make_trace(12, shaping=Shaping(temperature=0.8, top_k=40, top_p=0.9))


def test_every_figure_is_valid_and_says_what_it_shows_and_no_token_is_markup():
    texts, keyed = "", set[str]()
    for at, entry in enumerate(entries()):
        theme = (LIGHT, DARK)[at % 2]
        figure = draw(entry, theme=theme)
        assert figure.layout.paper_bgcolor == theme.paper
        assert figure.layout.height > 150 and figure.layout.width is None, entry[0]
        texts += assert_sound(figure, entry[0])
        keyed.update(entry[1] for note in figure.layout.annotations if note.name == "key")
    assert {name for _, name, *_ in entries()} - keyed == WITHOUT_KEY
    assert all(mark in texts for mark in ESCAPED)


def test_figures_of_a_greedy_run_are_sound():
    for name, figure in all_figures(make_trace(3, "greedy")).items():
        assert_sound(figure, name)


def test_hostile_run_names_and_stage_names_are_escaped(trace):
    step = trace.token_steps[0]
    evil = "<img src=x onerror=alert(1)>"
    stages = (step.stages[0], step.stages[1]._replace(name=evil), *step.stages[2:])
    candidates = tuple(c._replace(removed_by=evil) for c in step.candidates)
    step, trace = replace(step, stages=stages, candidates=candidates), replace(trace, model_id=evil)
    figures = [timing([(evil, trace)]), step_stages(step, trace), candidate_bars(step, trace)]
    assert not any("<img" in text for figure in figures for text in strings(figure))


def test_every_figure_says_what_made_it(trace):
    for name, figure in all_figures(trace).items():
        caption = " ".join(a.text for a in figure.layout.annotations if a.name == "caption")
        for part in ("embedded:target", "temperature\u00a00.8", "top-p\u00a00.9", "seed\u00a07"):
            assert part in caption, name
        assert "embedded:target · sampling · temperature 0.8" in figure.layout.meta["caption"]
        assert "CJK" in figure.layout.font.family


def test_axes_that_count_something_name_it(trace):
    figures = all_figures(trace)
    for name, title in (
        ("candidate_bars 3", "probability"),
        ("probability_heatmap", "rank"),
        ("uncertainty", "nats"),
        ("step_stages 3", "share of all probability"),
        ("prompt_reading", "surprisal, nats"),
        ("timing", "ms a step"),
    ):
        axes = (*figures[name].select_xaxes(), *figures[name].select_yaxes())
        assert title in [axis.title.text for axis in axes], name


def empty_traces():
    full = make_trace(3)
    yield replace(full, steps=(), token_ids=(), text="")
    yield replace(full, steps=(PromptStep(positions=(), seconds=0.0),), token_ids=(), text="")
    yield replace(full, steps=full.steps[:1], token_ids=(), text="")
    yield replace(full, steps=full.token_steps)
    yield replace(full, steps=full.steps[:2], token_ids=full.token_ids[:1])
    yield make_trace(1, prompt_tokens=1, top_candidates=1)


@pytest.mark.parametrize("trace", list(empty_traces()))
def test_empty_and_tiny_runs_give_a_figure_and_a_table(trace):
    step = trace.token_steps[0] if trace.token_steps else None
    figures = [
        probability_heatmap(trace, selected=99, first=50),
        candidate_bars(step, trace, count=0),
        uncertainty(trace, selected=5),
        step_stages(step, trace),
        prompt_reading(trace, first=70),
        timing([("run", trace)]),
        timing([]),
    ]
    assert all(isinstance(figure, go.Figure) and figure.layout.title.text for figure in figures)
    assert all(len(figure.layout.meta["alt"]) > 20 for figure in figures)
    tables = [
        probability_heatmap_data(trace),
        candidate_bars_data(step, trace),
        uncertainty_data(trace),
        step_stages_data(step, trace),
        prompt_reading_data(trace),
        timing_data([("run", trace)]),
    ]
    assert all(isinstance(table, pd.DataFrame) and len(table.columns) > 4 for table in tables)


def test_a_run_without_tokens_says_so_in_a_sentence():
    empty = next(empty_traces())
    for figure in (probability_heatmap(empty), uncertainty(empty), prompt_reading(empty)):
        sentence = [a.text for a in figure.layout.annotations if a.name == "sentence"]
        assert len(sentence) == 1 and sentence[0].endswith(".")


def test_tables_hold_the_raw_text_of_tokens():
    trace = make_trace(10, hostile=True, shaping=Shaping(temperature=1.8), top_candidates=200)
    tokens = set(probability_heatmap_data(trace, rows=200)["token"])
    assert {"<img src=x onerror=alert(1)>", "\n", "日本語"} <= tokens


def test_no_exported_name_is_a_modules_name():
    # Importing the module would put it in the name's place: whoever asks next gets the module.
    folder = Path(core.figures.__file__).parent
    assert not set(core.figures.__all__) & {path.stem for path in folder.iterdir()}


def test_a_lone_surrogate_from_a_strangers_file_breaks_nothing(trace):
    prompt, step = trace.steps[0], trace.steps[1]
    broken = tuple(c._replace(text="\ud800") for c in step.candidates)
    step = replace(step, candidates=broken)
    prompt = replace(prompt, positions=tuple(replace(p, text="\ud800") for p in prompt.positions))
    trace = replace(trace, steps=(prompt, step), model_id="\ud800")
    for figure in all_figures(trace).values():
        assert any("\\ud800" in text for text in strings(figure))
        "".join(strings(figure)).encode("utf-8")
    assert set(candidate_bars_data(step, trace)["token"]) == {"\\ud800"}
    assert set(prompt_reading_data(trace)["token"]) == {"\\ud800"}
    assert len(probability_heatmap_data(trace)) and len(uncertainty_data(trace))
    assert len(step_stages_data(step, trace))
