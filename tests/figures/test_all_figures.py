"""What holds for every figure: escaping, captions, axes, themes, empty runs."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

import core.figures
from core.decoding.shaping.config import Shaping
from core.decoding.trace import PromptStep
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
from tests.figures.looking import all_figures, annotations, figure_names, strings
from tests.figures.traces import make_trace

# What Plotly's pseudo-HTML may hold: tags that the figures write themselves.
OWN_TAGS = ("<br>", "<b>", "</b>", "</span>", '<span style="', "<extra></extra>")

ESCAPED = ("&lt;img", "&lt;b&gt;", "日本語", "↵", "&#37;{meta.caption}")


@pytest.fixture(scope="module")
def trace():
    return make_trace(12, shaping=Shaping(temperature=0.8, top_k=40, top_p=0.9))


def test_the_builder_makes_a_trace_that_round_trips(trace):
    assert type(trace).from_dict(json.loads(json.dumps(trace.to_dict()))) == trace


@pytest.mark.parametrize("draw", ["inverse_cdf", "gumbel"])
def test_hostile_tokens_stay_text_everywhere(draw: str):
    shaping = Shaping(temperature=1.8)
    trace = make_trace(20, hostile=True, shaping=shaping, draw=draw, prompt_tokens=13)
    trace = replace(trace, model_id="<img src=x>")
    seen = set()
    for name, figure in all_figures(trace).items():
        plain = figure.layout.meta.values()  # no template where Plotly draws nothing
        for text in strings(figure):
            rest = text
            for tag in OWN_TAGS:
                rest = rest.replace(tag, "")
            assert "<" not in rest, (name, text)
            assert "$" not in rest, (name, text)
            assert "\u202e" not in rest, (name, text)
            assert "%{meta" not in rest or text in plain, (name, text)
            seen |= {mark for mark in ESCAPED if mark in rest}
    assert seen == set(ESCAPED)


def test_hostile_run_names_and_stage_names_are_escaped(trace):
    step = trace.token_steps[0]
    evil = "<img src=x onerror=alert(1)>"
    stages = (step.stages[0], step.stages[1]._replace(name=evil), *step.stages[2:])
    candidates = tuple(c._replace(removed_by=evil) for c in step.candidates)
    step = replace(step, stages=stages, candidates=candidates)
    figures = [timing([(evil, trace)]), step_stages(step, trace), candidate_bars(step, trace)]
    assert not any("<img" in text for figure in figures for text in strings(figure))


def test_every_figure_says_what_it_shows_and_what_made_it(trace):
    for name, figure in all_figures(trace).items():
        title = figure.layout.title.text
        assert title.startswith("<b>") and 10 < len(title) <= 48, name
        caption = " ".join(a.text for a in figure.layout.annotations if a.name == "caption")
        for part in ("embedded:target", "temperature\u00a00.8", "top-p\u00a00.9", "seed\u00a07"):
            assert part in caption, name
        assert "embedded:target · sampling · temperature 0.8" in figure.layout.meta["caption"]
        assert len(figure.layout.meta["alt"]) > 60, name
        assert figure.layout.height > 200 and figure.layout.width is None, name
        assert "CJK" in figure.layout.font.family


@pytest.mark.parametrize(
    ("theme", "draw"), [(LIGHT, "inverse_cdf"), (DARK, "gumbel")], ids=["light", "dark"]
)
def test_plotly_accepts_every_property(theme, draw):
    shaping = Shaping(temperature=0.8, top_k=40, top_p=0.9)
    trace = make_trace(12, shaping=shaping, draw=draw)
    greedy = make_trace(3, "greedy")
    empty = replace(trace, steps=(), token_ids=(), text="")
    long = make_trace(22, shaping=shaping, draw=draw, prompt_tokens=22)
    grids = {
        "long heatmap": probability_heatmap(long, theme=theme),
        "long prompt": prompt_reading(long, theme=theme),
    }
    assert all(d.textangle in (0, None) for f in grids.values() for d in f.data if d.type == "bar")
    runs = (all_figures(run, theme) for run in (trace, greedy, empty))
    for name, figure in (item for figures in (*runs, grids) for item in figures.items()):
        checked = go.Figure(figure.to_dict())
        assert json.loads(checked.to_json())["data"] == json.loads(figure.to_json())["data"], name


def test_an_unknown_property_would_not_pass_that_check(trace):
    wrong = uncertainty(trace).to_dict()
    wrong["layout"]["xaxis"]["colour"] = "red"
    with pytest.raises(ValueError, match="colour"):
        go.Figure(wrong)


def test_titles_leave_room_for_a_button_in_a_figure_400_px_wide(trace):
    for name, figure in all_figures(trace).items():
        title = figure.layout.title.text.removeprefix("<b>").removesuffix("</b>")
        assert len(title) <= 34, name


def test_axes_that_count_something_name_it(trace):
    step = trace.token_steps[3]
    assert candidate_bars(step, trace).layout.xaxis.title.text == "probability"
    assert "token and its rank" in annotations(candidate_bars(step, trace))
    assert probability_heatmap(trace).layout.yaxis.title.text == "rank"
    assert uncertainty(trace, unit="bits").layout.yaxis.title.text == "bits"
    assert step_stages(step, trace).layout.xaxis.title.text == "share of all probability"
    assert prompt_reading(trace).layout.yaxis2.title.text == "surprisal, nats"
    clock = timing([("a", trace)]).layout
    titles = (clock.xaxis.title.text, clock.xaxis2.title.text, clock.yaxis2.title.text)
    assert titles == ("ms", "step", "ms a step")


def test_light_and_dark_differ_in_colours_and_in_nothing_else(trace):
    light, dark = all_figures(trace, LIGHT), all_figures(trace, DARK)
    for name in light:
        assert light[name].layout.paper_bgcolor == LIGHT.paper
        assert dark[name].layout.paper_bgcolor == DARK.paper
        assert light[name].layout.height == dark[name].layout.height
        assert light[name].layout.margin == dark[name].layout.margin
        assert light[name].layout.meta == dark[name].layout.meta


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


def test_every_exported_table_is_a_figures_or_says_which_rows_it_holds():
    names = set(core.figures.__all__)
    alone = {name for name in names if name.endswith("_data") and name[:-5] not in names}
    assert alone == {"reason_rows_data", "reason_votes_data", "rows_data"}
    assert figure_names("decode") and set(figure_names("decode")) < set(figure_names())
