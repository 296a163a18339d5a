"""Whatever a trace file may say, it is refused or drawn: no figure and no table fails over it."""

import json

import pytest

from core import read_trace
from core.decoding.errors import TraceError
from core.decoding.shaping.config import Shaping
from core.figures import (
    candidate_bars_data,
    probability_heatmap_data,
    prompt_reading_data,
    step_stages_data,
    timing_data,
    uncertainty_data,
)
from tests.figures.looking import all_figures
from tests.figures.traces import make_trace
from tests.traces.reading import changed

REFUSED = [
    ("steps.1.stages.1.name", "shaping"),
    ("steps.1.stages.1.name", "__class__"),
    ("steps.1.candidates.removed_by.0", "stop_strings"),
    ("steps.1.candidates.rank.0", 10**30),
    ("steps.1.index", 10**30),
    ("steps.1.stages.0.kept", 10**30),
    ("steps.0.positions.0.index", 10**30),
    ("steps.0.positions.0.index", -1),
    ("steps.0.positions.0.next_rank", 10**30),
    ("steps.1.draw.uniform", None),
    ("steps.1.draw.interval", None),
    ("steps.1.draw.scores", [1.0] * 4),
    ("steps.1.entropy", 1e308),
    ("steps.1.seconds.forward", 1e308),
]
DRAWN = [
    ("steps.1.candidates.prob", [0.0] * 4),
    ("steps.1.candidates.raw_prob", [0.0] * 4),
    ("steps.1.candidates.raw_prob", [1.0] * 4),
    ("steps.1.candidates.logit.0", -3.4e38),
    ("steps.1.candidates.rank", [100_000_000] * 4),
    ("steps.1.candidates.text.0", "\n<b>$x$</b>"),
    ("steps.1.draw.interval", [1.0, 0.0]),
    ("steps.1.stages.0.probs", [0.0] * 4),
    ("steps.1.stages.1.removed_mass", 1.0),
    ("steps.1.index", 100_000_000),
    ("steps.1.surprisal", 3.4e38),
    ("steps.1.entropy", 3.4e38),
    ("steps.1.seconds.forward", 1e9),
    ("steps.0.positions.0.index", 100_000_000),
    ("steps.0.positions.0.next_prob", 0.0),
    ("steps.0.positions", []),
    ("timings.decode", 1e-300),
    ("timings.prefill", 1e9),
    ("steps", []),
]


def _file(path: str, value: object) -> bytes:
    shaping = Shaping(temperature=0.8, top_k=5, top_p=0.9)
    trace = make_trace(2, prompt_tokens=3, top_candidates=4, shaping=shaping, seed=3)
    return json.dumps(changed(trace.to_dict(), path, value)).encode()


@pytest.mark.parametrize(("path", "value"), REFUSED)
def test_what_no_figure_could_draw_is_refused(path: str, value: object):
    with pytest.raises(TraceError):
        read_trace(_file(path, value))


@pytest.mark.parametrize(("path", "value"), DRAWN)
def test_what_is_not_refused_is_drawn(path: str, value: object):
    trace = read_trace(_file(path, value))
    for figure in all_figures(trace).values():
        json.loads(figure.to_json())
    for step in trace.token_steps:
        candidate_bars_data(step, trace)
        step_stages_data(step, trace)
    probability_heatmap_data(trace)
    prompt_reading_data(trace)
    timing_data([("one", trace)])
    uncertainty_data(trace, unit="bits")
